"""Cells without a result → how each ended; failures run again last, a hopeless study is given up early."""

from collections.abc import Generator, Sequence

from erce.recipe import Cell
from erce.study.engines.one_cell import Done, RunCells

FAILURES_TO_GIVE_UP = 3  # before the first success; then the other cells are not started


def sweep(
    run: RunCells, cells: Sequence[Cell], *, retries: int = 0, succeeded: int = 0
) -> Generator[Done, None, None]:
    """Yield how each cell ended; those that failed run again after all others, up to `retries` times.

    End early where going on is hopeless: after a full disk, an error of a function that judges, or
    `FAILURES_TO_GIVE_UP` failures without one success; `succeeded` counts the successes before this sweep. A
    training that diverged does not count as a failure here, and is not tried again.
    """
    for _ in range(retries + 1):
        failed: list[Cell] = []
        for done in run(cells):
            yield done
            if done.failure and not done.diverged:
                failed.append(done.cell)
            succeeded += not done.failure
            if done.hopeless or (not succeeded and len(failed) >= FAILURES_TO_GIVE_UP):
                return
        cells = failed
        if not cells:
            return
