"""A grid's validation scores → the λ that a report compares with λ = 0.

Only λ = 0 and the λ with the best validation score get control cells and the recipe's `temperatures`. The
best λ is known once every cell of the study's own task is done, so both run last.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from erce.recipe import SAMPLED, Cell, Recipe

Results = Mapping[Cell, dict[str, Any]]  # a finished cell's result.json


def compared_lams(recipe: Recipe, results: Results, diverged: Collection[Cell]) -> Collection[float]:
    """Return λ = 0 and the λ with the best validation score; every λ if there are no validation problems.

    Return 0 alone while a cell of the study's own task has no result and has not diverged.
    """
    own = [cell for cell in recipe.cells() if cell.task == recipe.task and _is_lam(recipe, cell)]
    if any(cell not in results and cell not in diverged for cell in own):
        return (0.0,)
    if not any("validation" in results[cell]["scores"] for cell in own if cell in results):
        return recipe.lams
    scores = validation_scores(recipe, own, results, task=recipe.task, decoding=SAMPLED)
    return (0.0, *ranked(scores)[:1])


def with_comparisons(recipe: Recipe, cells: Sequence[Cell], lams: Collection[float]) -> list[Cell]:
    """Return the cells that a study needs if its report compares `lams`.

    On the study's own task every cell stays, and the base model and `lams` are sampled at all temperatures.
    On the control only the base model and `lams` stay.
    """
    kept = []
    for cell in cells:
        is_compared = cell.lam is None or (_is_lam(recipe, cell) and cell.lam in lams)
        if cell.task == recipe.task:
            kept.append(replace(cell, all_temperatures=is_compared))
        elif is_compared:
            kept.append(cell)
    return kept


def planned_cells(recipe: Recipe) -> list[Cell]:
    """Return the cells that a run will ask for, with the first λ other than 0 as the chosen one."""
    lams = recipe.lams if recipe.n_validation == 0 else (0.0, *[lam for lam in recipe.lams if lam][:1])
    return with_comparisons(recipe, recipe.cells(), lams)


def validation_scores(
    recipe: Recipe, cells: Sequence[Cell], results: Results, *, task: str, decoding: str
) -> dict[float, float]:
    """Return the mean validation Pass@1 of every λ that has a result with that decoding in each of its cells.

    Means are rounded, so that equal means of different seeds are a tie and not a matter of the last bit.
    """
    by_lam: dict[float, list[Cell]] = {}
    for cell in cells:
        if cell.task == task and _is_lam(recipe, cell):
            by_lam.setdefault(float(cell.lam or 0), []).append(cell)
    scores = {}
    for lam, of_lam in by_lam.items():
        drawn = [results.get(cell, {"scores": {}})["scores"].get("validation", {}) for cell in of_lam]
        if all(decoding in by_decoding for by_decoding in drawn):
            scores[lam] = round(fmean(by_decoding[decoding]["pass@1"] for by_decoding in drawn), 12)
    return scores


def ranked(scores: Mapping[float, float]) -> list[float]:
    """Return the λ, the best first; of equal scores the λ nearer to 0 comes first.

    >>> ranked({0.0: 0.5, 2.0: 0.6, 1.0: 0.6})
    [1.0, 2.0, 0.0]
    """
    return sorted(scores, key=lambda lam: (-scores[lam], abs(lam), lam))


def _is_lam(recipe: Recipe, cell: Cell) -> bool:
    """Tell whether the cell is one of the grid's λ, which the other objectives and the base model are not."""
    return cell.lam is not None and cell.objective == recipe.objective
