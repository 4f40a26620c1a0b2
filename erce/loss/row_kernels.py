"""A tile of the head's output → the sums of its rows, and the gradient of their objectives, in Triton.

The two passes of `row_passes` read the tile once each and compute in float32; they apply bias, scale and soft
cap in passing. `settle_kernel` comes between them. A pass is as fast as a card's memory only if a logit takes
few instructions, which `benchmarks/gpu_instructions.py` counts.
"""
# ruff: noqa: PLR0913, PLR0917 — a kernel takes its operands one by one
# Triton's language is not Python's, and is Any to a type checker:
# pyright: reportInvalidTypeForm=false

import torch
from torch import Tensor

from erce.loss.kernel_arguments import end_of, flags, numbers, shape, whole
from erce.loss.request import Request
from erce.loss.row_statistics import Slopes, Sums
from erce.loss.triton_language import ABOVE, BELOW, FLOOR, ONE, tl, triton

# Columns in hand at once: a program a row, and a program a block. Chosen by the registers and instructions of
# what is compiled for a Hopper card, not yet measured on one.
MEASURE_BLOCK, MEASURE_WARPS = 2048, 8
WRITE_BLOCK, WRITE_WARPS = 2048, 8
# So many programs to a multiprocessor keep enough bytes on their way; where there are fewer rows, programs
# share a row, each with at least so many blocks.
PROGRAMS, LEAST_BLOCKS = 2, 4
PART = tl.constexpr(9)  # numbers that a program stores of its part of a row

LOG2_E = tl.constexpr(1.4426950408889634)


def measure(tile: Tensor, targets: Tensor, request: Request, bias: Tensor | None) -> Sums:
    """Return the sums of each row of the tile (rows, v), float32, which is kept.

    A row with a NaN has the top NaN; another row with +inf, before the cap, has +inf. A row of −inf has the
    top −inf and sums of 0. A target outside of [0, v) has the logit −inf.
    """
    rows, v = shape(tile)
    block = min(MEASURE_BLOCK, triton.next_power_of_2(v))
    blocks = triton.cdiv(v, block)
    blocks = triton.cdiv(blocks, programs_of_a_row(rows, blocks, tile.device))
    parts = triton.cdiv(v, blocks * block)
    sums = tile.new_empty(len(Sums._fields), rows)
    partial = sums if parts == 1 else tile.new_empty(rows, PART.value, parts)
    order, k, inner, outer = numbers(request)
    with torch.cuda.device_of(tile):
        _measure[(rows, parts)](
            partial, tile, tile.stride(0), end_of(tile), targets.contiguous(), whole(bias), v, blocks * block,
            order, k, inner, outer,
            **flags(request), diagnose=request.diagnose, split=parts > 1,
            block=block, num_warps=MEASURE_WARPS,
        )  # fmt: skip
        if parts > 1:
            _merge[(rows,)](
                sums, partial, parts, order, k,
                form=flags(request)["form"], diagnose=request.diagnose, block=triton.next_power_of_2(parts),
                num_warps=1,
            )  # fmt: skip
    return Sums(*sums)


def programs_of_a_row(rows: int, blocks: int, device: torch.device) -> int:
    """Return how many programs share a row of so many blocks: one where a wave and a half of rows run."""
    if device.type != "cuda":  # Triton's interpreter
        return 1
    wave = PROGRAMS * torch.cuda.get_device_properties(device).multi_processor_count
    return max(1, min(triton.cdiv(3 * wave, 2 * rows), blocks // LEAST_BLOCKS)) if 2 * rows < 3 * wave else 1


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
    sums, tile, stride, end, targets, bias, v, width, order, k, inner, outer,
    form: tl.constexpr, capped: tl.constexpr, smoothing: tl.constexpr, diagnose: tl.constexpr,
    split: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """Store the sums of a row, or those of `width` of its columns for `_merge` if the row is split.

    The target's column starts off the largest logit, is left out of the pass over the others, and is added to
    the sums of the whole row.
    """
    row, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    tile += row * stride
    order, k = tl.cast(order, tl.float32), tl.cast(k, tl.float32)
    y, here = _target(targets + row, v)
    target, _ = _logits(tl.load(tile + y, mask=here, other=0.0), bias, y, here, inner, outer, capped)
    target = tl.where(here, target, -float("inf"))
    first = tl.multiple_of(part * width, 16)  # of a row that is not split: 0
    last = tl.minimum(first + width, v)
    top, bad, others, bent, powers, squares, total, count = _sums_without(
        y, tl.where(target < float("inf"), target, -float("inf")), tile, first, last, end, bias, v,
        order, k, inner, outer, form, capped, smoothing, diagnose, block,
    )  # fmt: skip
    if split:
        parts = tl.num_programs(1)
        sums += row * PART * parts + part
        tl.store(sums, target)
        tl.store(sums + parts, top)
        tl.store(sums + 2 * parts, bad)
        tl.store(sums + 3 * parts, others)
        tl.store(sums + 4 * parts, bent)
        tl.store(sums + 5 * parts, powers)
        tl.store(sums + 6 * parts, squares)
        tl.store(sums + 7 * parts, total)
        tl.store(sums + 8 * parts, count)
    else:
        _store_sums(
            sums + row, tl.num_programs(0), target, top, bad, others, bent, powers, squares, total, count,
            order, k, form, diagnose,
        )  # fmt: skip


@triton.jit
def _merge(
    sums, partial, parts, order, k, form: tl.constexpr, diagnose: tl.constexpr, block: tl.constexpr
):  # fmt: skip
    """Store the sums of a row, of which `_measure` has stored parts."""
    row, part = tl.program_id(0).to(tl.int64), tl.arange(0, block)
    order, k = tl.cast(order, tl.float32), tl.cast(k, tl.float32)
    partial += row * PART * parts
    target, here = tl.load(partial), part < parts
    partial += part
    tops = tl.load(partial + parts, mask=here, other=-float("inf"))
    bad, others = _of_parts(partial + 2 * parts, here), _of_parts(partial + 3 * parts, here)
    bent, powers = _of_parts(partial + 4 * parts, here), _of_parts(partial + 5 * parts, here)
    squares, total = _of_parts(partial + 6 * parts, here), _of_parts(partial + 7 * parts, here)
    count = _of_parts(partial + 8 * parts, here)
    top = tl.max(tops, axis=0)
    d = tl.maximum(tops - tl.where(top > -float("inf"), top, 0.0), FLOOR)
    r = _exp(d)
    bent, powers = _move(bent, powers, others, d, r, order, k, form)
    _store_sums(
        sums + row, tl.num_programs(0), target, top, tl.sum(bad, axis=0), tl.sum(r * others, axis=0),
        tl.sum(bent, axis=0), tl.sum(powers, axis=0), tl.sum(r * r * squares, axis=0),
        tl.sum(total + d * count, axis=0), tl.sum(count, axis=0), order, k, form, diagnose,
    )  # fmt: skip


@triton.jit
def _of_parts(partial, here):
    return tl.load(partial, mask=here, other=0.0)


@triton.jit
def _store_sums(
    sums, rows, target, top, bad, others, bent, powers, squares, total, count, order, k,
    form: tl.constexpr, diagnose: tl.constexpr,
):  # fmt: skip
    """Store what `Sums` has of a row, from the sums without its target."""
    z_y = tl.where(target < float("inf"), target, -float("inf"))
    bad += tl.where(target < float("inf"), 0.0, target)
    shift = tl.where(top > -float("inf"), top, 0.0)
    u_y = tl.maximum(z_y - shift, FLOOR)
    e_y = _exp(u_y)
    bent, powers = _add(bent, powers, u_y, e_y, z_y == shift, order, k, form)
    top = tl.where(bad == 0.0, top, bad)
    tl.store(sums, tl.where(top == -float("inf"), 0.0, top))
    tl.store(sums + rows, top)
    tl.store(sums + 2 * rows, target)
    tl.store(sums + 3 * rows, others)
    tl.store(sums + 4 * rows, bent / tl.where(k > 0.0, k, 1.0))
    tl.store(sums + 5 * rows, powers if form == ABOVE else 0.0)
    tl.store(sums + 6 * rows, squares + e_y * e_y if diagnose else 0.0)
    tl.store(sums + 7 * rows, total + tl.where(z_y > -float("inf"), z_y - shift, 0.0))
    tl.store(sums + 8 * rows, count + tl.where(z_y > -float("inf"), 1.0, 0.0))


@triton.jit
def _sums_without(
    y, top, tile, first, last, end, bias, v, order, k, inner, outer,
    form: tl.constexpr, capped: tl.constexpr, smoothing: tl.constexpr, diagnose: tl.constexpr,
    block: tl.constexpr,
):  # fmt: skip
    """Return the largest logit, from `top` on, what is no number, and the sums of columns without y.

    Each lane keeps sums of its own and waits for the others only to learn the largest logit; where that
    grows, by −d, the sums so far are moved to the new one.
    """
    bad, nothing = 0.0, tl.full([block], 0.0, tl.float32)
    others, bent, powers, squares, total, count = nothing, nothing, nothing, nothing, nothing, nothing
    rest = first + (last - first) // block * block
    for partly in tl.static_range(2):  # filled blocks, then the columns that fill none
        for start in tl.range(rest if partly else first, last if partly else rest, block, num_stages=3):
            column = start + tl.arange(0, block)
            if not partly:
                x = tl.load(tile + column)
            else:
                x = tl.where(column < v, tl.load(tile + column, mask=column < end, other=0.0), 0.0)
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
                bent, powers = _move(bent, powers, others, d, r, order, k, form)
                others *= r
                if diagnose:
                    squares *= r * r
                if smoothing:
                    total += d * count
            shift = tl.where(top > -float("inf"), top, 0.0)
            u = tl.maximum(z - shift, FLOOR, propagate_nan=tl.PropagateNan.ALL)
            e = _exp(u)
            bent, powers = _add(bent, powers, u, e, z == shift, order, k, form)
            others += e
            if diagnose:
                squares += e * e
            if smoothing:
                live = z > -float("inf")
                total += tl.where(live, z - shift, 0.0)
                count += tl.where(live, 1.0, 0.0)
    plain = tl.sum(others, axis=0)
    return (
        top, bad + 0.0 * plain,  # NaN if a logit is
        plain, tl.sum(bent, axis=0), tl.sum(powers, axis=0),
        tl.sum(squares, axis=0), tl.sum(total, axis=0), tl.sum(count, axis=0),
    )  # fmt: skip


@triton.jit
def _move(bent, powers, others, d, r, order, k, form: tl.constexpr):
    """Return k times `Sums.bent` and, if needed, Σ e^(order u), with d added to each u so far; r = e^d.

    Written b(u) = e^(ku) − 1, b(u + d) = e^(kd) b(u) + b(d). So above order 1 Σ e^(u+d) b(u + d) is
    e^d (e^(kd) Σ e^u b(u) + b(d) Σ e^u), and below, where order + k = 1 and w = e^(order u), it is
    e^d Σ w b(u) + e^(order d) b(d) Σ w. At order 1, Σ e^(u+d) (u + d) = e^d (Σ e^u u + d Σ e^u).
    """
    if form == ONE:
        bent = r * (bent + d * others)
    elif form == ABOVE:
        raised = r * _exp(k * d)
        bent = raised * bent + r * _expm1(k * d) * others
        powers *= raised
    elif form == BELOW:
        raised = _exp(order * d)
        bent = r * bent + raised * _expm1(k * d) * powers
        powers *= raised
    else:
        bent = tl.where(d < 0.0, 0.0, bent)
    return bent, powers


@triton.jit
def _add(bent, powers, u, e, largest, order, k, form: tl.constexpr):
    """Add the terms of one more u to both sums; e = e^u."""
    if form == ONE:
        bent += e * u
    elif form == ABOVE:
        bent += e * _expm1(k * u)
        powers += e * _exp(k * u)
    elif form == BELOW:
        power = _exp(order * u)
        bent += power * _expm1(k * u)
        powers += power
    else:
        bent += largest.to(tl.float32)
    return bent, powers


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
    u = tl.maximum(z - shift, FLOOR)
    e = _exp(u)
    if form == ONE:
        g = e * (plain + bent * u)
    elif form == ABOVE:
        g = e * (plain + bent * _expm1(k * (u + ratio)))
    elif form == BELOW:
        g = e * plain + _exp(order * u) * (bent * _expm1(k * (u + ratio)))
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
