"""A tile of the head's output → its rows' losses, and the gradient of their objectives, in one Triton kernel.

One program per row does what `row_passes` and `row_statistics` do together: sums over the vocabulary, from
them the row's loss and slopes, then the gradient. It reads the row twice, computes in float32, and applies
bias, scale and soft cap in passing. It is as fast as a card's memory only if a logit takes few instructions,
which `benchmarks/gpu_instructions.py` counts. `gpu_self_check` tries it on a card before its first use.

The gradient may lie in the row's own memory: in float32 in the logits' places, in half precision in the
second half of the row's bytes. The second reading goes from the last block of columns to the first, so that
a block is written to bytes that no unread block has. It also begins with what the card's cache still holds.
"""
# ruff: noqa: PLR0913, PLR0917 — a kernel takes its operands one by one
# Triton's language is not Python's, and is Any to a type checker:
# pyright: reportInvalidTypeForm=false

import math
from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from erce.loss.penalties import is_exponential
from erce.loss.request import Request
from erce.loss.scored_rows import ScoredRows


class _Absent:
    """What stands for Triton where it is not installed, so that files with kernels can be loaded."""

    def __getattr__(self, name: str) -> Any:
        return lambda *functions, **options: functions[0] if functions else lambda function: function


try:
    triton, tl = import_module("triton"), import_module("triton.language")
except ImportError:
    triton = tl = _Absent()
AVAILABLE = not isinstance(triton, _Absent)

ONE, ABOVE, BELOW = tl.constexpr(0), tl.constexpr(1), tl.constexpr(2)  # forms of the order; 3 is inf
FLOOR = tl.constexpr(-1e30)  # of u, so that a column of −inf has weight 0 and no product with it is NaN
BLOCK, WARPS = 2048, 8  # columns in hand at once, and the warps of a row's program
LOG2_E = tl.constexpr(1.4426950408889634)


def score(
    tile: Tensor,
    rows: ScoredRows,
    request: Request,
    bias: Tensor | None,
    out: Tensor | None,
    columns: Tensor,
    given: Tensor | None = None,
) -> None:
    """Write the losses of the tile's rows (rows, v), float32, to `columns`, and their gradient to `out`.

    `columns` (ROW_RESULTS, rows) gets what `Loss` has, and last the largest logit: NaN for a row with a NaN,
    +inf for another with +inf before the cap, whose losses are NaN. `out` is rounded to its dtype; it is the
    tile, memory of its own, or in half precision the second half of the tile's rows. None wants no gradient.
    `given` (2, rows) has value and slope of a base loss other than −log p.
    """
    n, v = tile.shape
    assert tile.dtype == columns.dtype == torch.float32
    assert v == 1 or tile.stride(1) == 1
    target = tile if out is None else out
    with torch.cuda.device_of(tile):
        _score[(n,)](
            columns, columns.stride(0), tile, tile.stride(0), target, target.stride(0),
            *(None if x is None else x.contiguous() for x in (rows.targets, rows.weights, given, bias)), v,
            *_numbers(request), **flags(request), gradient=out is not None,
            block=min(BLOCK, triton.next_power_of_2(v)), num_warps=WARPS,
        )  # fmt: skip


def flags(request: Request) -> dict[str, Any]:
    """Return what the kernel is compiled for; `form` is `ONE`, `ABOVE`, `BELOW` or, at order inf, 3."""
    order = request.order
    assert order is not None
    form = 0 if order == 1 else 3 if math.isinf(order) else 1 if order > 1 else 2
    return {
        "form": form,
        "exponential": is_exponential(request.penalty),
        "capped": request.cap is not None,
        "smoothing": request.has_label_smoothing,
    }


def _numbers(request: Request) -> tuple[float, ...]:
    """Return λ; order and |order − 1|, 1 and 0 at order inf; the share of smoothing; then `Request.slope`,
    inner and outer: a logit is outer · x, or outer · tanh(inner · x) with a cap."""
    order, slope, cap = request.order, request.slope, request.cap
    assert order is not None
    order = 1.0 if math.isinf(order) else order
    inner, outer = (1.0, slope) if cap is None else (slope / cap, cap)
    return float(request.lam), order, abs(order - 1), request.base_loss.smoothing, slope, inner, outer


@triton.jit
def _score(
    columns, columns_stride, tile, stride, out, out_stride, targets, weights, given, bias, v,
    lam, order, k, epsilon, slope, inner, outer,
    form: tl.constexpr, exponential: tl.constexpr, capped: tl.constexpr, smoothing: tl.constexpr,
    gradient: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    tile, out, columns = tile + row * stride, out + row * out_stride, columns + row
    order, k, slope = tl.cast(order, tl.float32), tl.cast(k, tl.float32), tl.cast(slope, tl.float32)
    y = tl.load(targets + row).to(tl.int32)
    target, cap_slope, top, bad, others, box_cox, powers, total, count = _sums(
        tile, y, bias, v, order, k, inner, outer, form, capped, smoothing, block
    )

    # As `row_statistics.softmax`.
    shift = tl.where(top > -float("inf"), top, 0.0)
    z_y = tl.where(target < float("inf"), target, -float("inf"))
    u_y = tl.maximum(z_y - shift, FLOOR)
    e_y = _exp(u_y)
    others = tl.where(bad == 0.0, others, float("nan"))
    s = others + e_y
    log_s = _log1p(others + _expm1(u_y))
    nll, unit = log_s - (z_y - shift), -1.0 / s

    # As `row_statistics._base_loss`; `plain` in units of −1 / s.
    value, pull, uniform = nll, 1.0, 0.0
    if given is not None:
        value, pull = tl.load(given + row), tl.load(given + tl.num_programs(0) + row)
    own_share = others * unit
    at_target, plain = pull * own_share, -pull
    if smoothing:
        epsilon = tl.cast(epsilon, tl.float32)
        pull, uniform = (1.0 - epsilon) * pull, epsilon / count
        value = (1.0 - epsilon) * value + epsilon * (log_s - total / count)
        at_target, plain = pull * own_share + epsilon * _exp(-nll) - uniform, -(pull + epsilon)

    # λ times the penalty.
    lam = tl.cast(lam, tl.float32)
    ratio, of_plain, at_y, tilt = _penalty(u_y, e_y, s, unit, own_share, box_cox, powers, order, k, form)
    entropy, factor = log_s + ratio, lam
    if exponential:
        entropy = tl.exp(entropy)
        factor = lam * entropy
    plain += factor * of_plain
    at_target += factor * at_y
    tilt *= factor
    loss = value + lam * entropy
    if weights is not None:
        weight = tl.load(weights + row)
        loss, plain, at_target = loss * weight, plain * weight, at_target * weight
        tilt, uniform = tilt * weight, uniform * weight

    largest = tl.where(bad == 0.0, top, bad)
    tl.store(columns, loss)
    tl.store(columns + columns_stride, nll)
    tl.store(columns + 2 * columns_stride, entropy)
    tl.store(columns + 3 * columns_stride, tl.where(target >= largest, 1.0, 0.0))
    tl.store(columns + 4 * columns_stride, largest)
    if gradient:
        plain, tilt, uniform = plain * unit * slope, tilt * slope, uniform * slope
        at_target *= slope * cap_slope
        _write(
            out, tile, y, bias, v, shift, plain, tilt, ratio, uniform, at_target, order, k, inner, outer,
            form, capped, smoothing, block,
        )  # fmt: skip


@triton.jit
def _sums(
    tile, y, bias, v, order, k, inner, outer,
    form: tl.constexpr, capped: tl.constexpr, smoothing: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """Return the target's logit and the slope of its cap, the largest logit below inf, and what is not 0 in a
    bad row; then `others` of `Sums`, k times `box_cox`, Σ e^(order u), `total` and `finite`.

    Each lane keeps sums of its own and waits for the others only to learn the largest logit; where that
    grows, by −d, the sums so far are moved to the new one. The target's column starts off the largest logit,
    is left out of the pass over the others, and is added to the sums of the whole row.
    """
    # The maximum comes before the exponentials: sums move to a new one before anything is added to them.
    target, cap_slope = _logits(tl.load(tile + y), bias, y, y < v, inner, outer, capped)
    z_y = tl.where(target < float("inf"), target, -float("inf"))
    top, bad, nothing = z_y, 0.0, tl.full([block], 0.0, tl.float32)
    others, box_cox, powers, total, count = nothing, nothing, nothing, nothing, nothing
    rest = v // block * block
    for partly in tl.static_range(2):  # filled blocks, then the columns that fill none
        for start in tl.range(rest if partly else 0, v if partly else rest, block, num_stages=3):
            column = start + tl.arange(0, block)
            x = tl.load(tile + column, mask=column < v, other=0.0) if partly else tl.load(tile + column)
            z, _slope = _logits(x, bias, column, column < v, inner, outer, capped)
            z = tl.where(column != y, z, -float("inf"))
            if partly:
                z = tl.where(column < v, z, -float("inf"))
            largest = tl.max(z, axis=0)
            if largest == float("inf"):
                bad = largest
                z = tl.where(z == largest, -float("inf"), z)
                largest = tl.max(z, axis=0)
            if largest > top:
                d = tl.maximum(top - largest, FLOOR)
                top, r = largest, _exp(d)
                box_cox, powers = _move(box_cox, powers, others, d, r, order, k, form)
                others *= r
                if smoothing:
                    total += d * count
            shift = tl.where(top > -float("inf"), top, 0.0)
            u = tl.maximum(z - shift, FLOOR, propagate_nan=tl.PropagateNan.ALL)
            e = _exp(u)
            box_cox, powers = _add(box_cox, powers, u, e, z == shift, order, k, form)
            others += e
            if smoothing:
                live = z > -float("inf")
                total += tl.where(live, z - shift, 0.0)
                count += tl.where(live, 1.0, 0.0)

    others, box_cox, powers = tl.sum(others, axis=0), tl.sum(box_cox, axis=0), tl.sum(powers, axis=0)
    total, count = tl.sum(total, axis=0), tl.sum(count, axis=0)
    bad += 0.0 * others + tl.where(target < float("inf"), 0.0, target)  # NaN if a logit is
    shift = tl.where(top > -float("inf"), top, 0.0)
    u_y = tl.maximum(z_y - shift, FLOOR)
    e_y = _exp(u_y)
    box_cox, powers = _add(box_cox, powers, u_y, e_y, z_y == shift, order, k, form)
    live = z_y > -float("inf")
    total, count = total + tl.where(live, z_y - shift, 0.0), count + tl.where(live, 1.0, 0.0)
    return target, cap_slope, top, bad, others, box_cox, powers, total, count


@triton.jit
def _penalty(u_y, e_y, s, unit, own_share, box_cox, powers, order, k, form: tl.constexpr):
    """Return R − log s, and the slopes of R: plain in units of −1 / s, at the target, and tilt.

    As `row_statistics._ratio` and `_renyi_slopes`, where the sums are derived.
    """
    if form == ONE:
        ratio = box_cox * unit
        plain, at_target, tilt = ratio, (u_y + ratio) * (e_y * unit), unit
    elif form == ABOVE:
        share = powers / s
        log_share = tl.where(share < 0.5, tl.log(share), _log1p(box_cox / s))
        ratio = log_share / -k
        tilt = -order / (k * s)
        plain, at_target = 0.0, tilt * e_y * _expm1(k * (u_y + ratio))
    elif form == BELOW:
        ratio = _log1p(-box_cox / s) / k
        tilt = -order / (k * powers)
        plain, at_target = 0.0, tilt * _exp(order * u_y) * _expm1(k * (u_y + ratio))
    else:  # box_cox is the number of maxima
        ratio, plain, tilt = 0.0, -1.0, -1.0 / box_cox
        at_target = e_y / s + tl.where(u_y == 0.0, tilt, 0.0)
        at_target = tl.where((u_y == 0.0) & (box_cox == 1.0), own_share, at_target)
    return ratio, plain, at_target, tilt


@triton.jit
def _move(box_cox, powers, others, d, r, order, k, form: tl.constexpr):
    """Return k times `Sums.box_cox` and, if needed, Σ e^(order u), with d added to each u so far; r = e^d.

    Written b(u) = e^(ku) − 1, b(u + d) = e^(kd) b(u) + b(d). So above order 1 Σ e^(u+d) b(u + d) is
    e^d (e^(kd) Σ e^u b(u) + b(d) Σ e^u), and below, where order + k = 1 and w = e^(order u), it is
    e^d Σ w b(u) + e^(order d) b(d) Σ w. At order 1, Σ e^(u+d) (u + d) = e^d (Σ e^u u + d Σ e^u).
    """
    if form == ONE:
        box_cox = r * (box_cox + d * others)
    elif form == ABOVE:
        raised = r * _exp(k * d)
        box_cox = raised * box_cox + r * _expm1(k * d) * others
        powers *= raised
    elif form == BELOW:
        raised = _exp(order * d)
        box_cox = r * box_cox + raised * _expm1(k * d) * powers
        powers *= raised
    else:
        box_cox = tl.where(d < 0.0, 0.0, box_cox)
    return box_cox, powers


@triton.jit
def _add(box_cox, powers, u, e, largest, order, k, form: tl.constexpr):
    """Add the terms of one more u to both sums; e = e^u."""
    if form == ONE:
        box_cox += e * u
    elif form == ABOVE:
        box_cox += e * _expm1(k * u)
        powers += e * _exp(k * u)
    elif form == BELOW:
        power = _exp(order * u)
        box_cox += power * _expm1(k * u)
        powers += power
    else:
        box_cox += largest.to(tl.float32)
    return box_cox, powers


@triton.jit
def _write(
    out, tile, y, bias, v, shift, plain, tilt, ratio, uniform, at_target, order, k, inner, outer,
    form: tl.constexpr, capped: tl.constexpr, smoothing: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """Write a row's gradient, as `Slopes` has it, from its last block to its first."""
    rest = v // block * block
    for filled in tl.static_range(2):  # the columns that fill no block, then the filled blocks
        for turn in tl.range(0 if filled else rest, rest if filled else v, block, num_stages=3):
            column = (rest - block - turn if filled else turn) + tl.arange(0, block)
            x = tl.load(tile + column) if filled else tl.load(tile + column, mask=column < v, other=0.0)
            z, cap_slope = _logits(x, bias, column, column < v, inner, outer, capped)
            u = tl.maximum(z - shift, FLOOR)
            e = _exp(u)
            if form == ONE:
                g = e * (plain + tilt * u)
            elif form == ABOVE:
                g = e * (plain + tilt * _expm1(k * (u + ratio)))
            elif form == BELOW:
                g = e * plain + _exp(order * u) * (tilt * _expm1(k * (u + ratio)))
            else:  # by the logit itself: u may come out of one rounding for a product and the difference
                g = e * plain + tl.where(z == shift, tilt, 0.0)
            if smoothing:
                g -= uniform
            g = tl.where(z > -float("inf"), g * cap_slope, 0.0)
            g = tl.where(column == y, at_target, g).to(out.dtype.element_ty)
            tl.debug_barrier()  # all warps have read this block and later ones, where the gradient goes
            if filled:
                tl.store(out + column, g)
            else:
                tl.store(out + column, g, mask=column < v)


@triton.jit
def _logits(x, bias, column, here, inner, outer, capped: tl.constexpr):
    """Return the logits of the columns that are `here`, and the slope of their soft cap."""
    if bias is not None:
        x += tl.load(bias + column, mask=here, other=0.0).to(tl.float32)
    inner, outer = tl.cast(inner, tl.float32), tl.cast(outer, tl.float32)
    if capped:
        q = -2.0 * tl.abs(inner * x)
        e = _exp(q)
        tanh = -_expm1(q) / (1.0 + e)
        z = tl.where(x < float("inf"), outer * tl.where(x < 0.0, -tanh, tanh), x)
        slope = 4.0 * e / ((1.0 + e) * (1.0 + e))
    else:
        z, slope = outer * x, 1.0
    return z, slope


@triton.jit
def _exp(x):
    """Return e^x, 0 below 1e-38: `tl.exp` spares such numbers, at three instructions more."""
    return tl.exp2(x * LOG2_E)


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
    return tl.where(near, series * t, _exp(x) - 1.0)


@triton.jit
def _log1p(x):
    """Return log(1 + x): with w the rounded 1 + x, log(w) / (w − 1) hardly depends on the rounding."""
    w = 1.0 + x
    off = tl.where(w == 1.0, 1.0, w - 1.0)
    return tl.where(w == 1.0, x, tl.log(w) * (x / off))
