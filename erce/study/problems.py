"""A recipe's task → its splits, and the rows of problems.jsonl, for readers of a study without the source."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from erce.recipe import Recipe
from erce.tasks import load_task, splits
from erce.types import Splits


@lru_cache(maxsize=8)
def cell_splits(recipe: Recipe, task: str) -> Splits:
    """Return the problems of a task in the sizes of the recipe; every cell has the same ones."""
    return splits(
        load_task(task, columns=_columns(recipe)),
        data=recipe.data,
        n_train=recipe.n_train,
        n_validation=recipe.n_validation,
        n_test=recipe.n_test,
        seed=recipe.split_seed,
    )


def _columns(recipe: Recipe) -> dict[str, str]:
    """Return field → column, where the recipe says so."""
    named = {} if recipe.columns is None else asdict(recipe.columns)
    return {field: column for field, column in named.items() if column is not None}


def problem_rows(splits_by_task: Mapping[str, Splits]) -> list[dict[str, Any]]:
    """Return a row for each problem of each task's splits."""
    return [
        {"task": task, "split": split, "problem": problem.id, "prompt": problem.prompt}
        | {"demonstration": problem.demonstration, "answer": problem.answer, "tests": list(problem.tests)}
        | ({} if problem.weight == 1 else {"weight": problem.weight})
        for task in splits_by_task
        for split, problems in vars(splits_by_task[task]).items()
        for problem in problems
    ]
