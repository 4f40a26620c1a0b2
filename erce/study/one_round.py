"""One round of a study → the cells of it that failed, and the error that names all that failed."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from erce.errors import CellsFailedError, RunError
from erce.recipe import Cell, Recipe
from erce.study.compared import planned_cells
from erce.study.engines import FAILURE, LOG, Done, RunCells
from erce.study.engines.progress import progress
from erce.study.engines.retries import sweep
from erce.study.first_round import FirstRound
from erce.study.folder import STUDY, cell_folder, is_done
from erce.study.search import Run
from erce.study.search.rounds import Asked, asked, is_lost

FAILURES_SHOWN = 10


def run_round(
    first_round: FirstRound,
    now: Asked,
    run_cells: RunCells,
    *,
    retries: int,
    without: Sequence[Done],
    started: float,
) -> list[Done]:
    """Run the cells of a round that have no result, but not those in `without`; return those that failed.

    While cells are left to run, the first round is checked. `started` is when the run began, by
    `time.monotonic`.
    """
    root, recipe, earlier = first_round.root, first_round.recipe, {done.cell for done in without}
    missing = [cell for cell in now.cells if cell not in earlier and not is_done(root, recipe, cell)]
    finished = len(now.cells) - len(missing)
    later = max(0, len(planned_cells(recipe)) - len(now.cells)) if missing and now.step is None else 0
    last: dict[Cell, Done] = {}  # how each cell ended, in its last attempt
    if missing:
        first_round.check()
    with (
        progress(
            len(now.cells) + later, len(missing) + later, messages=now.messages, started=started
        ) as advance,
        closing(sweep(run_cells, missing, retries=retries, succeeded=finished)) as ends,
    ):
        for done in ends:
            if not (root / STUDY).is_file():
                raise RunError(
                    f"{root} was moved or deleted while its study ran; go on where it is with --out, or "
                    "begin anew with the same command"
                )
            last[done.cell] = done
            advance(done)
            if len(last) < len(missing) or isinstance(now.step, Run):
                first_round.check()
    return [done for done in last.values() if done.failure and not is_lost(root, recipe, done.cell)]


def cells_failed(root: Path, recipe: Recipe, failed: Sequence[Done]) -> CellsFailedError:
    """Return the error that names the failed cells and counts those that were not begun."""
    names = {done.cell for done in failed}
    cells = asked(root, recipe).cells
    left = sum(cell not in names and not is_done(root, recipe, cell) for cell in cells)
    given_up = f", and {left} more were given up" if left else ""
    listed = "".join(f"\n  {done.cell.name}: {done.failure}" for done in failed[:FAILURES_SHOWN])
    if len(failed) > FAILURES_SHOWN:
        listed += f"\n  and {len(failed) - FAILURES_SHOWN} more"
    folders = cell_folder(root, recipe, failed[0].cell).parent
    return CellsFailedError(
        f"{len(failed)} of {len(cells)} cells failed and have no result{given_up}; the same command "
        f"tries them again, and what is done is kept (why: {FAILURE} or {LOG} in {folders}/…):{listed}"
    )
