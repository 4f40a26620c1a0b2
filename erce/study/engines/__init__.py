"""Cells without a result → each run once: in this process, in several, or on a Ray cluster.

The function that runs a cell is handed in (`Work.run`), so nothing here knows of training. Every engine
leaves the same cell folders. An engine yields which cell is done or has failed, never a score. To add one:
its file, and its line in `ENGINES` at the end of this one, with what it can.
"""

import shutil
import signal
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from erce import events
from erce.errors import DivergedError, InputError, VerifierError
from erce.recipe import Cell, Recipe, further_temperatures
from erce.study.engines.locks import UNWRITABLE, cell_lock
from erce.study.folder import DIVERGED, cell_folder
from erce.study.freshness import is_done

FAILURE, LOG = "failure.txt", "log.txt"  # a failed cell's traceback, and what it printed


@dataclass(frozen=True)
class Work:
    """A study's folder and recipe, and the function that runs one of its cells in them."""

    root: Path
    recipe: Recipe
    run: Callable[[Path, Recipe, Cell], None]

    def folder(self, cell: Cell) -> Path:
        return cell_folder(self.root, self.recipe, cell)

    def is_done(self, cell: Cell) -> bool:
        return is_done(self.folder(cell), further_temperatures(self.recipe, cell))


class Done(NamedTuple):
    """The end of one cell. `failure` is empty if the cell has its result, else one line on what went wrong.

    The traceback is in the cell's folder, in failure.txt, until the cell is tried again. `fatal`: every
    other cell would fail in the same way. `diverged`: this cell would fail again; others need not.
    """

    cell: Cell
    failure: str = ""
    fatal: bool = False
    seconds: float = 0.0
    diverged: bool = False


RunCells = Callable[[Sequence[Cell]], Iterator[Done]]  # yields each cell's end, in whatever order


@dataclass(frozen=True, kw_only=True)
class Engine:
    """A way to run cells, and what the rest of a study must know of it."""

    open: Callable[[Work, int | None, str | None], AbstractContextManager[RunCells]]
    in_this_process: bool = False  # cells use this process's device and its copy of the base model
    on_this_machine: bool = True  # cells run on this machine, whose devices decide dtype and batch sizes
    shares_folder: bool = True  # cells work in the study's folder, where a server finds their adapters and
    # a run that is stopped leaves what they have done
    takes_address: bool = False  # NAME@ADDRESS is that of a cluster


def open_engine(
    work: Work, *, engine: str = "auto", jobs: int | None = None
) -> AbstractContextManager[RunCells]:
    """Open an engine: a function that runs cells and yields each one's end, in whatever order.

    Workers stay warm between its calls. `engine` is a name of `ENGINES`, "auto" for "here" with one job and
    "processes" with more, or a name with the address of a cluster ("ray@HOST:6379"). `jobs` is the number of
    processes; on Ray, the most cells at a time. None is one process, and on Ray 64 cells.
    """
    name, address = _name_and_address(engine, jobs)
    return ENGINES[name].open(work, jobs, address)


def engine_named(engine: str, jobs: int | None = None) -> Engine:
    """Return the engine that `open_engine` would open; an InputError where there is none."""
    return ENGINES[_name_and_address(engine, jobs)[0]]


def _name_and_address(engine: str, jobs: int | None) -> tuple[str, str | None]:
    """Return the engine's name in `ENGINES`, and the address after its @.

    >>> _name_and_address("auto", None), _name_and_address("auto", 2), _name_and_address("ray@head:6379", 2)
    (('here', None), ('processes', None), ('ray', 'head:6379'))
    """
    if jobs is not None and jobs < 1:
        raise InputError(f"jobs = {jobs} must be 1 or more")
    if engine == "auto":
        return ("here" if jobs in (None, 1) else "processes"), None
    name, _, address = engine.partition("@")
    if name not in ENGINES or (address and not ENGINES[name].takes_address):
        clusters = ", ".join(f"{each}@HOST:PORT" for each in ENGINES if ENGINES[each].takes_address)
        raise InputError(
            f"no engine {engine!r}; there are {', '.join(ENGINES)}, and for a cluster that runs already "
            f"{clusters}"
        )
    return name, address or None


def run_one(work: Work, cell: Cell) -> Done:
    """Run the cell to its end, unless it is done already."""
    folder, started = work.folder(cell), time.monotonic()
    with CellFailure() as caught, cell_lock(work.root, folder.name):
        if not work.is_done(cell):
            # Removed first, so that no kill leaves a finished cell with an earlier attempt's files.
            for leftover in (folder / FAILURE, folder / LOG, folder / DIVERGED, *folder.glob(".*.tmp")):
                _remove(leftover)
            events.begin("loading the model", cell=cell.name)
            work.run(work.root, work.recipe, cell)
    if caught.trace:
        with suppress(OSError):  # a full disk is often what failed the cell
            folder.mkdir(parents=True, exist_ok=True)
            (folder / FAILURE).write_text(caught.trace, encoding="utf-8", errors="replace")
            if caught.diverged:
                (folder / DIVERGED).write_text(f"{caught.line}\n", encoding="utf-8", errors="replace")
    return Done(cell, caught.line, caught.fatal, time.monotonic() - started, caught.diverged)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@dataclass
class CellFailure:
    """A context that catches what a cell raises, and an exit by the task's own code.

    Ctrl-C passes, and so does an exit by a signal's handler, such as a user's or Ray's for SIGTERM.
    `line` is fit for a terminal: control characters of a server or a model are replaced.
    """

    trace: str = ""
    line: str = ""
    fatal: bool = False
    diverged: bool = False

    def __enter__(self) -> "CellFailure":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None or not isinstance(error, Exception | SystemExit) or _is_signals_exit(error):
            return False
        self.trace = "".join(traceback.format_exception(error))
        self.line = one_line(error)
        disk = isinstance(error, OSError) and error.errno in UNWRITABLE
        self.fatal = disk or isinstance(error, VerifierError)
        self.diverged = isinstance(error, DivergedError)
        return True


def _is_signals_exit(error: BaseException) -> bool:
    """Return whether the function that handles a signal in Python has raised the exit."""
    handlers = map(signal.getsignal, (signal.SIGTERM, signal.SIGINT))
    codes = {getattr(handler, "__code__", None) for handler in handlers}
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    return isinstance(error, SystemExit) and any(frame.f_code in codes for frame in frames)


def one_line(error: BaseException) -> str:
    """Return the error's kind and the first line of its message.

    >>> one_line(ValueError("no\\x1b[31m luck"))
    'ValueError: no�[31m luck'
    """
    first = (str(error).strip().splitlines() or ["no message"])[0]
    line = f"{type(error).__name__}: {first.strip()}"[:500]
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in line)


@contextmanager
def _here(work: Work, jobs: int | None, address: str | None) -> Iterator[RunCells]:
    if jobs not in (None, 1):
        raise InputError(f"jobs = {jobs} with engine 'here', which is this one process; use 'processes'")

    def run(cells: Sequence[Cell]) -> Iterator[Done]:
        for cell in cells:
            yield run_one(work, cell)

    yield run


@contextmanager
def _processes(work: Work, jobs: int | None, address: str | None) -> Iterator[RunCells]:
    from erce.study.engines.processes import WorkerPool

    with WorkerPool(work, 1 if jobs is None else jobs) as pool:
        yield pool.run


def _ray(work: Work, jobs: int | None, address: str | None) -> AbstractContextManager[RunCells]:
    from erce.study.engines.ray import cluster

    return cluster(work, jobs, address)


ENGINES = {
    "here": Engine(open=_here, in_this_process=True),
    "processes": Engine(open=_processes),
    "ray": Engine(open=_ray, on_this_machine=False, shares_folder=False, takes_address=True),
}
