"""Cells without a result → each run once: in this process, in several, or on a Ray cluster.

The function that runs a cell is handed in (`Work.run`), so nothing here knows of training. Every engine
leaves the same cell folders. An engine yields which cell is done or has failed, never a score.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

from erce.errors import InputError
from erce.recipe import Cell
from erce.study.engines.locks import study_lock
from erce.study.engines.one_cell import FAILURE, LOG, Done, RunCells, Work, run_one

__all__ = [
    "ENGINES",
    "FAILURE",
    "LOG",
    "Done",
    "RunCells",
    "Work",
    "name_of",
    "open_engine",
    "study_lock",
]


def open_engine(
    work: Work, *, engine: str = "auto", jobs: int | None = None
) -> AbstractContextManager[RunCells]:
    """Open an engine: a function that runs cells and yields each one's end, in whatever order.

    Workers stay warm between its calls. `engine` is a name of `ENGINES`, "auto" for "here" with one job and
    "processes" with more, or a Ray cluster's address ("ray@HOST:6379"). `jobs` is the
    number of processes; on Ray, the most cells at a time. None is one process, and on Ray 64 cells.
    """
    return ENGINES[name_of(engine, jobs)](work, jobs, _parse_engine(engine)[1])


def name_of(engine: str, jobs: int | None) -> str:
    """Return the name in `ENGINES` of the engine that `open_engine` would open.

    >>> name_of("auto", None), name_of("auto", 2), name_of("ray@head:6379", 2)
    ('here', 'processes', 'ray')
    """
    if jobs is not None and jobs < 1:
        raise InputError(f"jobs = {jobs} must be 1 or more")
    name, _ = _parse_engine(engine)
    if name == "auto":
        return "here" if jobs in (None, 1) else "processes"
    return name


def _parse_engine(engine: str) -> tuple[str, str | None]:
    """Return the engine's name and Ray's address; None is the cluster in RAY_ADDRESS, or a new one.

    >>> _parse_engine("processes"), _parse_engine("ray")
    (('processes', None), ('ray', None))
    >>> _parse_engine("ray@head:6379")
    ('ray', 'head:6379')
    """
    if engine.startswith("ray://"):
        raise InputError(
            f"{engine} is the address of Ray's client server; run erce on a node of the cluster, by "
            "'ray job submit' say, with ray@HOST:6379"
        )
    name, _, address = engine.partition("@")
    if name not in (*ENGINES, "auto") or (address and name != "ray"):
        raise InputError(
            f"no engine {engine!r}; there are {', '.join(ENGINES)}, and for a cluster that runs already "
            "ray@HOST:6379"
        )
    return name, address or None


@contextmanager
def _here(work: Work, jobs: int | None, address: None) -> Iterator[RunCells]:
    if jobs not in (None, 1):
        raise InputError(f"jobs = {jobs} with engine 'here', which is this one process; use 'processes'")

    def run(cells: Sequence[Cell]) -> Iterator[Done]:
        for cell in cells:
            yield run_one(work, cell)

    yield run


@contextmanager
def _processes(work: Work, jobs: int | None, address: None) -> Iterator[RunCells]:
    from erce.study.engines.processes import WorkerPool

    with WorkerPool(work, 1 if jobs is None else jobs) as pool:
        yield pool.run


@contextmanager
def _ray(work: Work, jobs: int | None, address: str | None) -> Iterator[RunCells]:
    from erce.study.engines.ray import cluster

    with cluster(work, jobs, address) as run:
        yield run


ENGINES = {"here": _here, "processes": _processes, "ray": _ray}
