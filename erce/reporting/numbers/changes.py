"""A study → how much every problem gained or lost under the chosen λ."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from erce.reporting.numbers.gains import Summary
from erce.stats.outcomes import problem_gains
from erce.types import Arm


@dataclass(frozen=True)
class Changes:
    """The gain of every problem: its share of right completions under λ less the share under λ = 0.

    Over all seeds and samples, on the test problems of the study's own task, from the largest loss to the
    largest gain. `lam` is the chosen λ, or the runner-up where λ = 0 was chosen.
    """

    lam: float
    gains: list[float]

    @property
    def gained(self) -> int:
        return sum(gain > 0 for gain in self.gains)

    @property
    def lost(self) -> int:
        return sum(gain < 0 for gain in self.gains)

    @property
    def unchanged(self) -> int:
        return len(self.gains) - self.gained - self.lost

    def as_json(self) -> dict[str, Any]:
        """Return plain values, with the counts."""
        return asdict(self) | {"gained": self.gained, "lost": self.lost, "unchanged": self.unchanged}


def compared_arm(summary: Summary) -> Arm | None:
    """Return the chosen λ, or the runner-up to λ = 0; None where it or λ = 0 has no finished cell."""
    arm, choice = summary.chosen, summary.choice
    if choice is not None and arm == summary.baseline:
        runner_up = choice.runner_up
        arm = None if runner_up is None else summary.study.recipe.grid_arm(runner_up)
    return arm if arm is not None and summary.has_gain(summary.study.recipe.task, arm) else None


def problem_changes(summary: Summary) -> Changes | None:
    """Return every problem's gain; None where there is no second arm."""
    compared = compared_arm(summary)
    if compared is None or compared.lam is None:
        return None
    study, task = summary.study, summary.study.recipe.task
    arms = (
        study.outcomes(task, arm, split="test", decoding=summary.decoding)
        for arm in (compared, summary.baseline)
    )
    return Changes(compared.lam, np.sort(problem_gains(*arms)).tolist())
