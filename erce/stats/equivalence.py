"""A gain with its standard error → whether it lies within a margin of none: two one-sided tests.

"Not significant" never means "the same": a small study finds nothing significant. Equivalence turns the
burden around, and a small study finds nothing equivalent.
"""

import math
from typing import NamedTuple

from scipy.special import stdtr, stdtrit

from erce.stats.gains import Covers, Gain


class Equivalence(NamedTuple):
    """Whether the gain lies between −margin and +margin; p is the larger of two one-sided p-values.

    `low` … `high` is the interval of confidence 1 − 2 · level (90 % for 5 %): it lies inside the margin
    exactly where `equivalent` is true. `covers` says, as for the gain, what was taken as drawn by chance.
    """

    equivalent: bool
    p: float
    low: float
    high: float
    margin: float
    covers: Covers


def equivalent(gain: Gain, *, margin: float, level: float = 0.05) -> Equivalence:
    """Whether two arms are the same up to `margin`, in fractions of 1, by two one-sided t-tests (TOST).

    Takes what `paired_gain`, `welch` or `difference` returns, and so speaks of what that covers. Say the
    margin before looking: 2 points are 0.02. Without any variation p is 0 strictly inside the margin, else
    1; with one problem nothing is known and p is 1. (Schuirmann 1987.)

    >>> from erce.stats import welch
    >>> same = welch([0.501, 0.498, 0.503, 0.499], [0.500, 0.502, 0.497, 0.499])
    >>> found = equivalent(same, margin=0.02)
    >>> found.equivalent, f"p {found.p:.5f}, {found.low:+.4f} to {found.high:+.4f}"
    (True, 'p 0.00001, -0.0022 to +0.0037')
    """
    if not 0 < margin < 1:
        raise ValueError(
            f"margin = {margin:g} must lie between 0 and 1, in fractions of 1: 2 points are 0.02"
        )
    if not 0 < level < 0.5:
        raise ValueError(f"level = {level:g} must lie between 0 and 0.5, such as 0.05")
    if math.isinf(gain.se):
        return Equivalence(False, 1.0, gain.low, gain.high, margin, gain.covers)
    if not gain.se:
        inside = abs(gain.gain) < margin
        return Equivalence(inside, float(not inside), gain.gain, gain.gain, margin, gain.covers)
    p = float(stdtr(gain.df, (abs(gain.gain) - margin) / gain.se))
    half = float(stdtrit(gain.df, 1 - level)) * gain.se
    return Equivalence(p < level, p, gain.gain - half, gain.gain + half, margin, gain.covers)
