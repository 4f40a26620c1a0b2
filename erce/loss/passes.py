"""The two passes over rows of logits, in PyTorch: sums over the vocabulary, then the gradient.

Everything is relative to a row's largest logit, and the target's column y is kept apart: the sum over the
others is 1 − p_y up to a factor, so that nothing cancels as p_y → 1. `kernels` has both as Triton kernels.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from erce.loss.criterion import Criterion

_LOG2_E = 1 / math.log(2)


class Sums(NamedTuple):
    """Of one row each, (rows,), over its columns j, with u = z − shift, k = |order − 1| and
    bent(u) = (e^(ku) − 1) / k, which is u at order 1. What is not needed is 0."""

    shift: Tensor  # max z; what u is relative to
    top: Tensor  # max z
    target: Tensor  # z of the target; −inf where it is not among the columns
    others: Tensor  # Σ e^u without the target
    bent: (
        Tensor  # Σ e^u bent(u); Σ e^(order u) bent(u) below order 1; how many columns tie for the max at inf
    )
    powers: Tensor  # Σ e^(order u), for a finite order above 1
    squares: Tensor  # Σ e^2u
    total: Tensor  # Σ u over the columns that are not −inf, if labels are smoothed
    finite: Tensor  # how many those are


class Slopes(NamedTuple):
    """What makes a row's gradient of its columns, (rows,): with w = e^u, or e^(order u) below order 1,

    order 1: e^u (plain + bent u)      other: e^u plain + w bent expm1(k (u + ratio))
    order inf: e^u plain + bent [u = 0]

    minus `uniform` where the logit is not −inf; times the slope of the soft cap; `own` at the target.
    """

    plain: Tensor
    bent: Tensor
    ratio: Tensor
    uniform: Tensor
    own: Tensor
    shift: Tensor  # that of the sums


class Terms(NamedTuple):
    """What the second pass reuses of the first, (rows, v)."""

    u: Tensor
    e: Tensor  # e^u
    product: Tensor  # e^u u at order 1, else scratch


def exponentials(z: Tensor, shift: Tensor, scratch: tuple[Tensor, Tensor], *, roughly: bool = False) -> Terms:
    """z (rows, v) becomes u; each scratch is (rows, v). `roughly` is to 1e-5, and faster."""
    u = z.sub_(shift[:, None])
    if roughly:
        return Terms(u, torch.mul(u, _LOG2_E, out=scratch[0]).exp2_(), scratch[1])
    return Terms(u, torch.exp(u, out=scratch[0]), scratch[1])


def sums_of(terms: Terms, shift: Tensor, targets: Tensor, criterion: Criterion) -> Sums:
    """A target outside of [0, v) is not among the columns. Fills in `terms.product`."""
    u, e, _ = terms
    here, y = _columns(targets, u.shape[-1])
    e_y = e.gather(-1, y)
    others = e.scatter_(-1, y, e_y.masked_fill(here[:, None], 0)).sum(-1)
    e.scatter_(-1, y, e_y)
    bent, powers = _penalty_sums(terms, criterion.order)
    total = count = torch.zeros_like(shift)
    if criterion.smooths:
        finite = u.isfinite()
        total, count = u.where(finite, 0).sum(-1), finite.sum(-1).to(u.dtype)
    target = torch.where(here, u.gather(-1, y)[:, 0] + shift, -math.inf)
    squares = torch.linalg.vector_norm(e, dim=-1).square()
    return Sums(shift, shift, target, others, bent, powers, squares, total, count)


def _columns(targets: Tensor, v: int) -> tuple[Tensor, Tensor]:
    """Which targets are in [0, v), (rows,), and all of them as columns, (rows, 1)."""
    return (targets >= 0) & (targets < v), targets.clamp(0, v - 1)[:, None]


def _penalty_sums(terms: Terms, order: float | None) -> tuple[Tensor, Tensor]:
    """`Sums.bent` and `Sums.powers`."""
    u, e, scratch = terms
    none = u.new_zeros(len(u))
    if order is None:
        return none, none
    if order == 1:
        bent = torch.mul(e, u, out=scratch).sum(-1)
        if u.device.type != "cpu" or bent.isnan().any():  # 0 · −inf
            bent = scratch.nan_to_num_(nan=0.0).sum(-1)
        return bent, none
    if math.isinf(order):
        return (u == 0).sum(-1).to(u.dtype), none
    k = abs(order - 1)
    curve = torch.mul(u, k, out=scratch).expm1_()
    if order > 1:
        bent = curve.mul_(e).sum(-1) / k
        return bent, torch.mul(u, order, out=scratch).exp_().sum(-1)
    return curve.mul_((order * u).exp_()).sum(-1) / k, none


def gradient_into(
    out: Tensor,
    terms: Terms,
    targets: Tensor,
    slopes: Slopes,
    criterion: Criterion,
    *,
    penalty_part: Tensor | None = None,
) -> None:
    """Writes the rows' gradient to `out`, which may be `terms.u`; uses the terms up.

    `penalty_part` (rows, v) is that of a penalty without an order. `slopes.own` is final; the rest is yet to
    be multiplied by the slope of a soft cap.
    """
    (u, e, scratch), order, cap = terms, criterion.order, criterion.transform.cap
    plain, bent, ratio, uniform, own = (x[:, None] for x in slopes[:5])
    cap_slope = None if cap is None else 1 - ((u + slopes.shift[:, None]) / cap).square_()
    masked = u.isneginf() if criterion.smooths else None
    if penalty_part is not None:
        g = penalty_part
    elif order == 1:
        g = scratch.mul_(bent)
    elif order == math.inf:
        g = torch.mul(u == 0, bent, out=scratch)
    else:
        assert order is not None
        g = torch.add(u, ratio, out=scratch).mul_(abs(order - 1)).expm1_().mul_(bent)
        g.mul_(e if order > 1 else u.mul_(order).exp_())
    g = torch.add(g, e.mul_(plain), out=out if out.dtype == g.dtype else g)
    if masked is not None:
        g.sub_(uniform).masked_fill_(masked, 0)
    if cap_slope is not None:
        g.mul_(cap_slope)
    here, y = _columns(targets, g.shape[-1])
    g.scatter_(-1, y, torch.where(here[:, None], own, g.gather(-1, y)))
    if g is not out:
        out.copy_(g)
