"""A JSONL file and a Python function → a user's own Task.

    {"prompt": "Spell 3 backwards.", "demonstration": "eerht", "answer": "eerht"}       problems.jsonl

    def judge(problem, completion):                                                     checks.py
        return completion.text.strip() == problem.answer

    task = "checks:judge"                                                               the recipe
    data = "problems.jsonl"

Each line has a `prompt` and a `demonstration`. Optional are `answer`; `id` (else the line's number); `tests`,
`setup` and `entry_points`, which the function `erce.verify.verify_program` reads; and `split`, "train" or
"test", in every line or in none: without it, a fifth of the problems is for tests, chosen by a digest of the
prompts. The function gets the `Problem` and the `Completion` and returns a bool or a `Verdict`. If it raises
an error, the study stops: a crash is never counted as a wrong answer.
"""

import hashlib
import math
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from erce.errors import InputError, JudgeError
from erce.tasks.source import SourceRow, json_lines
from erce.types import REASONS, Completion, Pools, Problem, Task, Verdict

FIELDS = ("prompt", "demonstration", "answer", "id", "tests", "setup", "entry_points", "split")
ALL = 0  # a size: all problems that the other draws leave
PROBLEMS_PER_TEST_PROBLEM = 5  # in a file without `split`


class RepeatedPromptWarning(UserWarning):
    """Problems of a user's file are left out, because an earlier one has the same prompt."""


Judge = Callable[[Problem, Completion], "Verdict | bool"]


def jsonl_task(
    name: str, file: str | None, verify: Judge, *, max_new_tokens: int = 512, max_length: int = 1024
) -> Task:
    """Return a task of the problems in a JSONL file, judged by `verify`; this module's docstring says how.

    The recipe's `data` wins over `file`, and must be there if `file` is None. By default the task uses the
    whole file: all test problems, a fifth of the others for validation, the rest to train on.
    """
    return Task(
        name=name,
        pools=partial(_pools, name=name, file=file),
        verify=partial(_verify, judge=verify),
        n_train=ALL,
        n_validation=ALL,
        n_test=ALL,
        max_new_tokens=max_new_tokens,
        max_length=max_length,
    )


def _pools(data: str | None, *, name: str, file: str | None) -> Pools:
    path = data or file
    if path is None:
        raise InputError(f'task {name!r} has no problems yet: name their file with data = "problems.jsonl"')
    if not Path(path).is_file():
        raise InputError(f"task {name!r}: no file {path!r}; its problems are one JSON object a line")
    rows = list(json_lines(Path(path)))
    if not rows:
        raise InputError(f"{path} is empty; its problems are one JSON object a line")
    problems = [_problem(row, f"line-{number}") for number, row in enumerate(rows, start=1)]
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


def _problem(row: SourceRow, id: str) -> Problem:
    unknown = [key for key in row.values if key not in FIELDS]
    if unknown:
        if unknown[0] == "messages":
            raise InputError(
                f"{row.where}: `messages` is a conversation; write the user's text as `prompt` and the "
                "answer as `demonstration` (docs/formats.md has the lines that do it)"
            )
        raise row.fault(f"no field {unknown[0]!r}; there are {', '.join(FIELDS)}")
    for needed in ("prompt", "demonstration"):
        if not row.text(needed).strip():
            raise row.fault(f"`{needed}` is empty")
    names = row.values.get("entry_points")
    return Problem(
        id=row.text("id", default=id),
        prompt=row.text("prompt"),
        demonstration=row.text("demonstration"),
        answer=_answer(row),
        tests=row.texts("tests", default=()),
        setup=row.texts("setup", default=()),
        entry_points=None if names is None else row.texts("entry_points"),
    )


def _answer(row: SourceRow) -> str:
    """Return the row's answer, a text or a number; "" where there is none."""
    answer = row.values.get("answer")
    is_number = isinstance(answer, int | float) and not isinstance(answer, bool)
    return str(answer) if is_number else row.text("answer", default="")


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
