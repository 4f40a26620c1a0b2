"""The tasks by name; a task's pools of problems → train, validation and test problems."""

import random
import warnings
from collections.abc import Hashable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import TypeGuard

from erce.catalog import is_user_defined, load_user_defined, unknown
from erce.errors import InputError, did_you_mean
from erce.tasks.gsm8k import GSM8K, GSM8K_ANSWER_ONLY
from erce.tasks.math import MATH
from erce.tasks.mbpp import MBPP, MBPP_FULL
from erce.tasks.mini_code import MINI_CODE
from erce.tasks.mini_styles import MINI_STYLES, with_share
from erce.tasks.mini_sums import MINI_SUMS, MINI_SUMS_ANSWER_ONLY
from erce.tasks.overlap import LeftOutWarning, near_duplicates, text_key
from erce.tasks.rows import as_dataset
from erce.tasks.user_defined import PROBLEMS_PER_TEST_PROBLEM, jsonl_task
from erce.tasks.verdicts import check_demonstrations
from erce.types import Pools, Problem, Splits, Task, Verifier

__all__ = [
    "READERS",
    "TASKS",
    "as_dataset",
    "check_demonstrations",
    "jsonl_task",
    "load_task",
    "near_duplicates",
    "reader_task",
    "splits",
]

TASKS = {
    "mini-sums": MINI_SUMS,
    "mini-sums-answer-only": MINI_SUMS_ANSWER_ONLY,
    "mini-styles": MINI_STYLES,
    "mini-code": MINI_CODE,
    "gsm8k": GSM8K,
    "gsm8k-answer-only": GSM8K_ANSWER_ONLY,
    "math": MATH,
    "mbpp": MBPP,
    "mbpp-full": MBPP_FULL,
}
# The verifiers that rows with an `answer`, or with `tests`, can name: those of these tasks.
READERS = {"number": GSM8K, "math": MATH, "program": MBPP}


def load_task(name: str, *, columns: Mapping[str, str] | None = None) -> Task:
    """Return the task of that name in `TASKS`, "mini-styles:SHARE", or a user's "package.module:NAME".

    NAME is a `Task`, or a function that verifies the problems in the JSONL file or data set that the recipe's
    `data` names (`erce.tasks.user_defined`), whose `columns` are then those given. A name of `READERS` stands
    for such a function of erce. InputError: no such task, or columns for one that reads its own source.

    >>> load_task("mini-sums").n_test
    400
    """
    if name in TASKS:
        task = TASKS[name]
    elif name in READERS:
        return reader_task(name, columns=columns)
    elif (share := name.removeprefix("mini-styles:")) != name:
        task = with_share(share)
    elif is_user_defined(name):
        own = load_user_defined("task", name)
        if _is_verifier(own):
            return jsonl_task(name, None, own, columns=columns)
        task = _checked(name, own)
    else:
        raise InputError(unknown("task", name, {**TASKS, **READERS}))
    if columns:
        raise InputError(
            f"[columns] has no effect on task {name!r}, which reads its own source; leave it out"
        )
    return task


def reader_task(name: str, *, columns: Mapping[str, str] | None = None) -> Task:
    """Return the task of a user's problems that a verifier of `READERS` verifies.

    >>> reader_task("math").name, reader_task("math").max_new_tokens  # not MATH itself, which has 1024
    ('math', 512)
    """
    reader = READERS[name]
    task = jsonl_task(name, None, reader.verify, columns=columns)
    return replace(task, verify_flexible=reader.verify_flexible, equal=reader.equal)


def _checked(name: str, own: object) -> Task:
    if isinstance(own, Task):
        return own
    module, _, attribute = name.partition(":")
    file = getattr(import_module(module), "__file__", "built in")
    if own is not None:
        what = f"{attribute} is {'a class' if isinstance(own, type) else repr(own)[:60]}"
        way_out = "name an erce.types.Task, or a function of a problem and a completion"
    else:
        what = f"{module} has no {attribute}"
        way_out = did_you_mean(attribute, dir(import_module(module)), otherwise="correct the name")
    raise InputError(f"{name!r} is not a task: {what} ({file}); {way_out}")


def _is_verifier(own: object) -> TypeGuard[Verifier]:
    return callable(own) and not isinstance(own, type)


def splits(
    task: Task,
    *,
    data: str | None = None,
    n_train: int | None = None,
    n_validation: int | None = None,
    n_test: int | None = None,
    seed: int = 42,
) -> Splits:
    """Take train, validation and test problems from the task's pools.

    Each pool is put in a shuffled order that depends on `seed` alone. Train comes from the front of the train
    pool, validation from its back, test from the front of the test pool, so no size changes what another
    takes, but for near-duplicates of a test problem (`erce.tasks.overlap`): these are left out with a
    warning, and the next ones take their place. Left out are also problems that repeat another's prompt but
    for case, space and punctuation.

    Args:
        task: Whose pools these are.
        data: The folder, file or data set that the pools are read from; None is the task's own source.
        n_train: How many problems to train on; None is the task's number, as for the next two.
        n_validation: How many to choose λ on.
        n_test: How many to test on.
        seed: Of the shuffled order.

    Returns:
        Three lists that share no prompt.

    Raises:
        InputError: A size that the pools do not have, or two problems with one id.
    """
    sizes = {"n_train": n_train, "n_validation": n_validation, "n_test": n_test}
    for name, size in sizes.items():
        if size is not None and size <= 0:
            raise InputError(f"{name} = {size} leaves nothing for task {task.name!r}; it is at least 1")
    pools = task.pools(data)
    count = len(pools.train) + len(pools.test)
    pools = Pools(_shuffled(pools.train, f"train {seed}"), _shuffled(pools.test, f"test {seed}"))
    if repeated := count - len(pools.train) - len(pools.test):
        _say_left_out(f"task {task.name!r}: {repeated} of {count} problems repeat another's prompt")
    _check_ids(task, pools)
    parts = _taken(task, pools, sizes)
    while pairs := near_duplicates(parts.train + parts.validation, parts.test):
        leaked, first = {pair.trained.id for pair in pairs}, pairs[0]
        _say_left_out(
            f"task {task.name!r}: {len(leaked)} of {len(pools.train)} problems to train on give a test "
            f"problem away, the first {first.trained.id!r}, which is nearly {first.tested.id!r}"
        )
        pools = Pools(tuple(problem for problem in pools.train if problem.id not in leaked), pools.test)
        parts = _taken(task, pools, sizes)
    return parts


def _taken(task: Task, pools: Pools, sizes: dict[str, int | None]) -> Splits:
    """Return the problems that the pools, in their order, give for these sizes."""
    if not pools.test or len(pools.train) < 2:
        raise InputError(
            f"task {task.name!r} has {len(pools.train)} problems to train on and {len(pools.test)} to test "
            "on, which are too few; a study needs one to train on, one to validate on and one to test on"
        )
    train, validation, test = _resolve_sizes(task, pools, sizes)
    if train + validation > len(pools.train):
        raise InputError(
            f"n_train = {train} and n_validation = {validation} ask for {train + validation} problems, but "
            f"task {task.name!r} has {len(pools.train)} to train on; ask for fewer"
        )
    if test > len(pools.test):
        raise InputError(
            f"n_test = {test}, but task {task.name!r} has {len(pools.test)} test problems (of a file without "
            "`split`, a fifth of its rows); ask for fewer"
        )
    return Splits(train=pools.train[:train], validation=pools.train[-validation:], test=pools.test[:test])


def _resolve_sizes(task: Task, pools: Pools, sizes: dict[str, int | None]) -> tuple[int, int, int]:
    """Return how many problems train, validation and test get, with `ALL` counted in the pools."""
    train, validation, test = (getattr(task, name) if n is None else n for name, n in sizes.items())
    validation = validation or max(1, len(pools.train) // PROBLEMS_PER_TEST_PROBLEM)
    return train or max(1, len(pools.train) - validation), validation, test or len(pools.test)


def _shuffled(pool: tuple[Problem, ...], seed: str) -> tuple[Problem, ...]:
    """Return the pool's distinct problems in an order that the seed fixes."""
    distinct: dict[Hashable, Problem] = {}
    for problem in pool:
        distinct.setdefault(text_key(problem.prompt), problem)
    order = list(distinct.values())
    random.Random(seed).shuffle(order)
    return tuple(order)


def _say_left_out(what: str) -> None:
    warnings.warn(f"{what}; left out", LeftOutWarning, stacklevel=3)


def _check_ids(task: Task, pools: Pools) -> None:
    """Raise an InputError if two problems have the same id, under which completions and verdicts are kept."""
    by_id: dict[str, Problem] = {}
    for problem in pools.train + pools.test:
        other = by_id.setdefault(problem.id, problem)
        if other is not problem:
            raise InputError(
                f"task {task.name!r} has two problems with the id {problem.id!r} ({other.prompt[:60]!r} and "
                f"{problem.prompt[:60]!r}); give each its own"
            )
