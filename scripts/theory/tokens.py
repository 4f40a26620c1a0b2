"""How often each next token is demonstrated, and λ → the distribution that cross-entropy + λH makes of it.

`t` holds how often each token follows in the demonstrations, `p` what the model says; both are (v,).
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.special import lambertw, softmax, xlogy

from erce.errors import InputError
from scripts.theory.counterexample import renyi


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

    The objective has several minima; BFGS starts at t and at t^(1+λ), as they are and with a tie broken.

    >>> [optimum([0.6, 0.3, 0.1], lam).round(3).tolist() for lam in (0, 1)]
    [[0.6, 0.3, 0.1], [0.869, 0.108, 0.023]]
    """
    shannon(t)  # refuses what is not a distribution
    p = np.asarray(t, dtype=float) / np.sum(t)
    if not 0 <= lam < math.inf:
        raise InputError(f"λ = {lam!r} must be at least 0 and finite")
    shown = p[p > 0]
    if lam > 0 and len(shown) > 1:

        def objective_and_gradient(logits: np.ndarray) -> tuple[float, np.ndarray]:
            p = softmax(logits)
            return objective(p, shown, lam), logit_gradient(p, shown, lam)

        first = np.arange(len(shown)) == shown.argmax()
        starts = [power * np.log(shown) + nudge * first for power in (1, 1 + lam) for nudge in (0, 1)]
        found = [minimize(objective_and_gradient, z, jac=True, options={"gtol": 1e-10}) for z in starts]
        p[p > 0] = softmax(min(found, key=lambda each: each.fun).x)
    return p


def first_order(t: ArrayLike, lam: float) -> np.ndarray:
    """Return t^(1+λ), renormalised: `optimum` near λ = 0, and sampling at temperature 1 / (1 + λ)."""
    powered = np.asarray(t, dtype=float) ** (1 + lam)
    return powered / powered.sum()


def critical_lam() -> float:
    """Return 1 / W(1/e): up to this λ no demonstrated token's own logit is ever pushed down."""
    return 1 / float(lambertw(1 / math.e).real)
