"""Proposition 3.2: how often cross-entropy returns a wrong policy, and the λ from which a penalty mends it.

Of three answers, 1 and 2 are right for every prompt (the proof needs this, and the paper does not say it).
`U` says each of them with probability 1/2 and wrote the demonstrations. Every other policy of the class takes
either row of `H` at each prompt, and says the wrong answer with probability 1/4.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import root_scalar
from scipy.special import entr
from scipy.stats import poisson

from erce.errors import InputError

U = np.array([1 / 2, 1 / 2, 0.0])
H = np.array([[5 / 8, 1 / 8, 1 / 4], [1 / 8, 5 / 8, 1 / 4]])
RISK, ETA, SUPPORTS = 1 / 4, 1 / 8, 2  # of every wrong policy; the least probability above 0; |R|


def renyi(p: ArrayLike, order: float) -> np.ndarray:
    """Return R(p) = log(Σ p^order) / (1 − order) in nats, (..., v) → (...); order 1 is Shannon's H.

    >>> [round(float(renyi([0.7, 0.2, 0.1], order)), 4) for order in (0, 0.5, 1, 2, math.inf)]
    [1.0986, 0.9401, 0.8018, 0.6162, 0.3567]
    """
    p = np.asarray(p, dtype=float)
    if not order >= 0:
        raise InputError(f"order = {order!r} must be at least 0; 0 counts the support, 1 is Shannon's H")
    if not (p >= 0).all() or not np.allclose(p.sum(-1), 1, rtol=0, atol=1e-9):
        raise InputError("p is not a distribution: its entries must be at least 0 and sum to 1")
    if order == 0:
        return np.log(np.count_nonzero(p, axis=-1))
    if order == 1:
        return entr(p).sum(-1)
    top = p.max(-1, keepdims=True)
    if math.isinf(order):
        return -np.log(top[..., 0])
    return (order * np.log(top[..., 0]) + np.log(((p / top) ** order).sum(-1))) / (1 - order)


def support_size(p: ArrayLike, order: float) -> np.ndarray:
    """Return S(p) = exp R(p), a smooth count of the answers in play; |supp p| at order 0 (Section 4)."""
    return np.count_nonzero(p, axis=-1) * 1.0 if order == 0 else np.exp(renyi(p, order))


def penalty(kind: str, p: ArrayLike) -> np.ndarray:
    """Return the penalty of p that a name such as "S_0.5" or "R_1" stands for."""
    family, _, order = kind.partition("_")
    if family not in ("R", "S"):
        raise InputError(f"no penalty {kind!r}; write 'R_' or 'S_' and an order, such as 'R_1' (Shannon's H)")
    return (renyi if family == "R" else support_size)(p, float(order))


def root(curve: Callable[[float], float], low: float, high: float) -> float:
    """Return where a curve crosses 0 between `low` and `high`."""
    return float(root_scalar(curve, bracket=(low, high), xtol=1e-15).root)


def paper_prompts(m: int) -> int:
    """Return N_m = ⌈m(m − 1)/2⌉ of the paper's appendix, which needs m ≥ 3; 2 prompts below that."""
    return max(2, m * (m - 1) // 2)


def corrected_prompts(m: int) -> int:
    """Return N_m = m², which makes the proof one line for every m: P(two alike) ≤ m(m−1)/2 / m² < 1/2."""
    return m * m


def distinct(m: int, prompts: int) -> float:
    """Return P(B_m), the chance that m prompts sampled from `prompts` are all different (m − 1 factors)."""
    return math.prod(1 - i / prompts for i in range(1, m))


def advantage(m: int, clashes: int | np.ndarray, *, lam: float = 0.0, kind: str = "S_0") -> np.ndarray:
    """Return the objective of U minus the best other policy's, per sample; positive if the learner errs.

    `clashes` is the number of samples that differ from their prompt's majority: Σ over prompts of the rarer
    answer's count. The best policy follows the majority at each prompt, so nothing else of a sample matters.
    """
    right, other = -np.log(H[0, 0]), -np.log(H[0, 1])
    cost = (clashes * other + (m - clashes) * right) / m + lam * penalty(kind, H[0])
    return np.asarray(-np.log(U[0]) + lam * penalty(kind, U) - cost)


def clash_probabilities(m: int, prompts: int) -> np.ndarray:
    """Return P(clashes = k), k = 0 … m // 2, if U answers m prompts sampled from `prompts`; to about 1e-10.

    If the number of samples is Poisson, prompts are independent: one prompt's generating function in samples
    and clashes, evaluated at roots of unity, is raised to the number of prompts. Fourier inversion then picks
    the terms with m samples, which are divided by P(Poisson = m).
    """
    if m < 1 or prompts < 1:
        raise InputError(f"m = {m!r} samples of {prompts!r} prompts; there must be at least one of either")
    one = _one_prompt(m / prompts)
    period, kinds = 60 + math.ceil(12 * math.sqrt(m)), m // 2 + 1
    samples = np.exp(2j * np.pi / period * np.outer(np.arange(period), np.arange(one.shape[0])))
    clashes = np.exp(2j * np.pi / kinds * np.outer(np.arange(one.shape[1]), np.arange(kinds // 2 + 1)))
    less_one = samples @ one @ clashes
    underflow = less_one == -1  # a few prompts that come often
    all_prompts = np.where(underflow, 0.0, np.exp(prompts * np.log1p(np.where(underflow, 0.0, less_one))))
    at_m = np.exp(-2j * np.pi / period * np.arange(period) * m) @ all_prompts / period
    return np.clip(np.fft.irfft(at_m.conj(), kinds) / poisson.pmf(m, m), 0.0, 1.0)


def wrong_probability(m: int, prompts: int, *, lam: float = 0.0, kind: str = "S_0") -> float:
    """Return the exact P(the empirical minimiser of cross-entropy + λ · penalty is not U).

    λ = 0 is cross-entropy and has no ties; a tie at another λ goes to U.
    """
    wrong = advantage(m, np.arange(m // 2 + 1), lam=lam, kind=kind) > 1e-12
    return float(min(1.0, clash_probabilities(m, prompts)[wrong].sum())) if wrong.any() else 0.0


def simulate(m: int, prompts: int, *, runs: int, seed: int) -> int:
    """Return in how many of `runs` simulated samples cross-entropy prefers a wrong policy."""
    rng = np.random.default_rng(seed)
    at = rng.integers(prompts, size=(runs, m)) + prompts * np.arange(runs)[:, None]
    answers = rng.integers(2, size=(runs, m))
    places, inverse = np.unique(at, return_inverse=True)
    counts = np.zeros((len(places), 2))
    np.add.at(counts, (inverse.ravel(), answers.ravel()), 1)
    per_prompt = (counts @ -np.log(H[:, :2].T)).min(1)
    best = np.bincount(places // prompts, weights=per_prompt, minlength=runs) / m
    return int((best < -np.log(U[0]) - 1e-12).sum())


def switch_lam(kind: str) -> float:
    """Return the λ above which the learner returns U even if all prompts differ; inf if there is none.

    It is the root of `advantage` without clashes, the case in which U is furthest behind.
    """
    saved = float(penalty(kind, H[0]) - penalty(kind, U))
    return float(advantage(1, 0)) / saved if saved > 0 else math.inf


def last_order() -> float:
    """Return the order above which no λ helps, because the wrong policies have the smaller penalty."""
    return root(lambda order: float(renyi(H[0], order) - renyi(U, order)), 1.0, 50.0)


def samples_needed(
    lam: Callable[[int], float], kind: Callable[[int], str], *, delta: float, up_to: int = 1000
) -> int | None:
    """Return the m from which P(a wrong policy) ≤ δ with λ_m, the penalty and N_m = m²; None: above `up_to`.

    This is the paper's sample complexity (ε < 1/4), computed for these prompts instead of bounded.
    """
    for m in range(up_to, 0, -1):
        if wrong_probability(m, corrected_prompts(m), lam=lam(m), kind=kind(m)) > delta:
            return m + 1 if m < up_to else None
    return 1


def _one_prompt(mean: float) -> np.ndarray:
    """Return P(samples, clashes) of one prompt with `mean` samples on average, less 1 at (0, 0).

    The two right answers come independently, each a Poisson number of times with mean `mean` / 2. Subtracting
    1 at (0, 0) keeps the precision of `log1p`.
    """
    most = 2
    while poisson.pmf(most, mean / 2) > 1e-24 or most < mean:
        most += 1
    answer = poisson.pmf(np.arange(most + 1), mean / 2)
    table = np.zeros((2 * most + 1, most + 1))
    ones, twos = np.indices((most + 1, most + 1))
    np.add.at(table, (ones + twos, np.minimum(ones, twos)), np.outer(answer, answer))
    table[0, 0] = math.expm1(-mean)
    return table
