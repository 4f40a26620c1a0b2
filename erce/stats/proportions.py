"""Accepted problems of one seed and sample → an interval for their share, and an exact test of two arms.

This file is for the smallest study: one seed and one completion a problem. Several completions of a problem
are not independent trials; use `paired_gain` for several seeds or samples.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, ndtri


class Proportion(NamedTuple):
    """A share from 0 to 1 with its interval."""

    share: float
    low: float
    high: float


class Discordant(NamedTuple):
    """Problems that only one arm solves, and the two-sided p that gains and losses are equally likely."""

    gained: int
    lost: int
    p: float


def wilson(accepted: int, problems: int, *, confidence: float = 0.95) -> Proportion:
    """Return the share of accepted problems with Wilson's score interval: inside 0 … 1, never of width 0.

    The interval covers other problems like these, for this one trained model. (Wilson 1927.)

    >>> share, low, high = wilson(0, 10)
    >>> f"{low:.3f} to {high:.3f}"
    '0.000 to 0.278'
    """
    if not 0 <= accepted <= problems or problems < 1:
        raise ValueError(
            f"{accepted} accepted of {problems} problems; at least one problem, at most all of them"
        )
    if not 0 < confidence < 1:
        raise ValueError(f"confidence = {confidence:g} must lie between 0 and 1, such as 0.95")
    share, z = accepted / problems, float(ndtri((1 + confidence) / 2))
    centre = share + z**2 / (2 * problems)
    half = z * math.sqrt(share * (1 - share) / problems + z**2 / (4 * problems**2))
    low, high = ((centre + side * half) / (1 + z**2 / problems) for side in (-1, 1))
    return Proportion(share, low if accepted else 0.0, high if accepted < problems else 1.0)


def mcnemar(treated: ArrayLike, baseline: ArrayLike) -> Discordant:
    """Compare two models on the same problems by McNemar's exact test; 0/1 outcomes of shape (problems,).

    This is the binomial test of gained against lost; problems that both models solve, or neither, do not
    count. If no problem counts, p is 1.

    >>> mcnemar([1, 1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0, 0])
    Discordant(gained=6, lost=0, p=0.03125)
    """
    first, second = np.asarray(treated), np.asarray(baseline)
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(
            f"treated has shape {first.shape}, baseline {second.shape}; hand in one outcome a problem, "
            "the same problems in the same order"
        )
    wrong = [outcome for outcome in (*first, *second) if outcome not in (0, 1)]
    if wrong:
        raise ValueError(f"an outcome is {wrong[0]:g}, not 0 or 1; for means over seeds use paired_gain")
    gained, lost = int(((first == 1) & (second == 0)).sum()), int(((first == 0) & (second == 1)).sum())
    p = min(1.0, 2 * float(bdtr(min(gained, lost), gained + lost, 0.5))) if gained + lost else 1.0
    return Discordant(gained, lost, p)
