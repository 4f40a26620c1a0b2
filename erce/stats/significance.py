"""Tests of gains: Holm's over a grid, equivalence within a margin.

A study's report reads `grid_gains`: each arm's `paired_gain`, with its p after Holm. Reject all arms whose
adjusted p is at most 5 %: then at most 5 % of studies reject any arm that in truth does nothing.

"Not significant" never means "the same": a small study finds no gain significant. In `equivalent` the arms
count as different until the data show otherwise, so a small study finds no arms equivalent.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from erce.stats.exact import Bounds
from erce.stats.intervals import Covers, Gain, paired_gain

Name = TypeVar("Name")


class GridGain(NamedTuple):
    """One arm's gain by itself, and the gain's p after Holm's correction for all arms of the grid."""

    gain: Gain
    adjusted: float


def grid_gains(
    arms: Mapping[Name, ArrayLike],  # λ, or any name → (seeds, problems, samples), without the baseline
    baseline: ArrayLike,  # (seeds, problems, samples); the same problems in the same order
) -> dict[Name, GridGain]:
    """Return every arm's gain over the baseline with its interval, and its p adjusted for the number of arms.

    The intervals are those of `paired_gain`, one arm at a time: only `adjusted` allows for the grid. Without
    arms the dict is empty.
    """
    gains = {name: paired_gain(arm, baseline) for name, arm in arms.items()}
    adjusted = holm([gain.p for gain in gains.values()])
    return {name: GridGain(gain, float(p)) for (name, gain), p in zip(gains.items(), adjusted, strict=True)}


def holm(p_values: Sequence[float]) -> np.ndarray:
    """Return Holm's adjusted p-values, in the same order: valid however the tests depend on each other.

    The smallest of m p-values is multiplied by m, the next by m − 1, …; an adjusted p is never below that of
    a smaller p, nor above 1. Equal p-values stay equal, a single p stays as it is, an empty list stays empty.
    (Holm 1979.)

    >>> holm([0.01, 0.04, 0.03, 0.005]).tolist()
    [0.03, 0.06, 0.06, 0.02]
    """
    p = np.asarray(p_values, dtype=float)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"p_values = {p_values!r} are not all between 0 and 1; hand in one p-value per test")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return adjusted


class Equivalence(NamedTuple):
    """A test of whether a gain lies between −margin and +margin; p is the larger of two one-sided p-values.

    `low` … `high` is the interval of confidence 1 − 2 · level (90 % for 5 %): the interval lies inside the
    margin exactly where `equivalent` is true. `covers` says what counts as a matter of chance, as in `Gain`.
    """

    equivalent: bool
    p: float
    low: float
    high: float
    margin: float
    covers: Covers


def equivalent(gain: Gain, *, margin: float, level: float = 0.05) -> Equivalence:
    """Test whether two arms are the same up to `margin`, in fractions of 1, by two one-sided t-tests (TOST).

    `gain` comes from `paired_gain`, `welch` or `difference`; the answer covers what the gain covers. Choose
    the margin before looking at the gain: 2 points are 0.02. (Schuirmann 1987.)

    If the gain covers problems, the interval is at least as wide and p at least as large as the exact ones
    (`erce.stats.exact`), since t would find too many arms the same where few problems differ: fewer than
    log(level) / log(1 − margin) problems never show equivalence. Where nothing is known, as with one problem,
    p is 1.

    >>> from erce.stats import welch
    >>> same = welch([0.501, 0.498, 0.503, 0.499], [0.500, 0.502, 0.497, 0.499])
    >>> answer = equivalent(same, margin=0.02)
    >>> answer.equivalent, f"p {answer.p:.5f}, {answer.low:+.4f} to {answer.high:+.4f}"
    (True, 'p 0.00001, -0.0022 to +0.0037')
    """
    if not 0 < margin < 1:
        raise ValueError(
            f"margin = {margin:g} must lie between 0 and 1, in fractions of 1: 2 points are 0.02"
        )
    if not 0 < level < 0.5:
        raise ValueError(f"level = {level:g} must lie between 0 and 0.5, such as 0.05")
    if math.isinf(gain.se) or not (gain.se or gain.problems):
        low, high = (gain.low, gain.high) if gain.se else (-1.0, 1.0)
        return Equivalence(False, 1.0, low, high, margin, gain.covers)
    half = float(stdtrit(gain.df, 1 - level)) * gain.se if gain.se else 0.0
    p = float(stdtr(gain.df, (abs(gain.gain) - margin) / gain.se)) if gain.se else 0.0
    low, high = max(-1.0, gain.gain - half), min(1.0, gain.gain + half)
    if gain.by_problem is not None:
        for gains in (gain.by_problem, gain.by_problem.alike):  # alike: an unseen problem may gain or lose 1
            low, high = gains.bounds(tail=level, within=Bounds(low, high))
            p = max(p, gains.chance(margin), gains.chance(-margin)) if abs(gain.gain) < margin else 1.0
    return Equivalence(p < level, p, low, high, margin, gain.covers)
