"""How often each next token is demonstrated, and λ → the distribution that cross-entropy + λH makes of it.

`t` holds how often each token follows in the demonstrations, `p` what the model says; both are (v,).
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import fminbound
from scipy.special import lambertw, wrightomega, xlogy

from erce.errors import InputError
from erce.theory.counterexample import renyi, root


def shannon(p: ArrayLike) -> float:
    """Return H(p) in nats."""
    return float(renyi(p, 1.0))


def objective(p: ArrayLike, t: ArrayLike, lam: float) -> float:
    """Return −Σ t log p + λ H(p) in nats; inf if p excludes a token that is demonstrated."""
    return float(-xlogy(t, p).sum() + lam * shannon(p))


def logit_gradient(p: ArrayLike, t: ArrayLike, lam: float) -> np.ndarray:
    """Return d objective / d logits, p − t − λ p (log p + H); a training step goes the other way."""
    p = np.asarray(p, dtype=float)
    return p - t - lam * (xlogy(p, p) + p * shannon(p))


def optimum(t: ArrayLike, lam: float) -> np.ndarray:
    """Return the p that minimises cross-entropy + λH, for λ ≥ 0: t itself at 0, sharper above.

    Where the gradient vanishes, t = p (c − λ log p) with the same c for all tokens, and c = 1 − λH since both
    sides sum to 1. Each p is on one of two branches of Lambert's W, and at a minimum only the likeliest token
    can be on the upper branch. All c with Σ p = 1 are found, and the best p is taken.

    >>> [optimum([0.6, 0.3, 0.1], lam).round(3).tolist() for lam in (0, 1)]
    [[0.6, 0.3, 0.1], [0.869, 0.108, 0.023]]
    """
    shannon(t)  # refuses what is not a distribution
    p = np.asarray(t, dtype=float) / np.sum(t)
    if not 0 <= lam < math.inf:
        raise InputError(f"λ = {lam!r} must be at least 0 and finite")
    if lam > 0 and np.count_nonzero(p) > 1:
        p[p > 0] = _positive_optimum(p[p > 0], lam)
    return p


def first_order(t: ArrayLike, lam: float) -> np.ndarray:
    """Return t^(1+λ), renormalised: `optimum` near λ = 0, and sampling at temperature 1 / (1 + λ)."""
    powered = np.asarray(t, dtype=float) ** (1 + lam)
    return powered / powered.sum()


def temperature(t: ArrayLike, lam: float) -> float:
    """Return the temperature at which sampling from t has the entropy of the optimum."""
    entropy = shannon(optimum(t, lam))

    def excess(power: float) -> float:
        return shannon(first_order(t, power - 1)) - entropy

    high = 1.0
    while excess(high) > 1e-15 and high < 1e6:
        high *= 2
    return 1.0 if high == 1.0 else 1 / root(excess, 1.0, high)


def commitment_lam(tokens: int) -> float:
    """Return the λ above which the optimum for `tokens` ≥ 2 equally frequent tokens prefers one; 1 for two.

    It is the least λ at which the fall of H pays for the misfit, the other tokens sharing the rest equally.
    """
    flat = np.full(tokens, 1 / tokens)

    def price(top: float) -> float:
        p = np.array([top, *np.full(tokens - 1, (1 - top) / (tokens - 1))])
        return (objective(p, flat, 0.0) - math.log(tokens)) / (math.log(tokens) - shannon(p))

    return price(_lowest(price, 1 / tokens + 1e-3 * (1 - 1 / tokens), 1 - 1e-9))


def critical_lam() -> float:
    """Return 1 / W(1/e): up to this λ no demonstrated token's own logit is ever pushed down."""
    return float(1 / lambertw(1 / math.e).real)


def least_pushing_lam(p: ArrayLike, token: int) -> float:
    """Return the λ above which a step on a demonstration of `token` lowers its logit; inf if none does."""
    at = float(np.asarray(p)[token])
    slope = -at * (math.log(at) + shannon(p))  # of `logit_gradient` in λ; at λ = 0 it is p − 1
    return (1 - at) / slope if slope > 0 else math.inf


def find_critical_lam() -> tuple[float, float]:
    """Search for the smallest `least_pushing_lam`; return it, and the probability of the token where it lies.

    Two tokens suffice: given the demonstrated token's p, the entropy, which protects its logit, is least if
    one other token has all the rest.
    """
    at = _lowest(lambda p: least_pushing_lam([p, 1 - p], 0), 0.01, 0.49)
    return least_pushing_lam([at, 1 - at], 0), at


def _positive_optimum(t: np.ndarray, lam: float) -> np.ndarray:
    top = int(t.argmax())
    # `_branch` needs c ≥ λ (1 + log(t/λ)) for every token. Summed over tokens, t = p (c − λ log p) gives
    # c = 1 − λH with 0 ≤ H ≤ log n.
    lowest = max(lam * (1 + math.log(t[top] / lam)), 1 - lam * math.log(len(t)))
    grid = np.linspace(lowest, 1.0, 200)
    candidates = [t]
    for upper in (None, top):
        excess = _branch(grid, t, lam, upper).sum(-1) - 1
        for i in np.flatnonzero(np.diff(np.sign(excess))):
            c = root(lambda c, on=upper: _branch(c, t, lam, on).sum() - 1, grid[i], grid[i + 1])
            p = _branch(c, t, lam, upper)
            candidates.append(p / p.sum())
    return min(candidates, key=lambda p: objective(p, t, lam))


def _branch(c: ArrayLike, t: np.ndarray, lam: float, upper: int | None) -> np.ndarray:
    """Solve t = p (c − λ log p) for p, (..., v) for c (...), on the lower branch but for the token `upper`.

    u = t / (λp) solves u − log u = a with a = c/λ − log(t/λ); u is above 1 on the lower branch of p.
    `wrightomega` is W(exp(·)) without underflow; which side of its cut is which root changes with a, so both
    are computed.
    """
    a = np.maximum(np.asarray(c)[..., None] / lam - np.log(t / lam), 1.0)
    sides = np.stack([-wrightomega(-a + side * 1j * math.pi).real for side in (-1, 1)])
    u = np.maximum(sides.max(0), 1.0)
    if upper is not None:
        u[..., upper] = np.clip(sides[..., upper].min(0), 1e-150, 1.0)
    return t / lam / u


def _lowest(curve: Callable[[float], float], low: float, high: float) -> float:
    """Return where a curve that first falls and then rises is lowest."""
    return float(np.asarray(fminbound(curve, low, high, xtol=1e-10)))
