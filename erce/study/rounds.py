"""A study's folder → the cells to run next, and in the end the λ that validation chooses.

A grid of λ runs whole, `lams = "auto"` round by round; last come the cells that a report compares the chosen
λ with (`erce.study.folder`). The test problems have no say.

A search keeps no state of its own. It replays its rounds over the results on disk, so a search that was
killed asks for the same cells and ends in the same way. It writes search.json for reports and never reads it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from erce.errors import InputError
from erce.files import write_json
from erce.recipe import SAMPLED, Cell, Recipe
from erce.study.folder import (
    DIVERGED,
    SEARCH,
    Study,
    cell_folder,
    is_done,
    ranked,
    validation_scores,
    with_comparisons,
)
from erce.study.samples import VERDICTS, SampleSet, read_outcomes
from erce.study.search import CellKey, Run, Search, Step, Stop, explain, plain

MAX_NAMED = 3  # cells in a sentence; it counts the others


class Asked(NamedTuple):
    """The cells that a study has asked for so far, in grid order, and where its search stands."""

    cells: list[Cell]
    step: Step | None  # None: the recipe lists its λ
    objective: str  # what the λ of the search are added to
    notes: Sequence[str] = ()  # sentences to print before the round

    @property
    def messages(self) -> list[str]:
        """Return the notes, then the sentences on a search's last decision and on what comes next."""
        return [*self.notes, *(explain(self.step, self.objective)[-2:] if self.step is not None else [])]

    def as_json(self) -> dict[str, Any]:
        """Return the cells as plain values, with which of them are sampled at all temperatures."""
        return {"asked": [asdict(cell) for cell in self.cells]}


def rounds(root: Path, recipe: Recipe, *, notes: Sequence[str] = ()) -> Iterator[Asked]:
    """Yield the cells to run now, round by round, until the results ask for no others.

    The caller runs the cells that have no result. A round that brought no new result is the last. The first
    has the `notes`.
    """
    before, now = None, asked(root, recipe)._replace(notes=notes)
    while before is None or now.as_json() != before.as_json():
        if now.step is not None:
            decision = {"said": explain(now.step, now.objective), "step": plain(now.step)}
            write_json(root / SEARCH, decision | now.as_json())
        yield now
        before, now = now, asked(root, recipe)


def asked(root: Path, recipe: Recipe) -> Asked:
    """Return all cells that are asked for, given the results on disk; write nothing.

    Before all others comes the cell of the base model's samples, if an arm trains on them.
    """
    own = recipe.own_cell
    if own is not None and not is_done(root, recipe, own):
        return Asked([own], None, recipe.objective)
    if recipe.search is None:
        return Asked(Study(root, recipe).expected, None, recipe.objective)
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
                sample_sets = read_outcomes(folder)
                outcomes[key] = sample_sets[SampleSet("validation", SAMPLED)]
        if not outcomes.keys() >= {*step.cells}:
            base = Cell(recipe.task, None, 0)  # with the first round, which shows whether anything is right
            return Asked([base, *_in_order(recipe, cells)], step, recipe.objective)
        step = search.next(outcomes)
    return Asked(_with_others(recipe, _in_order(recipe, cells), step), step, recipe.objective)


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
    baseline = [cell for cell in searched if cell.lam == 0]
    cells = [
        cell
        for task in recipe.tasks
        for cell in (
            Cell(task, None, 0),
            *(replace(cell, task=task) for cell in searched),
            *(
                Cell(task, arm.lam, cell.seed, arm.objective)
                for cell in baseline
                for arm in recipe.other_arms
            ),
        )
    ]
    return with_comparisons(recipe, cells, (0.0, end.winner or end.leader))


class Choice(NamedTuple):
    """The λ with the best mean validation Pass@1; other objectives are never chosen.

    `scores` holds every λ that could win, in the order of the grid; λ = 0, the baseline, is one of them.
    `at_edge`: the winner is the strongest λ tried, so a still stronger one may be better; after a search,
    the `at_edge` of its `erce.study.search.Stop`.
    """

    lam: float
    score: float
    runner_up: float | None  # None: there was nothing to choose from
    runner_up_score: float | None
    at_edge: bool
    scores: dict[float, float]


class NoChoice(Enum):
    """The reasons why a study has no chosen λ."""

    NO_VALIDATION = "there are no completions of validation problems"
    UNFINISHED = "no λ has all its seeds"
    SEARCHING = "the search for λ has not ended"
    VERIFIERS = "its cells have different verifiers"


class NoChoiceError(InputError):
    """The error of a study that has no chosen λ; `reason` is for code, the sentence for readers."""

    def __init__(self, reason: NoChoice, sentence: str) -> None:
        super().__init__(sentence)
        self.reason = reason


def best_lam(study: Study, *, task: str | None = None, decoding: str = "sampled") -> Choice:
    """Choose the λ to report, from validation alone; `task` None is the study's own task.

    Only a λ whose every seed is done can win. Of equal scores the λ nearer to 0 wins. On its own task's
    samples, the winner of a search (`lams = "auto"`) is the choice: 0 where no λ gained significantly, even
    if one has the higher score. If there is no choice, raise a NoChoiceError.
    """
    task = task or study.recipe.task
    if task not in study.recipe.tasks:
        raise InputError(f"the study has no task {task!r}; there are {', '.join(study.recipe.tasks)}")
    if fewer := study.verified_otherwise(task):
        raise NoChoiceError(NoChoice.VERIFIERS, verified_by_several(task, fewer))
    if study.recipe.search is not None and (task, decoding) == (study.recipe.task, "sampled"):
        return _choice_of_search(study.search)
    scores = validation_scores(study.recipe, study.expected, study.results, task=task, decoding=decoding)
    if not scores:
        raise _no_choice(study, task, decoding)
    best, *others = ranked(scores)
    second = others[0] if others else None
    return Choice(
        lam=best,
        score=scores[best],
        runner_up=second,
        runner_up_score=None if second is None else scores[second],
        at_edge=best != 0 and best in (min(scores), max(scores)) and len(scores) > 1,
        scores=scores,
    )


def verified_by_several(task: str, fewer: Sequence[Cell]) -> str:
    """Return the error that a task has cells of several verifiers; it names the fewer."""
    names = ", ".join(cell.name for cell in fewer[:MAX_NAMED])
    more = f" and {len(fewer) - MAX_NAMED} more" if len(fewer) > MAX_NAMED else ""
    return (
        f"the cells of {task} were not all verified by one verifier ({names}{more} by another than most), so "
        "none of its gains is shown; `erce run` verifies those of an old verifier again and keeps all "
        "completions"
    )


def _choice_of_search(search: dict[str, Any] | None) -> Choice:
    """Return the winner of a search; the runner-up is the best of the other λ that were tested."""
    step = search["step"] if search else {}
    if "winner" not in step:
        raise NoChoiceError(
            NoChoice.SEARCHING, "the search for λ has not ended yet; run the study to its end first"
        )
    scores, winner = dict(map(tuple, step["scores"])), step["winner"]
    others = {0.0, *(test["lam"] for test in step["tests"])} - {winner}
    second = min(others, key=lambda lam: (-scores[lam], lam), default=None)
    return Choice(
        lam=winner,
        score=scores[winner],
        runner_up=second,
        runner_up_score=None if second is None else scores[second],
        at_edge=step["at_edge"],
        scores=scores,
    )


def _no_choice(study: Study, task: str, decoding: str) -> NoChoiceError:
    missing = {cell.arm for cell in study.missing if cell.task == task}
    if any(study.recipe.grid_arm(lam) not in missing for lam in study.lams):
        return NoChoiceError(
            NoChoice.NO_VALIDATION,
            f"no {decoding} completions of validation problems for {task!r}, so no λ can be chosen; "
            f"{study.way_to_validate}",
        )
    return NoChoiceError(
        NoChoice.UNFINISHED,
        f"no λ of {task!r} has all its {len(study.recipe.seeds)} seeds yet; run the study to its end first",
    )
