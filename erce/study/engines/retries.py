"""Cells without a result → how each ended; failures are tried again last, a lost cause is given up early."""

from collections.abc import Callable, Iterator, Sequence

from erce.recipe import Cell
from erce.study.engines import Done

LOST_CAUSE = 3  # failures before the first success, after which the others are not begun


def sweep(
    run: Callable[[Sequence[Cell]], Iterator[Done]],
    cells: Sequence[Cell],
    *,
    retries: int = 0,
    succeeded: int = 0,
) -> Iterator[Done]:
    """How each cell ended, as it ends; those that failed once more, up to `retries` times, after all others.

    Ends early where going on is hopeless: a full disk, or `LOST_CAUSE` failures and not one success, of which
    `succeeded` were there before. A training that diverged is neither, and is not tried again.
    """
    for _ in range(retries + 1):
        failed: list[Cell] = []
        for done in run(cells):
            yield done
            if done.failure and not done.diverged:
                failed.append(done.cell)
            succeeded += not done.failure
            if done.hopeless or (not succeeded and len(failed) >= LOST_CAUSE):
                return
        cells = failed
        if not cells:
            return
