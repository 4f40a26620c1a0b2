"""Outcomes over seeds, problems and samples → gains, with intervals that say what they cover."""

import math
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtr, stdtrit

from erce.stats.exact import FINEST, Bounds, ProblemGains
from erce.stats.outcomes import (
    accuracy,
    cell_variance,
    mean,
    outcomes,
    paired_fractions,
    seeds_variance,
    variance,
)

Covers = Literal["problems and seeds", "problems", "seeds"]


class Gain(NamedTuple):
    """Treated minus baseline accuracy, in fractions of 1, with its interval low … high and two-sided p.

    `se` is the standard error, `df` the degrees of freedom of Student's t behind `low`, `high` and `p`.
    `covers` says what is a matter of chance, `problems` is the number of problems (0: over seeds alone).
    `by_problem` has the gain on every problem and the exact bounds for few that differ (`erce.stats.exact`);
    the interval is never narrower. If nothing varied, `se` is 0, `covers` is "problems", and `low`, `high`
    and `p` are those bounds. If nothing is known, as with one problem or with equal seeds in Welch's
    interval, `se` is infinite, the interval is the widest possible, and `p` is 1.
    """

    gain: float
    low: float
    high: float
    p: float
    se: float
    df: float
    covers: Covers
    problems: int = 0
    by_problem: ProblemGains | None = None


class Estimate(NamedTuple):
    """A mean over `n` seeds and the standard deviation between these seeds (NaN where one seed has none)."""

    mean: float
    sd: float
    n: int

    def __str__(self) -> str:
        return f"{self.mean:.4f}" if math.isnan(self.sd) else f"{self.mean:.4f} ± {self.sd:.4f}"


def over_seeds(scores: Sequence[float]) -> Estimate:
    """Return the mean and the spread (with n − 1) of one cell's scores, one score per seed.

    >>> print(over_seeds([0.5450, 0.5300, 0.5150, 0.5200, 0.5250]))  # the paper's per-seed MBPP table, λ = 0
    0.5270 ± 0.0115
    >>> print(over_seeds([0.5]))  # one seed has a spread of unknown size
    0.5000
    """
    values = np.asarray(scores, dtype=float)
    if values.ndim != 1 or not values.size:
        raise ValueError(f"scores have shape {values.shape}; hand in one score per seed, at least one")
    sd = math.sqrt(variance(values)) if len(values) > 1 else math.nan
    return Estimate(mean(values), sd, len(values))


def paired_gain(
    treated: ArrayLike,  # (seeds, problems, samples), 0 or 1, or from 0 to 1
    baseline: ArrayLike,  # (seeds, problems, samples), likewise; the same problems in the same order
    *,
    confidence: float = 0.95,
    untrained: Collection[str] = (),
    chosen_from: int = 1,
) -> Gain:
    """Return the treated arm's gain, with an interval for other problems like these and other seeds.

    With D_i the gain on problem i and y_s the accuracy of seed s,

        V = var_i(D_i) / problems + Σ_arms var_s(y_s) / seeds − V_cell,

    where V_cell is the part that the first two terms both contain: how much a problem's accuracy differs
    between seeds. V is at least the larger of the first two terms; t has Satterthwaite's degrees of freedom
    over both. The variance between two seeds counts 2.2 times, as it is that much too small in half of all
    studies. Problems are paired, seeds are not: arms may have different numbers of seeds and samples.

    With one seed in an arm the interval is over problems alone (`covers`); with one problem it is −1 … 1.
    An arm named in `untrained` ("treated", "baseline") has no seeds that could differ, as a base model.

    `chosen_from` is the number of trained arms among which `treated` was chosen by outcomes of the same runs
    on *other* problems. That choice prefers lucky runs, not lucky problems, so the variance between runs,
    Σ_arms var_s(y_s) / seeds − V_cell, counts (z_m / z_1)² times, where z_m is the normal quantile of
    Bonferroni's interval for m arms: 1.8 times for 6. Over problems alone, nothing is added.

    Where few problems differ, t is too narrow: no end is nearer than the exact bound of `erce.stats.exact`,
    nor p smaller. Where all D_i are equal, the farther bound stands in for their variance.

    The formula uses only each seed's mean on each problem, so a value may also be a mean from 0 to 1, such as
    a problem's pass@k, maj@n or best@n: (seeds, problems, 1). Outcomes of 0 and 1 are counted in whole
    numbers; other values are rounded to multiples of 2⁻⁴⁰.

    >>> cross_entropy = [[[1], [0], [0], [1]], [[1], [0], [0], [0]]]
    >>> regularized = [[[1], [1], [0], [1]], [[1], [1], [0], [1]]]
    >>> paired_gain(regularized, cross_entropy).gain
    0.375
    """
    if chosen_from < 1:
        raise ValueError(f"chosen_from = {chosen_from} must be 1 or more: how many arms were compared")
    _check(confidence)
    arms = paired_fractions(treated, baseline)
    problems = arms[0].shape[1]
    gain = float(arms[0].sum() / arms[0].size - arms[1].sum() / arms[1].size)
    trained = [arm for arm, name in zip(arms, ("treated", "baseline"), strict=True) if name not in untrained]
    covers: Covers = "problems and seeds" if min(map(len, trained), default=1) > 1 else "problems"
    if problems == 1:
        return Gain(gain, -1.0, 1.0, 1.0, math.inf, 1.0, covers, problems)
    differences = accuracy(arms[0]) - accuracy(arms[1])
    by_problem = ProblemGains.of(differences, gain=gain, steps=_steps(arms))
    seen_variance = variance(differences) / problems
    parts = [(seen_variance if seen_variance else by_problem.stand_in_variance(), problems - 1.0)]
    total = parts[0][0]
    if covers == "problems and seeds":
        allowed = _choosing_factor(chosen_from, confidence)
        parts += [(allowed * seeds_variance(arm), len(arm) - 1.0) for arm in trained]
        of_seeds, of_cells = sum(part for part, _ in parts[1:]), allowed * sum(map(cell_variance, trained))
        total = max(parts[0][0] + of_seeds - of_cells, parts[0][0], of_seeds)
    if seen_variance or any(part for part, _ in parts[1:]):
        by_t = _t_interval(gain, total, _satterthwaite(total, parts), confidence, covers)
    else:
        by_t = Gain(gain, gain, gain, 0.0, 0.0, math.inf, "problems")
    return _at_least_exact(by_t, by_problem, confidence)


def accuracy_bounds(accepted: ArrayLike, *, confidence: float = 0.95) -> Bounds:
    """Return bounds on one model's accuracy on other problems like these, from 0/1 of (problems, samples).

    The accuracy is the mean over problems of each one's share of accepted samples. For one sample per problem
    the bounds are Clopper and Pearson's; for several they are Student's t over problems, and never nearer
    than the exact ones of `erce.stats.exact`. A single problem leaves 0 to 1 open.

    >>> low, high = accuracy_bounds([[1]] * 6 + [[0]] * 14)
    >>> f"{low:.4f} to {high:.4f}"  # Clopper and Pearson, 6 of 20
    '0.1189 to 0.5428'
    """
    _check(confidence)
    arm = outcomes(np.asarray(accepted)[None], "accepted")
    _, problems, samples = arm.shape
    shares = accuracy(arm)
    if problems == 1:
        return Bounds(0.0, 1.0)
    right, half = float(shares.mean()), 0.0
    if samples > 1:
        half = float(stdtrit(problems - 1, (1 + confidence) / 2)) * math.sqrt(variance(shares) / problems)

    def upper(values: np.ndarray, value: float) -> float:
        gains = ProblemGains.of(values, gain=value, steps=samples)
        within = Bounds(value, min(1.0, value + half))
        return min(1.0, gains.bounds(tail=(1 - confidence) / 2, within=within).high)

    # The lower bound is the upper one of what was rejected: shares are never below 0, as gains may be.
    return Bounds(1 - upper(1 - shares, 1 - right), upper(shares, right))


def welch(treated: Sequence[float], baseline: Sequence[float], *, confidence: float = 0.95) -> Gain:
    """Return the gain between two lists of per-seed accuracies by Welch's t: other seeds, the same problems.

    The interval is narrower than that of `paired_gain` where the same problems are right under every seed, as
    is usual. Each arm needs two seeds. If neither arm's accuracies vary, nothing says how much other seeds
    would differ: the interval is −1 … 1.

    >>> gain = welch([0.5220, 0.5180, 0.5320, 0.5340, 0.5320], [0.5080, 0.4620, 0.4960, 0.4940, 0.4960])
    >>> f"{gain.gain:+.4f}, {gain.low:+.4f} to {gain.high:+.4f} over {gain.covers}"
    '+0.0364, +0.0153 to +0.0575 over seeds'
    """
    seeds = len(treated), len(baseline)
    if min(seeds) < 2:
        raise ValueError(
            f"treated has {seeds[0]} seeds and baseline {seeds[1]}; Welch's interval needs two in each, "
            "paired_gain does with one"
        )
    arms = [np.asarray(arm, dtype=float) for arm in (treated, baseline)]
    parts = [(variance(arm) / len(arm), len(arm) - 1.0) for arm in arms]
    total = parts[0][0] + parts[1][0]
    gain = mean(arms[0]) - mean(arms[1])
    if not total:
        return Gain(gain, -1.0, 1.0, 1.0, math.inf, 1.0, "seeds")
    return _t_interval(gain, total, _satterthwaite(total, parts), confidence, "seeds")


def difference(first: Gain, second: Gain) -> Gain:
    """Return the first gain minus the second; the two count as independent, so their variances add.

    With a control task this is the interaction: the gain where the mechanism can work minus the gain where
    the mechanism cannot. A gain adds at least the variance that its exact bounds stand for.
    """
    if (first.covers == "seeds") != (second.covers == "seeds"):
        raise ValueError(
            f"one gain covers {first.covers}, the other {second.covers}; take both from the same function"
        )
    covers = first.covers if first.covers == second.covers else "problems"
    gain, problems = first.gain - second.gain, min(first.problems, second.problems)
    parts = [_variance(first), _variance(second)]
    total = parts[0][0] + parts[1][0]
    if math.isinf(total) or not total:
        return Gain(gain, -2.0, 2.0, 1.0, math.inf, 1.0, covers, problems)
    by_t = _t_interval(gain, total, _satterthwaite(total, parts), 0.95, covers, most=2.0)
    return by_t._replace(problems=problems)


def _variance(gain: Gain) -> tuple[float, float]:
    """Return the squared standard error, raised where problems are few, and its degrees of freedom."""
    if gain.by_problem is None:
        return gain.se**2, gain.df
    open_to_problems = gain.by_problem.stand_in_variance()
    if gain.se**2 > open_to_problems:
        return gain.se**2, gain.df
    return open_to_problems, gain.problems - 1.0


def _at_least_exact(gain: Gain, by_problem: ProblemGains, confidence: float) -> Gain:
    """Return the gain with an interval and a p that contain the exact ones of its problems."""
    low, high = by_problem.bounds(tail=(1 - confidence) / 2, within=Bounds(gain.low, gain.high))
    p = max(gain.p, by_problem.p())
    return gain._replace(low=low, high=high, p=p, problems=by_problem.problems, by_problem=by_problem)


def _choosing_factor(arms: int, confidence: float) -> float:
    """Return (z_m / z_1)², by which the variance between runs counts more for the best of m arms."""
    ends = ndtri(1 - (1 - confidence) / 2 / np.array([arms, 1]))
    return float((ends[0] / ends[1]) ** 2)


def _steps(arms: tuple[np.ndarray, np.ndarray]) -> int:
    """Return how many steps of equal size make 1, so that every gain is whole steps; fractions are not."""
    if any(arm.dtype.kind == "f" for arm in arms):
        return FINEST
    return math.lcm(*(arm.shape[0] * arm.shape[2] for arm in arms))


def _satterthwaite(variance: float, parts: list[tuple[float, float]]) -> float:
    """Return the degrees of freedom of a sum of independent variances; `parts` are (variance, its df)."""
    spread = sum(part**2 / df for part, df in parts)
    return variance**2 / spread if spread else math.inf


def _t_interval(
    gain: float, variance: float, df: float, confidence: float, covers: Covers, *, most: float = 1.0
) -> Gain:
    """Return Student's interval, which ends at the largest gain possible, `most`."""
    _check(confidence)
    se = math.sqrt(variance)
    half = float(stdtrit(df, (1 + confidence) / 2)) * se
    p = min(1.0, 2 * float(stdtr(df, -abs(gain) / se)))
    return Gain(gain, max(-most, gain - half), min(most, gain + half), p, se, df, covers)


def _check(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence = {confidence:g} must lie between 0 and 1, such as 0.95")
