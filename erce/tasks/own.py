"""Rows and a Python function → a user's own Task.

    {"prompt": "Spell 3 backwards.", "demonstration": "eerht", "answer": "eerht"}       problems.jsonl

    def verify(problem, completion):                                                    checks.py
        return completion.text.strip() == problem.answer

    task = "checks:verify"                                                              the recipe
    data = "problems.jsonl"

Each line has a `prompt` and a `demonstration`. Optional are `answer`; `id` (else the line's number); `tests`,
`setup` and `entry_points`, or `inputs` and `outputs` of programs that read standard input and print, all of
which the function `erce.verify.verify_program` reads; `weight`, a factor of its loss in training; and
`split`, "train" or "test", in every line or in none: without it, a fifth of the problems is for tests, chosen
by a digest of the prompts. `data` may also be a data set of the hub, with other names of columns:
`erce.tasks.user_rows`.

The function gets the `Problem` and the `Completion` and returns a bool or a `Verdict`. If it raises
an error, the study stops: a crash is never counted as a wrong answer.
"""

import hashlib
import math
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from erce.errors import InputError, JudgeError
from erce.tasks.source import SourceRow
from erce.tasks.user_rows import user_rows
from erce.types import REASONS, Completion, Pools, Problem, Task, Verdict

ALL = 0  # a size: all problems that the other draws leave
PROBLEMS_PER_TEST_PROBLEM = 5  # in a file without `split`


class RepeatedPromptWarning(UserWarning):
    """Problems of a user's file are left out, because an earlier one has the same prompt."""


Judge = Callable[[Problem, Completion], "Verdict | bool"]


def jsonl_task(
    name: str,
    file: str | None,
    verify: Judge,
    *,
    columns: Mapping[str, str] | None = None,
    max_new_tokens: int = 512,
    max_length: int = 1024,
) -> Task:
    """Return a task of the problems in a JSONL file, judged by `verify`; this module's docstring says how.

    The recipe's `data` wins over `file`, and must be there if `file` is None. `columns` is field → column,
    where their names differ. By default the task uses the whole file: all test problems, a fifth of the
    others for validation, the rest to train on.
    """
    return Task(
        name=name,
        pools=partial(_pools, name=name, file=file, columns=dict(columns or {})),
        verify=partial(_verify, judge=verify),
        n_train=ALL,
        n_validation=ALL,
        n_test=ALL,
        max_new_tokens=max_new_tokens,
        max_length=max_length,
    )


def _pools(data: str | None, *, name: str, file: str | None, columns: Mapping[str, str]) -> Pools:
    path = data or file
    if path is None:
        raise InputError(
            f'task {name!r} has no problems yet: name their file with data = "problems.jsonl" or --data'
        )
    rows = user_rows(path, columns)
    problems = [_problem(row) for row in rows]
    if repeated := len(problems) - len({normalized(problem.prompt) for problem in problems}):
        warnings.warn(
            f"{path}: {repeated} of {len(problems)} problems repeat an earlier one's prompt and are left out",
            RepeatedPromptWarning,
            stacklevel=2,
        )
    for_tests = _for_tests(rows, problems)
    pools = Pools(
        train=tuple(problem for problem, test in zip(problems, for_tests, strict=True) if not test),
        test=tuple(problem for problem, test in zip(problems, for_tests, strict=True) if test),
    )
    if not pools.test or len(pools.train) < 2:
        raise InputError(
            f"{path}: {len(pools.train)} problems to train on and {len(pools.test)} to test on are too few; "
            "a study needs one to train on, one to validate on and one to test on"
        )
    return pools


def _problem(row: SourceRow) -> Problem:
    for needed in ("prompt", "demonstration"):
        if not row.text(needed).strip():
            raise row.fault(f"`{needed}` is empty")
    names = row.values.get("entry_points")
    inputs, outputs = (row.texts(name, default=()) for name in ("inputs", "outputs"))
    if len(inputs) != len(outputs):
        raise row.fault(f"it has {len(inputs)} `inputs` and {len(outputs)} `outputs`, which are pairs")
    if inputs and row.values.get("tests"):
        raise row.fault("it has both `tests` and `inputs`; a program is judged by one of them")
    if inputs and not any(map(str.strip, outputs)):
        raise row.fault("all its `outputs` are empty, so any program would pass")
    return Problem(
        id=_text_or_number(row, "id"),
        prompt=row.text("prompt"),
        demonstration=row.text("demonstration"),
        answer=_text_or_number(row, "answer"),
        tests=row.texts("tests", default=()),
        setup=row.texts("setup", default=()),
        entry_points=None if names is None else row.texts("entry_points"),
        inputs=inputs,
        outputs=outputs,
        weight=_weight(row),
    )


def _weight(row: SourceRow) -> float:
    value = row.values.get("weight")
    if value is None:
        return 1.0
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise row.fault(f"`weight` is {value!r}; it is a number, 0 or above")
    return float(value)


def _text_or_number(row: SourceRow, key: str) -> str:
    """Return a text, or a number as text; "" where there is none."""
    value = row.values.get(key)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if is_number else row.text(key, default="")


def _for_tests(rows: list[SourceRow], problems: list[Problem]) -> list[bool]:
    """Return for each problem whether it is a test problem."""
    splits = [row.values.get("split") for row in rows]
    if any(split is not None for split in splits):
        for row, split in zip(rows, splits, strict=True):
            if split not in ("train", "test"):
                raise row.fault(f'`split` is {split!r}; it is "train" or "test", in every line or in none')
        return [split == "test" for split in splits]
    prompts = ["".join(problem.prompt.casefold().split()) for problem in problems]
    digests = [hashlib.sha256(prompt.encode()).digest() for prompt in prompts]
    distinct = sorted(set(digests))
    chosen = set(distinct[: math.ceil(len(distinct) / PROBLEMS_PER_TEST_PROBLEM)])
    return [digest in chosen for digest in digests]


def normalized(prompt: str) -> str:
    """Return the prompt in the form in which two problems count as the same.

    >>> normalized("What is  3 + 4?"), normalized("what is 3 + 4?")
    ('what is 3 + 4?', 'what is 3 + 4?')
    """
    return " ".join(prompt.casefold().split())


def _verify(problem: Problem, completion: Completion, *, judge: Judge) -> Verdict:
    """Return the verdict of the user's function; False is "truncated" if the completion was cut off."""
    verdict: Any = judge(problem, completion)
    name = getattr(judge, "__qualname__", repr(judge))
    if isinstance(verdict, bool):
        wrong = "different" if completion.finished else "truncated"
        return Verdict(verdict, "exact" if verdict else wrong)
    if not isinstance(verdict, Verdict):
        raise JudgeError(
            f"the verifier {name} returned {repr(verdict)[:60]} ({type(verdict).__name__}) for problem "
            f"{problem.id!r}; return True, False or an erce.types.Verdict"
        )
    if verdict.reason not in REASONS:
        raise JudgeError(
            f"the verifier {name} gave the reason {verdict.reason!r} for problem {problem.id!r}; "
            f"there are {', '.join(REASONS)}"
        )
    return verdict
