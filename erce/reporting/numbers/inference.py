"""A study → what its grid says as a whole: every arm's gain, equivalence, and what this study could find.

Everything is about the study's own task on the test problems, with samples and greedy decoding apart.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from erce.reporting.numbers.gains import DECODINGS, ArmGain, Summary, gain_as_json
from erce.stats import (
    Equivalence,
    Size,
    detectable_gain,
    equivalent,
    few_seeds_factor,
    fewest_problems,
    paired_gain,
    spread_of,
    study_sizes,
)
from erce.types import BASELINE, Arm

LEVEL = 0.05
MARGIN = 0.02  # up to which two arms count as the same, in fractions of 1
WANTED = 0.03  # the gain that a study is planned for, in fractions of 1
PILOT_SEEDS = 5  # with fewer, the spread is too uncertain to say which gain is found in 4 of 5 studies
SEEDS = (3, 5, 10)  # numbers of seeds that the plan is made for


@dataclass(frozen=True)
class Sameness:
    """The test whether an arm and the baseline are the same within the margin, with the gain's 90 % interval.

    `problems` is how many the study has; with fewer than `fewest` no outcome could show that they are the
    same.
    """

    arm: Arm
    test: Equivalence
    problems: int
    fewest: int

    def as_json(self) -> dict[str, Any]:
        return {
            "arm": _named(self.arm),
            "equivalent": self.test.equivalent,
            "p": self.test.p,
            "ci": [self.test.low, self.test.high],
            "margin": self.test.margin,
            "covers": self.test.covers,
            "problems": self.problems,
            "fewest": self.fewest,
        }


@dataclass(frozen=True)
class Power:
    """The gains that studies find with 80 % power at 5 %, two-sided, if gains vary as those of `arm` do.

    `detectable` is the smallest gain that a study of this size finds, `sizes` the studies that find `wanted`.
    Both allow for a spread that is known from this study's seeds alone (`few_seeds_factor`).
    """

    arm: Arm
    detectable: float
    wanted: float
    sizes: tuple[Size, ...]

    def as_json(self) -> dict[str, Any]:
        """Return plain values; `problems` is None where no number of problems is enough."""
        sizes = [
            {
                "seeds": size.seeds,
                "samples": size.samples,
                "problems": None if math.isinf(size.problems) else int(size.problems),
            }
            for size in self.sizes
        ]
        arm = _named(self.arm)
        return {"arm": arm, "detectable": self.detectable, "wanted": self.wanted, "sizes": sizes}


@dataclass(frozen=True)
class GridFindings:
    """The whole grid under one decoding; a part is None where it cannot be known, as with one problem."""

    decoding: str
    gains: tuple[ArmGain, ...]  # of every trained arm but the baseline
    same: Sameness | None
    power: Power | None
    baseline: Arm = BASELINE

    def as_json(self) -> dict[str, Any]:
        arms = [
            {
                "arm": _named(gain.arm),
                **gain_as_json(gain.gain),
                "p_holm": gain.p_holm,
                "welch_ci": gain.over_seeds and [gain.over_seeds.low, gain.over_seeds.high],
            }
            for gain in self.gains
        ]
        return {
            "decoding": self.decoding,
            "arms": arms,
            "same": self.same and self.same.as_json(),
            "plan": self.power and self.power.as_json(),
        }


@dataclass(frozen=True)
class Inference:
    """The tests over all arms on the study's own task; `chosen` is the arm that validation chose, if any."""

    task: str
    chosen: Arm | None
    sampled: GridFindings | None
    greedy: GridFindings | None

    def as_json(self) -> dict[str, Any]:
        return {
            "task": self.task,
            "chosen": self.chosen and self.chosen.lam,
            "sampled": self.sampled and self.sampled.as_json(),
            "greedy": self.greedy and self.greedy.as_json(),
        }


@lru_cache(maxsize=1)
def inference(summary: Summary) -> Inference | None:
    """Return what the whole grid says; None while λ = 0, or every other arm, has no finished cell."""
    grids = {decoding: _grid(summary, decoding) for decoding in DECODINGS}
    if not any(grids.values()):
        return None
    return Inference(summary.study.recipe.task, summary.chosen, grids["sampled"], grids["greedy"])


def _grid(summary: Summary, decoding: str) -> GridFindings | None:
    study, task = summary.study, summary.study.recipe.task
    gains = [gain for gain in summary.gains if (gain.task, gain.decoding) == (task, decoding)]
    outcomes = {gain.arm: study.outcomes(task, gain.arm, split="test", decoding=decoding) for gain in gains}
    if not set(outcomes) - {summary.baseline}:
        return None
    baseline = outcomes.pop(summary.baseline)
    chosen = summary.chosen_penalty if summary.chosen_penalty in outcomes else None
    return GridFindings(
        decoding,
        tuple(gain for gain in gains if gain.arm != summary.baseline),
        None if chosen is None else _sameness(chosen, outcomes[chosen], baseline),
        _power(chosen, outcomes, baseline),
        summary.baseline,
    )


def _sameness(arm: Arm, outcomes: np.ndarray, baseline: np.ndarray) -> Sameness:
    gain = paired_gain(outcomes, baseline)
    test = equivalent(gain, margin=MARGIN, level=LEVEL)
    return Sameness(arm, test, gain.problems, fewest_problems(MARGIN, level=LEVEL))


def _power(chosen: Arm | None, treated: dict[Arm, np.ndarray], baseline: np.ndarray) -> Power | None:
    """Plan with the chosen λ, else the arm of the largest mean; None with few seeds, or if nothing varies."""
    arm = chosen or max(treated, key=lambda arm: float(treated[arm].mean()))
    seeds, problems = min(len(treated[arm]), len(baseline)), baseline.shape[1]
    if seeds < PILOT_SEEDS or problems < 2:
        return None
    spread, samples = spread_of(treated[arm], baseline), baseline.shape[2]
    detectable = few_seeds_factor(seeds) * detectable_gain(problems, spread, seeds=seeds, samples=samples)
    if not detectable:
        return None
    sizes = []
    for number in SEEDS:
        planned_for = WANTED / few_seeds_factor(min(number, seeds))
        sizes += study_sizes(spread, gains=(planned_for,), designs=[(number, samples)])
    return Power(arm, detectable, WANTED, tuple(size._replace(gain=WANTED) for size in sizes))


def _named(arm: Arm) -> float | str | None:
    """Return λ, or with another objective than cross-entropy the arm's name, as the JSON calls an arm."""
    return arm.slug if arm.has_other_objective else arm.lam
