"""A JSONL file and a Python function → a Task of one's own.

    {"prompt": "Spell 3 backwards.", "demonstration": "eerht", "answer": "eerht"}       problems.jsonl

    def judge(problem, completion):                                                     checks.py
        return completion.text.strip() == problem.answer

    task = "checks:judge"                                                               the recipe
    data = "problems.jsonl"

Each line has a `prompt` and a `demonstration`. Optional are `answer`; `id` (else the line's number); `tests`,
`setup` and `entry_points` for `erce.verify.verify_program`, which is a function that one may name; `split`,
"train" or "test", in every line or in none: without it, a fifth of the problems is for tests, chosen by a
digest of the prompts. The function gets the `Problem` and the `Completion` and returns a bool or a `Verdict`.
What it raises ends the study: an accident is not a wrong answer.
"""

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from erce.tasks.source import Row, json_lines
from erce.types import REASONS, Completion, Pools, Problem, Task, Verdict

FIELDS = ("prompt", "demonstration", "answer", "id", "tests", "setup", "entry_points", "split")
ALL = 0  # a size: all that the other draws leave
TEST_SHARE = 5  # one problem in so many is for tests, where the file does not say

Judge = Callable[[Problem, Completion], "Verdict | bool"]


def jsonl_task(
    name: str, file: str | None, verify: Judge, *, max_new_tokens: int = 512, max_length: int = 1024
) -> Task:
    """The task of the problems in a JSONL file, judged by `verify`, as this module's docstring describes.

    `file` None: the recipe's `data`, which otherwise wins over it. The sizes are those of the file: all its
    test problems, a fifth of the others for validation, the rest to train on.
    """
    return Task(
        name=name,
        pools=partial(_pools, name=name, file=file),
        verify=partial(_verdict, judge=verify),
        n_train=ALL,
        n_validation=ALL,
        n_test=ALL,
        max_new_tokens=max_new_tokens,
        max_length=max_length,
    )


def _pools(data: str | None, *, name: str, file: str | None) -> Pools:
    path = data or file
    if path is None:
        raise ValueError(f'task {name!r} has no problems yet: name their file with data = "problems.jsonl"')
    if not Path(path).is_file():
        raise ValueError(f"task {name!r}: no file {path!r}; its problems are one JSON object a line")
    rows = list(json_lines(Path(path)))
    problems = [_problem(row, f"line-{number}") for number, row in enumerate(rows, start=1)]
    tested = _tested(rows, problems)
    pools = Pools(
        train=tuple(each for each, test in zip(problems, tested, strict=True) if not test),
        test=tuple(each for each, test in zip(problems, tested, strict=True) if test),
    )
    if not pools.test or len(pools.train) < 2:
        raise ValueError(
            f"{path}: {len(pools.train)} problems to train on and {len(pools.test)} to test on are too few; "
            "a study needs one to train on, one to validate on and one to test on"
        )
    return pools


def _problem(row: Row, id: str) -> Problem:
    unknown = [key for key in row.values if key not in FIELDS]
    if unknown:
        raise row.fault(f"no field {unknown[0]!r}; there are {', '.join(FIELDS)}")
    for needed in ("prompt", "demonstration"):
        if not row.text(needed).strip():
            raise row.fault(f"`{needed}` is empty")
    names = row.values.get("entry_points")
    return Problem(
        id=row.text("id", default=id),
        prompt=row.text("prompt"),
        demonstration=row.text("demonstration"),
        answer=row.text("answer", default=""),
        tests=row.texts("tests", default=()),
        setup=row.texts("setup", default=()),
        entry_points=None if names is None else row.texts("entry_points"),
    )


def _tested(rows: list[Row], problems: list[Problem]) -> list[bool]:
    """Whether each problem is for tests."""
    named = [row.values.get("split") for row in rows]
    if any(name is not None for name in named):
        for row, name in zip(rows, named, strict=True):
            if name not in ("train", "test"):
                raise row.fault(f'`split` is {name!r}; it is "train" or "test", in every line or in none')
        return [name == "test" for name in named]
    digests = [hashlib.sha256("".join(each.prompt.casefold().split()).encode()).digest() for each in problems]
    distinct = sorted(set(digests))
    chosen = set(distinct[: -(-len(distinct) // TEST_SHARE)])
    return [digest in chosen for digest in digests]


def _verdict(problem: Problem, completion: Completion, *, judge: Judge) -> Verdict:
    """What the user's function says; False is "truncated" where the completion was cut off."""
    told: Any = judge(problem, completion)
    if isinstance(told, bool):
        wrong = "different" if completion.finished else "truncated"
        return Verdict(told, "exact" if told else wrong)
    if not isinstance(told, Verdict):
        raise ValueError(
            f"the verifier {_named(judge)} returned {repr(told)[:60]} ({type(told).__name__}) for problem "
            f"{problem.id!r}; return True, False or an erce.types.Verdict"
        )
    if told.reason not in REASONS:
        raise ValueError(
            f"the verifier {_named(judge)} gave the reason {told.reason!r} for problem {problem.id!r}; "
            f"there are {', '.join(REASONS)}"
        )
    return told


def _named(judge: Judge) -> str:
    return getattr(judge, "__qualname__", repr(judge))
