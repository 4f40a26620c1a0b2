"""One round of a study → the cells of it that failed, and the error that names them."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from erce.errors import CellsFailedError, RunError
from erce.files import read_json
from erce.recipe import GREEDY, SAMPLED, Cell, Recipe
from erce.study.compared import planned_cells
from erce.study.drawing import all_completions, missing_completions
from erce.study.engines import FAILURE, LOG, Done, RunCells
from erce.study.engines.progress import progress
from erce.study.engines.retries import sweep
from erce.study.first_round import FirstRound
from erce.study.folder import RESULT, STUDY, cell_folder, is_done, read_timing
from erce.study.own_answers import demonstrations, read_counts
from erce.study.plan import steps
from erce.study.problems import cell_splits
from erce.study.rounds import Asked, asked, is_lost
from erce.study.samples import COMPLETIONS
from erce.study.search import Run
from erce.study.training import TRAINING
from erce.types import Splits

FAILURES_SHOWN = 10


def run_round(
    first_round: FirstRound,
    this_round: Asked,
    run_cells: RunCells,
    *,
    retries: int,
    failed_before: Sequence[Done],
    started: float,
) -> list[Done]:
    """Run the cells of a round that are not done, except those in `failed_before`; return those that failed.

    Diverged cells that a search does without are not returned. Before and between the cells,
    `first_round.check()` stops a study in which every verdict is the same. `started` is when the run
    began, by `time.monotonic`.
    """
    root, recipe, cells = first_round.root, first_round.recipe, this_round.cells
    failed_cells = {done.cell for done in failed_before}
    missing = [cell for cell in cells if cell not in failed_cells and not is_done(root, recipe, cell)]
    # Cells that lack only the frontier come last: short cells at the end leave no worker idle for long.
    again = {cell for cell in missing if (cell_folder(root, recipe, cell) / RESULT).is_file()}
    missing.sort(key=again.__contains__)
    to_run = {cell.name: _amounts(root, recipe, cell) for cell in missing}
    finished, own = len(cells) - len(missing), recipe.own_cell
    if cells == [own]:
        to_run |= {cell.name: _amounts(root, recipe, cell) for cell in planned_cells(recipe)}
    elif missing and this_round.step is None:
        later = max(0, len(planned_cells(recipe)) - len(cells))
        to_run |= dict.fromkeys(map("later {}".format, range(later)), to_run[missing[-1].name])
    if own is not None and own not in cells:
        finished += 1
    last_attempts: dict[Cell, Done] = {}
    if missing:
        first_round.check()
    total = finished + len(again) + len(to_run)  # cells run again count twice
    with (
        progress(total, to_run, messages=this_round.messages, started=started) as display,
        closing(sweep(run_cells, missing, retries=retries, succeeded=finished)) as ends,
    ):
        for done in ends:
            if not (root / STUDY).is_file():
                raise RunError(
                    f"{root} was moved or deleted while its study ran; go on where it is with --out, or "
                    "begin anew with the same command"
                )
            last_attempts[done.cell] = done
            folder = cell_folder(root, recipe, done.cell)
            accuracy = "" if done.failure else _accuracy(folder)
            display.ended(done, accuracy=accuracy, seconds=read_timing(folder))
            if len(last_attempts) < len(missing) or isinstance(this_round.step, Run):
                first_round.check()
    return [done for done in last_attempts.values() if done.failure and not is_lost(root, recipe, done.cell)]


def _amounts(root: Path, recipe: Recipe, cell: Cell) -> dict[str, int]:
    """Return how many steps and completions a cell lacks, by stage; the base model has no training."""
    folder, problems = cell_folder(root, recipe, cell), cell_splits(recipe, cell.task)
    completions = sum(all_completions(recipe, cell, problems).values())
    amounts = {"generation": completions, "verification": completions}
    if (folder / COMPLETIONS).is_file():
        amounts["generation"] = missing_completions(folder, recipe, cell, problems)
    if cell.lam is not None:
        amounts["training"] = 0
        if not (folder / TRAINING).is_file():
            amounts["training"] = steps(recipe, _demonstrations(root, recipe, cell, problems))
    return amounts


def _demonstrations(root: Path, recipe: Recipe, cell: Cell, problems: Splits) -> int:
    """Return how many a cell trains on; before own answers are known, as many as are given."""
    if cell.learns_own and read_counts(root, recipe) is None:
        return len(problems.train)
    return len(demonstrations(root, recipe, cell, problems))


def _accuracy(folder: Path) -> str:
    """Return a finished cell's accuracy on the test problems, in words; "" where no file has it."""
    if not (folder / RESULT).is_file():
        return ""
    scores = read_json(folder / RESULT)["scores"].get("test", {})
    return ", ".join(
        f"{100 * scores[name]['pass@1']:.1f} % {name}" for name in (GREEDY, SAMPLED) if name in scores
    )


def cells_failed(root: Path, recipe: Recipe, failed: Sequence[Done]) -> CellsFailedError:
    """Return the error that names the failed cells and counts those that were not run."""
    names = {done.cell for done in failed}
    cells = asked(root, recipe).cells
    left = sum(cell not in names and not is_done(root, recipe, cell) for cell in cells)
    not_run = f", and {left} more were not run" if left else ""
    listed = "".join(f"\n  {done.cell.name}: {done.failure}" for done in failed[:FAILURES_SHOWN])
    if len(failed) > FAILURES_SHOWN:
        listed += f"\n  and {len(failed) - FAILURES_SHOWN} more"
    folders = cell_folder(root, recipe, failed[0].cell).parent
    return CellsFailedError(
        f"{len(failed)} of {len(cells)} cells failed and have no result{not_run}; the same command "
        "tries them again, --retries N does so by itself, and what is done is kept "
        f"(why: {FAILURE} or {LOG} in {folders}/…):{listed}"
    )
