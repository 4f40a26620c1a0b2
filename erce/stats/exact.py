"""The gains on n problems → bounds on the true mean gain that hold however few of the problems differ.

Where three of n problems differ, all in one direction, t is wrong: its 95 % interval covers 85 %. The bounds
here are tails, as Clopper and Pearson's (1934): under the upper bound, a mean as small as the one seen has a
chance of just `tail`. That chance is exact for one distribution: of those with the bound as their mean, the
one that makes the gains seen likeliest. Its values are the gains seen, and the largest of them with either
sign, since an unseen problem may gain or lose as much. (Tango 1998 restricts the three outcomes of a pair
likewise; Storer and Kim 1990 compute such tails.) If all problems gained the same, the bounds are Clopper and
Pearson's for none of n, about 3 / n (the "rule of three").
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

FINEST = 120  # steps a unit: gains between two steps are rounded where chances are added up
REACH_DEVIATIONS = 10  # standard deviations of a sum that are added up; the rest is below 1e-15


class Bounds(NamedTuple):
    """The range of true mean gains, in fractions of 1, that fits the problems seen."""

    low: float
    high: float


@dataclass(frozen=True)
class ProblemGains:
    """The gains on n problems, each from −1 to 1: every value once, and on how many problems it was seen.

    All values are multiples of 1 / `steps`, or are rounded to one where chances are added up.
    """

    mean: float
    values: tuple[float, ...] = field(repr=False)
    counts: tuple[int, ...] = field(repr=False)
    steps: int = field(repr=False)

    @classmethod
    def of(cls, gains: np.ndarray, *, gain: float, steps: int) -> "ProblemGains":
        """Count the values of `gains`, one per problem, whose mean is `gain`; rounding makes no new value."""
        values, counts = np.unique(gains.round(12), return_counts=True)
        return cls(gain, tuple(values.tolist()), tuple(counts.tolist()), min(steps, FINEST))

    @property
    def problems(self) -> int:
        return sum(self.counts)

    @cached_property
    def largest(self) -> float:
        """The most that an unseen problem may gain or lose: the most of those seen, or 1 if they are alike.

        With 1 throughout, arms of many samples would count as sparse: their gains are small on most problems.
        """
        return max(map(abs, self.values)) if len(self.values) > 1 else 1.0

    def bounds(self, *, tail: float, within: Bounds | None = None) -> Bounds:
        """Return the true gains that fit, and all of those `within`; each end misses with chance `tail`.

        >>> twenty_alike = ProblemGains(0.0, (0.0,), (20,), steps=1)
        >>> low, high = twenty_alike.bounds(tail=0.05)
        >>> f"{low:+.3f} to {high:+.3f}"
        '-0.139 to +0.139'
        """
        low, high = within or Bounds(self.mean, self.mean)
        return Bounds(-self._mirrored._upper(-low, tail), self._upper(high, tail))

    def stand_in_variance(self) -> float:
        """Return ((distance from the mean to the farther 95 % bound) / 1.96)², in place of a variance."""
        low, high = self.bounds(tail=0.025)
        return (max(high - self.mean, self.mean - low) / 1.96) ** 2

    def chance(self, true: float) -> float:
        """Return the chance, if the true gain is `true`, of a gain at least as far from it as the one seen.

        Gains on the other side of `true` do not count. The chance is 1 if `true` is the gain seen.
        """
        if abs(true) >= self.largest or true == self.mean:
            return float(true == self.mean)
        return self._chance(true) if true > self.mean else self._mirrored._chance(-true)

    def p(self) -> float:
        """Return the two-sided p of no gain; where all problems gained 1 it is McNemar's."""
        return min(1.0, 2 * self.chance(0.0))

    @cached_property
    def _mirrored(self) -> "ProblemGains":
        values = tuple(-value for value in self.values[::-1])
        return ProblemGains(-self.mean, values, self.counts[::-1], self.steps)

    def _upper(self, start: float, tail: float) -> float:
        """Return the first true gain from `start` on that gives the gain seen a chance of at most `tail`."""
        nearly = self.largest * (1 - 1e-9)
        if start >= nearly:
            return min(start, 1.0)
        if start > self.mean and self._chance(start) <= tail:
            return start
        further = min(nearly, start + max((start - self.mean) / 4, self.largest / self.problems))
        while further < nearly and self._chance(further) > tail:
            start, further = further, min(nearly, 2 * further - self.mean)
        return _root(lambda true: math.log(max(self.chance(true), 1e-300) / tail), start, further)

    def _chance(self, true: float) -> float:
        """Return the chance of a sum of gains at most as large as the sum seen; `true` is above the mean."""
        values, chances = self._likeliest(true)
        steps = np.rint(values * self.steps).astype(int)
        seen = int(np.rint(np.array(self.values) * self.steps).astype(int) @ np.array(self.counts))
        if seen == self.problems * steps.min():
            return float(chances[steps == steps.min()].sum()) ** self.problems
        centre = float(steps @ chances)
        deviation = math.sqrt(self.problems * max(0.0, float(steps**2 @ chances) - centre**2))
        expected = self.problems * centre
        half = abs(seen - expected) + REACH_DEVIATIONS * (deviation + int(np.abs(steps).max()))
        size = 1 << math.ceil(math.log2(2 * half))  # sums this far apart may share a place
        one_problem = np.bincount(steps % size, weights=chances, minlength=size)
        sums = np.fft.irfft(np.fft.rfft(one_problem) ** self.problems, size)
        return max(0.0, float(sums[np.arange(math.floor(expected) - size // 2, seen + 1) % size].sum()))

    def _likeliest(self, true: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the values and chances of the likeliest distribution of mean `true`, above the mean seen.

        Lagrange's multiplier gives each value the chance count / (n (1 + tilt · (value − true))). If that
        would make 1 + tilt · (largest − true) negative, the largest has a chance too, though it was not seen.
        """
        values, counts = np.array(self.values), np.array(self.counts)
        away, edge = values - true, -1 / (self.largest - true)

        def slope(tilt: float) -> float:
            return float(counts @ (away / (1 + tilt * away)))

        if values[-1] < self.largest and slope(edge) <= 0:
            chances = counts / (self.problems * (1 + edge * away))
            return np.append(values, self.largest), np.append(chances, max(0.0, 1 - chances.sum()))
        tilt = _root(slope, edge if values[-1] < self.largest else edge * (1 - 1e-9), 0.0)
        chances = counts / (1 + tilt * away)
        return values, chances / chances.sum()


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where the function is 0; the better end where rounding leaves both ends on one side of 0."""
    ends = {low: function(low), high: function(high)}
    if ends[low] * ends[high] >= 0:
        return min(ends, key=lambda end: abs(ends[end]))
    return float(brentq(function, low, high, xtol=1e-11))  # pyright: ignore  its stub allows a tuple too
