"""Every cell without a result, one after the other or in several processes.

What runs a cell is handed in, so this file knows nothing of training.
"""

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context

from erce.recipe import Cell

RunCell = Callable[[Cell], None]


def sweep(cells: list[Cell], run_cell: RunCell, *, jobs: int = 1) -> Iterator[Cell]:
    """Yields each cell as soon as it is done; an error in one stops the sweep, and what is finished stays."""
    engine = ENGINES["here" if jobs == 1 else "processes"]
    yield from engine(cells, run_cell, jobs)


def _here(cells: list[Cell], run_cell: RunCell, jobs: int) -> Iterator[Cell]:
    for cell in cells:
        run_cell(cell)
        yield cell


def _processes(cells: list[Cell], run_cell: RunCell, jobs: int) -> Iterator[Cell]:
    """Fresh interpreters that stay warm: each loads the base model once, and shares the cores evenly."""
    with _pool(jobs) as pool:
        running = {pool.submit(run_cell, cell): cell for cell in cells}
        for done in as_completed(running):
            done.result()
            yield running[done]


@contextmanager
def _pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_begin, initargs=(jobs,))
    try:
        yield pool
    except BrokenProcessPool:
        raise ValueError(
            "a process ended before its cell did: killed, or out of memory; finished cells are kept, and the "
            "same command goes on from there (fewer --jobs need less memory)"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(jobs: int) -> None:
    """Runs in each new process before torch is imported there, which then reads it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it without a traceback of its own
    os.environ["OMP_NUM_THREADS"] = str(max(1, (os.cpu_count() or 1) // jobs))


ENGINES = {"here": _here, "processes": _processes}
