"""One cell, run where an engine has put it → a `Done` with its failure, if any; never an exception."""

import shutil
import signal
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from erce import events
from erce.errors import DivergedError, VerifierError
from erce.recipe import Cell, Recipe
from erce.study.engines.locks import UNWRITABLE, cell_lock
from erce.study.folder import DIVERGED, cell_folder, is_done

FAILURE, LOG = "failure.txt", "log.txt"  # a failed cell's traceback, and what it printed


@dataclass(frozen=True)
class Work:
    """A study's folder and recipe, and the function that runs one of its cells in them."""

    root: Path
    recipe: Recipe
    run: Callable[[Path, Recipe, Cell], None]

    def folder(self, cell: Cell) -> Path:
        return cell_folder(self.root, self.recipe, cell)


class Done(NamedTuple):
    """How one cell ended: `failure` is empty if the cell has its result, else one line on what went wrong.

    The traceback is in the cell's folder, in failure.txt, until the cell is tried again. `fatal`: every
    other cell would fail in the same way. `diverged`: this cell would fail again; others need not.
    """

    cell: Cell
    failure: str = ""
    fatal: bool = False
    seconds: float = 0.0
    diverged: bool = False


RunCells = Callable[[Sequence[Cell]], Iterator[Done]]  # yields each cell's end, in whatever order


def run_one(work: Work, cell: Cell) -> Done:
    """Run the cell to its end, unless it is done already."""
    folder, started = work.folder(cell), time.monotonic()
    with CellFailure() as caught, cell_lock(work.root, folder.name):
        if not is_done(work.root, work.recipe, cell):
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

    Ctrl-C passes, and so does an exit by a signal's handler, such as a user's own or Ray's for SIGTERM.
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
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in line
    )
