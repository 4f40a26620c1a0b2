"""Scores on the validation problems → the λ that is reported on the test problems, which are read once."""

from statistics import fmean
from typing import Any, NamedTuple

from erce.study.folder import Study
from erce.types import Arm


class Choice(NamedTuple):
    """The λ with the best mean validation Pass@1, and what it was chosen among: no other objective is.

    `scores` holds every λ that could win, in the order of the grid; λ = 0, cross-entropy, is one of them.
    `at_edge`: the winner is the strongest λ tried, so a still stronger one may be better; of a search, what
    its last step says (`erce.study.search.steps.Stop`).
    """

    lam: float
    score: float
    runner_up: float | None  # None: there was nothing to choose from
    runner_up_score: float | None
    at_edge: bool
    scores: dict[float, float]


def best_lam(study: Study, *, task: str | None = None, decoding: str = "sampled") -> Choice:
    """The λ to report, from validation alone; `task` None is the study's own task.

    Only a λ whose every seed is done can win. Equal scores go to the λ nearer to 0: no penalty without a
    reason. Stops where nothing can be chosen: no λ is complete, or there are no validation problems.

    What `lams = "auto"` has found on its own task's samples stands: 0 where no λ gained significantly, even
    if one has the higher score. Stops while it is searching.
    """
    task = task or study.recipe.task
    if study.recipe.search is not None and (task, decoding) == (study.recipe.task, "sampled"):
        return _found(study.search)
    scores = {}
    for lam in study.lams:
        score = _validation(study, task, lam, decoding)
        if score is not None:
            scores[lam] = score
    if not scores:
        raise ValueError(_nothing_to_choose(study, task, decoding))
    ranking = sorted(scores, key=lambda lam: (-scores[lam], abs(lam), lam))
    best, second = ranking[0], ranking[1] if len(ranking) > 1 else None
    return Choice(
        best, scores[best], second, None if second is None else scores[second], _at_edge(best, scores), scores
    )


def _found(search: dict[str, Any] | None) -> Choice:
    """The winner of a search; the runner-up is the best of the others that came to its end."""
    step = search["step"] if search else {}
    if "winner" not in step:
        raise ValueError("the search for λ has not ended yet; run the study to its end first")
    scores, winner = dict(map(tuple, step["scores"])), step["winner"]
    last = {0.0, *(each["lam"] for each in step["tests"])} - {winner}
    second = min(last, key=lambda lam: (-scores[lam], lam), default=None)
    runner_up_score = None if second is None else scores[second]
    return Choice(winner, scores[winner], second, runner_up_score, step["at_edge"], scores)


def _validation(study: Study, task: str, lam: float, decoding: str) -> float | None:
    """Mean over seeds; None while a seed is missing, or where there are no validation problems."""
    cells = [cell for cell in study.expected if (cell.task, cell.arm) == (task, Arm(lam))]
    if not cells or any(cell not in study.results for cell in cells):
        return None
    scored = [study.results[cell]["scores"].get("validation", {}).get(decoding) for cell in cells]
    if any(scores is None for scores in scored):
        return None
    # Rounded, so that equal means of different seeds are a tie and not a matter of the last bit.
    return round(fmean(scores["pass@1"] for scores in scored), 12)


def _at_edge(best: float, scores: dict[float, float]) -> bool:
    return best != 0 and best in (min(scores), max(scores)) and len(scores) > 1


def _nothing_to_choose(study: Study, task: str, decoding: str) -> str:
    if task not in study.recipe.tasks:
        return f"the study has no task {task!r}; there are {', '.join(study.recipe.tasks)}"
    missing = {cell.arm for cell in study.missing if cell.task == task}
    if any(Arm(lam) not in missing for lam in study.lams):
        return (
            f"no {decoding} completions of validation problems for {task!r}, so no λ can be chosen; "
            "a recipe with n_validation over 0 has them"
        )
    return f"no λ of {task!r} has all its {len(study.recipe.seeds)} seeds yet; run the study to its end first"
