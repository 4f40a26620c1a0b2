"""A study → whether the chosen λ is shown to change nothing, and which gain a study of this size finds.

Both are about the study's own task on the test problems, with samples and greedy decoding apart. The gain of
every arm, corrected for the full grid, stands in the rows (`gains`).
"""

import math
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from erce.reporting.numbers.gains import DECODINGS, Summary
from erce.stats import (
    Equivalence,
    Size,
    detectable_gain,
    equivalent,
    few_seeds_factor,
    fewest_problems,
    spread_of,
    study_sizes,
)
from erce.types import Arm

LEVEL = 0.05
MARGIN = 0.02  # up to which two arms count as the same, in fractions of 1
WANTED = 0.03  # the gain that a study is planned for, in fractions of 1
PILOT_SEEDS = 5  # with fewer, the spread is too uncertain to say which gain is found in 4 of 5 studies
SEEDS = (3, 5, 10)  # numbers of seeds that the plan is made for


@dataclass(frozen=True)
class Power:
    """The gains that studies find with 80 % power at 5 %, two-sided, if gains vary as those of `arm` do.

    `detectable` is the smallest gain that a study of this size finds, `sizes` the studies that find WANTED.
    Both allow for a spread that is known from this study's seeds alone (`few_seeds_factor`).
    """

    arm: Arm
    detectable: float
    sizes: tuple[Size, ...]

    def as_json(self) -> dict[str, Any]:
        """Return plain values; `problems` is None where no number of problems is enough."""
        problems = [None if math.isinf(size.problems) else int(size.problems) for size in self.sizes]
        sizes = [
            {"seeds": size.seeds, "samples": size.samples, "problems": number}
            for size, number in zip(self.sizes, problems, strict=True)
        ]
        return self.arm.as_json() | {"detectable": self.detectable, "wanted": WANTED, "sizes": sizes}


@cache
def problems_to_show_equivalence() -> int:
    """Return the number of problems with fewer of which no outcome could show equivalence."""
    return fewest_problems(MARGIN, level=LEVEL)


def equivalence(summary: Summary, decoding: str) -> Equivalence | None:
    """Test whether the chosen λ and the baseline are the same within MARGIN; None without such a pair."""
    arm_gain = summary.gain(summary.task, summary.chosen_penalty, decoding)
    return None if arm_gain is None else equivalent(arm_gain.gain, margin=MARGIN, level=LEVEL)


@lru_cache(maxsize=2)
def power(summary: Summary, decoding: str) -> Power | None:
    """Plan with the spread of the chosen λ's gains, else of the best arm's.

    None without an arm to compare, with fewer than PILOT_SEEDS seeds, with one problem, or if nothing varies.
    """
    gains = [gain for gain in summary.gains if (gain.task, gain.decoding) == (summary.task, decoding)]
    means = {gain.arm: gain.mean for gain in gains if gain.arm != summary.baseline}
    if not means:
        return None
    arm = summary.chosen_penalty
    if arm not in means:
        arm = max(means, key=lambda arm: means[arm])
    treated, baseline = summary.outcomes(arm, decoding), summary.outcomes(summary.baseline, decoding)
    seeds, (_, problems, samples) = min(len(treated), len(baseline)), baseline.shape
    if seeds < PILOT_SEEDS or problems < 2:
        return None
    spread = spread_of(treated, baseline)
    detectable = few_seeds_factor(seeds) * detectable_gain(problems, spread, seeds=seeds, samples=samples)
    if not detectable:
        return None
    sizes = []
    for number in SEEDS:
        planned_for = WANTED / few_seeds_factor(min(number, seeds))
        sizes += study_sizes(spread, gains=(planned_for,), designs=[(number, samples)])
    return Power(arm, detectable, tuple(sizes))


def inference(summary: Summary) -> dict[str, Any]:
    """Return both for each decoding as plain values; what does not exist is None."""
    findings = {}
    for decoding in DECODINGS:
        same, planned = equivalence(summary, decoding), power(summary, decoding)
        findings[decoding] = {
            "same": same and same._asdict() | {"fewest": problems_to_show_equivalence()},
            "plan": planned and planned.as_json(),
        }
    return {"task": summary.task, "chosen": summary.lam, **findings}
