"""The tasks by name, and the draw that turns a task's pools into train, validation and test problems."""

import random
from difflib import get_close_matches
from importlib import import_module

from erce.tasks.gsm8k import GSM8K, GSM8K_ANSWER_ONLY
from erce.tasks.mini_code import MINI_CODE
from erce.tasks.mini_sums import MINI_SUMS, MINI_SUMS_ANSWER_ONLY
from erce.types import Problem, Splits, Task

TASKS = {
    "mini-sums": MINI_SUMS,
    "mini-sums-answer-only": MINI_SUMS_ANSWER_ONLY,
    "mini-code": MINI_CODE,
    "gsm8k": GSM8K,
    "gsm8k-answer-only": GSM8K_ANSWER_ONLY,
}


def load_task(name: str) -> Task:
    """The task of that name in `TASKS`, or the one that "package.module:NAME" points to; else a ValueError.

    >>> load_task("mini-sums").n_test
    400
    """
    if name in TASKS:
        return TASKS[name]
    module, colon, attribute = name.partition(":")
    if not colon or not module or module.startswith("."):
        close = get_close_matches(name, TASKS, n=1, cutoff=0.4)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(TASKS)}"
        raise ValueError(f"no task {name!r}; {hint} (your own: package.module:NAME)")
    try:
        task = getattr(import_module(module), attribute, None)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise ValueError(f"no module {error.name!r} for the task {name!r}; is it on PYTHONPATH?") from error
    if not isinstance(task, Task):
        raise ValueError(f"{name!r} is not a task: {module} has no erce.types.Task named {attribute!r}")
    return task


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
    another draws. Two problems whose prompts differ only in case and space are one: within a pool the first
    is kept, and one that is drawn for test as well as for train or validation is a ValueError that names it.
    """
    sizes = {
        "n_train": task.n_train if n_train is None else n_train,
        "n_validation": task.n_validation if n_validation is None else n_validation,
        "n_test": task.n_test if n_test is None else n_test,
    }
    for name, size in sizes.items():
        if size <= 0:
            raise ValueError(f"{name} = {size} leaves nothing for task {task.name!r}; it is at least 1")
    pools = task.pools(data)
    front, tests = _shuffled(pools.train, f"train {seed}"), _shuffled(pools.test, f"test {seed}")
    train, validation, test = sizes.values()
    if train + validation > len(front):
        raise ValueError(
            f"n_train = {train} and n_validation = {validation} ask for {train + validation} problems, but "
            f"task {task.name!r} has {len(front)} to train on; ask for fewer"
        )
    if test > len(tests):
        raise ValueError(
            f"n_test = {test}, but task {task.name!r} has {len(tests)} test problems; ask for fewer"
        )
    drawn = Splits(train=front[:train], validation=front[-validation:], test=tests[:test])
    _check_disjoint(task, drawn)
    return drawn


def _content(problem: Problem) -> str:
    """What makes two problems one: the prompt without case and runs of space."""
    return " ".join(problem.prompt.casefold().split())


def _shuffled(pool: tuple[Problem, ...], seed: str) -> tuple[Problem, ...]:
    """The pool's distinct problems in an order of the seed's."""
    distinct: dict[str, Problem] = {}
    for problem in pool:
        distinct.setdefault(_content(problem), problem)
    order = list(distinct.values())
    random.Random(seed).shuffle(order)
    return tuple(order)


def _check_disjoint(task: Task, drawn: Splits) -> None:
    seen = {_content(problem): problem for problem in drawn.train + drawn.validation}
    for problem in drawn.test:
        twin = seen.get(_content(problem))
        if twin is not None:
            raise ValueError(
                f"task {task.name!r} trains on test problem {problem.id!r}, which is {twin.id!r} "
                f"({problem.prompt[:60]!r}); take it out of one of the pools"
            )
