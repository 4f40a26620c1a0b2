"""Per-seed accuracies → the ± and the interval that the paper prints, to reproduce it; not recommended.

    from erce.stats import paper
    paper.over_seeds(scores), paper.welch(treated, baseline)

Two conventions, recomputed from the paper's per-seed tables: its ± divides by n, and the interval that it
calls Welch's takes the sample standard deviations (n − 1) and the normal 1.96 in place of Student's t. With
five seeds 1.96 stands where t with 4 to 8 degrees of freedom has 2.78 to 2.31, so the interval is too
narrow even for the question that it answers, other seeds on these very problems. `erce.stats.over_seeds`,
`welch` and `paired_gain` are the ones to use.
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr

from erce.stats import intervals
from erce.stats.intervals import Estimate, Gain
from erce.stats.outcomes import mean, variance


def over_seeds(scores: Sequence[float]) -> Estimate:
    """Mean and spread of one cell's scores with n in the denominator, as every ± of the paper.

    >>> print(over_seeds([0.5450, 0.5300, 0.5150, 0.5200, 0.5250]))  # the per-seed MBPP table, λ = 0
    0.5270 ± 0.0103
    """
    return intervals.over_seeds(scores, std="population")


def welch(treated: Sequence[float], baseline: Sequence[float]) -> Gain:
    """Gain d ± 1.96 · √(s₁²/S₁ + s₀²/S₀) with sample standard deviations: the paper's "95 % Welch" interval.

    `df` is infinite, for it is the normal distribution that it takes; `p` is two-sided by the same. Equal
    seeds in an arm have no spread: an interval of width 0, and `p` is 1 for a gain of 0, else 0. Needs two
    seeds an arm.
    """
    arms = [np.asarray(arm, dtype=float) for arm in (treated, baseline)]
    if min(map(len, arms)) < 2:
        raise ValueError(
            f"treated has {len(arms[0])} seeds and baseline {len(arms[1])}; this interval needs two in each"
        )
    gain = mean(arms[0]) - mean(arms[1])
    se = math.sqrt(sum(variance(arm) / len(arm) for arm in arms))
    p = 2 * float(ndtr(-abs(gain) / se)) if se else float(gain == 0)
    return Gain(gain, gain - 1.96 * se, gain + 1.96 * se, p, se, math.inf, "seeds")
