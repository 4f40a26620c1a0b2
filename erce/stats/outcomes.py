"""Nested lists of outcomes → arrays (seeds, problems, samples), means and variances safe from rounding."""

import numpy as np
from numpy.typing import ArrayLike

MEDIAN_OF_TWO = 0.455  # of the sample variance of two values, in units of the true variance: χ² of 1 df
_STEPS = 2.0**40
_EQUAL = 1e-12  # different shares of fewer than a million outcomes lie farther apart


def outcomes(arm: ArrayLike, name: str) -> np.ndarray:
    """Return an arm in whole numbers (seeds, problems, samples); other values than 0 and 1 are refused."""
    whole = _fractions(arm, name)
    if whole.dtype.kind == "f":
        raise ValueError(
            f"{name} holds values other than 0 and 1; hand in one outcome per sample, not accuracies"
        )
    return whole


def paired_fractions(treated: ArrayLike, baseline: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return both arms as whole numbers if every value is 0 or 1, else as floats from 0 to 1.

    Floats are rounded to multiples of 2⁻⁴⁰, which add up exactly, so equal arms have a gain of exactly 0.
    That the problems of both are the same is not checked, only that they are equally many.
    """
    arms = _fractions(treated, "treated"), _fractions(baseline, "baseline")
    problems, others = arms[0].shape[1], arms[1].shape[1]
    if problems != others:
        raise ValueError(
            f"treated has {problems} problems, baseline {others}; pair the same problems in the same order"
        )
    return arms


def accuracy(arm: np.ndarray) -> np.ndarray:
    """Return each problem's share of accepted samples, over all seeds: (problems,)."""
    seeds, _, samples = arm.shape
    return arm.sum(axis=(0, 2)) / (seeds * samples)


def seeds_variance(arm: np.ndarray) -> float:
    """Return the squared standard error of the arm's accuracy over its seeds, larger for two seeds."""
    of_mean = variance(arm.mean(axis=(1, 2))) / len(arm)
    return of_mean / MEDIAN_OF_TWO if len(arm) == 2 else of_mean


def cell_variance(arm: np.ndarray) -> float:
    """Return Σ (p_si − p_i)² / ((seeds − 1) seeds problems²), which problems and seeds both count."""
    per_seed = arm.mean(axis=2)  # (seeds, problems)
    seeds, problems = per_seed.shape
    return float(((per_seed - per_seed.mean(axis=0)) ** 2).sum() / ((seeds - 1) * seeds * problems**2))


def mean(values: np.ndarray) -> float:
    """Return the mean; for equal values exactly that value, unlike (0.1 + 0.1 + 0.1) / 3."""
    return float(values.mean() if np.ptp(values) else values[0])


def variance(values: np.ndarray, dof: int = 1) -> float:
    """Return the variance over n − dof; exactly 0 for equal values, though 3/5 − 2/5 is not 1/5 in floats."""
    return float(values.var(ddof=dof)) if np.ptp(values) > _EQUAL else 0.0


def _fractions(arm: ArrayLike, name: str) -> np.ndarray:
    array = np.asarray(arm)
    if array.ndim != 3 or 0 in array.shape:
        raise ValueError(
            f"{name} has shape {array.shape}; it must be (seeds, problems, samples), none of them 0"
        )
    if not ((array >= 0) & (array <= 1)).all():
        raise ValueError(
            f"{name} holds values outside 0 to 1; hand in outcomes or chances, in fractions of 1"
        )
    if ((array == 0) | (array == 1)).all():
        return array.astype(np.int64)
    return np.round(array.astype(float) * _STEPS) / _STEPS
