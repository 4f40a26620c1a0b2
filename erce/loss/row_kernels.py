"""A tile of the head's output → sums, then its gradient: the passes of `row_passes` in Triton.

Each kernel reads the tile once and computes in float32; it applies bias, scale and soft cap in passing.
"""
# ruff: noqa: PLR0913, PLR0917 — a kernel takes its operands one by one
# Triton's language is not Python's, and is Any to a type checker:
# pyright: reportInvalidTypeForm=false

import math
from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from erce.loss.request import Request
from erce.loss.row_statistics import Slopes, Sums


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

_ONE, _ABOVE, _BELOW = tl.constexpr(0), tl.constexpr(1), tl.constexpr(2)  # forms of the order; 3 is inf
_FLOOR = tl.constexpr(-1e30)  # of u, so that a column of −inf has weight 0 and no product with it is NaN


def measure(tile: Tensor, targets: Tensor, request: Request, bias: Tensor | None) -> Sums:
    """Return the sums of each row of the tile (rows, v), float32, which is kept.

    A row with a NaN has the top NaN; another row with +inf, before the cap, has +inf. A row of −inf has the
    top −inf and sums of 0. A target outside of [0, v) has the logit −inf.
    """
    rows, v = _shape(tile)
    sums = tile.new_empty(rows, 8)
    with torch.cuda.device_of(tile):
        _measure[(rows,)](
            sums, tile, tile.stride(0), targets.contiguous(), _row(bias), v, *_numbers(request),
            **_flags(request), diagnose=request.diagnose,
            block=min(MEASURE_BLOCK, triton.next_power_of_2(v)), num_warps=MEASURE_WARPS,
        )  # fmt: skip
    top, *rest = sums.unbind(1)
    return Sums(top.masked_fill(top.isneginf(), 0), top, *rest)


def write_gradient(
    tile: Tensor, targets: Tensor, slopes: Slopes, request: Request, bias: Tensor | None, out: Tensor
) -> None:
    """Write the gradient of the rows, as `Slopes` has it, to `out`, rounded to its dtype; it may be the tile.

    It is 0 where the logit is −inf, and `slopes.own` at the target.
    """
    rows, v = _shape(tile)
    own_last = (slopes.shift, slopes.plain, slopes.bent, slopes.ratio, slopes.uniform, slopes.own)
    block = min(WRITE_BLOCK, triton.next_power_of_2(v))
    with torch.cuda.device_of(tile):
        _write[(rows, triton.cdiv(v, block))](
            out, out.stride(0), tile, tile.stride(0), targets.contiguous(), _row(bias),
            torch.stack(own_last, 1).float(), v, *_numbers(request),
            **_flags(request), block=block, num_warps=WRITE_WARPS,
        )  # fmt: skip


def _shape(tile: Tensor) -> tuple[int, int]:
    rows, v = tile.shape
    assert tile.dtype == torch.float32
    assert v == 1 or tile.stride(1) == 1
    return rows, v


def _row(bias: Tensor | None) -> Tensor | None:
    return None if bias is None else bias.contiguous()


def _flags(request: Request) -> dict[str, Any]:
    """Return what a kernel is compiled for; forms of the order as below, 3 is inf."""
    order = request.order
    assert order is not None
    form = 0 if order == 1 else 3 if math.isinf(order) else 1 if order > 1 else 2
    return {"form": form, "capped": request.cap is not None, "smoothing": request.smooths}


def _numbers(request: Request) -> tuple[float, float, float, float]:
    """Return order and |order − 1|, 1 and 0 at order inf; then inner and outer, as a logit is outer · x, or
    outer · tanh(inner · x) with a cap."""
    order = request.order
    assert order is not None
    order = 1.0 if math.isinf(order) else order
    if request.cap is None:
        return order, abs(order - 1), 1.0, request.slope
    return order, abs(order - 1), request.slope / request.cap, request.cap


@triton.jit
def _measure(
    sums, tile, stride, targets, bias, v, order, k, inner, outer,
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
        y, z_y, tile, bias, v, order, k, inner, outer, form, capped, smoothing, diagnose, block
    )
    bad += tl.where(target < float("inf"), 0.0, target)
    shift = tl.where(top > -float("inf"), top, 0.0)
    u_y = tl.maximum(z_y - shift, _FLOOR)
    e_y = tl.exp(u_y)
    bent, powers = _add(bent, powers, others, 0.0 * u_y, u_y, e_y, z_y == shift, order, k, form)
    sums += row * 8
    tl.store(sums, tl.where(bad == 0.0, top, bad))
    tl.store(sums + 1, target)
    tl.store(sums + 2, others)
    tl.store(sums + 3, bent / tl.where(k > 0.0, k, 1.0))
    tl.store(sums + 4, powers if form == _ABOVE else 0.0)
    tl.store(sums + 5, squares + e_y * e_y if diagnose else 0.0)
    tl.store(sums + 6, total + tl.where(z_y > -float("inf"), z_y - shift, 0.0))
    tl.store(sums + 7, count + tl.where(z_y > -float("inf"), 1.0, 0.0))


@triton.jit
def _sums_without(
    y, top, tile, bias, v, order, k, inner, outer,
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
        x = tl.load(tile + column, mask=column < v, other=0.0)
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
def _write(
    out, out_stride, tile, stride, targets, bias, slopes, v, order, k, inner, outer,
    form: tl.constexpr, capped: tl.constexpr, smoothing: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * block + tl.arange(0, block)
    order, k = tl.cast(order, tl.float32), tl.cast(k, tl.float32)
    slopes += row * 6
    top, plain = tl.load(slopes), tl.load(slopes + 1)
    bent, ratio = tl.load(slopes + 2), tl.load(slopes + 3)
    y, _ = _target(targets + row, v)
    x = tl.load(tile + row * stride + column, mask=column < v, other=-float("inf"))
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
        g -= tl.load(slopes + 4)
    g = tl.where(z > -float("inf"), g * cap_slope, 0.0)
    g = tl.where(column == y, tl.load(slopes + 5), g)
    tl.store(out + row * out_stride + column, g.to(out.dtype.element_ty), mask=column < v)


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
