"""The tasks by name, and the draw that turns a task's pools into train, validation and test problems."""

import random
from typing import TypeGuard

from erce.catalog import is_own, load_own, unknown
from erce.tasks.demonstrations import check_demonstrations
from erce.tasks.gsm8k import GSM8K, GSM8K_ANSWER_ONLY
from erce.tasks.math import MATH
from erce.tasks.mbpp import MBPP, MBPP_FULL
from erce.tasks.mini_code import MINI_CODE
from erce.tasks.mini_sums import MINI_SUMS, MINI_SUMS_ANSWER_ONLY
from erce.tasks.overlap import near_duplicates
from erce.tasks.own import TEST_SHARE, Judge, jsonl_task
from erce.types import Pools, Problem, Splits, Task

__all__ = ["TASKS", "check_demonstrations", "jsonl_task", "load_task", "near_duplicates", "splits"]

TASKS = {
    "mini-sums": MINI_SUMS,
    "mini-sums-answer-only": MINI_SUMS_ANSWER_ONLY,
    "mini-code": MINI_CODE,
    "gsm8k": GSM8K,
    "gsm8k-answer-only": GSM8K_ANSWER_ONLY,
    "math": MATH,
    "mbpp": MBPP,
    "mbpp-full": MBPP_FULL,
}


def load_task(name: str) -> Task:
    """The task of that name in `TASKS`, or one's own, as "package.module:NAME"; else a ValueError.

    NAME is a `Task`, or a function that judges the problems in the JSONL file that the recipe's `data` names
    (`erce.tasks.own`).

    >>> load_task("mini-sums").n_test
    400
    """
    if name in TASKS:
        return TASKS[name]
    if not is_own(name):
        raise ValueError(unknown("task", name, TASKS))
    found = load_own("task", name)
    if isinstance(found, Task):
        return found
    if _is_judge(found):
        return jsonl_task(name, None, found)
    module, _, attribute = name.partition(":")
    raise ValueError(
        f"{name!r} is not a task: {module} has no erce.types.Task and no function named {attribute!r}"
    )


def _is_judge(found: object) -> TypeGuard[Judge]:
    return callable(found) and not isinstance(found, type)


def splits(
    task: Task,
    *,
    data: str | None = None,
    n_train: int | None = None,
    n_validation: int | None = None,
    n_test: int | None = None,
    seed: int = 42,
) -> Splits:
    """Three disjoint draws from the task's pools; a size of None is the task's own.

    Each pool is put in one shuffled order that depends on `seed` alone. Train is taken from the front of the
    train pool, validation from its back, test from the front of the test pool, so no size changes what
    another draws. Two problems of a pool whose prompts differ only in case and space are one: the first is
    kept. A problem drawn for train or validation that is a near-duplicate of one drawn for test
    (`erce.tasks.overlap`) is a ValueError that names both.
    """
    asked = {"n_train": n_train, "n_validation": n_validation, "n_test": n_test}
    for name, size in asked.items():
        if size is not None and size <= 0:
            raise ValueError(f"{name} = {size} leaves nothing for task {task.name!r}; it is at least 1")
    pools = task.pools(data)
    pools = Pools(_shuffled(pools.train, f"train {seed}"), _shuffled(pools.test, f"test {seed}"))
    train, validation, test = _sizes(task, pools, asked)
    if train + validation > len(pools.train):
        raise ValueError(
            f"n_train = {train} and n_validation = {validation} ask for {train + validation} problems, but "
            f"task {task.name!r} has {len(pools.train)} to train on; ask for fewer"
        )
    if test > len(pools.test):
        raise ValueError(
            f"n_test = {test}, but task {task.name!r} has {len(pools.test)} test problems; ask for fewer"
        )
    drawn = Splits(train=pools.train[:train], validation=pools.train[-validation:], test=pools.test[:test])
    _check_ids(task, pools)
    _check_disjoint(task, drawn)
    return drawn


def _sizes(task: Task, pools: Pools, asked: dict[str, int | None]) -> tuple[int, int, int]:
    """How many problems train, validation and test get; `ALL` is resolved against the pools."""
    train, validation, test = (getattr(task, name) if n is None else n for name, n in asked.items())
    validation = validation or max(1, len(pools.train) // TEST_SHARE)
    return train or max(1, len(pools.train) - validation), validation, test or len(pools.test)


def _shuffled(pool: tuple[Problem, ...], seed: str) -> tuple[Problem, ...]:
    """The pool's distinct problems in an order of the seed's."""
    distinct: dict[str, Problem] = {}
    for problem in pool:
        distinct.setdefault(" ".join(problem.prompt.casefold().split()), problem)
    order = list(distinct.values())
    random.Random(seed).shuffle(order)
    return tuple(order)


def _check_ids(task: Task, pools: Pools) -> None:
    """Completions and verdicts are kept by the id of their problem."""
    seen: dict[str, Problem] = {}
    for problem in pools.train + pools.test:
        other = seen.setdefault(problem.id, problem)
        if other is not problem:
            raise ValueError(
                f"task {task.name!r} has two problems with the id {problem.id!r} ({other.prompt[:60]!r} and "
                f"{problem.prompt[:60]!r}); give each its own"
            )


def _check_disjoint(task: Task, drawn: Splits) -> None:
    for pair in near_duplicates(drawn.train + drawn.validation, drawn.test):
        raise ValueError(
            f"task {task.name!r} trains on {pair.trained.id!r} ({pair.trained.prompt[:60]!r}), a "
            f"near-duplicate of test problem {pair.tested.id!r} ({pair.tested.prompt[:60]!r}); "
            "take one of them out"
        )
