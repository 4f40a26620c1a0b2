"""Proposition 3.2's class → how often a learner returns a policy that is wrong a quarter of the time.

Of three answers, 1 and 2 are right for every prompt (the proof needs this, and the paper does not say it).
`U` says each of them with probability 1/2 and wrote the demonstrations. Every other policy of the class takes
either row of `H` at each prompt, and says the wrong answer with probability 1/4.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import root_scalar
from scipy.stats import poisson

from erce.errors import InputError
from erce.theory.entropies import penalty

U = np.array([1 / 2, 1 / 2, 0.0])
H = np.array([[5 / 8, 1 / 8, 1 / 4], [1 / 8, 5 / 8, 1 / 4]])
RISK = float(H[0, 2])
ETA = float(H.min())
SUPPORTS = 2
PENALTIES = ("S_0", "S_0.1", "S_0.25", "S_0.5", "S_1", "S_2", "R_0", "R_0.1", "R_0.25", "R_0.5", "R_1", "R_2")


class Simulated(NamedTuple):
    """How many of the simulated runs returned a wrong policy."""

    wrong: int
    runs: int


def paper_prompts(m: int) -> int:
    """Return N_m = ⌈m(m − 1)/2⌉ of the paper's appendix, which needs m ≥ 3; 2 prompts below that."""
    return max(2, m * (m - 1) // 2)


def corrected_prompts(m: int) -> int:
    """Return N_m = m², which makes the proof one line for every m: P(two alike) ≤ m(m−1)/2 / m² < 1/2."""
    return m * m


def distinct(m: int, prompts: int) -> float:
    """Return P(B_m), the chance that m prompts drawn from `prompts` are all different (m − 1 factors).

    >>> [round(distinct(m, paper_prompts(m)), 4) for m in (3, 1000)]
    [0.2222, 0.3676]
    """
    return math.prod(1 - i / prompts for i in range(1, m))


def advantage(
    m: int, clashes: int | np.ndarray, *, lam: float = 0.0, kind: str = "S_0"
) -> float | np.ndarray:
    """Return the objective of U minus that of the best other policy, a sample; positive if the learner errs.

    `clashes` is the number of samples that differ from their prompt's majority: Σ over prompts of the rarer
    answer's count. The best policy follows the majority at each prompt, so nothing else of a sample matters.
    """
    right, other = -np.log(H[0, 0]), -np.log(H[0, 1])
    cost = (clashes * other + (m - clashes) * right) / m + lam * penalty(kind, H[0])
    return -np.log(U[0]) + lam * penalty(kind, U) - cost


def clash_probabilities(m: int, prompts: int) -> np.ndarray:
    """Return P(clashes = k), k = 0 … m // 2, if U answers m prompts drawn from `prompts`; to about 1e-10.

    If the number of samples is Poisson, prompts are independent: one prompt's generating function in samples
    and clashes, evaluated at roots of unity, is raised to the number of prompts. Fourier inversion then picks
    the terms with m samples, which are divided by P(Poisson = m).

    >>> clash_probabilities(2, 2).round(6).tolist()  # twice the same prompt, and then two answers: 1/4
    [0.75, 0.25]
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

    >>> [round(wrong_probability(m, paper_prompts(m)), 2) for m in (1, 2, 3, 5, 10)]
    [1.0, 0.75, 0.58, 0.6, 0.94]
    """
    clashes = np.arange(m // 2 + 1)
    wrong = np.asarray(advantage(m, clashes, lam=lam, kind=kind)) > 1e-12
    if not wrong.any():
        return 0.0
    return float(min(1.0, clash_probabilities(m, prompts)[wrong].sum()))


def simulate(m: int, prompts: int, *, runs: int, seed: int, lam: float = 0.0, kind: str = "S_0") -> Simulated:
    """Draw `runs` samples, compute both objectives for each, and count how often the learner is wrong.

    >>> simulate(1, 2, runs=10, seed=0)
    Simulated(wrong=10, runs=10)
    """
    rng = np.random.default_rng(seed)
    at = rng.integers(prompts, size=(runs, m)) + prompts * np.arange(runs)[:, None]
    answers = rng.integers(2, size=(runs, m))
    places, inverse = np.unique(at, return_inverse=True)
    counts = np.zeros((len(places), 2))
    np.add.at(counts, (inverse.ravel(), answers.ravel()), 1)
    per_prompt = (counts @ -np.log(H[:, :2].T)).min(1)
    best = np.bincount(places // prompts, weights=per_prompt, minlength=runs) / m
    best += lam * penalty(kind, H[0])
    truth = -np.log(U[0]) + lam * penalty(kind, U)
    return Simulated(int((best < truth - 1e-12).sum()), runs)


def switch_lam(kind: str) -> float:
    """Return the λ above which the learner returns U even if all prompts differ; inf if there is none.

    It is the root of `advantage` without clashes, the case in which U is furthest behind.

    >>> [round(switch_lam(kind), 4) for kind in ("S_0", "S_1", "R_1")]
    [0.2231, 0.4848, 1.0774]
    """

    def deficit(lam: float) -> float:
        return float(advantage(1, 0, lam=lam, kind=kind))

    high = 1.0
    while deficit(high) > 0:
        high *= 2
        if high > 1e9:
            return math.inf
    return float(root_scalar(deficit, bracket=(0.0, high), xtol=1e-15).root)


def last_order() -> float:
    """Return the order above which no λ helps, because the wrong policies have the smaller penalty.

    >>> round(last_order(), 2)
    2.68
    """

    def excess(order: float) -> float:
        return float(penalty(f"R_{order}", H[0]) - penalty(f"R_{order}", U))

    return float(root_scalar(excess, bracket=(1.0, 50.0), xtol=1e-15).root)


def samples_needed(
    lam: Callable[[int], float],
    kind: Callable[[int], str],
    *,
    epsilon: float = 0.1,
    delta: float = 0.05,
    up_to: int = 1000,
) -> int | None:
    """Return the m from which P(risk > ε) ≤ δ with λ_m, the penalty and N_m = m²; None if not by `up_to`.

    This is the paper's sample complexity, computed for this class and these prompts instead of bounded.

    >>> samples_needed(float, lambda m: f"S_{1 / m}")  # the corollary's λ_m = m, α_m = 1/m
    1
    >>> samples_needed(lambda m: 0.0, lambda m: "S_0") is None  # cross-entropy
    True
    """
    if epsilon >= RISK:
        return 1
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
