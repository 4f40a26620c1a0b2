"""The sums of rows → their losses and slopes, as `row_statistics.settle` derives them, in one launch."""
# ruff: noqa: PLR0913, PLR0917 — a kernel takes its operands one by one
# Triton's language is not Python's, and is Any to a type checker:
# pyright: reportInvalidTypeForm=false

import torch
from torch import Tensor

from erce.loss import row_statistics
from erce.loss.kernel_arguments import flags, numbers
from erce.loss.objectives import CrossEntropy, LabelSmoothing
from erce.loss.request import Loss, Request
from erce.loss.row_statistics import Slopes, Sums
from erce.loss.scored_rows import Rows
from erce.loss.triton_language import ABOVE, BELOW, FLOOR, ONE, tl, triton

SETTLE_BLOCK = 128  # rows
STORED = ("objective", "nll", "entropy", "top1", "z_loss", "lse", "log_sum_p2", "pushed_down")  # by `_settle`


def settle(sums: Sums, rows: Rows, request: Request, gate: Tensor | None) -> tuple[Loss, Slopes]:
    """Settle rows as `row_statistics.settle` does, and by it for objectives that weigh their rows."""
    if type(request.objective) not in {CrossEntropy, LabelSmoothing}:
        return row_statistics.settle(sums, rows, request, gate)
    losses, slopes = (sums.top.new_empty(len(names), rows.m) for names in (STORED, Slopes._fields))
    lam, weights = rows.lam, rows.weights
    per_row = isinstance(lam, Tensor)
    order, k, _, _ = numbers(request)
    with torch.cuda.device_of(losses):
        _settle[(triton.cdiv(rows.m, SETTLE_BLOCK),)](
            losses, slopes, *sums, lam if per_row else None, weights, rows.lse_weights,
            0.0 if per_row else lam, rows.m,
            order, k, request.objective.smoothing, request.slope, request.cap or 0.0, float(request.z_loss),
            **flags(request), exponential=request.exponential, diagnose=request.diagnose, block=SETTLE_BLOCK,
        )  # fmt: skip
    by_name = dict(zip(STORED, losses, strict=True))
    return Loss(**{name: by_name[name] for name in request.fields if name in STORED}), Slopes(*slopes)


@triton.jit
def _settle(
    losses, slopes, shift, top, target, others, bent, powers, squares, total, finite, lam, weights,
    lse_weights, strength, rows, order, k, smoothing_share, slope, cap, z_loss,
    form: tl.constexpr, capped: tl.constexpr, smoothing: tl.constexpr, exponential: tl.constexpr,
    diagnose: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """Store the losses and the slopes of a block of rows, in float64: a few numbers a row cost nothing."""
    row = tl.program_id(0) * block + tl.arange(0, block)
    here = row < rows
    z_y, highest = _column(target, row, here), _column(top, row, here)
    others, bent = _column(others, row, here), _column(bent, row, here)
    moved = z_y - _column(shift, row, here)
    u_y = tl.maximum(moved, FLOOR, propagate_nan=tl.PropagateNan.ALL)
    e_y = tl.exp(u_y)
    s = others + e_y
    log_s = _log1p_64(others + (e_y - 1.0))
    nll = log_s - moved
    lam = strength if lam is None else _column(lam, row, here)
    weight = 1.0 if weights is None else _column(weights, row, here)
    value, uniform, own = nll, 0.0 * s, -others / s
    if smoothing:
        finite = _column(finite, row, here)
        uniform = smoothing_share / finite
        value = (1.0 - smoothing_share) * nll + smoothing_share * (log_s - _column(total, row, here) / finite)
        own = (1.0 - smoothing_share) * own + smoothing_share * e_y / s - uniform

    ratio, of_plain, of_bent, of_own = _renyi(
        s, e_y, u_y, others, bent, _column(powers, row, here), order, k, form
    )
    entropy = log_s + ratio
    strength = lam
    if exponential:
        entropy = tl.exp(entropy)
        strength *= entropy
    lse = log_s + _column(shift, row, here)
    pull = 2.0 * weight * z_loss * lse  # on lse, whose slope is p
    if lse_weights is not None:
        pull += _column(lse_weights, row, here)
    own = weight * (own + strength * of_own) + pull * e_y / s
    losses += row
    tl.store(losses, weight * (value + lam * entropy + z_loss * lse * lse), mask=here)
    tl.store(losses + rows, nll, mask=here)
    tl.store(losses + 2 * rows, entropy, mask=here)
    tl.store(losses + 3 * rows, tl.where(z_y >= highest, 1.0, 0.0), mask=here)
    tl.store(losses + 4 * rows, z_loss * lse * lse, mask=here)
    tl.store(losses + 5 * rows, lse, mask=here)
    if diagnose:
        tl.store(losses + 6 * rows, tl.log(_column(squares, row, here)) - 2.0 * log_s, mask=here)
        tl.store(losses + 7 * rows, tl.where(own > 0.0, 1.0, 0.0), mask=here)

    if capped:
        own *= 1.0 - (z_y / cap) * (z_y / cap)
    weight *= slope
    slopes += row
    tl.store(slopes, weight * (1.0 / s + strength * of_plain) + slope * pull / s, mask=here)
    tl.store(slopes + rows, weight * strength * of_bent, mask=here)
    tl.store(slopes + 2 * rows, ratio, mask=here)
    tl.store(slopes + 3 * rows, weight * uniform, mask=here)
    tl.store(slopes + 4 * rows, slope * own, mask=here)
    tl.store(slopes + 5 * rows, _column(shift, row, here), mask=here)


@triton.jit
def _column(pointer, row, here):
    return tl.load(pointer + row, mask=here, other=1.0).to(tl.float64)


@triton.jit
def _renyi(s, e_y, u_y, others, bent, powers, order, k, form: tl.constexpr):
    """Return Rényi's entropy R less log s, and the slopes of R; `row_statistics` derives the formulas."""
    if form == ONE:
        ratio = -bent / s
        plain, slope = -ratio / s, -1.0 / s
        own = tl.where(e_y > 0.0, slope * e_y * (u_y + ratio), 0.0)
    elif form == ABOVE:
        share = powers / s
        ratio = -tl.where(share < 0.5, tl.log(share), _log1p_64(k * bent / s)) / k
        plain, slope = 0.0 * s, -order / (k * s)
        own = slope * e_y * _expm1_64(k * (u_y + ratio))
    elif form == BELOW:
        ratio = _log1p_64(-k * bent / s) / k
        plain, slope = 0.0 * s, -order / (k * (s - k * bent))
        own = slope * tl.exp(order * u_y) * _expm1_64(k * (u_y + ratio))
    else:
        ratio, plain, slope, is_top = 0.0 * s, 1.0 / s, -1.0 / bent, u_y == 0.0
        own = tl.where(is_top & (bent == 1.0), -others / s, e_y / s + tl.where(is_top, slope, 0.0))
    return ratio, plain, slope, own


@triton.jit
def _log1p_64(x):
    return tl.where(tl.abs(x) < 1e-5, x - 0.5 * x * x, tl.log(1.0 + x))  # in float64 to 3e-11


@triton.jit
def _expm1_64(x):
    return tl.where(tl.abs(x) < 1e-5, x + 0.5 * x * x, tl.exp(x) - 1.0)  # likewise
