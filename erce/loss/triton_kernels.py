"""A tile of the head's output → its rows' losses, and the gradient of their objectives, in Triton.

The two passes of `row_passes` read the tile once each and compute in float32; they apply bias, scale and soft
cap in passing. A pass is as fast as a card's memory only if a logit takes few instructions, which
`benchmarks/gpu_instructions.py` counts. `gpu_self_check` tries the kernels on a card before their first use.
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
# Columns in hand at once: one program per row, and one per block. The fastest of the pairs tried on an H100.
MEASURE_BLOCK, MEASURE_WARPS = 2048, 4
WRITE_BLOCK, WRITE_WARPS = 2048, 8
LOG2_E = tl.constexpr(1.4426950408889634)


def measure(tile: Tensor, targets: Tensor, request: Request, bias: Tensor | None) -> Sums:
    """Return the sums of each row of the tile (rows, v), float32, which is kept.

    A row with a NaN has the top NaN; another row with +inf, before the cap, has +inf. A row of −inf has the
    top −inf and sums of 0.
    """
    rows, v = _shape(tile)
    sums = tile.new_empty(len(Sums._fields), rows)
    with torch.cuda.device_of(tile):
        _measure[(rows,)](
            sums, tile, tile.stride(0), targets.contiguous(), None if bias is None else bias.contiguous(), v,
            *_numbers(request), **flags(request), diagnose=request.diagnose,
            block=min(MEASURE_BLOCK, triton.next_power_of_2(v)), num_warps=MEASURE_WARPS,
        )  # fmt: skip
    return Sums(*sums)


def write_gradient(
    tile: Tensor, targets: Tensor, slopes: Slopes, request: Request, bias: Tensor | None, out: Tensor
) -> None:
    """Write the gradient of the rows, as `Slopes` has it, to `out`, rounded to its dtype; it may be the tile.

    It is 0 where the logit is −inf, and `slopes.at_target` at the target.
    """
    rows, v = _shape(tile)
    block = min(WRITE_BLOCK, triton.next_power_of_2(v))
    with torch.cuda.device_of(tile):
        _write[(rows, triton.cdiv(v, block))](
            out, out.stride(0), tile, tile.stride(0), targets.contiguous(),
            None if bias is None else bias.contiguous(), *(column.contiguous() for column in slopes), v,
            *_numbers(request), **flags(request), block=block, num_warps=WRITE_WARPS,
        )  # fmt: skip


def _shape(tile: Tensor) -> tuple[int, int]:
    """Return rows and v of a tile whose rows the kernels can read."""
    rows, v = tile.shape
    assert tile.dtype == torch.float32
    assert v == 1 or tile.stride(1) == 1
    return rows, v


def flags(request: Request) -> dict[str, Any]:
    """Return what a kernel is compiled for; `form` is `ONE`, `ABOVE`, `BELOW` or, at order inf, 3."""
    order = request.order
    assert order is not None
    form = 0 if order == 1 else 3 if math.isinf(order) else 1 if order > 1 else 2
    return {"form": form, "capped": request.cap is not None, "smoothing": request.has_label_smoothing}


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
    """Store the sums of a row.

    Each lane keeps sums of its own and waits for the others only to learn the largest logit; where that
    grows, by −d, the sums so far are moved to the new one. The target's column starts off the largest logit,
    is left out of the pass over the others, and is added to the sums of the whole row.
    """
    # The maximum comes before the exponentials: sums move to a new one before anything is added to them.
    row = tl.program_id(0).to(tl.int64)
    tile += row * stride
    order, k = tl.cast(order, tl.float32), tl.cast(k, tl.float32)
    y = tl.load(targets + row).to(tl.int32)
    target, _cap_slope = _logits(tl.load(tile + y), bias, y, y < v, inner, outer, capped)
    z_y = tl.where(target < float("inf"), target, -float("inf"))
    top, bad, nothing = z_y, 0.0, tl.full([block], 0.0, tl.float32)
    others, box_cox, powers, squares, total, count = nothing, nothing, nothing, nothing, nothing, nothing
    rest = v // block * block
    for partly in tl.static_range(2):  # filled blocks, then the columns that fill none
        for start in tl.range(rest if partly else 0, v if partly else rest, block, num_stages=3):
            column = start + tl.arange(0, block)
            x = tl.load(tile + column, mask=column < v, other=0.0) if partly else tl.load(tile + column)
            z, _ = _logits(x, bias, column, column < v, inner, outer, capped)
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
                if diagnose:
                    squares *= r * r
                if smoothing:
                    total += d * count
            shift = tl.where(top > -float("inf"), top, 0.0)
            u = tl.maximum(z - shift, FLOOR, propagate_nan=tl.PropagateNan.ALL)
            e = _exp(u)
            box_cox, powers = _add(box_cox, powers, u, e, z == shift, order, k, form)
            others += e
            if diagnose:
                squares += e * e
            if smoothing:
                live = z > -float("inf")
                total += tl.where(live, z - shift, 0.0)
                count += tl.where(live, 1.0, 0.0)

    _store_sums(
        sums + row, tl.num_programs(0), target, z_y, top, bad, tl.sum(others, axis=0),
        tl.sum(box_cox, axis=0), tl.sum(powers, axis=0), tl.sum(squares, axis=0), tl.sum(total, axis=0),
        tl.sum(count, axis=0), order, k, form, diagnose,
    )  # fmt: skip


@triton.jit
def _store_sums(
    sums, rows, target, z_y, top, bad, others, box_cox, powers, squares, total, count, order, k,
    form: tl.constexpr, diagnose: tl.constexpr,
):  # fmt: skip
    """Store what `Sums` has of a row, from the sums without its target."""
    bad += 0.0 * others + tl.where(target < float("inf"), 0.0, target)  # NaN if a logit is
    shift = tl.where(top > -float("inf"), top, 0.0)
    u_y = tl.maximum(z_y - shift, FLOOR)
    e_y = _exp(u_y)
    box_cox, powers = _add(box_cox, powers, u_y, e_y, z_y == shift, order, k, form)
    top = tl.where(bad == 0.0, top, bad)
    live = z_y > -float("inf")
    tl.store(sums, tl.where(top == -float("inf"), 0.0, top))
    tl.store(sums + rows, top)
    tl.store(sums + 2 * rows, target)
    tl.store(sums + 3 * rows, others)
    tl.store(sums + 4 * rows, box_cox / tl.where(k > 0.0, k, 1.0))
    tl.store(sums + 5 * rows, powers if form == ABOVE else 0.0)
    tl.store(sums + 6 * rows, squares + e_y * e_y if diagnose else 0.0)
    tl.store(sums + 7 * rows, total + tl.where(live, z_y - shift, 0.0))
    tl.store(sums + 8 * rows, count + tl.where(live, 1.0, 0.0))


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
    out, out_stride, tile, stride, targets, bias, plain, tilt, ratio, uniform, at_target, top, v,
    order, k, inner, outer,
    form: tl.constexpr, capped: tl.constexpr, smoothing: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * block + tl.arange(0, block)
    order, k = tl.cast(order, tl.float32), tl.cast(k, tl.float32)
    top, plain = tl.load(top + row), tl.load(plain + row)
    tilt, ratio = tl.load(tilt + row), tl.load(ratio + row)
    x = tl.load(tile + row * stride + column, mask=column < v, other=0.0)
    z, cap_slope = _logits(x, bias, column, column < v, inner, outer, capped)
    shift = tl.where(top > -float("inf"), top, 0.0)
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
        g -= tl.load(uniform + row)
    g = tl.where(z > -float("inf"), g * cap_slope, 0.0)
    g = tl.where(column == tl.load(targets + row), tl.load(at_target + row), g)
    tl.store(out + row * out_stride + column, g.to(out.dtype.element_ty), mask=column < v)


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
