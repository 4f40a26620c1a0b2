"""A study's folder → the cells to run next: of `lams = "auto"` round by round, else the recipe's grid.

A search keeps no state of its own. It plays its rounds again over the results on disk, so that one that was
killed asks for the same cells and ends in the same way; search.json tells what it did, and decides nothing.

Where it prunes, a round goes by looks: its cells are trained and judged on a part of the validation problems,
those that may still go on a part further (`erce.study.search.looks`). Only the λ of its end get whole cells.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from erce.files import write_json
from erce.recipe import CROSS_ENTROPY, SAMPLED, Cell, Look, Recipe
from erce.study.engines import DIVERGED
from erce.study.folder import SEARCH, cell_folder, cell_outcomes, is_done, read_looks
from erce.study.search import Run, Search, Settings, Stop, explain, plain
from erce.study.search.looks import order_of, wanted
from erce.study.search.steps import CellKey, Step


class Asked(NamedTuple):
    """`cells`: all that a study has asked for so far, in grid order; `step`: where its search stands."""

    cells: list[Cell]
    step: Step | None  # None: the recipe lists its λ
    look: str = ""  # what a round has decided before its end

    @property
    def said(self) -> list[str]:
        """What was decided last, and what comes of it; nothing without a search."""
        if self.look:
            return [self.look]
        return explain(self.step)[-2:] if self.step is not None else []


def rounds(root: Path, recipe: Recipe, validation: Sequence[str]) -> Iterator[Asked]:
    """What to run now, again and again until a search has ended; `validation` are the problems' ids.

    Whoever iterates runs the cells that have no result; where that brought nothing, there is nothing more.
    """
    before, now = None, asked(root, recipe, validation)
    while now != before:
        if now.step is not None:
            _write(root, now)
        yield now
        before, now = now, asked(root, recipe, validation) if isinstance(now.step, Run) else now


def asked(root: Path, recipe: Recipe, validation: Sequence[str]) -> Asked:
    """All cells that are asked for, by the results that are there; writes nothing."""
    if recipe.search is None:
        return Asked(recipe.cells(), None)
    search = Search(Settings(lams=recipe.lams, seeds=recipe.seeds, **asdict(recipe.search)))
    played = _Played(root, recipe, sorted(validation), {}, {})
    step = search.next(played.outcomes)
    while isinstance(step, Run):
        look = played.look(step)
        if look is not None:
            return Asked(played.in_order(), step, look)
        step = search.next(played.outcomes)
    searched = [Cell(recipe.task, cell.lam, cell.seed) for cell in played.in_order()]
    if recipe.search.prune:
        ended = {0.0, *(each.lam for each in step.tests)}
        searched = [cell for cell in searched if cell.lam in ended]
    return Asked(_with_others(recipe, searched, step), step)


def is_lost(root: Path, recipe: Recipe, cell: Cell) -> bool:
    """Whether a search does without this cell: its training diverged, and would again; never at λ = 0."""
    if recipe.search is None or cell.task != recipe.task or not cell.lam or is_done(root, recipe, cell):
        return False
    return (cell_folder(root, recipe, cell) / DIVERGED).is_file()


class _Played(NamedTuple):
    """A search as far as it has been played: the cells that its rounds have asked for, and their outcomes."""

    root: Path
    recipe: Recipe
    problems: Sequence[str]  # of validation, sorted
    cells: dict[CellKey, Cell]
    outcomes: dict[CellKey, np.ndarray]  # (problems, samples) of 0 and 1

    def in_order(self) -> list[Cell]:
        keys = sorted(self.cells, key=lambda key: (self.recipe.seeds.index(key[1]), key[0]))
        return [self.cells[key] for key in keys]

    def look(self, step: Run) -> str | None:
        """None where a round has ended, its outcomes kept; else what it has decided before its end."""
        order = order_of(step, len(self.problems))
        ids = [self.problems[int(at)] for at in order]
        left = [key for key in step.cells if not is_lost(self.root, self.recipe, self._cell(key))]
        compared = step.pruning.lams if step.pruning else ()
        judged = {key: each[order] for key, each in self.outcomes.items() if key[0] in compared}
        judged |= {key: self._judged(key, ids) for key in left}
        counts = wanted(_less(step, left), judged, problems=len(ids))
        self.cells.update((key, self._cell(key, ids[:count])) for key, count in counts.items())
        if any(len(judged[key]) < count for key, count in counts.items()):
            return _look_sentence(judged, counts, len(ids))
        diverged = np.zeros((0, self.recipe.decoding.samples), dtype=np.int8)
        self.outcomes.update(dict.fromkeys(step.cells, diverged))
        by_id = np.argsort(order)
        for key, count in counts.items():
            self.outcomes[key] = judged[key][:count] if count < len(ids) else judged[key][by_id]
        return None

    def _cell(self, key: CellKey, problems: Sequence[str] = ()) -> Cell:
        """A search that does not prune has whole cells, and judges each on all problems."""
        assert self.recipe.search is not None
        if problems and self.recipe.search.prune:
            return Look(self.recipe.task, *key, problems=tuple(problems))
        return Cell(self.recipe.task, *key)

    def _judged(self, key: CellKey, ids: Sequence[str]) -> np.ndarray:
        """A cell's verdicts as far as it was judged in this order: its looks', and a whole cell's own."""
        assert self.recipe.search is not None
        cell = self._cell(key)
        folder = cell_folder(self.root, self.recipe, cell)
        seen: Mapping[str, Sequence[bool]] = read_looks(folder) if self.recipe.search.prune else {}
        if is_done(self.root, self.recipe, cell):
            whole = cell_outcomes(folder)["validation", SAMPLED]
            seen = dict(zip(self.problems, whole.tolist(), strict=True)) | dict(seen)
        rows = [seen[name] for name in takewhile(seen.__contains__, ids)]
        return np.array(rows, dtype=np.int8).reshape(len(rows), self.recipe.decoding.samples)


def _less(step: Run, left: Sequence[CellKey]) -> Run:
    """A round without the cells whose training diverged."""
    lost = {lam for lam, _ in step.cells} - {lam for lam, _ in left}
    pruning = step.pruning
    if pruning is not None:
        pruning = pruning._replace(lams=tuple(lam for lam in pruning.lams if lam not in lost))
    return step._replace(cells=tuple(left), pruning=pruning)


def _look_sentence(judged: Mapping[CellKey, np.ndarray], counts: Mapping[CellKey, int], problems: int) -> str:
    """What is asked for now; empty before the first look at a round, of which its plan tells."""
    if not any(len(judged[key]) for key in counts):
        return ""
    given_up = sorted(
        {key[0] for key, count in counts.items() if count < problems and len(judged[key]) >= count}
    )
    further = max(count for key, count in counts.items() if len(judged[key]) < count)
    said = f"Next: up to {further} of {problems} validation problems."
    if given_up:
        said = f"No longer in question: {', '.join(f'λ = {lam:g}' for lam in given_up)}. {said}"
    return said


def _with_others(recipe: Recipe, searched: list[Cell], end: Stop) -> list[Cell]:
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
    told = {"said": explain(now.step), "step": plain(now.step)}
    whole = [Cell(cell.task, cell.lam, cell.seed, cell.objective) for cell in now.cells]
    write_json(root / SEARCH, told | {"asked": [asdict(cell) for cell in whole]})
