"""Problems that all gained the same → what their number alone leaves open, where no variance can say it.

n problems without a single difference do not prove that there is none: the next one may differ. The largest
share of such problems that fits is the exact bound of Clopper and Pearson (1934) for none of n, about 3 / n
(the "rule of three"). On a problem that differs, the gain may be anything from −1 to 1.
"""

import math
from typing import NamedTuple


class Bounds(NamedTuple):
    """The true gains, in fractions of 1, that problems which all gained the same leave open."""

    low: float
    high: float


def unseen_share(problems: int, tail: float) -> float:
    """The share of problems that may differ though none of `problems` does: 1 − tail^(1 / problems).

    A larger share would have shown in all but `tail` of such draws of problems.

    >>> [f"{unseen_share(problems, 0.05):.4f}" for problems in (20, 149, 300)]
    ['0.1391', '0.0199', '0.0099']
    """
    return -math.expm1(math.log(tail) / problems)


def alike_bounds(gain: float, problems: int, *, tail: float) -> Bounds:
    """What mean gains fit `problems` that all gained `gain`, each end missed with probability `tail`.

    >>> low, high = alike_bounds(0.0, 20, tail=0.05)
    >>> f"{low:+.3f} to {high:+.3f}"
    '-0.139 to +0.139'
    """
    share = unseen_share(problems, tail)
    return Bounds(gain - share * (1 + gain), gain + share * (1 - gain))


def alike_p(gain: float, problems: int) -> float:
    """Two-sided p of no gain, at most 2 / (1 + |gain|)^problems: for a gain of 1 McNemar's exact test.

    >>> alike_p(1.0, 5), alike_p(0.0, 500)
    (0.0625, 1.0)
    """
    return min(1.0, 2 * math.exp(-problems * math.log1p(abs(gain))))


def alike_variance(gain: float, problems: int) -> float:
    """A stand-in for the squared standard error: the farther of the 95 % bounds, over 1.96."""
    farther = unseen_share(problems, 0.025) * (1 + abs(gain))
    return (farther / 1.96) ** 2
