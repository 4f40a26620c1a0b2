"""The demonstrations' next tokens and λ → the distribution that cross-entropy + λH makes of them.

`t` is how often each token follows in the demonstrations, p what the model says, both (v,).
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import lambertw, wrightomega

from erce.theory.entropies import Floats, shannon
from erce.theory.solve import Least, least, root


def objective(p: ArrayLike, t: ArrayLike, lam: float) -> float:
    """−Σ t log p + λ H(p), in nats; inf where p excludes a token that is demonstrated."""
    p, t = np.asarray(p, dtype=float), np.asarray(t, dtype=float)
    shown = t > 0
    if (p[shown] <= 0).any():
        return math.inf
    return float(-(t[shown] * np.log(p[shown])).sum() + lam * shannon(p))


def logit_gradient(p: ArrayLike, t: ArrayLike, lam: float) -> Floats:
    """d objective / d logits, p − t − λ p (log p + H): a step goes the other way.

    >>> logit_gradient([0.2, 0.8], [1, 0], lam=0.0)  # cross-entropy pushes the demonstrated token up
    array([-0.8,  0.8])
    """
    p, t = np.asarray(p, dtype=float), np.asarray(t, dtype=float)
    log_p = np.log(p, where=p > 0, out=np.zeros_like(p))
    return p - t - lam * p * (log_p + shannon(p))


def optimum(t: ArrayLike, lam: float) -> Floats:
    """The p that minimises cross-entropy + λH, for λ ≥ 0: t itself at 0, sharper above.

    Where the gradient vanishes, t = p (c − λ log p) with one c for all tokens, and c = 1 − λH since both
    sides sum to 1. Each p is on one of two branches of Lambert's W, and in a minimum no token but the
    likeliest is on the upper. All c with Σ p = 1 are found, and the best p is taken.

    >>> [optimum([0.6, 0.3, 0.1], lam).round(3).tolist() for lam in (0, 1)]
    [[0.6, 0.3, 0.1], [0.869, 0.108, 0.023]]
    """
    t = np.asarray(t, dtype=float)
    shannon(t)
    if not 0 <= lam < math.inf:
        raise ValueError(f"λ = {lam!r} must be at least 0 and finite")
    if lam == 0 or np.count_nonzero(t) == 1:
        return t / t.sum()
    shown = t > 0
    found = np.zeros_like(t)
    found[shown] = _positive_optimum(t[shown] / t.sum(), lam)
    return found


def first_order(t: ArrayLike, lam: float) -> Floats:
    """t^(1+λ), renormalised: what `optimum` is near λ = 0, and sampling at temperature 1 / (1 + λ) always.

    >>> first_order([0.6, 0.3, 0.1], 1.0).round(3).tolist()
    [0.783, 0.196, 0.022]
    """
    powered = np.asarray(t, dtype=float) ** (1 + lam)
    return powered / powered.sum()


def temperature(t: ArrayLike, lam: float) -> float:
    """The temperature at which sampling from t has the entropy of the optimum.

    >>> round(temperature([0.6, 0.3, 0.1], 0.01), 3)  # near 1 / (1 + λ)
    0.99
    """
    wanted = shannon(optimum(t, lam))

    def above(power: float) -> float:
        return float(shannon(first_order(t, power - 1)) - wanted)

    high = 1.0
    while above(high) > 1e-15 and high < 1e6:
        high *= 2
    return 1.0 if high == 1.0 else 1 / root(above, 1.0, high)


def commitment_lam(tokens: int) -> float:
    """The λ above which the optimum for so many equally frequent tokens prefers one of them; 1 for two.

    The others share the rest equally: the least λ at which what H falls by pays for the misfit.

    >>> [round(commitment_lam(tokens), 3) for tokens in (2, 10)]
    [1.0, 0.72]
    """
    if tokens < 2:
        raise ValueError(f"tokens = {tokens!r}; there must be at least two to choose from")
    flat = np.full(tokens, 1 / tokens)

    def price(top: float) -> float:
        p = np.full(tokens, (1 - top) / (tokens - 1))
        p[0] = top
        return float((objective(p, flat, 0.0) - math.log(tokens)) / (math.log(tokens) - shannon(p)))

    return least(price, 1 / tokens + 1e-3 * (1 - 1 / tokens), 1 - 1e-9).value


def critical_lam() -> float:
    """1 / W(1/e): up to this λ no demonstrated token's own logit is ever pushed down, whatever the others do.

    >>> f"{critical_lam():.6f}"
    '3.591121'
    """
    return float(1 / lambertw(1 / math.e).real)


def least_pushing_lam(p: ArrayLike, token: int) -> float:
    """The λ above which a step on a demonstration of `token` lowers its own logit; inf where none does.

    The λ at which `logit_gradient` of that token is 0; it is linear in λ.

    >>> round(least_pushing_lam([0.2, 0.8], 0), 3)
    3.607
    """
    p = np.asarray(p, dtype=float)
    target = np.zeros_like(p)
    target[token] = 1.0
    at_0, at_1 = (float(logit_gradient(p, target, lam)[token]) for lam in (0.0, 1.0))
    return at_0 / (at_0 - at_1) if at_1 > at_0 else math.inf


def find_critical_lam() -> Least:
    """The smallest `least_pushing_lam` by search, and the probability of the token that it belongs to.

    Two tokens suffice: for a given p of the demonstrated one the entropy, which is what protects its logit,
    is least where one other token has all the rest.

    >>> "{:.6f} at p = {:.4f}".format(*find_critical_lam())
    '3.591121 at p = 0.2178'
    """
    return least(lambda p: least_pushing_lam([p, 1 - p], 0), 0.01, 0.49)


def _positive_optimum(t: Floats, lam: float) -> Floats:
    top = int(t.argmax())
    lowest = max(lam * (1 + math.log(t[top] / lam)), 1 - lam * math.log(len(t)))
    grid = np.linspace(lowest, 1.0, 200)
    candidates = [t]
    for upper in (None, top):
        excess = _branch(grid, t, lam, upper).sum(-1) - 1
        for i in np.flatnonzero(np.diff(np.sign(excess))):
            c = root(lambda c, upper=upper: _branch(c, t, lam, upper).sum() - 1, grid[i], grid[i + 1])
            p = _branch(c, t, lam, upper)
            candidates.append(p / p.sum())
    return min(candidates, key=lambda p: objective(p, t, lam))


def _branch(c: ArrayLike, t: Floats, lam: float, upper: int | None) -> Floats:
    """The p of t = p (c − λ log p), (..., v) for c of (...): on the lower branch, but for the token `upper`.

    t / λp solves u − log u = a, above 1 on the lower branch. `wrightomega` is W(exp(·)) without the
    exponential's underflow; which side of its cut is which root changes with a, so both are taken.
    """
    a = np.maximum(np.asarray(c)[..., None] / lam - np.log(t / lam), 1.0)
    sides = np.stack([-wrightomega(-a + side * 1j * math.pi).real for side in (-1, 1)])
    u = np.maximum(sides.max(0), 1.0)
    if upper is not None:
        u[..., upper] = np.clip(sides[..., upper].min(0), 1e-150, 1.0)
    return t / lam / u
