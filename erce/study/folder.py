"""What is on disk: one folder a study, one folder a cell, each file written whole or not at all.

runs/mini/
  study.json                              the recipe; says whose folder this is
  search.json                             of lams = "auto": the cells that were asked for, and why
  cells/mini-sums-lam0.5-seed0-3fa9c1d2/
    adapter/                              the fine-tuned policy        (none for the base model)
    training.json                         its log
    timing.json                           seconds a stage: all that differs between two runs of one study
    cell.json                             what drew its completions and judged them: what its rows share
    completions.journal                   the finished part of them, while they are drawn
    completions.jsonl                     one row a completion
    verdicts.jsonl                        one row a verdict, in the same order
    result.json                           scores; written last: its existence means the cell is done
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from erce.errors import InputError
from erce.files import read_json, read_rows, write_json, write_rows
from erce.recipe import Cell, Recipe, as_settings, folder_name, frontier, identity, parse_recipe
from erce.study.samples import DrawnSet, read_outcomes
from erce.types import Arm

STUDY, PROBLEMS, RESULT = "study.json", "problems.jsonl", "result.json"
SEARCH = "search.json"
RETIRED = {"search": {"prune"}}  # section → settings that an older study.json may hold
LOCKS = ".locks"  # of the processes at work in a study's folder
TIMING = "timing.json"


def open_study(root: Path, recipe: Recipe, problems: list[dict[str, Any]] | None = None) -> None:
    """Claims the folder for this recipe; a folder that holds anything else is left alone and stops the run.

    The grid and the frontier may have grown or shrunk since the last run; every other setting must be the
    same, and so must the rows of problems.jsonl, which make the folder readable without the task's source.
    """
    check_folder(root)
    if (root / STUDY).is_file():
        before = read_recipe(root)
        if identity(before) != identity(recipe):
            raise InputError(
                f"{root} holds another study ({_difference(before, recipe)}); "
                "choose another folder with --out"
            )
    begun = (root / PROBLEMS).is_file()
    if begun and problems is not None and list(read_rows(root / PROBLEMS)) != problems:
        raise InputError(
            f"{root} was begun with other problems than the task has now; choose another folder with --out"
        )
    settings = as_settings(recipe)
    if not (root / STUDY).is_file() or read_json(root / STUDY) != settings:
        write_json(root / STUDY, settings)
    if problems is not None and not begun:
        write_rows(root / PROBLEMS, problems)


def check_folder(root: Path) -> None:
    """A ValueError for a folder that holds something else than a study."""
    if (root / STUDY).is_file() or not root.exists():
        return
    begun = {LOCKS, f".{STUDY}.tmp"}  # what a run that was killed at once leaves
    if not root.is_dir() or any(path.name not in begun for path in root.iterdir()):
        raise InputError(f"{root} exists and holds no study; choose another folder with --out")


def _difference(before: Recipe, after: Recipe) -> str:
    """The first setting in which two identities differ, as a phrase."""
    decisive = [_flat(identity(recipe)) for recipe in (before, after)]
    shown = [_flat(asdict(recipe)) for recipe in (before, after)]
    name = next(
        each for each in decisive[0] | decisive[1] if len({str(way.get(each)) for way in decisive}) > 1
    )
    was, would_be = (each.get(name) for each in shown)
    return f"its {name.removeprefix('training.').removeprefix('decoding.')} is {was!r}, not {would_be!r}"


def _flat(settings: dict[str, Any]) -> dict[str, Any]:
    """Those of a section under names with a dot."""
    found = {}
    for name, value in settings.items():
        found |= {f"{name}.{k}": v for k, v in value.items()} if isinstance(value, dict) else {name: value}
    return found


def read_recipe(root: Path) -> Recipe:
    """The recipe of the study in a folder."""
    if not (root / STUDY).is_file():
        raise InputError(f"no study in {str(root)!r} (it has no {STUDY}); `erce run RECIPE` makes one")
    try:
        return parse_recipe(_without_retired(read_json(root / STUDY)))
    except InputError as error:
        raise InputError(f"{root / STUDY}: {error}") from None


def _without_retired(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a study.json without those that recipes do not have any more."""
    kept = dict(settings)
    for name, retired in RETIRED.items():
        if isinstance(section := settings.get(name), dict):
            kept[name] = {key: value for key, value in section.items() if key not in retired}
    return kept


def cell_folder(root: Path, recipe: Recipe, cell: Cell) -> Path:
    return root / "cells" / folder_name(recipe, cell)


def is_done(root: Path, recipe: Recipe, cell: Cell) -> bool:
    """Whether the cell has its result, with all of the recipe's frontier in it.

    A damaged file stops the run instead of being trained over.
    """
    return _result(root, recipe, cell) is not None


def _result(root: Path, recipe: Recipe, cell: Cell) -> dict[str, Any] | None:
    """What a cell that is done has in its result.json."""
    path = cell_folder(root, recipe, cell) / RESULT
    if not path.is_file():
        return None
    result, wanted = read_json(path), frontier(recipe, cell.task)
    scores = result.get("scores")
    done = scores is not None and all(wanted.keys() <= scored.keys() for scored in scores.values())
    return result if done else None


@dataclass(frozen=True)
class Study:
    """A study's folder, read: the cells of its grid that are done."""

    root: Path
    recipe: Recipe

    @cached_property
    def results(self) -> dict[Cell, dict[str, Any]]:
        """Each finished cell's result.json, in grid order."""
        read = ((cell, _result(self.root, self.recipe, cell)) for cell in self.expected)
        return {cell: result for cell, result in read if result is not None}

    @property
    def missing(self) -> list[Cell]:
        """Those of the expected cells that have no result yet."""
        return [cell for cell in self.expected if cell not in self.results]

    @cached_property
    def search(self) -> dict[str, Any] | None:
        """Of lams = "auto": the cells that were "asked" for, the last "step" and what is "said" of it.

        None where the recipe lists its λ, and while a search has not begun.
        """
        path = self.root / SEARCH
        return read_json(path) if self.recipe.search and path.is_file() else None

    @cached_property
    def expected(self) -> list[Cell]:
        """The cells that it takes: the recipe's grid, or what a search has asked for so far."""
        return [Cell(**each) for each in self.search["asked"]] if self.search else self.recipe.cells()

    @cached_property
    def lams(self) -> tuple[float, ...]:
        """The λ of its grid, in the recipe's order; rising those that a search has tried."""
        if not self.search:
            return self.recipe.lams
        return tuple(sorted({cell.lam for cell in self.expected if cell.lam is not None}))

    @property
    def seconds(self) -> float:
        """Of computing, in all finished cells, and in those that a search has left; a kill leaves no time."""
        cells = {*self.results, *self._searched}
        return sum(sum(read_timing(cell_folder(self.root, self.recipe, cell)).values()) for cell in cells)

    @property
    def _searched(self) -> list[Cell]:
        """What a search that has ended has trained, whether or not it was in question to the end."""
        spent = self.search["step"].get("spent_by_lam", []) if self.search else []
        return [
            Cell(self.recipe.task, lam, seed) for lam, count in spent for seed in self.recipe.seeds[:count]
        ]

    def cells(self, task: str, arm: Arm) -> list[Cell]:
        """Return the finished cells of an arm, one a seed."""
        return list(self._arms.get((task, arm), ()))

    def outcomes(self, task: str, arm: Arm, *, split: str, decoding: str) -> np.ndarray:
        """1 where the verifier accepted; problems and samples in the same order for every arm and seed."""
        return np.stack(
            [self._outcomes[cell][DrawnSet(split, decoding)] for cell in self.cells(task, arm)]
        )  # (seeds, problems, samples)

    @cached_property
    def _arms(self) -> dict[tuple[str, Arm], list[Cell]]:
        arms: dict[tuple[str, Arm], list[Cell]] = {}
        for cell in self.results:
            arms.setdefault((cell.task, cell.arm), []).append(cell)
        return arms

    @cached_property
    def _outcomes(self) -> dict[Cell, dict[DrawnSet, np.ndarray]]:
        return {cell: read_outcomes(cell_folder(self.root, self.recipe, cell)) for cell in self.results}


def read_timing(folder: Path) -> dict[str, float]:
    """Stage → seconds of a cell, over all runs that worked on it; empty for a cell without times."""
    return read_json(folder / TIMING) if (folder / TIMING).is_file() else {}


@contextmanager
def timed(folder: Path, stage: str) -> Iterator[None]:
    """Adds the time that a stage has taken to the cell's timing.json, however it ends."""
    started = time.monotonic()
    try:
        yield
    finally:
        before = read_timing(folder)
        taken = before.get(stage, 0.0) + time.monotonic() - started
        write_json(folder / TIMING, before | {stage: round(taken, 3)})


def read_study(root: str | Path) -> Study:
    """The study in a folder, finished or not."""
    return Study(Path(root), read_recipe(Path(root)))
