"""Per-seed accuracies → the ± and the interval that the paper prints: for reproduction, not recommended.

The paper's per-seed tables reveal two conventions: its ± divides by n, and its "Welch" interval takes the
sample standard deviations (n − 1) with the normal 1.96 in place of Student's t. With five seeds, t has 4 to 8
degrees of freedom and would be 2.78 to 2.31, so the interval is too narrow even for other seeds on these very
problems. Use `over_seeds`, `welch` and `paired_gain` of `erce.stats` instead.
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr

from erce.stats import Estimate, Gain
from erce.stats.outcomes import mean, variance


def over_seeds(scores: Sequence[float]) -> Estimate:
    """Return the mean and the spread of one cell's scores with n in the denominator, as the paper's ± is.

    >>> print(over_seeds([0.5450, 0.5300, 0.5150, 0.5200, 0.5250]))  # the per-seed MBPP table, λ = 0
    0.5270 ± 0.0103
    """
    values = np.asarray(scores, dtype=float)
    return Estimate(mean(values), math.sqrt(variance(values, 0)), len(values))


def welch(treated: Sequence[float], baseline: Sequence[float]) -> Gain:
    """Return the gain d ± 1.96 · √(s₁²/S₁ + s₀²/S₀), s with n − 1: the paper's "95 % Welch" interval.

    `p` is two-sided and normal too, so `df` is infinite. If neither arm's accuracies vary, the interval has
    width 0, and `p` is 1 for a gain of 0, else 0. Each arm needs two seeds.
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
