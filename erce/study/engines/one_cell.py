"""One cell, run where an engine has put it → that it is done, or what stopped it, never an exception."""

import shutil
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from erce.errors import DivergedError
from erce.recipe import Cell, Recipe
from erce.study.engines.locks import UNWRITABLE, cell_lock
from erce.study.folder import cell_folder, is_done

FAILURE, LOG = "failure.txt", "log.txt"  # of a cell that failed: its traceback, and what it printed
DIVERGED = "diverged.txt"  # beside them where its training did: the sentence


@dataclass(frozen=True)
class Work:
    """A study's folder and recipe, and the function that runs one of its cells in them.

    `threads` is how many a cell computes with on a CPU, None for the cores shared among the jobs; `gpus` how
    many devices it needs, a fraction where several cells share one.
    """

    root: Path
    recipe: Recipe
    run: Callable[[Path, Recipe, Cell], None]
    threads: int | None = None
    gpus: float = 0.0
    processes: int = 1


class Done(NamedTuple):
    """How one cell ended: `failure` is empty where it has its result, else what went wrong in a line.

    The traceback is in the cell's folder, in failure.txt, until it is tried again. `hopeless`: every other
    cell would fail in the same way. `diverged`: this one would again, and says nothing of the others.
    """

    cell: Cell
    failure: str = ""
    hopeless: bool = False
    seconds: float = 0.0
    diverged: bool = False


def run_one(work: Work, cell: Cell) -> Done:
    """The cell run to its end, or only found done."""
    folder, started = cell_folder(work.root, work.recipe, cell), time.monotonic()
    with Caught() as caught, cell_lock(work.root, folder.name):
        if not is_done(work.root, work.recipe, cell):
            # First: no kill may leave a finished cell with what was left of an earlier attempt.
            for left in (folder / FAILURE, folder / LOG, folder / DIVERGED, *folder.glob(".*.tmp")):
                _remove(left)
            work.run(work.root, work.recipe, cell)
    if caught.text:
        with suppress(OSError):  # a full disk is often why
            folder.mkdir(parents=True, exist_ok=True)
            (folder / FAILURE).write_text(caught.text, encoding="utf-8", errors="replace")
            if caught.diverged:
                (folder / DIVERGED).write_text(f"{caught.line}\n", encoding="utf-8", errors="replace")
    return Done(cell, caught.line, caught.hopeless, time.monotonic() - started, caught.diverged)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@dataclass
class Caught:
    """Keeps what a cell raised, an exit of the task's own code too; Ctrl-C passes.

    `line` is fit for a terminal: what a server or a model wrote into it cannot steer one.
    """

    text: str = ""
    line: str = ""
    hopeless: bool = False
    diverged: bool = False

    def __enter__(self) -> "Caught":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None or not isinstance(error, Exception | SystemExit):
            return False
        self.text = "".join(traceback.format_exception(error))
        self.line = one_line(error)
        self.hopeless = isinstance(error, OSError) and error.errno in UNWRITABLE
        self.diverged = isinstance(error, DivergedError)
        return True


def one_line(error: BaseException) -> str:
    """Its kind and the first line of what it says.

    >>> one_line(ValueError("no\\x1b[31m luck"))
    'ValueError: no�[31m luck'
    """
    said = (str(error).strip().splitlines() or ["no message"])[0]
    line = f"{type(error).__name__}: {said.strip()}"[:500]
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in line
    )
