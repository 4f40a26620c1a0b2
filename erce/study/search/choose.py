"""Scores on the validation problems → the λ that is reported on the test problems, which are read once."""

from collections.abc import Sequence
from enum import Enum
from typing import Any, NamedTuple

from erce.errors import InputError
from erce.recipe import Cell
from erce.study.folder import Study, ranked, validation_scores

MAX_NAMED = 3  # cells in a sentence; it counts the others


class Choice(NamedTuple):
    """The λ with the best mean validation Pass@1; other objectives are never chosen.

    `scores` holds every λ that could win, in the order of the grid; λ = 0, the baseline, is one of them.
    `at_edge`: the winner is the strongest λ tried, so a still stronger one may be better; after a search,
    the `at_edge` of its `erce.study.search.steps.Stop`.
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
    VERIFIERS = "different verifiers judged the cells"


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
        raise NoChoiceError(NoChoice.VERIFIERS, judged_by_several(task, fewer))
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


def judged_by_several(task: str, fewer: Sequence[Cell]) -> str:
    """Return the error that several verifiers judged a task's cells; it names the fewer."""
    names = ", ".join(cell.name for cell in fewer[:MAX_NAMED])
    more = f" and {len(fewer) - MAX_NAMED} more" if len(fewer) > MAX_NAMED else ""
    return (
        f"the cells of {task} were not all judged by the same verifier ({names}{more} by another than most), "
        "so none of its gains is shown; `erce run` judges those of an old verifier again and keeps all "
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
