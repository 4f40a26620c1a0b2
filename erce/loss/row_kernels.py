"""A tile of the head's output → sums, losses and slopes, then its gradient: a row's whole way in Triton.

The two passes of `row_passes` read the tile once each and compute in float32; they apply bias, scale and soft
cap in passing. Between them `settle` does what `row_statistics.settle` derives, in one launch.
"""
# ruff: noqa: PLR0913, PLR0917 — a kernel takes its operands one by one
# Triton's language is not Python's, and is Any to a type checker:
# pyright: reportInvalidTypeForm=false

from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from erce.loss import row_statistics
from erce.loss.kernel_arguments import end_of, flags, numbers, shape, whole
from erce.loss.objectives import CrossEntropy, LabelSmoothing
from erce.loss.request import Loss, Request
from erce.loss.row_statistics import Slopes, Sums
from erce.loss.scored_rows import Rows


class _Absent:
    """What stands for Triton where it is not installed, so that the rest of this file can be defined."""

    def __getattr__(self, name: str) -> Any:
        return lambda x: x


triton: Any = _Absent()
tl: Any = _Absent()
try:
    triton, tl = import_module("triton"), import_module("triton.language")
    AVAILABLE = True
except ImportError:
    AVAILABLE = False

# Columns in hand at once: a program a row, and a program a block. Chosen by the registers and instructions of
# what is compiled for a Hopper card, not yet measured on one.
MEASURE_BLOCK, MEASURE_WARPS = 2048, 8
WRITE_BLOCK, WRITE_WARPS = 2048, 8
SETTLE_BLOCK = 128  # rows
STORED = ("objective", "nll", "entropy", "top1", "z_loss", "lse", "log_sum_p2", "pushed_down")  # by `_settle`

_ONE, _ABOVE, _BELOW = tl.constexpr(0), tl.constexpr(1), tl.constexpr(2)  # forms of the order; 3 is inf
_FLOOR = tl.constexpr(-1e30)  # of u, so that a column of −inf has weight 0 and no product with it is NaN


def measure(tile: Tensor, targets: Tensor, request: Request, bias: Tensor | None) -> Sums:
    """Return the sums of each row of the tile (rows, v), float32, which is kept.

    A row with a NaN has the top NaN; another row with +inf, before the cap, has +inf. A row of −inf has the
    top −inf and sums of 0. A target outside of [0, v) has the logit −inf.
    """
    rows, v = shape(tile)
    sums = tile.new_empty(len(Sums._fields), rows)
    with torch.cuda.device_of(tile):
        _measure[(rows,)](
            sums, tile, tile.stride(0), end_of(tile), targets.contiguous(), whole(bias), v, *numbers(request),
            **flags(request), diagnose=request.diagnose,
            block=min(MEASURE_BLOCK, triton.next_power_of_2(v)), num_warps=MEASURE_WARPS,
        )  # fmt: skip
    return Sums(*sums)


def settle(sums: Sums, rows: Rows, request: Request, gate: Tensor | None) -> tuple[Loss, Slopes]:
    """Do what `row_statistics.settle` says; it does so itself for objectives that weigh their rows."""
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


def write_gradient(
    tile: Tensor, targets: Tensor, slopes: Slopes, request: Request, bias: Tensor | None, out: Tensor
) -> None:
    """Write the gradient of the rows, as `Slopes` has it, to `out`, rounded to its dtype; it may be the tile.

    It is 0 where the logit is −inf, and `slopes.own` at the target.
    """
    rows, v = shape(tile)
    by_row = (column.contiguous() for column in slopes)
    block = min(WRITE_BLOCK, triton.next_power_of_2(v))
    with torch.cuda.device_of(tile):
        _write[(rows, triton.cdiv(v, block))](
            out, out.stride(0), min(end_of(tile), end_of(out)), tile, tile.stride(0), targets.contiguous(),
            whole(bias), *by_row, v, *numbers(request),
            **flags(request), block=block, num_warps=WRITE_WARPS,
        )  # fmt: skip


@triton.jit
def _measure(
    sums, tile, stride, end, targets, bias, v, order, k, inner, outer,
    form: tl.constexpr, capped: tl.constexpr, smoothing: tl.constexpr, diagnose: tl.constexpr,
    block: tl.constexpr,
):  # fmt: skip
    """Store the sums of a row. The target's column starts off the largest logit, is left out of the pass over
    the others, and is added to their sums."""
    row = tl.program_id(0).to(tl.int64)
    tile += row * stride
    order, k = tl.cast(order, tl.float32), tl.cast(k, tl.float32)
    y, here = _target(targets + row, v)
    target, _ = _logits(tl.load(tile + y, mask=here, other=0.0), bias, y, here, inner, outer, capped)
    target = tl.where(here, target, -float("inf"))
    z_y = tl.where(target < float("inf"), target, -float("inf"))
    top, bad, others, bent, powers, squares, total, count = _sums_without(
        y, z_y, tile, end, bias, v, order, k, inner, outer, form, capped, smoothing, diagnose, block
    )
    bad += tl.where(target < float("inf"), 0.0, target)
    shift = tl.where(top > -float("inf"), top, 0.0)
    u_y = tl.maximum(z_y - shift, _FLOOR)
    e_y = tl.exp(u_y)
    bent, powers = _add(bent, powers, others, 0.0 * u_y, u_y, e_y, z_y == shift, order, k, form)
    top = tl.where(bad == 0.0, top, bad)
    rows = tl.num_programs(0)
    sums += row
    tl.store(sums, tl.where(top == -float("inf"), 0.0, top))
    tl.store(sums + rows, top)
    tl.store(sums + 2 * rows, target)
    tl.store(sums + 3 * rows, others)
    tl.store(sums + 4 * rows, bent / tl.where(k > 0.0, k, 1.0))
    tl.store(sums + 5 * rows, powers if form == _ABOVE else 0.0)
    tl.store(sums + 6 * rows, squares + e_y * e_y if diagnose else 0.0)
    tl.store(sums + 7 * rows, total + tl.where(z_y > -float("inf"), z_y - shift, 0.0))
    tl.store(sums + 8 * rows, count + tl.where(z_y > -float("inf"), 1.0, 0.0))


@triton.jit
def _sums_without(
    y, top, tile, end, bias, v, order, k, inner, outer,
    form: tl.constexpr, capped: tl.constexpr, smoothing: tl.constexpr, diagnose: tl.constexpr,
    block: tl.constexpr,
):  # fmt: skip
    """Return the largest logit, from `top` on, what is no number, and the sums of a row without its column y.

    Each lane keeps sums of its own and waits for the others only to learn the largest logit; where that
    grows, by −d, the sums so far are moved to the new one.
    """
    bad, nothing = 0.0, tl.full([block], 0.0, tl.float32)
    others, bent, powers, squares, total, count = nothing, nothing, nothing, nothing, nothing, nothing
    for start in tl.range(0, v, block, num_stages=3):
        column = start + tl.arange(0, block)
        x = tl.where(column < v, tl.load(tile + column, mask=column < end, other=0.0), 0.0)
        z, _ = _logits(x, bias, column, column < v, inner, outer, capped)
        z = tl.where((column < v) & (column != y), z, -float("inf"))
        largest = tl.max(z, axis=0)
        if largest == float("inf"):
            bad = largest
            z = tl.where(z == largest, -float("inf"), z)
            largest = tl.max(z, axis=0)
        before = top
        top = tl.maximum(top, largest)
        shift = tl.where(top > -float("inf"), top, 0.0)
        d = tl.maximum(before - shift, _FLOOR)
        u = tl.maximum(z - shift, _FLOOR, propagate_nan=tl.PropagateNan.ALL)
        e, r = tl.exp(u), tl.exp(d)
        bent, powers = _add(bent, powers, others, d, u, e, z == shift, order, k, form)
        others = r * others + e
        if diagnose:
            squares = r * r * squares + e * e
        if smoothing:
            live = z > -float("inf")
            total += d * count + tl.where(live, z - shift, 0.0)
            count += tl.where(live, 1.0, 0.0)
    rest = tl.sum(others, axis=0)
    return (
        top, bad + 0.0 * rest,  # NaN if a logit is
        rest, tl.sum(bent, axis=0), tl.sum(powers, axis=0),
        tl.sum(squares, axis=0), tl.sum(total, axis=0), tl.sum(count, axis=0),
    )  # fmt: skip


@triton.jit
def _add(bent, powers, others, d, u, e, largest, order, k, form: tl.constexpr):
    """Return k times `Sums.bent` and, if needed, Σ e^(order u), with d added to each u so far and one u more.

    Written b(u) = e^(ku) − 1, b(u + d) = e^(kd) b(u) + b(d). So above order 1 Σ e^(u+d) b(u + d) is
    e^d (e^(kd) Σ e^u b(u) + b(d) Σ e^u), and below, where order + k = 1 and w = e^(order u), it is
    e^d Σ w b(u) + e^(order d) b(d) Σ w. At order 1, Σ e^(u+d) (u + d) = e^d (Σ e^u u + d Σ e^u).
    """
    r = tl.exp(d)
    if form == _ONE:
        bent = r * (bent + d * others) + e * u
    elif form == _ABOVE:
        raised = r * tl.exp(k * d)
        bent = raised * bent + r * _expm1(k * d) * others + e * _expm1(k * u)
        powers = raised * powers + e * tl.exp(k * u)
    elif form == _BELOW:
        raised, power = tl.exp(order * d), tl.exp(order * u)
        bent = r * bent + raised * _expm1(k * d) * powers + power * _expm1(k * u)
        powers = raised * powers + power
    else:
        bent = tl.where(d < 0.0, 0.0, bent) + largest.to(tl.float32)
    return bent, powers


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
    u_y = tl.maximum(moved, _FLOOR, propagate_nan=tl.PropagateNan.ALL)
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
    if form == _ONE:
        ratio = -bent / s
        plain, slope = -ratio / s, -1.0 / s
        own = tl.where(e_y > 0.0, slope * e_y * (u_y + ratio), 0.0)
    elif form == _ABOVE:
        share = powers / s
        ratio = -tl.where(share < 0.5, tl.log(share), _log1p_64(k * bent / s)) / k
        plain, slope = 0.0 * s, -order / (k * s)
        own = slope * e_y * _expm1_64(k * (u_y + ratio))
    elif form == _BELOW:
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


@triton.jit
def _write(
    out, out_stride, end, tile, stride, targets, bias, plain, bent, ratio, uniform, own, top, v,
    order, k, inner, outer,
    form: tl.constexpr, capped: tl.constexpr, smoothing: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * block + tl.arange(0, block)
    order, k = tl.cast(order, tl.float32), tl.cast(k, tl.float32)
    top, plain = tl.load(top + row), tl.load(plain + row)
    bent, ratio = tl.load(bent + row), tl.load(ratio + row)
    y, _ = _target(targets + row, v)
    x = tl.load(tile + row * stride + column, mask=column < end, other=0.0)
    x = tl.where(column < v, x, -float("inf"))
    z, cap_slope = _logits(x, bias, column, column < v, inner, outer, capped)
    shift = tl.where(top > -float("inf"), top, 0.0)
    u = tl.maximum(z - shift, _FLOOR)
    e = tl.exp(u)
    if form == _ONE:
        g = e * (plain + bent * u)
    elif form == _ABOVE:
        g = e * (plain + bent * _expm1(k * (u + ratio)))
    elif form == _BELOW:
        g = e * plain + tl.exp(order * u) * (bent * _expm1(k * (u + ratio)))
    else:  # by the logit itself: u may come out of one rounding for a product and the difference
        g = e * plain + tl.where(z == shift, bent, 0.0)
    if smoothing:
        g -= tl.load(uniform + row)
    g = tl.where(z > -float("inf"), g * cap_slope, 0.0)
    g = tl.where(column == y, tl.load(own + row), g)
    tl.store(out + row * out_stride + column, g.to(out.dtype.element_ty), mask=column < end)


@triton.jit
def _target(target, v):
    """Return the target's column, −1 if it is none of the v, and whether it is one."""
    y = tl.load(target)
    here = (y >= 0) & (y < v)
    return tl.where(here, y, -1).to(tl.int32), here


@triton.jit
def _logits(x, bias, column, here, inner, outer, capped: tl.constexpr):
    """Return the logits of the columns that are `here`, and the slope of their soft cap."""
    if bias is not None:
        x += tl.load(bias + column, mask=here, other=0.0).to(tl.float32)
    inner, outer = tl.cast(inner, tl.float32), tl.cast(outer, tl.float32)
    if capped:
        q = -2.0 * tl.abs(inner * x)
        e = tl.exp(q)
        tanh = -_expm1(q) / (1.0 + e)
        z = tl.where(x < float("inf"), outer * tl.where(x < 0.0, -tanh, tanh), x)
        slope = 4.0 * e / ((1.0 + e) * (1.0 + e))
    else:
        z, slope = outer * x, 1.0
    return z, slope


@triton.jit
def _expm1(x):
    """Return e^x − 1: where the difference would cancel, eight terms of the series, which leave 1e-8."""
    near = tl.abs(x) < 0.5
    t = tl.where(near, x, 0.0)
    series = t * (1.0 / 40320) + 1.0 / 5040
    series = series * t + 1.0 / 720
    series = series * t + 1.0 / 120
    series = series * t + 1.0 / 24
    series = series * t + 1.0 / 6
    series = series * t + 0.5
    series = series * t + 1.0
    return tl.where(near, series * t, tl.exp(x) - 1.0)
