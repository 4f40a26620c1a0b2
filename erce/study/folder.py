"""What is on disk: one folder per study, one per cell, each file written whole or not at all.

runs/mini/
  study.json                              the recipe; says whose folder this is
  base.json                               what the base model is, by content
  cells/mini-sums-lam0.5-seed0-3fa9c1d2/
    adapter/                              the fine-tuned policy        (none for the base model)
    adapter.checkpoint-4d1f09aa-8-12/     what a stopped training goes on from, at step 12
    training.json                         its log
    timing.json                           seconds per stage: all that differs between two runs of one study
    cell.json                             what sampled and verified its completions: what its rows share
    completions.journal                   the finished part of them, while they are sampled
    completions.jsonl                     one row per completion
    verdicts.jsonl                        one row per verdict, in the same order
    result.json                           scores; written last: its existence means the cell is done

`erce.study.provenance` records what made these files, `erce.study.freshness` says which are stale.
"""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from erce.errors import DamagedError, InputError
from erce.files import MADE_AGAIN, read_json, read_rows, write_json, write_rows
from erce.recipe import Cell, Recipe, as_settings, folder_name, further_temperatures, identity, parse_recipe
from erce.study.samples import VERDICTS, SampleSet, read_outcomes
from erce.study.schedule import expected_cells, has_decodings, next_cells, own_left, planned_cells
from erce.types import Arm

STUDY, PROBLEMS, BASE = "study.json", "problems.jsonl", "base.json"
ADAPTER, TRAINING, JOURNAL = "adapter", "training.json", "completions.journal"
CELL, RESULT, TIMING = "cell.json", "result.json", "timing.json"
DIVERGED = "diverged.txt"  # the message of a cell whose training diverged
LOCKS = ".locks"  # of the processes at work in a study's folder


def open_study(
    root: Path, recipe: Recipe, problems: list[dict[str, Any]] | None = None, *, keeps_grid: bool = False
) -> None:
    """Claim the folder for this recipe; an InputError leaves a folder alone that holds anything else.

    The grid and the temperatures may have grown or shrunk since the last run, and study.json then holds the
    new ones unless it `keeps_grid`; every other setting must be the same, and so must the rows of
    problems.jsonl. A file that is missing or torn is written again.
    """
    check_folder(root, recipe)
    settings, rows = _settings(root), _whole_rows(root)
    if problems is not None and problems[: len(rows)] != rows:
        raise InputError(
            f"{root} was begun with other problems than the task has now; choose another folder with --out"
        )
    if settings is None or (settings != as_settings(recipe) and not keeps_grid):
        write_json(root / STUDY, as_settings(recipe))
    if problems is not None and rows != problems:
        write_rows(root / PROBLEMS, problems)


def check_folder(root: Path, recipe: Recipe) -> None:
    """Raise an InputError for a folder that holds anything but this study; its grid may be another.

    Where study.json is missing or torn, the folder of one of the recipe's cells says whose the study is: its
    name depends on every setting.
    """
    if _settings(root) is not None and identity(before := read_recipe(root)) != identity(recipe):
        raise InputError(
            f"{root} holds another study ({_difference(before, recipe)}); put that back, or choose another "
            "folder with --out"
        )
    if not root.exists() or _settings(root) is not None:
        return
    begun = {LOCKS, STUDY, PROBLEMS, BASE}  # all that a run has left that was killed soon
    if root.is_dir() and all(path.name in begun or path.match(".*.tmp") for path in root.iterdir()):
        return
    cells = [*recipe.cells(), *recipe.own_cells]
    if not any(cell_folder(root, recipe, cell).is_dir() for cell in cells):
        held = "another study, whose study.json is torn" if (root / STUDY).is_file() else "no study"
        raise InputError(f"{root} exists and holds {held}; choose another folder with --out")


def _settings(root: Path) -> dict[str, Any] | None:
    """Return what study.json holds; None where it is missing or torn."""
    try:
        return read_json(root / STUDY, "task", "lams", "seeds")
    except DamagedError:
        return None


def _whole_rows(root: Path) -> list[dict[str, Any]]:
    """Return the rows of problems.jsonl before the first torn one; none without the file."""
    rows: list[dict[str, Any]] = []
    with suppress(DamagedError):
        for row in read_problems(root):
            rows.append(row)
    return rows


def read_problems(root: Path, *needed: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of problems.jsonl, with the `needed` columns; none where it is missing, as with logs."""
    path = root / PROBLEMS
    yield from read_rows(path, "task", "split", "problem", *needed) if path.is_file() else ()


def _difference(before: Recipe, after: Recipe) -> str:
    """Return a phrase for the first setting in which two identities differ."""
    first, second = (_flat(identity(recipe)) for recipe in (before, after))
    name = next(name for name in first | second if str(first.get(name)) != str(second.get(name)))
    old, new = (_flat(asdict(recipe)).get(name) for recipe in (before, after))
    return f"its {name.removeprefix('training.').removeprefix('decoding.')} is {old!r}, not {new!r}"


def _flat(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings without sections: those of a section get names with a dot."""
    flat = {}
    for name, value in settings.items():
        flat |= {f"{name}.{k}": v for k, v in value.items()} if isinstance(value, dict) else {name: value}
    return flat


def read_recipe(root: Path) -> Recipe:
    """Return the recipe of the study in a folder."""
    if not (root / STUDY).is_file():
        raise InputError(f"no study in {str(root)!r} (it has no {STUDY}); `erce run RECIPE` makes one")
    settings = read_json(root / STUDY, "task", "lams", "seeds")
    try:
        return parse_recipe(settings)
    except InputError as error:
        raise InputError(f"{root / STUDY}: {error}") from None


def cell_folder(root: Path, recipe: Recipe, cell: Cell) -> Path:
    return root / "cells" / folder_name(recipe, cell)


def read_result(folder: Path) -> dict[str, Any] | None:
    """Return the content of a cell's result.json; None without one, or without scores in it."""
    result = read_json(folder / RESULT) if (folder / RESULT).is_file() else {}
    return result if result.get("scores") is not None else None


@dataclass(frozen=True)
class Study:
    """A study's folder, read: the cells of its grid that are done."""

    root: Path
    recipe: Recipe

    @cached_property
    def results(self) -> dict[Cell, dict[str, Any]]:
        """Each finished cell's result.json, in grid order; further temperatures may be missing."""
        return {cell: self._every[cell] for cell in self.expected if cell in self._every}

    @property
    def missing(self) -> list[Cell]:
        """The expected cells that have no result yet, or lack temperatures."""
        return [cell for cell in self.expected if not self.has(cell)]

    def has(self, cell: Cell) -> bool:
        """Return whether a cell of the recipe has its result, with all temperatures that it is sampled at."""
        temperatures = further_temperatures(self.recipe, cell)
        return cell in self._every and has_decodings(self._every[cell], temperatures)

    @property
    def own_results(self) -> dict[Cell, dict[str, Any]]:
        """The result.json of each finished one of `Recipe.own_cells`."""
        return {cell: self._every[cell] for cell in self.recipe.own_cells if cell in self._every}

    @cached_property
    def expected(self) -> list[Cell]:
        """The cells that the study has asked for so far, and the others of its grid that are done."""
        return expected_cells(self.recipe, self._every, self._diverged)

    @cached_property
    def next_cells(self) -> list[Cell]:
        """The cells that a run brings to their end now."""
        return next_cells(self.recipe, self._every, self._diverged)

    @property
    def own_left(self) -> list[Cell]:
        """The cells of own samples that are still to come."""
        return own_left(self.recipe, self._every, self._diverged)

    @cached_property
    def planned(self) -> list[Cell]:
        """The cells that the study will have in the end, those of own samples included."""
        return planned_cells(self.recipe, self._every, self._diverged)

    @property
    def n_done(self) -> int:
        """How many of the planned cells have a result; they may lack temperatures."""
        return sum(cell in self._every for cell in self.planned)

    @cached_property
    def _every(self) -> dict[Cell, dict[str, Any]]:
        """The result.json of every finished cell of the recipe's grid, and of `Recipe.own_cells`."""
        cells = [*self.recipe.cells(), *self.recipe.own_cells]
        read = ((cell, read_result(self.folder(cell))) for cell in cells)
        return {cell: result for cell, result in read if result is not None}

    @cached_property
    def _diverged(self) -> list[Cell]:
        return [cell for cell in self.recipe.cells() if (self.folder(cell) / DIVERGED).is_file()]

    @cached_property
    def verifiers(self) -> dict[Cell, str]:
        """The version of the verifier of each finished cell, without the cells that do not say."""
        origins = {cell: read_record(self.folder(cell)) for cell in self.results}
        return {cell: origin["verifier"] for cell, origin in origins.items() if origin.get("verifier")}

    def verified_otherwise(self, task: str) -> list[Cell]:
        """Return the cells of a task that have another verifier than most of the task's cells.

        Which verifier is newer, no file of a copied folder says.
        """
        verifiers = {cell: verifier for cell, verifier in self.verifiers.items() if cell.task == task}
        usual = Counter(verifiers.values()).most_common(1)
        return [cell for cell, verifier in verifiers.items() if verifier != usual[0][0]]

    def folder(self, cell: Cell) -> Path:
        return cell_folder(self.root, self.recipe, cell)

    def cells(self, task: str, arm: Arm) -> list[Cell]:
        """Return the finished cells of an arm, one per seed."""
        return list(self._arms.get((task, arm), ()))

    def outcomes(self, task: str, arm: Arm, *, split: str, decoding: str) -> np.ndarray:
        """Return 1 where the verifier accepted, problems and samples in one order for every arm and seed."""
        return np.stack(
            [self._outcomes[cell][SampleSet(split, decoding)] for cell in self.cells(task, arm)]
        )  # (seeds, problems, samples)

    @cached_property
    def _arms(self) -> dict[tuple[str, Arm], list[Cell]]:
        arms: dict[tuple[str, Arm], list[Cell]] = {}
        for cell in self.results:
            arms.setdefault((cell.task, cell.arm), []).append(cell)
        return arms

    @cached_property
    def _outcomes(self) -> dict[Cell, dict[SampleSet, np.ndarray]]:
        outcomes = {cell: read_outcomes(self.folder(cell)) for cell in self.results}
        for cell, by_set in outcomes.items():
            for sample_set, count in _scored(self.results[cell]).items():
                if sample_set not in by_set or by_set[sample_set].size < count:
                    raise DamagedError(f"{self.folder(cell) / VERDICTS} lacks verdicts; {MADE_AGAIN}")
        return outcomes


def _scored(result: dict[str, Any]) -> dict[SampleSet, int]:
    """Return how many completions of each set a result.json has scored, 0 where it does not say."""
    return {
        SampleSet(split, decoding): scores.get("problems", 0) * scores.get("samples", 0)
        for split, by_decoding in result["scores"].items()
        for decoding, scores in by_decoding.items()
    }


def read_record(folder: Path) -> dict[str, Any]:
    """Return what cell.json holds; an empty dict if the cell has no such file."""
    return read_json(folder / CELL) if (folder / CELL).is_file() else {}


def read_timing(folder: Path) -> dict[str, float]:
    """Return stage → seconds of a cell, over all runs that worked on it; {} without a whole file."""
    try:
        return read_json(folder / TIMING)
    except DamagedError:
        return {}


@contextmanager
def timed(folder: Path, stage: str) -> Iterator[None]:
    """Add the time that the block takes to the cell's timing.json, also if it raises."""
    started = time.monotonic()
    try:
        yield
    finally:
        before = read_timing(folder)
        taken = before.get(stage, 0.0) + time.monotonic() - started
        write_json(folder / TIMING, before | {stage: round(taken, 3)})


def read_study(root: str | Path) -> Study:
    """Read the study in a folder, finished or not."""
    return Study(Path(root), read_recipe(Path(root)))
