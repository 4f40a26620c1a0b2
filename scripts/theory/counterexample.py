"""Proposition 3.2: how often cross-entropy returns a wrong policy, and the λ from which a penalty mends it.

Of three answers, 1 and 2 are right for every prompt (the proof needs this, and the paper does not say it).
`U` says each of them with probability 1/2 and wrote the demonstrations. Every other policy of the class takes
either row of `H` at each prompt, and says the wrong answer with probability 1/4.
"""

import math

import numpy as np
import torch
from numpy.typing import ArrayLike
from scipy.optimize import root_scalar

from erce.errors import InputError
from erce.loss import Renyi

U = np.array([1 / 2, 1 / 2, 0.0])
H = np.array([[5 / 8, 1 / 8, 1 / 4], [1 / 8, 5 / 8, 1 / 4]])
ETA, SUPPORTS = 1 / 8, 2  # the least probability above 0; |R|
PROMPTS = {  # rule → from how many prompts m demonstrations are sampled
    "paper": lambda m: max(2, m * (m - 1) // 2),  # N_m of the paper's appendix, which needs m ≥ 3
    "corrected": lambda m: m * m,  # P(two alike) ≤ m(m − 1)/2 / m² < 1/2 for every m
    "fixed": lambda m: 100,
}


def renyi(p: ArrayLike, order: float) -> np.ndarray:
    """Return R(p) in nats, (..., v) → (...), the penalty of training; at order 0 log |supp p|.

    >>> [round(float(renyi([0.7, 0.2, 0.1], order)), 4) for order in (0, 0.5, 1, 2, math.inf)]
    [1.0986, 0.9401, 0.8018, 0.6162, 0.3567]
    """
    p = np.asarray(p, dtype=float)
    if not (p >= 0).all() or not np.allclose(p.sum(-1), 1, rtol=0, atol=1e-9):
        raise InputError("p is not a distribution: its entries must be at least 0 and sum to 1")
    if order == 0:
        return np.log(np.count_nonzero(p, axis=-1))
    return Renyi(order)(torch.tensor(p).log()).numpy()


def support_size(p: ArrayLike, order: float) -> np.ndarray:
    """Return S(p) = exp R(p), a smooth count of the answers in play; |supp p| at order 0 (Section 4)."""
    return np.count_nonzero(p, axis=-1) * 1.0 if order == 0 else np.exp(renyi(p, order))


def penalty(kind: str, p: ArrayLike) -> np.ndarray:
    """Return the penalty of p that a name such as "S_0.5" or "R_1" stands for."""
    family, _, order = kind.partition("_")
    if family not in ("R", "S"):
        raise InputError(f"no penalty {kind!r}; write 'R_' or 'S_' and an order, such as 'R_1' (Shannon's H)")
    return (renyi if family == "R" else support_size)(p, float(order))


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


def wrong_probability(
    m: int, prompts: int, *, lam: float = 0.0, kind: str = "S_0", runs: int = 1000, seed: int = 0
) -> float:
    """Return how often the empirical minimiser of cross-entropy + λ · penalty is not U, in `runs` samples.

    Each sample is m demonstrations by U, their prompts uniform among `prompts`. A tie goes to U.
    """
    if m < 1 or prompts < 1:
        raise InputError(f"m = {m!r} samples of {prompts!r} prompts; there must be at least one of either")
    wrong = advantage(m, np.arange(m // 2 + 1), lam=lam, kind=kind) > 1e-12  # by the number of clashes
    if not wrong.any():
        return 0.0
    rng = np.random.default_rng(seed)
    at = rng.integers(prompts, size=(runs, m)) + prompts * np.arange(runs)[:, None]
    places, prompt = np.unique(at, return_inverse=True)
    answered_1 = np.bincount(prompt.ravel(), weights=rng.integers(2, size=runs * m))
    rarer = np.minimum(answered_1, np.bincount(prompt.ravel()) - answered_1)
    clashes = np.bincount(places // prompts, weights=rarer, minlength=runs)
    return float(wrong[clashes.astype(int)].mean())


def switch_lam(kind: str) -> float:
    """Return the λ above which the learner returns U even if all prompts differ; inf if there is none.

    It is the root of `advantage` without clashes, the case in which U is furthest behind.
    """
    saved = float(penalty(kind, H[0]) - penalty(kind, U))
    return float(advantage(1, 0)) / saved if saved > 0 else math.inf


def last_order() -> float:
    """Return the order above which no λ helps, because the wrong policies have the smaller penalty."""
    return float(root_scalar(lambda order: renyi(H[0], order) - renyi(U, order), bracket=(1, 50)).root)
