"""Tests of gains over a grid, by Holm's correction.

A study's report reads `grid_gains`: each arm's `paired_gain`, with its p after Holm. Reject all arms whose
adjusted p is at most 5 %: then at most 5 % of studies reject any arm that in truth does nothing.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from erce.stats.intervals import Gain, paired_gain

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
