"""The sums over rows of logits → the rows' losses and the slopes of their gradient, a few numbers a row.

Built-in penalties are computed here, from sums; their classes in `penalties` say what they mean. In a row
with logits z and target y, everything is relative to a shift near the largest logit:

    u = z − shift      s = Σ e^u      p = e^u / s      log p = u − log s

The target's column is kept apart: Σ e^u over the others is s (1 − p_y), and nothing cancels as p_y → 1.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from erce.errors import DivergedError
from erce.loss.request import Loss, Request, Rows


class Sums(NamedTuple):
    """Sums over the columns of each row, (rows,) each; a sum that is not needed is 0.

    a is the penalty's order, k = |a − 1|, and bent(u) = (e^(ku) − 1) / k, which is u at order 1.
    """

    shift: Tensor  # what u is relative to
    top: Tensor  # max z; not finite where the row is no distribution
    target: Tensor  # z of the target; −inf where it is not among the columns
    others: Tensor  # Σ e^u without the target
    bent: Tensor  # Σ e^u bent(u) from order 1 up; Σ e^(au) bent(u) below; at inf the number of maxima
    powers: Tensor  # Σ e^(au), for a finite order above 1
    squares: Tensor  # Σ e^2u, for diagnosis
    total: Tensor  # Σ u over the columns that are not −inf, if labels are smoothed
    finite: Tensor  # how many columns those are


class Slopes(NamedTuple):
    """The coefficients of each row's gradient, (rows,) each. In a column that is not the target's it is

    order 1: e^u (plain + bent u)             above: e^u (plain + bent expm1(k (u + ratio)))
    order inf: e^u plain + bent [u = 0]       below: e^u plain + bent e^(au) expm1(k (u + ratio))
    a user's penalty: e^u plain + bent · (its gradient)

    minus `uniform` where the logit is not −inf; times the slope of the soft cap. At the target it is `own`.
    """

    plain: Tensor
    bent: Tensor
    ratio: Tensor
    uniform: Tensor
    own: Tensor  # final: with the soft cap's slope
    shift: Tensor  # what u is relative to


def settle(
    sums: Sums,
    rows: Rows,
    request: Request,
    gate: Tensor | None,
    penalty: tuple[Tensor, Slopes] | None = None,
) -> tuple[Loss, Slopes]:
    """Return the loss of each row, save its tail share, and the slopes of the gradient in the head's output.

    `gate` is the objective's. `penalty` has the value and the slopes of a user's own, which no sums give.
    """
    log_s, nll = logs(sums)
    e_y = (sums.target - sums.shift).exp()
    s = sums.others + e_y
    value, slopes = _objective(log_s, nll, s, sums, request, gate)
    entropy, of_penalty = _penalty(log_s, e_y, s, sums, request) if penalty is None else penalty
    objective = value + rows.lam * entropy
    slopes = slopes._replace(
        plain=slopes.plain + rows.lam * of_penalty.plain,
        bent=rows.lam * of_penalty.bent,
        ratio=of_penalty.ratio,
        own=slopes.own + rows.lam * of_penalty.own,
    )
    lse = log_s + sums.shift if request.z_loss or request.return_lse else None
    z_loss = request.z_loss * lse.square() if lse is not None and request.z_loss else None
    if lse is not None and z_loss is not None:
        objective = objective + z_loss
        slopes = _plus_e(slopes, 2 * request.z_loss * lse / s, e_y)
    if rows.weights is not None:
        objective, slopes = objective * rows.weights, _times(slopes, rows.weights)
    if rows.lse_weights is not None:
        slopes = _plus_e(slopes, rows.lse_weights / s, e_y)
    top1 = (sums.target >= sums.top).to(nll.dtype)
    loss = Loss(objective, nll, entropy, top1, z_loss=z_loss, lse=lse if request.return_lse else None)
    if request.diagnose:
        loss = loss._replace(
            log_sum_p2=sums.squares.log() - 2 * log_s,
            pushed_down=(slopes.own > 0).to(nll.dtype),
        )
    return loss, _in_output(slopes, sums, request)


def logs(sums: Sums) -> tuple[Tensor, Tensor]:
    """Return log s and −log p_y of each row.

    s = others + e^(u_y), so log s = log(1 + others + (e^(u_y) − 1)): exact where others → 0 and u_y → 0.
    """
    u_y = sums.target - sums.shift
    log_s = torch.log1p(sums.others + torch.expm1(u_y))
    return log_s, log_s - u_y


def _objective(
    log_s: Tensor, nll: Tensor, s: Tensor, sums: Sums, request: Request, gate: Tensor | None
) -> tuple[Tensor, Slopes]:
    """Return what the penalty is added to, and its slopes.

    d nll / dz_j = p_j − [j = y], which at y is −others / s. Smoothing by ε mixes in, over the c columns that
    are not −inf, mean(−log p) = log s − Σ u / c, whose derivative is p_j − 1 / c.
    """
    value, pull = request.objective.value_and_slope(nll, gate)
    zero, rest = torch.zeros_like(nll), sums.others / s
    if not request.smooths:
        return value, Slopes(pull / s, zero, zero, zero, -pull * rest, sums.shift)
    epsilon = request.objective.smoothing
    pull, uniform = (1 - epsilon) * pull, epsilon / sums.finite
    value = (1 - epsilon) * value + epsilon * (log_s - sums.total / sums.finite)
    own = -pull * rest + epsilon * (-nll).exp() - uniform
    return value, Slopes((pull + epsilon) / s, zero, zero, uniform, own, sums.shift)


def _penalty(log_s: Tensor, e_y: Tensor, s: Tensor, sums: Sums, request: Request) -> tuple[Tensor, Slopes]:
    """Return the value and the slopes of R, or of exp R, whose gradient is exp R times that of R."""
    order = request.order
    assert order is not None
    ratio = _ratio(s, sums, order)
    value, slopes = log_s + ratio, _renyi_slopes(ratio, e_y, s, sums, order)
    if not request.exponential:
        return value, slopes
    size = value.exp_()
    return size, _times(slopes, size)


def _ratio(s: Tensor, sums: Sums, order: float) -> Tensor:
    """Return R − log s, where R = log(Σ p^a) / (1 − a).

    Σ p^a = Σ e^(au) / s^a gives R − log s = −log(Σ e^(au) / s) / c, with c = a − 1. By the definition of
    bent, below order 1 and above, Σ e^(au) = s + c B, where B is the sum `bent`. So R − log s =
    −log1p(c B / s) / c, which at order 1 is −B / s.
    """
    if order == 1:
        return sums.bent / -s
    if math.isinf(order):
        return torch.zeros_like(s)
    c = order - 1
    log_share = torch.log1p(c * sums.bent / s)
    if order > 1:  # where Σ e^(au) is below s / 2, log1p would cancel and the sum itself does not
        share = sums.powers / s
        log_share = torch.where(share < 0.5, share.log(), log_share)
    return log_share / -c


def _renyi_slopes(ratio: Tensor, e_y: Tensor, s: Tensor, sums: Sums, order: float) -> Slopes:
    """Return the slopes of R, whose derivative is dR/dz = (a / (1 − a)) (q − p) with q = p^a / Σ p^a.

    As log p + R = u + ratio, q = p e^(c (u + ratio)), with c = a − 1 and k = |c|. From the lighter-tailed of
    p and q, dR/dz = −(a / k) w expm1(k (u + ratio)): w is p above order 1, and q = e^(au) / Σ e^(au) below.
    At order 1 this is −p (u + ratio), and at inf p − [u = 0] / (the number of maxima).
    """
    u_y = sums.target - sums.shift
    zero = torch.zeros_like(u_y)
    if order == 1:
        per_s = s.reciprocal().neg_()
        own = u_y.clamp_(min=torch.finfo(s.dtype).min).add_(ratio).mul_(e_y * per_s)  # −inf · 0 is NaN
        return Slopes(ratio * per_s, per_s, ratio, zero, own, sums.shift)
    if math.isinf(order):
        maxima = sums.bent
        alone = (u_y == 0) & (maxima == 1)  # p_y − 1 is −others / s
        own = torch.where(alone, -sums.others / s, e_y / s - (u_y == 0) / maxima)
        return Slopes(1 / s, -1 / maxima, ratio, zero, own, sums.shift)
    k = abs(order - 1)
    w_sum, w_y = (s, e_y) if order > 1 else (s + (order - 1) * sums.bent, (order * u_y).exp())
    bent = -order / (k * w_sum)
    return Slopes(zero, bent, ratio, zero, bent * w_y * torch.expm1(k * (u_y + ratio)), sums.shift)


def _plus_e(slopes: Slopes, factor: Tensor, e_y: Tensor) -> Slopes:
    """Return the slopes with factor · e^u added; with 1 / s as the factor that is p, the slope of lse."""
    return slopes._replace(plain=slopes.plain + factor, own=slopes.own + factor * e_y)


def _times(slopes: Slopes, factor: Tensor | float) -> Slopes:
    """Return the slopes of the same rows times a factor."""
    return slopes._replace(
        plain=slopes.plain * factor,
        bent=slopes.bent * factor,
        uniform=slopes.uniform * factor,
        own=slopes.own * factor,
    )


def _in_output(slopes: Slopes, sums: Sums, request: Request) -> Slopes:
    """Return slopes in the logits as slopes in the head's output x.

    z = cap · tanh(slope · x / cap) has dz/dx = slope · (1 − (z / cap)²); the passes apply the bracket to all
    columns but the target's.
    """
    if request.slope != 1:
        slopes = _times(slopes, request.slope)
    if (cap := request.cap) is not None:
        slopes = slopes._replace(own=slopes.own * (1 - (sums.target / cap).square()))
    return slopes


def refuse_no_distribution(top: Tensor, positions: Tensor) -> None:
    """Raise a DivergedError that names the first row whose largest logit is not finite; both are (m,).

    On a CUDA device this check would make the host wait, so it runs only in torch's anomaly mode; otherwise
    such a row shows as a loss that is not finite.
    """
    if top.is_cuda and not torch.is_anomaly_enabled():
        return
    if math.isfinite(float(top.sum())):  # two operations on a CPU, where the exact question takes six
        return
    bad = ~top.isfinite()
    if bad.any():
        first = int(bad.nonzero()[0, 0])
        raise DivergedError(
            f"the logits of position {int(positions[first])} (its index when flattened) have no softmax: the "
            f"largest is {float(top[first])}; look for NaN or infinity in hidden states, weight and bias"
        )
