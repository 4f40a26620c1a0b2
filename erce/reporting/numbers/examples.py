"""Test problems that the chosen λ gained or lost most, with one completion of each arm."""

from dataclasses import dataclass

import numpy as np

from erce.reporting.numbers.changes import compared_arm
from erce.reporting.numbers.completions import JudgedCompletion, judged_completions, prompts, shorten
from erce.reporting.numbers.gains import Summary
from erce.types import Arm

SHOWN = 3  # examples of a gain, and as many of a loss


@dataclass(frozen=True)
class Side:
    """One arm on one problem: how often it was right, and one completion."""

    right: int
    judged: int  # samples
    completion: JudgedCompletion


@dataclass(frozen=True)
class Example:
    """One problem, both arms; `prompt` is empty where the study's folder has no problems.jsonl."""

    problem: str
    prompt: str
    before: Side  # λ = 0
    after: Side


@dataclass(frozen=True)
class Examples:
    """`lam` is set beside λ = 0; the largest differences come first, equal ones by the problem's name.

    A problem is shown with a right completion of the arm that was right more often, and a wrong one of the
    other.
    """

    lam: float
    gained: list[Example]
    lost: list[Example]


def examples(summary: Summary) -> Examples | None:
    """Pick examples from the samples of the study's own task; None where there is no second arm to show.

    Where λ = 0 was chosen, the runner-up stands beside it.
    """
    compared = compared_arm(summary)
    if compared is None or compared.lam is None:
        return None
    before, after = (_outcomes(summary, arm) for arm in (summary.baseline, compared))
    gains = {problem: _share(after[problem]) - _share(before[problem]) for problem in before}
    ranking = sorted(gains, key=lambda problem: (-gains[problem], problem))
    gained = [problem for problem in ranking if gains[problem] > 0][:SHOWN]
    lost = sorted((p for p in ranking if gains[p] < 0), key=lambda problem: (gains[problem], problem))[:SHOWN]
    asked = prompts(summary.study)

    def shown(problem: str, *, is_gain: bool) -> Example:
        sides = (
            _side(summary, summary.baseline, problem, before[problem], right=not is_gain),
            _side(summary, compared, problem, after[problem], right=is_gain),
        )
        return Example(shorten(problem), asked.get(problem, ""), *sides)

    return Examples(
        compared.lam,
        [shown(problem, is_gain=True) for problem in gained],
        [shown(problem, is_gain=False) for problem in lost],
    )


def _outcomes(summary: Summary, arm: Arm) -> dict[str, np.ndarray]:
    """Return each problem's 0/1 array, (seeds, samples): 1 where a completion of the arm is right."""
    study, task, decoding = summary.study, summary.study.recipe.task, summary.decoding
    drawn = judged_completions(study, study.cells(task, arm)[0])
    problems = sorted({completion.problem for completion in drawn if completion.decoding == decoding})
    outcomes = study.outcomes(task, arm, split="test", decoding=decoding)
    return {problem: outcomes[:, at] for at, problem in enumerate(problems)}


def _share(outcomes: np.ndarray) -> float:
    return int(outcomes.sum()) / outcomes.size


def _side(summary: Summary, arm: Arm, problem: str, outcomes: np.ndarray, *, right: bool) -> Side:
    """Return how often an arm was right, with its first completion that is right, or that is not."""
    cell = summary.study.cells(summary.study.recipe.task, arm)[int((outcomes == right).any(1).argmax())]
    wanted = problem, summary.decoding, right
    completion = next(
        drawn
        for drawn in judged_completions(summary.study, cell)
        if (drawn.problem, drawn.decoding, drawn.accepted) == wanted
    )
    return Side(int(outcomes.sum()), outcomes.size, completion.for_a_page())
