"""Test problems that the chosen λ gained or lost most, with one completion of each arm."""

from dataclasses import dataclass

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
    arms = [_by_problem(summary, arm) for arm in (summary.baseline, compared)]
    gains = {problem: _share(arms[1][problem]) - _share(arms[0][problem]) for problem in arms[0]}
    ranking = sorted(gains, key=lambda problem: (-gains[problem], problem))
    gained = [problem for problem in ranking if gains[problem] > 0][:SHOWN]
    lost = sorted((p for p in ranking if gains[p] < 0), key=lambda problem: (gains[problem], problem))[:SHOWN]
    asked = prompts(summary.study)

    def shown(problem: str, *, is_gain: bool) -> Example:
        before = _side(arms[0][problem], right=not is_gain)
        after = _side(arms[1][problem], right=is_gain)
        return Example(shorten(problem), asked.get(problem, ""), before, after)

    return Examples(
        compared.lam,
        [shown(problem, is_gain=True) for problem in gained],
        [shown(problem, is_gain=False) for problem in lost],
    )


def _by_problem(summary: Summary, arm: Arm) -> dict[str, list[JudgedCompletion]]:
    """Return each problem's completions under every seed of an arm, by the decoding of the report's gains."""
    by_problem: dict[str, list[JudgedCompletion]] = {}
    for cell in summary.study.cells(summary.study.recipe.task, arm):
        for completion in judged_completions(summary.study, cell):
            if completion.decoding == summary.decoding:
                by_problem.setdefault(completion.problem, []).append(completion)
    return by_problem


def _share(judged: list[JudgedCompletion]) -> float:
    return sum(completion.accepted for completion in judged) / len(judged)


def _side(judged: list[JudgedCompletion], *, right: bool) -> Side:
    """Return how often an arm was right, with its first completion that is right, or that is not."""
    completion = next(completion for completion in judged if completion.accepted == right)
    accepted = sum(completion.accepted for completion in judged)
    return Side(accepted, len(judged), completion.for_a_page())
