"""Many arms against one baseline → p-values that allow for how many were tried.

`grid_gains` is what a study's report reads: each arm's `paired_gain` with its p after Holm. `max_t` knows
that arms which share a baseline rise and fall together, and is sharper for it; `dunnett` asks about other
seeds only; `trend` asks whether the grid rises as a whole. "Adjusted" always means: reject all arms whose
adjusted p is at most 5 %, and in at most 5 % of studies in which some arms do nothing is any of those
rejected.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, ndtr, stdtr, stdtrit

from erce.stats.gains import Gain, paired_gain
from erce.stats.outcomes import accuracy, cell_variance, mean, mean_accuracy, paired_outcomes, variance

Arm = TypeVar("Arm")
Lam = TypeVar("Lam", bound=float)
_CHUNK = 2**22  # signs drawn at a time, 32 MB of floats


class GridGain(NamedTuple):
    """One arm's gain by itself, and its p allowing for every arm of the grid."""

    gain: Gain
    adjusted: float
    correction: Literal["holm", "max-t"]


class GridTest(NamedTuple):
    """Each arm's t against the baseline and its adjusted two-sided p, in the order in which the arms came."""

    t: np.ndarray  # (arms,)
    p: np.ndarray  # (arms,)


class Trend(NamedTuple):
    """Page's L, and the one-sided p of accuracies that rise with λ (a fall has p near 1)."""

    statistic: float
    p: float


def grid_gains(
    arms: Mapping[Arm, ArrayLike],  # λ, or any name → (seeds, problems, samples), without the baseline
    baseline: ArrayLike,  # (seeds, problems, samples); the same problems in the same order
    *,
    correction: Literal["holm", "max-t"] = "holm",
    confidence: float = 0.95,
) -> dict[Arm, GridGain]:
    """Every arm's gain over the baseline with its interval, and its p adjusted for the number of arms.

    The intervals are those of `paired_gain`, one arm at a time: only `adjusted` allows for the grid. "max-t"
    is `max_t` with its default draws and seed; it knows the seeds' spread from all arms, so its p can be
    below that of the arm alone. No arm gives an empty dict.
    """
    if correction not in ("holm", "max-t"):
        raise ValueError(f"correction = {correction!r} is not known; write 'holm' or 'max-t'")
    gains = {name: paired_gain(arm, baseline, confidence=confidence) for name, arm in arms.items()}
    if correction == "holm":
        adjusted = holm([gain.p for gain in gains.values()])
    else:
        adjusted = max_t(list(arms.values()), baseline).p
    return {
        name: GridGain(gain, float(p), correction)
        for (name, gain), p in zip(gains.items(), adjusted, strict=True)
    }


def holm(p_values: Sequence[float]) -> np.ndarray:
    """Holm's adjusted p-values, in the order given: valid however the tests depend on each other.

    The smallest is multiplied by their number m, the next by m − 1, …; none is below one that was smaller,
    none above 1. Equal p-values stay equal, one alone stays as it is, none gives none. (Holm 1979.)

    >>> holm([0.01, 0.04, 0.03, 0.005]).tolist()
    [0.03, 0.06, 0.06, 0.02]
    """
    p = np.asarray(p_values, dtype=float)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"p_values = {p_values!r} are not all between 0 and 1; hand in one p-value a test")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return adjusted


def max_t(
    treated_arms: Sequence[ArrayLike],  # each (seeds, problems, samples), 0 or 1
    baseline: ArrayLike,  # (seeds, problems, samples); the same problems in the same order
    *,
    draws: int = 9_999,
    seed: int = 0,
) -> GridTest:
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
    """
    if draws < 1:
        raise ValueError(f"draws = {draws} must be at least 1; 9999 resolve p to 0.0001")
    pairs = [paired_outcomes(arm, baseline) for arm in treated_arms]
    if not pairs:
        return GridTest(np.empty(0), np.empty(0))
    by_problem = np.stack([accuracy(arm) - accuracy(base) for arm, base in pairs])  # (arms, problems)
    problems = by_problem.shape[1]
    if problems == 1:
        return GridTest(np.zeros(len(pairs)), np.ones(len(pairs)))
    t, df = _studentized(by_problem, [pairs[0][1], *(arm for arm, _ in pairs)])
    # 1 − 1e-9: a flip that gives back the very gains must count as a tie whatever the rounding.
    # Absolute, as scipy's quantile at 0 is +∞.
    observed = np.abs(stdtrit(problems - 1, stdtr(df, -np.abs(t)))) * (1 - 1e-9)
    order = np.argsort(-observed, kind="stable")
    p = np.empty(len(pairs))
    p[order] = _step_down(observed[order], _flipped(by_problem[order], draws, seed), draws)
    return GridTest(t, p)


def dunnett(per_seed_arms: Sequence[Sequence[float]], baseline: Sequence[float]) -> GridTest:
    """Dunnett's many-to-one test of per-seed accuracies: other seeds, but these very problems; p adjusted.

    All arms are taken to have the same spread between seeds, which is pooled over them and the baseline,
    hence more degrees of freedom than `welch` has, and p-values that depend on all arms. With one arm it is
    Student's t-test. Arms may have different numbers of seeds; one with a single seed counts for its mean
    alone. If no arm varies, p is 1 for a gain of 0, else 0. The probabilities are integrated, not drawn.
    (Dunnett 1955.)
    """
    groups = [np.asarray(group, dtype=float) for group in (baseline, *per_seed_arms)]
    for group in groups:
        if group.ndim != 1 or not group.size:
            raise ValueError(f"scores have shape {group.shape}; hand in one score a seed, at least one")
    df = sum(len(group) - 1 for group in groups)
    if df < 1:
        raise ValueError(f"all {len(groups)} arms have one seed; Dunnett's test needs two in at least one")
    pooled = math.sqrt(sum(variance(group) * (len(group) - 1) for group in groups if len(group) > 1) / df)
    sizes = np.array([len(group) for group in groups[1:]])
    gains = [mean(group) - mean(groups[0]) for group in groups[1:]]
    t = np.array(
        [
            _ratio(gain, pooled * math.sqrt(1 / n + 1 / len(groups[0])))
            for gain, n in zip(gains, sizes, strict=True)
        ]
    )
    loadings = np.sqrt(sizes / (sizes + len(groups[0])))  # correlation of two arms is the product of theirs
    return GridTest(t, np.array([_any_beyond(abs(value), loadings, df) for value in t]))


def trend(per_seed_by_lam: Mapping[Lam, Sequence[float]]) -> Trend:
    """Page's test of accuracies that rise with λ, over seeds: other seeds, but these very problems.

    Each seed ranks the λ, ties sharing the mean rank; λ are put in rising order first, whatever the order
    of the mapping. Up to 8 λ and 12 seeds p is exact (an approximation with ties), beyond
    that normal. It needs three λ and two seeds, the same number for each λ. (scipy.stats.page_trend_test.)
    """
    lams = sorted(per_seed_by_lam)
    seeds = {len(per_seed_by_lam[lam]) for lam in lams}
    if len(lams) < 3 or len(seeds) != 1 or min(seeds) < 2:
        raise ValueError(
            f"{len(lams)} λ with {sorted(seeds)} seeds; a trend needs at least three λ, each with the same "
            "number of seeds, at least two"
        )
    from scipy.stats import page_trend_test  # 0.5 s to import, for this alone

    found = page_trend_test(np.array([per_seed_by_lam[lam] for lam in lams], dtype=float).T)
    return Trend(float(found.statistic), float(found.pvalue))


def _ratio(gain: float, se: float) -> float:
    """t, with 0 / 0 = 0."""
    return gain / se if se else math.copysign(math.inf, gain) if gain else 0.0


def _studentized(by_problem: np.ndarray, arms: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Each arm's t and its degrees of freedom; the baseline is the first of `arms`, and has no t."""
    problems = by_problem.shape[1]
    gains = [mean_accuracy(arm) - mean_accuracy(arms[0]) for arm in arms[1:]]
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
    t = [_ratio(gain, math.sqrt(part)) for gain, part in zip(gains, total, strict=True)]
    return np.array(t), df


def _step_down(observed: np.ndarray, flipped: Iterable[np.ndarray], draws: int) -> np.ndarray:
    """Adjusted p of arms in falling order of |t|: each against the largest by chance from itself on."""
    as_good = np.zeros(len(observed))
    for by_chance in flipped:
        largest = np.maximum.accumulate(by_chance[:, ::-1], axis=1)[:, ::-1]
        as_good += (largest >= observed).sum(axis=0)
    return np.maximum.accumulate((1 + as_good) / (1 + draws))


def _flipped(by_problem: np.ndarray, draws: int, seed: int) -> Iterator[np.ndarray]:
    """|t| of every arm under random signs of the problems, (some draws, arms) at a time."""
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


def _any_beyond(t: float, loadings: np.ndarray, df: int) -> float:
    """P(any |T_a| ≥ t), T_a = (√(1 − l_a²) Z_a + l_a Z) / S , normal Z, S² = χ²/df; integrated."""
    if math.isinf(t) or t == 0:
        return float(t == 0)
    if len(loadings) == 1:
        return 2 * float(stdtr(df, -t))
    nodes, weights = np.polynomial.legendre.leggauss(160)
    shared, of_shared = 9 * nodes, 9 * weights * np.exp(-((9 * nodes) ** 2) / 2) / math.sqrt(2 * math.pi)
    top = 1 + 9 / math.sqrt(2 * df) if df > 1 else 7.0
    scale = top * (1 + nodes) / 2
    log_density = math.log(2) + df / 2 * math.log(df / 2) - float(gammaln(df / 2)) + (df - 1) * np.log(scale)
    of_scale = top / 2 * weights * np.exp(log_density - df * scale**2 / 2)
    none_beyond = np.ones((len(scale), len(shared)))
    for loading, times in zip(*np.unique(loadings, return_counts=True), strict=True):
        own, common = math.sqrt(1 - loading**2), loading * shared[None]
        inside = ndtr((t * scale[:, None] - common) / own) - ndtr((-t * scale[:, None] - common) / own)
        none_beyond *= inside**times
    return float(np.clip(of_scale @ (1 - none_beyond) @ of_shared, 0.0, 1.0))
