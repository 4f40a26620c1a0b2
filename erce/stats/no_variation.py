"""Problems that all gained the same → the true gains that still fit; there is no variance to go by.

n problems that all gain the same do not prove that every problem does: the next problem may differ. The
largest share of differing problems that fits is the exact bound of Clopper and Pearson (1934) for none of n,
about 3 / n (the "rule of three"). On a problem that differs, the gain may be anything from −1 to 1.
"""

import math
from typing import NamedTuple


class Bounds(NamedTuple):
    """The range of true mean gains, in fractions of 1, that fits problems which all gained the same."""

    low: float
    high: float


def unseen_share(problems: int, tail: float) -> float:
    """Return the share of problems that may differ though none of `problems` does: 1 − tail^(1 / problems).

    With a larger share, fewer than `tail` of all draws of that many problems would show no difference.

    >>> [f"{unseen_share(problems, 0.05):.4f}" for problems in (20, 149, 300)]
    ['0.1391', '0.0199', '0.0099']
    """
    return -math.expm1(math.log(tail) / problems)


def alike_bounds(gain: float, problems: int, *, tail: float) -> Bounds:
    """Return the mean gains that fit `problems` that all gained `gain`; each end misses with chance `tail`.

    >>> low, high = alike_bounds(0.0, 20, tail=0.05)
    >>> f"{low:+.3f} to {high:+.3f}"
    '-0.139 to +0.139'
    """
    share = unseen_share(problems, tail)
    return Bounds(gain - share * (1 + gain), gain + share * (1 - gain))


def alike_p(gain: float, problems: int) -> float:
    """Return the two-sided p of no gain: 2 / (1 + |gain|)^problems, at most 1; McNemar's for a gain of 1.

    >>> alike_p(1.0, 5), alike_p(0.0, 500)
    (0.0625, 1.0)
    """
    return min(1.0, 2 * math.exp(-problems * math.log1p(abs(gain))))


def alike_variance(gain: float, problems: int) -> float:
    """Return a stand-in for the squared standard error: (distance to the farther 95 % bound / 1.96)²."""
    farther = unseen_share(problems, 0.025) * (1 + abs(gain))
    return (farther / 1.96) ** 2
