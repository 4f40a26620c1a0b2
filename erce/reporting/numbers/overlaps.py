"""A study's problems.jsonl → the test problems that a problem of another split gives away."""

from functools import lru_cache

from erce.reporting.numbers.gains import Summary
from erce.study.folder import read_problems
from erce.tasks.overlap import Overlap, near_duplicates
from erce.types import Problem


@lru_cache(maxsize=1)
def overlaps(summary: Summary) -> list[Overlap]:
    """Return the near-duplicates between the test problems of the study's own task and its other splits.

    `erce run` refuses such splits, but something else may have filled the folder. Empty without
    problems.jsonl.
    """
    trained, tested = [], []
    for row in read_problems(summary.study.root):
        if row["task"] == summary.study.recipe.task:
            problem = Problem(
                id=row["problem"],
                prompt=row.get("prompt", ""),
                demonstration=row.get("demonstration") or "",
                answer=str(row.get("answer") or ""),
                tests=tuple(row.get("tests") or ()),
            )
            (tested if row["split"] == "test" else trained).append(problem)
    return near_duplicates(trained, tested)
