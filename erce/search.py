"""A study's folder → the cells to run next: of `lams = "auto"` round by round, else the recipe's grid.

A search keeps no state of its own. It plays its rounds again over the results on disk, so that one that was
killed asks for the same cells and ends in the same way; search.json tells what it did, and decides nothing.
"""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import numpy as np

from erce.auto import Run, Search, Settings, Stop, explain, plain
from erce.auto.story import Step
from erce.engines import FAILURE
from erce.recipe import CROSS_ENTROPY, SAMPLED, Cell, Recipe
from erce.results import SEARCH, cell_folder, cell_outcomes, is_done, write_json


class Asked(NamedTuple):
    """`cells`: all that a study has asked for so far, in grid order; `step`: where its search stands."""

    cells: list[Cell]
    step: Step | None  # None: the recipe lists its λ

    @property
    def said(self) -> list[str]:
        """What the last round decided, and what comes of it; nothing without a search."""
        return explain(self.step)[-2:] if isinstance(self.step, Run) else []


def rounds(root: Path, recipe: Recipe) -> Iterator[Asked]:
    """What to run now, again and again until a search has ended.

    Whoever iterates runs the cells that have no result; where that brought nothing, there is nothing more.
    """
    before, now = None, asked(root, recipe)
    while now != before:
        if now.step is not None:
            _write(root, now)
        yield now
        before, now = now, asked(root, recipe) if isinstance(now.step, Run) else now


def asked(root: Path, recipe: Recipe) -> Asked:
    """All cells that are asked for, by the results that are there; writes nothing."""
    if recipe.search is None:
        return Asked(recipe.cells(), None)
    search = Search(Settings(lams=recipe.lams, seeds=recipe.seeds, **asdict(recipe.search)))
    outcomes, keys = {}, []
    step = search.next(outcomes)
    while isinstance(step, Run):
        keys += step.cells
        cells = {key: Cell(recipe.task, *key) for key in step.cells}
        lost = {key for key, cell in cells.items() if is_lost(root, recipe, cell)}
        if not all(is_done(root, recipe, cell) for key, cell in cells.items() if key not in lost):
            break
        for key, cell in cells.items():
            # One wrong problem is fewer than cross-entropy has: the search takes such a λ no further.
            wrong = np.zeros((1, recipe.decoding.samples), dtype=np.int8)
            folder = cell_folder(root, recipe, cell)
            outcomes[key] = wrong if key in lost else cell_outcomes(folder)["validation", SAMPLED]
        keys = [key for key in keys if key not in lost]
        step = search.next(outcomes)
    keys.sort(key=lambda key: (recipe.seeds.index(key[1]), key[0]))
    searched = [Cell(recipe.task, *key) for key in keys]
    return Asked(_whole(recipe, searched, step) if isinstance(step, Stop) else searched, step)


def is_lost(root: Path, recipe: Recipe, cell: Cell) -> bool:
    """Whether a search does without this cell: its training diverged, and would again; never at λ = 0."""
    if recipe.search is None or not cell.lam or is_done(root, recipe, cell):
        return False
    failure = cell_folder(root, recipe, cell) / FAILURE
    return failure.is_file() and "diverged" in failure.read_text(encoding="utf-8", errors="replace")


def _whole(recipe: Recipe, searched: list[Cell], end: Stop) -> list[Cell]:
    """With what a report compares them to: base models, other objectives, and the control's λ.

    The control has no search: it gets cross-entropy and the λ that won, or that led, with the same seeds.
    """
    lams = (0.0, end.winner or end.leader)
    baseline = [cell for cell in searched if cell.lam == 0]
    cells = []
    for task in recipe.tasks:
        trained = searched if task == recipe.task else [cell for cell in searched if cell.lam in lams]
        arms = [(cell.lam, cell.seed, CROSS_ENTROPY) for cell in trained]
        arms += [(0.0, cell.seed, name) for cell in baseline for name in recipe.objectives]
        cells += [Cell(task, None, 0), *(Cell(task, *arm) for arm in arms)]
    return cells


def _write(root: Path, now: Asked) -> None:
    assert now.step is not None
    said = {"said": explain(now.step), "step": plain(now.step)}
    write_json(root / SEARCH, said | {"asked": [asdict(cell) for cell in now.cells]})
