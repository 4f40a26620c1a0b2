"""A study's folder → its rounds: their cells run, and whether the study goes on.

Which cells a round has, `erce.study.schedule` says from the results on disk; so a run that was killed goes on
with the same cells.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from erce.errors import AllAlikeError, CellsFailedError, RunError, counted
from erce.recipe import GREEDY, SAMPLED, Cell, Recipe
from erce.score.rounding import percent
from erce.study.demonstrations import refuse_none
from erce.study.engines import FAILURE, LOG, Done, RunCells, Work
from erce.study.engines.progress import Display, progress
from erce.study.folder import STUDY, TRAINING, Study, read_result
from erce.study.samples import read_outcomes, read_samples
from erce.study.schedule import probe_cells
from erce.tasks.verdicts import outcome

FAILURES_SHOWN = 10
FAILURES_TO_GIVE_UP = 3  # before the first trained cell; then the other cells are not started
ENOUGH_PROBLEMS = 40  # test problems; fewer cannot tell, and the study goes on
NOTHING = "nothing was right in any arm: the model cannot do this task, or its verifier rejects everything"
EVERYTHING = (
    "everything was right in every arm: the task is too easy to show a difference, or its verifier accepts "
    "everything"
)
EXAMPLES = 3  # completions that the error shows


def run_rounds(
    work: Work, run_cells: RunCells, *, go_on: bool, own_only: bool, is_prepared: Callable[[Study], bool]
) -> list[Done]:
    """Run rounds until none is left, or a cell failed otherwise than by diverging; return all failed cells.

    `go_on`: also where all verdicts are the same. `own_only`: until the own samples are there. `is_prepared`:
    whether the set-up does for the next round; else they end before it.
    """
    failed: list[Done] = []
    watch = AlikeWatch(work, settled=go_on)
    with progress() as display:
        for study in rounds(work.root, work.recipe):
            if (own_only and not study.own_left) or not is_prepared(study):
                break
            refuse_none(study)
            failed += run_round(study, run_cells, failed_before=failed, watch=watch, display=display)
            if not all(done.diverged for done in failed):
                break
    return failed


def rounds(root: Path, recipe: Recipe) -> Iterator[Study]:
    """Yield the study before each of its rounds, until the results ask for no other cells.

    The caller runs those of its `next_cells` that have no result. A round that brings none is the last.
    """
    before, study = None, Study(root, recipe)
    while before is None or _with_temperatures(study.next_cells) != _with_temperatures(before.next_cells):
        yield study
        before, study = study, Study(root, recipe)


def _with_temperatures(cells: Sequence[Cell]) -> list[tuple[Cell, bool]]:
    return [(cell, cell.all_temperatures) for cell in cells]


def run_round(
    study: Study, run_cells: RunCells, *, failed_before: Sequence[Done], watch: "AlikeWatch", display: Display
) -> list[Done]:
    """Run the round's cells that are not done, except those in `failed_before`; return those that failed.

    Before and between the cells, `watch.check()` stops a study in which every verdict is the same.
    """
    failed_cells = {done.cell for done in failed_before}
    missing = [cell for cell in study.next_cells if cell not in failed_cells and not study.has(cell)]
    # Cells that lack only temperatures come last: short cells at the end leave no worker idle for long.
    missing.sort(key=study.results.__contains__)
    ended: list[Done] = []
    if missing:
        watch.check()
    display.total, display.n_done = len(study.planned), study.n_done
    trained = sum(cell.is_trained for cell in study.results)
    with closing(run_or_give_up(run_cells, missing, succeeded=trained)) as ends:
        for done in ends:
            if not (study.root / STUDY).is_file():
                raise RunError(
                    f"{study.root} was moved or deleted while its study ran; go on where it is with --out, "
                    "or begin anew with the same command"
                )
            ended.append(done)
            accuracy = "" if done.failure else _accuracy(study.folder(done.cell))
            display.ended(done, accuracy=accuracy, again=done.cell in study.results)
            if len(ended) < len(missing):
                watch.check()
    return [done for done in ended if done.failure]


def run_or_give_up(
    run: RunCells, cells: Sequence[Cell], *, succeeded: int = 0
) -> Generator[Done, None, None]:
    """Yield how each cell ended, and end early where the others would fail too.

    That is after a full disk, an error of a user's verifier, or `FAILURES_TO_GIVE_UP` failures without one
    cell that was trained; `succeeded` counts earlier ones. A training that diverged is no failure here.
    """
    failed = 0
    for done in run(cells):
        yield done
        failed += bool(done.failure) and not done.diverged
        succeeded += not done.failure and done.cell.is_trained
        if done.fatal or (not succeeded and failed >= FAILURES_TO_GIVE_UP):
            return


def trainings_first(
    work: Work,
    run_cells: RunCells,
    *,
    training: Callable[[], AbstractContextManager[RunCells]],
    serving: Callable[[], AbstractContextManager[None]],
) -> RunCells:
    """Return a function that trains all cells, frees their devices, then starts the server and samples.

    Once one is trained, the failures of others are told at the end, since they are no reason to stop.
    """

    def run(cells: Sequence[Cell]) -> Iterator[Done]:
        folders = {cell: work.folder(cell) for cell in cells if cell.is_trained}
        failed, told_later, has_trained = set[Cell](), list[Done](), False
        with training() as train:
            for done in train([cell for cell in folders if not (folders[cell] / TRAINING).is_file()]):
                has_trained |= not done.failure
                if done.failure:
                    failed.add(done.cell)
                if done.failure and has_trained and not done.fatal:
                    told_later.append(done)
                elif done.failure:
                    yield done
        sampled = [cell for cell in cells if cell not in failed]
        with serving() if sampled else nullcontext():
            yield from run_cells(sampled)
        yield from told_later

    return run


def _accuracy(folder: Path) -> str:
    """Return a finished cell's accuracy on the test problems, in words; "" where no file has it."""
    result = read_result(folder) or {"scores": {}}
    scores = result["scores"].get("test", {})
    names = [name for name in (GREEDY, SAMPLED) if name in scores]
    return ", ".join(f"{percent(scores[name]['pass@1'])} % {name}" for name in names)


def cells_failed(study: Study, failed: Sequence[Done]) -> CellsFailedError:
    """Return the error that names the failed cells and counts those that were not run."""
    left = len(study.planned) - study.n_done - len(failed)
    not_run = f", and {left} more were not run" if left > 0 else ""
    listed = "".join(f"\n  {done.cell.name}: {done.failure}" for done in failed[:FAILURES_SHOWN])
    if len(failed) > FAILURES_SHOWN:
        listed += f"\n  and {len(failed) - FAILURES_SHOWN} more"
    folders, way_out = study.folder(failed[0].cell).parent, "the same command tries them again"
    if all(done.diverged for done in failed):
        way_out = "a diverged training diverges again: leave its λ out, or lower learning_rate with --out"
    return CellsFailedError(
        f"{len(failed)} of {counted(len(study.planned), 'cell')} failed{not_run}; {way_out}, and what is "
        f"done is kept (why: {FAILURE} or {LOG} in {folders}/…):{listed}"
    )


@dataclass
class AlikeWatch:
    """The watch over the cells that show whether anything is right; once `settled` it looks no more."""

    work: Work
    settled: bool = False

    def check(self) -> None:
        """Raise an AllAlikeError if the round is done and all its completions have the same verdict."""
        if self.settled:
            return
        cells = probe_cells(self.work.recipe)
        if not all(map(self.work.is_done, cells)):
            return
        self.settled = True
        folders = [*map(self.work.folder, cells)]
        outcomes_by_set = [arrays for folder in folders for arrays in read_outcomes(folder).items()]
        problems = min(len(outcomes) for (split, _), outcomes in outcomes_by_set if split == "test")
        verdicts = {bool(verdict) for _, outcomes in outcomes_by_set for verdict in np.unique(outcomes)}
        if problems >= ENOUGH_PROBLEMS and len(verdicts) == 1:
            raise AllAlikeError(
                _sentence(
                    EVERYTHING if True in verdicts else NOTHING, self.work.recipe.base_loss, cells, folders
                )
            )


def _sentence(why: str, grid: str, cells: list[Cell], folders: list[Path]) -> str:
    lines = []
    for at, (cell, folder) in enumerate(list(zip(cells, folders, strict=True))[-EXAMPLES:]):
        test = [sample for sample in read_samples(folder) if sample.sample_set.split == "test"]
        _, completion, verdict = test[at % len(test)]
        lines.append(f"{cell.arm.name(grid)}, {outcome(completion, verdict)}")
    return (
        f"{why}. The study stopped once the base model and one seed of every arm were done, which are kept; "
        f"to go on, repeat the command with --go-on (in Python go_on=True). {len(lines)} completions:"
        + "".join(f"\n  {line}" for line in lines)
    )
