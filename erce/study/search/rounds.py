"""A study's folder → the cells to run next: of a grid, or of `lams = "auto"` round by round.

Last come the cells that a report compares the chosen λ with (`erce.study.folder`).

A search keeps no state of its own. It replays its rounds over the results on disk, so a search that was
killed asks for the same cells and ends in the same way. The search writes search.json for reports,
and never reads it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from erce.files import write_json
from erce.recipe import SAMPLED, Cell, Recipe
from erce.study.folder import DIVERGED, SEARCH, Study, cell_folder, is_done, with_comparisons
from erce.study.samples import VERDICTS, SampleSet, read_outcomes
from erce.study.search import Run, Search, Stop, explain, plain
from erce.study.search.steps import CellKey, Step


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
