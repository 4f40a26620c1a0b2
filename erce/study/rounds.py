"""A study's folder → its rounds: the cells to run next, how they ended, and whether the study goes on.

A grid of λ runs whole, `lams = "auto"` round by round; last come the cells that a report compares the chosen
λ with (`erce.study.choice`).

A search keeps no state of its own. It replays its rounds over the results on disk, so a search that was
killed asks for the same cells and ends in the same way. It writes search.json for reports and never reads it.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from erce.errors import AllAlikeError, CellsFailedError, RunError
from erce.files import write_json
from erce.recipe import GREEDY, SAMPLED, Cell, Recipe
from erce.study.cell import CellState, cell_state
from erce.study.choice import planned_cells, with_comparisons
from erce.study.demonstrations import cell_splits, demonstrations, read_counts
from erce.study.engines import FAILURE, LOG, Done, RunCells
from erce.study.engines.progress import Amounts, progress
from erce.study.folder import DIVERGED, SEARCH, STUDY, Study, cell_folder, is_done, read_result, read_timing
from erce.study.plan import steps
from erce.study.samples import VERDICTS, SampleSet, read_outcomes, read_samples
from erce.study.search import CellKey, Run, Search, Step, Stop, explain, plain
from erce.study.stages import all_completions, missing_completions
from erce.tasks.verdicts import outcome

FAILURES_SHOWN = 10
FAILURES_TO_GIVE_UP = 3  # before the first success; then the other cells are not started
ENOUGH_PROBLEMS = 40  # test problems; fewer cannot tell, and the study goes on
NOTHING = "nothing was right in any arm: the model cannot do this task, or its verifier rejects everything"
EVERYTHING = (
    "everything was right in every arm: the task is too easy to show a difference, or its verifier accepts "
    "everything"
)
EXAMPLES = 3  # completions that the error shows


class Asked(NamedTuple):
    """The cells that a study has asked for so far, in grid order, and where its search stands."""

    cells: list[Cell]
    step: Step | None  # None: the recipe lists its λ

    def as_json(self) -> dict[str, Any]:
        """Return the cells as plain values, with which of them are sampled at all temperatures."""
        return {"asked": [asdict(cell) for cell in self.cells]}


def rounds(root: Path, recipe: Recipe) -> Iterator[Asked]:
    """Yield the cells to run now, round by round, until the results ask for no others.

    The caller runs the cells that have no result. A round that brought no new result is the last.
    """
    before, now = None, asked(root, recipe)
    while before is None or now.as_json() != before.as_json():
        if now.step is not None:
            decision = {"said": explain(now.step, recipe.objective), "step": plain(now.step)}
            write_json(root / SEARCH, decision | now.as_json())
        yield now
        before, now = now, asked(root, recipe)


def asked(root: Path, recipe: Recipe) -> Asked:
    """Return all cells that are asked for, given the results on disk; write nothing.

    Before all others comes the cell of the base model's samples, if an arm trains on them.
    """
    own = recipe.own_cell
    if own is not None and not is_done(root, recipe, own):
        return Asked([own], None)
    if recipe.search is None:
        return Asked(Study(root, recipe).expected, None)
    search = Search(recipe.search, lams=recipe.lams, seeds=recipe.seeds)
    cells: list[Cell] = []
    outcomes: dict[CellKey, np.ndarray] = {}  # (problems, samples) of 0 and 1
    diverged = np.zeros((0, recipe.decoding.samples), dtype=np.int8)
    step = search.next(outcomes)
    while isinstance(step, Run):
        for key in step.cells:
            cell = Cell(recipe.task, *key, recipe.objective)
            if is_lost(root, recipe, cell):
                outcomes[key] = diverged
                continue
            cells.append(cell)
            folder = cell_folder(root, recipe, cell)
            if is_done(root, recipe, cell) and (folder / VERDICTS).is_file():
                outcomes[key] = read_outcomes(folder)[SampleSet("validation", SAMPLED)]
        if not outcomes.keys() >= {*step.cells}:
            base = Cell(recipe.task, None, 0)  # with the first round, which shows whether anything is right
            return Asked([base, *_in_order(recipe, cells)], step)
        step = search.next(outcomes)
    return Asked(_with_others(recipe, _in_order(recipe, cells), step), step)


def is_lost(root: Path, recipe: Recipe, cell: Cell) -> bool:
    """Return whether a search does without this cell: λ is over 0, and its training diverged."""
    is_searched = (cell.task, cell.objective) == (recipe.task, recipe.objective) and bool(cell.lam)
    if recipe.search is None or not is_searched or is_done(root, recipe, cell):
        return False
    return (cell_folder(root, recipe, cell) / DIVERGED).is_file()


def _in_order(recipe: Recipe, cells: list[Cell]) -> list[Cell]:
    """Sort the cells of the search as those of a grid: by seed, then by λ."""
    return sorted(cells, key=lambda cell: (recipe.seeds.index(cell.seed), cell.lam))


def _with_others(recipe: Recipe, searched: list[Cell], end: Stop) -> list[Cell]:
    """Add the cells that a report compares with: base models, other objectives, and the control's λ.

    The control has no search: it gets λ = 0 and the λ that won, or that led, with the same seeds.
    """
    seeds = [cell.seed for cell in searched if cell.lam == 0]
    cells = []
    for task in recipe.tasks:
        cells += [Cell(task, None, 0), *(replace(cell, task=task) for cell in searched)]
        cells += [Cell(task, arm.lam, seed, arm.objective) for seed in seeds for arm in recipe.other_arms]
    return with_comparisons(recipe, cells, (0.0, end.winner or end.leader))


def run_round(
    first_round: "FirstRound",
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
    # Cells that lack only temperatures come last: short cells at the end leave no worker idle for long.
    again = {cell for cell in missing if read_result(root, recipe, cell) is not None}
    missing.sort(key=again.__contains__)
    finished = len(cells) - len(missing) + (recipe.own_cell not in (None, *cells))
    amounts = _amounts_to_run(root, recipe, this_round, missing)
    last_attempts: dict[Cell, Done] = {}
    if missing:
        first_round.check()
    total = finished + len(again) + len(amounts)  # cells run again count twice
    # Of a search, its last decision and what comes next.
    messages = [] if this_round.step is None else explain(this_round.step, recipe.objective)[-2:]
    with (
        progress(total, amounts, messages=messages, started=started) as display,
        closing(run_with_retries(run_cells, missing, retries=retries, succeeded=finished)) as ends,
    ):
        for done in ends:
            if not (root / STUDY).is_file():
                raise RunError(
                    f"{root} was moved or deleted while its study ran; go on where it is with --out, or "
                    "begin anew with the same command"
                )
            last_attempts[done.cell] = done
            accuracy = "" if done.failure else _accuracy(root, recipe, done.cell)
            seconds = read_timing(cell_folder(root, recipe, done.cell))
            display.ended(done, accuracy=accuracy, seconds=seconds)
            if len(last_attempts) < len(missing) or isinstance(this_round.step, Run):
                first_round.check()
    return [done for done in last_attempts.values() if done.failure and not is_lost(root, recipe, done.cell)]


def run_with_retries(
    run: RunCells, cells: Sequence[Cell], *, retries: int = 0, succeeded: int = 0
) -> Generator[Done, None, None]:
    """Yield how each cell ended; those that failed run again after all others, up to `retries` times.

    End early where the others would fail too: after a full disk, an error of a user's verifier, or
    `FAILURES_TO_GIVE_UP` failures without one success; `succeeded` counts the successes of earlier calls. A
    training that diverged does not count as a failure here, and is not tried again.
    """
    for _ in range(retries + 1):
        failed: list[Cell] = []
        for done in run(cells):
            yield done
            if done.failure and not done.diverged:
                failed.append(done.cell)
            succeeded += not done.failure
            if done.fatal or (not succeeded and len(failed) >= FAILURES_TO_GIVE_UP):
                return
        cells = failed
        if not cells:
            return


def _amounts_to_run(root: Path, recipe: Recipe, this_round: Asked, missing: list[Cell]) -> dict[str, Amounts]:
    """Return what each cell to run lacks, by name: those of this round, then those known to come later."""
    amounts = {cell.name: _amounts(root, recipe, cell) for cell in missing}
    if this_round.cells == [recipe.own_cell]:
        return amounts | {cell.name: _amounts(root, recipe, cell) for cell in planned_cells(recipe)}
    if missing and this_round.step is None:
        later = max(0, len(planned_cells(recipe)) - len(this_round.cells))
        return amounts | {f"later {number}": amounts[missing[-1].name] for number in range(later)}
    return amounts


def _amounts(root: Path, recipe: Recipe, cell: Cell) -> Amounts:
    """Return how many steps and completions a cell lacks, by stage; the base model has no training."""
    problems = cell_splits(recipe, cell.task)
    lacking = missing_completions(cell_folder(root, recipe, cell), recipe, cell, problems)
    amounts = {
        "generation": sum(lacking.values()),
        "verification": sum(all_completions(recipe, cell, problems).values()),
    }
    if cell.lam is not None:
        amounts["training"] = 0
        if cell_state(root, recipe, cell, problems) < CellState.TRAINED:
            # Before own answers are known, as many as are given.
            unknown = cell.learns_own and read_counts(root, recipe) is None
            learned = problems.train if unknown else demonstrations(root, recipe, cell, problems)
            amounts["training"] = steps(recipe, len(learned))
    return amounts


def _accuracy(root: Path, recipe: Recipe, cell: Cell) -> str:
    """Return a finished cell's accuracy on the test problems, in words; "" where no file has it."""
    result = read_result(root, recipe, cell) or {"scores": {}}
    scores = result["scores"].get("test", {})
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


@dataclass
class FirstRound:
    """The watch over a study's first round; once `settled` it looks no more.

    The first round is the base model and one seed of every λ, on the study's own task; with a list of λ, one
    seed of the other objectives too.
    """

    root: Path
    recipe: Recipe
    settled: bool = False

    def check(self) -> None:
        """Raise an AllAlikeError if the round is done and all its completions have the same verdict."""
        if self.settled:
            return
        cells = [cell for cell in self._cells() if not is_lost(self.root, self.recipe, cell)]
        if not all(is_done(self.root, self.recipe, cell) for cell in cells):
            return
        self.settled = True
        folders = [cell_folder(self.root, self.recipe, cell) for cell in cells]
        outcomes_by_set = [arrays for folder in folders for arrays in read_outcomes(folder).items()]
        problems = min(len(outcomes) for (split, _), outcomes in outcomes_by_set if split == "test")
        verdicts = {bool(verdict) for _, outcomes in outcomes_by_set for verdict in np.unique(outcomes)}
        if problems >= ENOUGH_PROBLEMS and len(verdicts) == 1:
            raise AllAlikeError(_sentence(EVERYTHING if True in verdicts else NOTHING, cells, folders))

    def _cells(self) -> list[Cell]:
        recipe = self.recipe
        others = recipe.other_arms if recipe.search is None else ()  # a search trains them last
        arms = [*map(recipe.grid_arm, recipe.lams), *others]
        trained = [Cell(recipe.task, arm.lam, recipe.seeds[0], arm.objective) for arm in arms]
        return [Cell(recipe.task, None, 0), *trained]


def _sentence(why: str, cells: list[Cell], folders: list[Path]) -> str:
    lines = []
    for at, (cell, folder) in enumerate(list(zip(cells, folders, strict=True))[-EXAMPLES:]):
        test = [sample for sample in read_samples(folder) if sample.sample_set.split == "test"]
        _, completion, verdict = test[at % len(test)]
        lines.append(f"{cell.arm.label}, {outcome(completion, verdict)}")
    return (
        f"{why}. The study stopped after its first round, and what is done is kept; to go on all the same, "
        f"repeat the command with --go-on (in Python go_on=True). {len(lines)} completions:"
        + "".join(f"\n  {line}" for line in lines)
    )
