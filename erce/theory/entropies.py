"""Distributions → H, R and S of any order from 0 to inf, in numpy (`erce.loss.penalties`: in torch)."""

import math

import numpy as np
from numpy.typing import ArrayLike

from erce.errors import InputError

Floats = np.ndarray


def shannon(p: ArrayLike) -> Floats:
    """Return H(p) = −Σ p log p in nats, over the last axis: (..., v) → (...).

    >>> print(f"{shannon([0.5, 0.5, 0.0]):.4f}")
    0.6931
    """
    return renyi(p, 1.0)


def renyi(p: ArrayLike, order: float) -> Floats:
    """Return R(p) = log(Σ p^order) / (1 − order) in nats, (..., v) → (...).

    Order 0 is log |supp p|, 1 is H, inf is −log max p. With c = order − 1, Σ p^order = 1 + c t where
    t = Σ p (p^c − 1) / c, so R = −log(1 + c t) / c: nothing cancels near order 1. The paper's appendix on S.

    >>> [round(float(renyi([0.7, 0.2, 0.1], order)), 4) for order in (0, 0.5, 1, 2, math.inf)]
    [1.0986, 0.9401, 0.8018, 0.6162, 0.3567]
    """
    p = _distributions(p)
    if not order >= 0:
        raise InputError(
            f"order = {order!r} must be at least 0; 0 counts the support, 1 is Shannon's entropy"
        )
    if order == 0:
        return np.log(np.count_nonzero(p, axis=-1))
    if math.isinf(order):
        return -np.log(p.max(-1))
    log_p = np.log(p, where=p > 0, out=np.full(p.shape, np.finfo(float).min))
    c = order - 1
    with np.errstate(over="ignore"):  # order times the lowest float is −inf, whose exponential is 0
        bent = log_p if c == 0 else np.expm1(abs(c) * log_p) / abs(c)
        weights = p if order >= 1 else np.where(p > 0, np.exp(order * log_p), 0.0)
        t = (weights * bent).sum(-1)
        if c == 0:
            return -t
        far = c * t < -0.5  # Σ p^order is below 1/2: its log can be taken directly
        near = np.log1p(np.where(far, 0.0, c * t)) / -c
        if order < 1 or not np.any(far):
            return near
        top = log_p.max(-1, keepdims=True)
        summed = order * top[..., 0] + np.log(np.exp(order * (log_p - top)).sum(-1))
    return np.where(far, summed / -c, near)


def support_size(p: ArrayLike, order: float) -> Floats:
    """Return S(p) = exp R(p), in answers: |supp p| at order 0, exp H at 1 (Section 4, `erce.SupportSize`).

    >>> [float(support_size([0.25, 0.25, 0.25, 0.25, 0.0], order)) for order in (0, 2)]
    [4.0, 4.0]
    """
    if order == 0:
        return np.count_nonzero(_distributions(p), axis=-1).astype(float)
    return np.exp(renyi(p, order))


def penalty(name: str, p: ArrayLike) -> Floats:
    """Return the penalty of p that a name such as "S_0.5" or "R_1" stands for.

    >>> print(f"{penalty('R_1', [0.5, 0.5]):.4f} {penalty('S_1', [0.5, 0.5]):.4f}")
    0.6931 2.0000
    """
    family, _, order = name.partition("_")
    if family not in FAMILIES:
        raise InputError(f"no penalty {name!r}; write 'R_' or 'S_' and an order, such as 'R_1' (Shannon's H)")
    return FAMILIES[family](p, float(order))


FAMILIES = {"R": renyi, "S": support_size}


def _distributions(p: ArrayLike) -> Floats:
    rows = np.asarray(p, dtype=float)
    if rows.ndim == 0 or not rows.shape[-1]:
        raise InputError(f"p has the shape {rows.shape}; its last axis must hold at least one answer")
    if not (rows >= 0).all() or not np.allclose(rows.sum(-1), 1, rtol=0, atol=1e-9):
        raise InputError("p is no distribution: its entries must be at least 0 and sum to 1")
    return rows
