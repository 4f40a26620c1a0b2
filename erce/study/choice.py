"""Validation scores → the λ that a study chooses, and the cells that a report compares it with.

Only λ = 0 and the λ with the best validation score get control cells and the recipe's `temperatures`. The
best λ is known once every cell of the study's own task is done, so both run last. The test problems have no
say.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from erce.errors import InputError
from erce.recipe import SAMPLED, Cell, Recipe

if TYPE_CHECKING:
    from erce.study.folder import Study

MAX_NAMED = 3  # cells in a sentence; it counts the others

Results = Mapping[Cell, dict[str, Any]]  # a finished cell's result.json


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


def best_lam(study: "Study", *, task: str | None = None, decoding: str = "sampled") -> Choice:
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
    """Return the sentence that a task's cells have different verifiers; it names the smaller group."""
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
    second = next((lam for lam in ranked(scores) if lam in others), None)
    return Choice(
        lam=winner,
        score=scores[winner],
        runner_up=second,
        runner_up_score=None if second is None else scores[second],
        at_edge=step["at_edge"],
        scores=scores,
    )


def _no_choice(study: "Study", task: str, decoding: str) -> NoChoiceError:
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


def compared_lams(recipe: Recipe, results: Results, diverged: Collection[Cell]) -> Collection[float]:
    """Return the λ that a report compares: 0 and the best on validation, or all without validation problems.

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
        validated = [results.get(cell, {"scores": {}})["scores"].get("validation", {}) for cell in of_lam]
        if all(decoding in by_decoding for by_decoding in validated):
            scores[lam] = round(fmean(by_decoding[decoding]["pass@1"] for by_decoding in validated), 12)
    return scores


def ranked(scores: Mapping[float, float]) -> list[float]:
    """Return the λ, the best first; of equal scores the λ nearer to 0 comes first.

    >>> ranked({0.0: 0.5, -2.0: 0.6, 1.0: 0.6})
    [1.0, -2.0, 0.0]
    """
    return sorted(scores, key=lambda lam: (-scores[lam], abs(lam), lam))


def _is_lam(recipe: Recipe, cell: Cell) -> bool:
    """Tell whether the cell is one of the grid's λ, which the other objectives and the base model are not."""
    return cell.lam is not None and cell.objective == recipe.objective
