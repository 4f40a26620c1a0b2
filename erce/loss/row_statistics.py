"""The sums over rows of logits → the rows' losses and the slopes of their gradient, a few numbers per row.

Built-in penalties are computed here, from sums; their classes in `penalties` say what they mean. In a row
with logits z and target y, everything is relative to a shift near the largest logit:

    u = z − shift      s = Σ e^u      p = e^u / s      log p = u − log s

The target's column is kept apart: Σ e^u over the others is s (1 − p_y), and nothing cancels as p_y → 1.
"""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from erce.errors import DivergedError
from erce.loss.penalties import Penalty, is_exponential
from erce.loss.request import Loss, Request
from erce.loss.scored_rows import ScoredRows


class Sums(NamedTuple):
    """Sums over the columns of each row, (rows,) each; a sum that is not needed is 0.

    a is the penalty's order, k = |a − 1|, and box_cox(u) = (e^(ku) − 1) / k, which is u at order 1.
    """

    shift: Tensor  # what u is relative to
    top: Tensor  # max z; not finite where the row is not a distribution
    target: Tensor  # z of the target
    others: Tensor  # Σ e^u without the target
    # Σ e^u box_cox(u) from order 1 up; Σ e^(au) box_cox(u) below; at inf the number of maxima
    box_cox: Tensor
    powers: Tensor  # Σ e^(au), for a finite order above 1
    total: Tensor  # Σ u over the columns that are not −inf, if labels are smoothed
    finite: Tensor  # how many columns those are


class Slopes(NamedTuple):
    """The coefficients of each row's gradient, (rows,) each. In a column that is not the target's it is

    order 1: e^u (plain + tilt u)             above: e^u (plain + tilt expm1(k (u + ratio)))
    order inf: e^u plain + tilt [u = 0]       below: e^u plain + tilt e^(au) expm1(k (u + ratio))
    a user-defined penalty: e^u plain + tilt · (its gradient)

    minus `uniform` where the logit is not −inf; times the slope of the soft cap; `at_target` at the target.
    In the making `plain` is in units of −1 / s, and a field may be a number.
    """

    plain: Any
    at_target: Any  # in the end with the soft cap's slope
    tilt: Any
    ratio: Any
    uniform: Any


class Softmax(NamedTuple):
    """What the sums say of each row's softmax, (rows,) each."""

    u_y: Tensor  # u of the target
    e_y: Tensor  # e^(u_y)
    s: Tensor  # Σ e^u
    log_s: Tensor
    nll: Tensor  # −log p_y
    unit: Tensor  # −1 / s


def loss_and_grad_coefficients(
    sums: Sums,
    rows: ScoredRows,
    request: Request,
    gate: Tensor | None,
    penalty: tuple[Tensor, Tensor] | None = None,
) -> tuple[Loss, Slopes]:
    """Return the loss of each row, and the slopes of the gradient in the head's output.

    `gate` is the base loss's. `penalty` has the value and d value / d z_y of a user-defined one, for which
    no sums are enough.
    """
    of = softmax(sums)
    value, parts = _base_loss(of, sums, request, gate)
    if penalty is None:
        entropy, of_penalty = _penalty(of, sums, request)
    else:
        entropy, at_target = penalty
        of_penalty = Slopes(0.0, at_target, torch.ones_like(at_target), torch.zeros_like(at_target), 0.0)
    lam = float(request.lam)
    objective = torch.add(value, entropy, alpha=lam)
    slopes = Slopes(
        plain=_plus(parts.plain, lam, of_penalty.plain),
        at_target=torch.add(parts.at_target, of_penalty.at_target, alpha=lam),
        tilt=lam * of_penalty.tilt,
        ratio=of_penalty.ratio,
        uniform=parts.uniform,
    )
    # Weights come last, since a row's weight scales both terms.
    if rows.weights is not None:
        objective, slopes = objective * rows.weights, _times(slopes, rows.weights)
    top1 = (sums.target >= sums.top).to(of.nll.dtype)
    return Loss(objective, of.nll, entropy, top1), _in_output(slopes, of, sums, request)


def softmax(sums: Sums) -> Softmax:
    """Return what the sums say of each row.

    s = others + e^(u_y), so log s = log(1 + others + (e^(u_y) − 1)): exact where others → 0 and u_y → 0.
    """
    u_y = sums.target - sums.shift
    log_s = u_y.expm1().add_(sums.others).log1p_()
    e_y = u_y.exp()
    s = sums.others + e_y
    return Softmax(u_y, e_y, s, log_s, log_s - u_y, s.reciprocal().neg_())


def _plus(a: Any, factor: float, b: Any) -> Any:
    """Return a + factor · b, of tensors in one operation."""
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return torch.add(a, b, alpha=factor)
    return a + factor * b


def _base_loss(of: Softmax, sums: Sums, request: Request, gate: Tensor | None) -> tuple[Tensor, Slopes]:
    """Return what the penalty is added to, and its slopes.

    d nll / dz_j = p_j − [j = y], which at y is −others / s. Smoothing by ε mixes in, over the c columns that
    are not −inf, mean(−log p) = log s − Σ u / c, whose derivative is p_j − 1 / c.
    """
    value, pull = request.base_loss.value_and_slope(of.nll, gate)
    at_target, zero = sums.others * of.unit, torch.zeros_like(of.nll)
    if not request.has_label_smoothing:
        return value, Slopes(-pull, at_target.mul_(pull), 0.0, zero, zero)
    epsilon = request.base_loss.smoothing
    pull, uniform = (1 - epsilon) * pull, epsilon / sums.finite
    value = (1 - epsilon) * value + epsilon * (of.log_s - sums.total / sums.finite)
    at_target = pull * at_target + epsilon * (-of.nll).exp() - uniform
    return value, Slopes(-(pull + epsilon), at_target, 0.0, zero, uniform)


def _penalty(of: Softmax, sums: Sums, request: Request) -> tuple[Tensor, Slopes]:
    """Return the value and the slopes of R, or of exp R, whose gradient is exp R times that of R."""
    order = request.order
    assert order is not None
    ratio = _ratio(of, sums, order)
    value, slopes = of.log_s + ratio, _renyi_slopes(ratio, of, sums, order)
    if not is_exponential(request.penalty):
        return value, slopes
    size = value.exp_()
    return size, _times(slopes, size)


def _ratio(of: Softmax, sums: Sums, order: float) -> Tensor:
    """Return R − log s, where R = log(Σ p^a) / (1 − a).

    Σ p^a = Σ e^(au) / s^a gives R − log s = −log(Σ e^(au) / s) / c, with c = a − 1. By the definition of
    box_cox, below order 1 and above, Σ e^(au) = s + c B, where B is the sum `box_cox`. So R − log s =
    −log1p(c B / s) / c, which at order 1 is −B / s.
    """
    if order == 1:
        return sums.box_cox * of.unit
    if math.isinf(order):
        return torch.zeros_like(of.s)
    c = order - 1
    log_share = torch.log1p(c * sums.box_cox / of.s)
    if order > 1:  # where Σ e^(au) is below s / 2, log1p would cancel and the sum itself does not
        share = sums.powers / of.s
        log_share = torch.where(share < 0.5, share.log(), log_share)
    return log_share / -c


def _renyi_slopes(ratio: Tensor, of: Softmax, sums: Sums, order: float) -> Slopes:
    """Return the slopes of R, whose derivative is dR/dz = (a / (1 − a)) (q − p) with q = p^a / Σ p^a.

    As log p + R = u + ratio, q = p e^(c (u + ratio)), with c = a − 1 and k = |c|. From the lighter-tailed of
    p and q, dR/dz = −(a / k) w expm1(k (u + ratio)): w is p above order 1, and q = e^(au) / Σ e^(au) below.
    At order 1 this is −p (u + ratio), and at inf p − [u = 0] / (the number of maxima).
    """
    u_y, e_y, s, *_ = of
    if order == 1:
        log_share = u_y.clamp(min=torch.finfo(s.dtype).min).add_(ratio)  # −inf · 0 is NaN
        return Slopes(ratio, log_share.mul_(e_y * of.unit), of.unit, ratio, 0.0)
    if math.isinf(order):
        maxima = sums.box_cox
        alone = (u_y == 0) & (maxima == 1)  # p_y − 1 is −others / s
        at_target = torch.where(alone, sums.others * of.unit, e_y / s - (u_y == 0) / maxima)
        return Slopes(-1.0, at_target, -1 / maxima, ratio, 0.0)
    k = abs(order - 1)
    w_sum, w_y = (s, e_y) if order > 1 else (s + (order - 1) * sums.box_cox, (order * u_y).exp())
    tilt = -order / (k * w_sum)
    return Slopes(0.0, tilt * w_y * torch.expm1(k * (u_y + ratio)), tilt, ratio, 0.0)


def _times(slopes: Slopes, factor: Tensor | float) -> Slopes:
    """Return the slopes of the same rows times a factor."""
    return slopes._replace(
        plain=slopes.plain * factor,
        at_target=slopes.at_target * factor,
        tilt=slopes.tilt * factor,
        uniform=slopes.uniform * factor,
    )


def _in_output(slopes: Slopes, of: Softmax, sums: Sums, request: Request) -> Slopes:
    """Return slopes in the logits as slopes in the head's output x.

    z = cap · tanh(slope · x / cap) has dz/dx = slope · (1 − (z / cap)²); the passes apply the bracket to all
    columns but the target's.
    """
    if request.slope != 1:
        slopes = _times(slopes, request.slope)
    if (cap := request.cap) is not None:
        slopes = slopes._replace(at_target=slopes.at_target * (1 - (sums.target / cap).square()))
    return slopes._replace(plain=slopes.plain * of.unit)


def refuse_no_distribution(top: Tensor, rows: ScoredRows) -> None:
    """Raise a DivergedError that names the first row whose largest logit `top` (m,) is not finite.

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
        position = first if isinstance(rows.positions, slice) else int(rows.positions[first])
        raise DivergedError(
            f"the logits of position {position} (its index when flattened) have no softmax: the "
            f"largest is {float(top[first])}; look for NaN or infinity in hidden states, weight and bias"
        )


def user_penalty_and_slopes(
    u: Tensor, sums: Sums, y: Tensor, penalty: Penalty, gradient: bool
) -> tuple[tuple[Tensor, Tensor], Tensor | None]:
    """Return what `loss_and_grad_coefficients` takes of a user-defined penalty, and its gradient if wanted.

    `u` is `RowTerms.u`, (rows, v), as the gradient in the logits is; y (rows, 1) are the targets.
    """
    of = softmax(sums)
    log_p = (u - of.log_s[:, None]).clamp_(min=torch.finfo(u.dtype).min)
    p = log_p.exp().scatter_(-1, y, (-of.nll[:, None]).exp())
    if not gradient:
        return (penalty.value(log_p, p), torch.zeros_like(of.nll)), None
    value, part = penalty.value_and_logit_grad(log_p, p)
    return (value, part.gather(-1, y)[:, 0]), part
