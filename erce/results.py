"""What is on disk: one folder a study, one folder a cell, each file written whole or not at all.

runs/mini/
  study.json                              the recipe; says whose folder this is
  cells/mini-sums-lam0.5-seed0-3fa9c1d2/
    adapter/                              the fine-tuned policy        (none for the base model)
    training.json                         its log
    cell.json                             what drew its completions and judged them: what its rows share
    completions.journal                   the finished part of them, while they are drawn
    completions.jsonl                     one row a completion
    verdicts.jsonl                        one row a verdict, in the same order
    result.json                           scores; written last: its existence means the cell is done
"""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from erce.recipe import Arm, Cell, Recipe, folder_name, frontier, identity, parse_recipe

STUDY, PROBLEMS, RESULT = "study.json", "problems.jsonl", "result.json"
LOCKS = ".locks"  # of the processes at work in a study's folder
COMPLETIONS, VERDICTS = "completions.jsonl", "verdicts.jsonl"


def write_text(path: Path, text: str) -> None:
    """Atomic: the file appears whole and is on the disk, under a temporary name first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f".{path.name}.tmp")
    with half.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    half.replace(path)


def write_json(path: Path, content: Any) -> None:
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """The content; a file that is cut off or is no JSON stops the run, for the user to judge."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is damaged ({error}); delete it, and the next run makes it again") from None


def write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    write_text(path, "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows))


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a JSON Lines file."""
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n")[:-1], 1):
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            raise ValueError(
                f"{path}, line {number} is damaged; delete the file, and the next run makes it again"
            ) from None


def open_study(root: Path, recipe: Recipe, problems: list[dict[str, Any]] | None = None) -> None:
    """Claims the folder for this recipe; a folder that holds anything else is left alone and stops the run.

    The grid and the frontier may have grown or shrunk since the last run; every other setting must be the
    same, and so must the rows of problems.jsonl, which make the folder readable without the task's source.
    """
    check_folder(root)
    if (root / STUDY).is_file():
        before = read_recipe(root)
        if identity(before) != identity(recipe):
            raise ValueError(
                f"{root} holds another study ({_difference(before, recipe)}); "
                "choose another folder with --out"
            )
    begun = (root / PROBLEMS).is_file()
    if begun and problems is not None and list(read_rows(root / PROBLEMS)) != problems:
        raise ValueError(
            f"{root} was begun with other problems than the task has now; choose another folder with --out"
        )
    settings = json.loads(json.dumps(asdict(recipe)))
    if not (root / STUDY).is_file() or read_json(root / STUDY) != settings:
        write_json(root / STUDY, settings)
    if problems is not None and not begun:
        write_rows(root / PROBLEMS, problems)


def check_folder(root: Path) -> None:
    """A ValueError for a folder that holds something else than a study."""
    if (root / STUDY).is_file() or not root.exists():
        return
    if not root.is_dir() or any(path.name != LOCKS for path in root.iterdir()):
        raise ValueError(f"{root} exists and holds no study; choose another folder with --out")


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
        raise ValueError(f"no study in {str(root)!r} (it has no {STUDY}); `erce run RECIPE` makes one")
    try:
        return parse_recipe(read_json(root / STUDY))
    except ValueError as error:
        raise ValueError(f"{root / STUDY}: {error}") from None


def cell_folder(root: Path, recipe: Recipe, cell: Cell) -> Path:
    return root / "cells" / folder_name(recipe, cell)


def is_done(root: Path, recipe: Recipe, cell: Cell) -> bool:
    """Whether the cell has its result, with all of the recipe's frontier in it.

    A damaged result stops the run instead of being trained over.
    """
    path = cell_folder(root, recipe, cell) / RESULT
    scores = read_json(path).get("scores") if path.is_file() else None
    wanted = frontier(recipe, cell.task)
    return scores is not None and all(wanted.keys() <= scored.keys() for scored in scores.values())


@dataclass(frozen=True)
class Study:
    """A study's folder, read: the cells of its grid that are done."""

    root: Path
    recipe: Recipe

    @cached_property
    def results(self) -> dict[Cell, dict[str, Any]]:
        """Each finished cell's result.json, in grid order."""
        done = [cell for cell in self.recipe.cells() if is_done(self.root, self.recipe, cell)]
        return {cell: read_json(cell_folder(self.root, self.recipe, cell) / RESULT) for cell in done}

    @property
    def missing(self) -> list[Cell]:
        """The cells of the grid that have no result yet."""
        return [cell for cell in self.recipe.cells() if cell not in self.results]

    def cells(self, task: str, arm: Arm) -> list[Cell]:
        """The cells that are done, one a seed; `arm` is a λ, the name of another objective, or None."""
        return [cell for cell in self.results if (cell.task, cell.arm) == (task, arm)]

    def outcomes(self, task: str, arm: Arm, *, split: str, decoding: str) -> np.ndarray:
        """1 where the verifier accepted; problems and samples in the same order for every arm and seed."""
        return np.stack(
            [self._verdicts[cell][split, decoding] for cell in self.cells(task, arm)]
        )  # (seeds, problems, samples)

    @cached_property
    def _verdicts(self) -> dict[Cell, dict[tuple[str, str], np.ndarray]]:
        return {cell: _accepted(cell_folder(self.root, self.recipe, cell)) for cell in self.results}


def read_study(root: str | Path) -> Study:
    """The study in a folder, finished or not."""
    return Study(Path(root), read_recipe(Path(root)))


def _accepted(folder: Path) -> dict[tuple[str, str], np.ndarray]:
    """(split, decoding) → 0/1 (problems, samples), problems sorted by id."""
    found: dict[tuple[str, str], dict[tuple[str, int], bool]] = {}
    for row in read_rows(folder / VERDICTS):
        found.setdefault((row["split"], row["decoding"]), {})[row["problem"], row["sample"]] = row["accepted"]
    arrays = {}
    for key, verdicts in found.items():
        problems = len({problem for problem, _ in verdicts})
        arrays[key] = np.array([verdicts[at] for at in sorted(verdicts)], dtype=np.int8).reshape(problems, -1)
    return arrays
