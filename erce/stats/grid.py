"""Many arms against one baseline → p-values that allow for how many were tried.

`grid_gains` is what a study's report reads: each arm's `paired_gain` with its p after Holm, or after
`erce.stats.flips.max_t`, which knows that arms with a common baseline rise and fall together. `dunnett` asks
about other seeds only; `trend` asks whether the grid rises as a whole. "Adjusted" always means: reject all
arms whose adjusted p is at most 5 %, and in at most 5 % of studies in which some arms do nothing is any of
those rejected.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, ndtr, stdtr

from erce.stats.flips import max_t
from erce.stats.gains import Gain, paired_gain
from erce.stats.outcomes import mean, variance

Arm = TypeVar("Arm")
Lam = TypeVar("Lam", bound=float)


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


def dunnett(per_seed_arms: Sequence[Sequence[float]], baseline: Sequence[float]) -> GridTest:
    """Dunnett's many-to-one test of per-seed accuracies: other seeds, but these very problems; p adjusted.

    All arms are taken to have the same spread between seeds, which is pooled over them and the baseline,
    hence more degrees of freedom than `welch` has, and p-values that depend on all arms. With one arm it is
    Student's t-test. Arms may have different numbers of seeds; one with a single seed counts for its mean
    alone. If no arm varies, nothing says how much other seeds would, and every t is 0 and p 1. The
    probabilities are integrated, not drawn.
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
            gain / (pooled * math.sqrt(1 / n + 1 / len(groups[0]))) if pooled else 0.0
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


def _any_beyond(t: float, loadings: np.ndarray, df: int) -> float:
    """P(any |T_a| ≥ t), T_a = (√(1 − l_a²) Z_a + l_a Z) / S , normal Z, S² = χ²/df; integrated."""
    if t == 0:
        return 1.0
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
