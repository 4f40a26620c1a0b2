"""Cells without a result → each run once: in this process, in several, or on a Ray cluster.

What runs a cell is handed in (`Work.run`), so nothing here knows of training. Every engine leaves the same
cell folders; what it yields says which cell is done or has failed, and never holds a score.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

from erce.recipe import Cell
from erce.study.engines.locks import study_lock
from erce.study.engines.one_cell import DIVERGED, FAILURE, LOG, Done, Work, run_one

__all__ = [
    "DIVERGED",
    "ENGINES",
    "FAILURE",
    "LOG",
    "Done",
    "Work",
    "name_of",
    "open_engine",
    "study_lock",
]

Run = Callable[[Sequence[Cell]], Iterator[Done]]


def open_engine(work: Work, *, engine: str = "auto", jobs: int | None = None) -> AbstractContextManager[Run]:
    """A function that runs cells and yields each when it has ended, in whatever order; workers stay warm
    between its calls.

    `engine` is a name of `ENGINES`, "auto" for "here" with one job and "processes" with more, or a Ray
    cluster's address ("ray://HOST:10001", "ray@HOST:6379"). `jobs` is the number of processes; on Ray, the
    most cells at a time. None is one process, and on Ray at most 64 cells at a time.
    """
    return ENGINES[name_of(engine, jobs)](work, jobs, _parts(engine)[1])


def name_of(engine: str, jobs: int | None) -> str:
    """The name in `ENGINES` of what `open_engine` would take.

    >>> name_of("auto", None), name_of("auto", 2), name_of("ray@head:6379", 2)
    ('here', 'processes', 'ray')
    """
    name, _ = _parts(engine)
    if name == "auto":
        return "here" if jobs in (None, 1) else "processes"
    return name


def _parts(engine: str) -> tuple[str, str | None]:
    """An engine's name, and of Ray the address, None for the one in RAY_ADDRESS or a cluster of its own.

    >>> _parts("processes"), _parts("ray"), _parts("ray://head:10001"), _parts("ray@head:6379")
    (('processes', None), ('ray', None), ('ray', 'ray://head:10001'), ('ray', 'head:6379'))
    """
    if engine.startswith("ray://"):
        return "ray", engine
    name, _, address = engine.partition("@")
    if name not in (*ENGINES, "auto") or (address and name != "ray"):
        raise ValueError(
            f"no engine {engine!r}; there are {', '.join(ENGINES)}, and for a cluster that runs already "
            "ray://HOST:10001 or ray@HOST:6379"
        )
    return name, address or None


@contextmanager
def _here(work: Work, jobs: int | None, address: None) -> Iterator[Run]:
    if jobs not in (None, 1):
        raise ValueError(f"jobs = {jobs} with engine 'here', which is this one process; use 'processes'")

    def run(cells: Sequence[Cell]) -> Iterator[Done]:
        for cell in cells:
            yield run_one(work, cell)

    yield run


@contextmanager
def _processes(work: Work, jobs: int | None, address: None) -> Iterator[Run]:
    from erce.study.engines.processes import Pool

    with Pool(work, 1 if jobs is None else jobs) as pool:
        yield pool.run


@contextmanager
def _ray(work: Work, jobs: int | None, address: str | None) -> Iterator[Run]:
    from erce.study.engines.ray import cluster

    with cluster(work, jobs, address) as run:
        yield run


ENGINES = {"here": _here, "processes": _processes, "ray": _ray}
