"""Problems' gains under random signs → what a whole grid shows by chance: adjusted p, simultaneous intervals.

A gain that is luck could as well have been the same loss, on every problem. Flipping all arms' signs on a
problem together keeps how the arms vary together, through the shared problems and the shared baseline.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from erce.stats.alike import unseen_share
from erce.stats.outcomes import accuracy, cell_variance, mean_accuracy, paired_outcomes, ratio, variance

_CHUNK = 2**22  # signs drawn at a time, 32 MB of floats


class MaxT(NamedTuple):
    """Each arm's t against the baseline, its adjusted two-sided p, and its gain with an interval low … high.

    The intervals are simultaneous: in 95 % of studies all of them hold the true gains of their arms. Each is
    (arms,), in the order in which the arms came; gains are fractions of 1.
    """

    t: np.ndarray
    p: np.ndarray
    gain: np.ndarray
    low: np.ndarray
    high: np.ndarray


class _Studentized(NamedTuple):
    gain: np.ndarray  # (arms,)
    se: np.ndarray
    t: np.ndarray
    df: np.ndarray


def max_t(
    treated_arms: Sequence[ArrayLike],  # each (seeds, problems, samples), 0 or 1
    baseline: ArrayLike,  # (seeds, problems, samples); the same problems in the same order
    *,
    draws: int = 9_999,
    seed: int = 0,
    confidence: float = 0.95,
) -> MaxT:
    """Westfall and Young's step-down max-T: the gains of all arms with how they vary together, p adjusted.

    What the largest |t| of the grid would be by chance comes from flipping the sign of all arms' gains on a
    problem together, `draws` times (Westfall & Young 1993): under the null a gain is as likely as the same
    loss, and arms keep the correlation that the shared problems and the shared baseline give them. Flips
    know nothing of seeds. They are in t: its variance is that of `paired_gain` with the seeds' part, taken
    as the same in every arm, pooled over all arms and the baseline, so that with few seeds it is better
    known than from one pair; t then goes in at the value with the same p for problems − 1 degrees of
    freedom. If no arm has two seeds, p is over problems alone.

    p is (1 + draws in which chance did as well) / (1 + draws), never 0, and off by √(p (1 − p) / draws) by
    the draws alone; the same `seed` gives the same p. Ties count as chance having done as well; arms with
    equal |t| have equal p. A gain of 0 has t = 0 and p = 1; a gain without any variation has an infinite t;
    one problem gives t = 0 and p = 1. With one arm and one seed it is the sign-flip test.

    The intervals are single-step, with the quantile of the largest |t| over flips of what is left of the
    gains after their means: wider than each arm's own by what the grid costs. p is step-down and so a little
    sharper: an arm behind the best may have p ≤ 5 % and an interval that touches 0. Of an arm that gains the
    same on every problem it is at least what so many problems leave open (`erce.stats.alike`), each arm paid
    for. One problem, or fewer draws than the confidence needs, gives −1 … 1.
    """
    if draws < 1:
        raise ValueError(f"draws = {draws} must be at least 1; 9999 resolve p to 0.0001")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence = {confidence:g} must lie between 0 and 1, such as 0.95")
    pairs = [paired_outcomes(arm, baseline) for arm in treated_arms]
    if not pairs:
        return MaxT(*(np.empty(0) for _ in MaxT._fields))
    by_problem = np.stack([accuracy(arm) - accuracy(base) for arm, base in pairs])  # (arms, problems)
    problems = by_problem.shape[1]
    found = _studentized(by_problem, [pairs[0][1], *(arm for arm, _ in pairs)])
    if problems == 1:
        nothing = np.zeros(len(pairs))
        return MaxT(nothing, nothing + 1, found.gain, nothing - 1, nothing + 1)
    # 1 − 1e-9: a flip that gives back the very gains must count as a tie whatever the rounding.
    # Absolute, as scipy's quantile at 0 is +∞.
    observed = np.abs(stdtrit(problems - 1, stdtr(found.df, -np.abs(found.t)))) * (1 - 1e-9)
    order = np.argsort(-observed, kind="stable")
    p = np.empty(len(pairs))
    p[order], largest = _against_chance(observed[order], by_problem[order], draws, seed)
    half = _half_widths(found, largest, confidence, problems)
    unvaried = np.array([not variance(row) for row in by_problem])
    unseen = unseen_share(problems, (1 - confidence) / (2 * len(pairs)))
    half = np.where(unvaried, np.fmax(half, unseen * (1 + np.abs(found.gain))), half)
    return MaxT(found.t, p, found.gain, np.fmax(found.gain - half, -1), np.fmin(found.gain + half, 1))


def _studentized(by_problem: np.ndarray, arms: list[np.ndarray]) -> _Studentized:
    """Each arm's gain, its standard error, t and degrees of freedom; the baseline is the first of `arms`."""
    problems = by_problem.shape[1]
    gains = np.array([mean_accuracy(arm) - mean_accuracy(arms[0]) for arm in arms[1:]])
    if problems == 1:
        return _Studentized(gains, np.full(len(gains), math.inf), np.zeros(len(gains)), np.ones(len(gains)))
    of_problems = np.array([variance(row) for row in by_problem]) / problems
    seeded = [arm for arm in arms if len(arm) > 1]
    spare = sum(len(arm) - 1 for arm in seeded)
    of_seeds, of_cells = np.zeros(len(gains)), np.zeros(len(gains))
    if seeded:
        shares = np.array([1 / len(arm) + 1 / len(arms[0]) for arm in arms[1:]])
        of_seeds = shares * sum((len(arm) - 1) * variance(arm.mean(axis=(1, 2))) for arm in seeded) / spare
        of_cells = shares * sum((len(arm) - 1) * len(arm) * cell_variance(arm) for arm in seeded) / spare
    total = np.maximum(of_problems + np.maximum(of_seeds - of_cells, 0), of_seeds)
    spread = of_problems**2 / (problems - 1) + of_seeds**2 / max(spare, 1)
    df = np.divide(total**2, spread, out=np.full(len(gains), math.inf), where=spread > 0)
    se = np.sqrt(total)
    return _Studentized(gains, se, np.array([ratio(*each) for each in zip(gains, se, strict=True)]), df)


def _against_chance(
    observed: np.ndarray, by_problem: np.ndarray, draws: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Adjusted p of arms in falling order of |t|, and each draw's largest |t| of the gains less their means.

    For p, an arm is held against the largest by chance from itself on.
    """
    spread = np.round(by_problem - by_problem.mean(axis=1, keepdims=True), 12)  # equal gains leave no 1e-17
    spread[~spread.any(axis=1)] = 1.0  # where only seeds vary, t is still no less than a t by chance
    arms, as_good, largest = len(observed), np.zeros(len(observed)), []
    for by_chance in _flipped(np.concatenate([by_problem, spread]), draws, seed):
        from_itself = np.maximum.accumulate(by_chance[:, arms - 1 :: -1], axis=1)[:, ::-1]
        as_good += (from_itself >= observed).sum(axis=0)
        largest.append(by_chance[:, arms:].max(axis=1))
    return np.maximum.accumulate((1 + as_good) / (1 + draws)), np.concatenate(largest)


def _flipped(by_problem: np.ndarray, draws: int, seed: int) -> Iterator[np.ndarray]:
    """|t| of every row under random signs of the problems, (some draws, rows) at a time."""
    rng = np.random.default_rng(seed)
    problems = by_problem.shape[1]
    squares = (by_problem**2).sum(axis=1)  # what no flip changes
    step = max(1, _CHUNK // problems)
    for start in range(0, draws, step):
        signs = 1.0 - 2.0 * rng.integers(0, 2, (min(step, draws - start), problems))
        total = signs @ by_problem.T
        rest = squares - total**2 / problems  # Σ (D_i − mean)²; rounding alone can make it negative
        rest = np.where(rest > 1e-12 * squares, rest, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            yield np.nan_to_num(
                np.abs(total) / np.sqrt(problems * rest / (problems - 1)), nan=0.0, posinf=np.inf
            )


def _half_widths(found: _Studentized, largest: np.ndarray, confidence: float, problems: int) -> np.ndarray:
    """Each arm's se times the quantile of the largest |t|, taken over to the arm's own degrees of freedom."""
    at = math.ceil((len(largest) + 1) * confidence) - 1
    critical = np.sort(largest)[at] if at < len(largest) else math.inf
    if math.isinf(critical):
        return np.full(len(found.se), math.inf)
    tail = stdtr(problems - 1, -critical)
    times = [float(-stdtrit(df, tail)) if se else 0.0 for df, se in zip(found.df, found.se, strict=True)]
    return np.array(times) * found.se
