"""A tile of the head's output → its rows' losses, and the gradient of their objectives, in Triton.

The two passes of `row_passes` read the tile once each and compute in float32; they apply bias, scale and soft
cap in passing. Between them, `loss_and_grad_coefficients` does what `row_statistics` does, in one launch. A
pass is as fast as a card's memory only if a logit takes few instructions, which
`benchmarks/gpu_instructions.py` counts. `kernel_check` tries the kernels on a card before their first use.
"""
# ruff: noqa: PLR0913, PLR0917 — a kernel takes its operands one by one
# Triton's language is not Python's, and is Any to a type checker:
# pyright: reportInvalidTypeForm=false

import math
from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from erce.loss import row_statistics
from erce.loss.objectives import CrossEntropy, LabelSmoothing
from erce.loss.request import Loss, Request
from erce.loss.row_statistics import Slopes, Sums
from erce.loss.scored_rows import Rows


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
# Columns in hand at once: one program per row, and one per block. Chosen by the registers and instructions of
# what is compiled for a Hopper card, not yet measured on one.
MEASURE_BLOCK, MEASURE_WARPS = 2048, 8
WRITE_BLOCK, WRITE_WARPS = 2048, 8
# So many programs to a multiprocessor keep enough bytes on their way; where there are fewer rows, programs
# share a row, each with at least so many blocks.
PROGRAMS, LEAST_BLOCKS = 2, 4
# Kernels are compiled for any v and any number of rows, so what `kernel_check` has compiled serves all calls.
PART = tl.constexpr(9)  # numbers that a program stores of its part of a row
LOG2_E = tl.constexpr(1.4426950408889634)
SETTLE_BLOCK = 128  # rows
STORED = (
    "objective",
    "nll",
    "entropy",
    "top1",
    "z_loss",
    "lse",
    "log_sum_p2",
    "pushed_down",
)  # by `_loss_and_grad_coefficients`


def measure(tile: Tensor, targets: Tensor, request: Request, bias: Tensor | None) -> Sums:
    """Return the sums of each row of the tile (rows, v), float32, which is kept.

    A row with a NaN has the top NaN; another row with +inf, before the cap, has +inf. A row of −inf has the
    top −inf and sums of 0. A target outside of [0, v) has the logit −inf.
    """
    rows, v = _shape(tile)
    bias = None if bias is None else bias.contiguous()
    block, blocks, parts = layout(tile)
    sums = tile.new_empty(len(Sums._fields), rows)
    partial = sums if parts == 1 else tile.new_empty(rows, PART.value, parts)
    order, k, inner, outer = _numbers(request)
    with torch.cuda.device_of(tile):
        _measure[(rows, parts)](
            partial, tile, tile.stride(0), end_of(tile), targets.contiguous(), bias, v,
            blocks * block, order, k, inner, outer,
            **_flags(request), diagnose=request.diagnose, split=parts > 1,
            block=block, num_warps=MEASURE_WARPS,
        )  # fmt: skip
        if parts > 1:
            _merge[(rows,)](
                sums, partial, parts, order, k,
                form=_flags(request)["form"], diagnose=request.diagnose, block=triton.next_power_of_2(parts),
                num_warps=1,
            )  # fmt: skip
    return Sums(*sums)


def layout(tile: Tensor) -> tuple[int, int, int]:
    """Return the columns of a block, the blocks that a program measures, and the programs of a row."""
    rows, v = tile.shape
    block = min(MEASURE_BLOCK, triton.next_power_of_2(v))
    blocks = triton.cdiv(v, block)
    blocks = triton.cdiv(blocks, programs_of_a_row(rows, blocks, tile.device))
    return block, blocks, triton.cdiv(v, blocks * block)


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
    rows, v = _shape(tile)
    bias = None if bias is None else bias.contiguous()
    by_row = (column.contiguous() for column in slopes)
    block = min(WRITE_BLOCK, triton.next_power_of_2(v))
    with torch.cuda.device_of(tile):
        _write[(rows, triton.cdiv(v, block))](
            out, out.stride(0), min(end_of(tile), end_of(out)), tile, tile.stride(0), targets.contiguous(),
            bias, *by_row, v, *_numbers(request),
            **_flags(request), block=block, num_warps=WRITE_WARPS,
        )  # fmt: skip


def loss_and_grad_coefficients(
    sums: Sums, rows: Rows, request: Request, gate: Tensor | None
) -> tuple[Loss, Slopes]:
    """Return what `row_statistics.loss_and_grad_coefficients` does, and by it for objectives with factors."""
    if type(request.objective) not in {CrossEntropy, LabelSmoothing}:
        return row_statistics.loss_and_grad_coefficients(sums, rows, request, gate)
    losses, slopes = (sums.top.new_empty(len(names), rows.m) for names in (STORED, Slopes._fields))
    lam, weights = rows.lam, rows.weights
    per_row = isinstance(lam, Tensor)
    order, k, _, _ = _numbers(request)
    with torch.cuda.device_of(losses):
        _loss_and_grad_coefficients[(triton.cdiv(rows.m, SETTLE_BLOCK),)](
            losses, slopes, *sums, lam if per_row else None, weights, rows.lse_weights,
            0.0 if per_row else lam, rows.m,
            order, k, request.objective.smoothing, request.slope, request.cap or 0.0, float(request.z_loss),
            **_flags(request), exponential=request.exponential, diagnose=request.diagnose, block=SETTLE_BLOCK,
        )  # fmt: skip
    by_name = dict(zip(STORED, losses, strict=True))
    return Loss(**{name: by_name[name] for name in request.fields if name in STORED}), Slopes(*slopes)


def _shape(tile: Tensor) -> tuple[int, int]:
    """Return rows and v of a tile whose rows the kernels can read."""
    rows, v = tile.shape
    assert tile.dtype == torch.float32
    assert v == 1 or tile.stride(1) == 1
    return rows, v


def end_of(tile: Tensor) -> int:
    """Return how many columns a kernel may access: v rounded up to 16, for vector loads, if rows have room.

    What lies between v and the end must be nobody else's.
    """
    rows, v = tile.shape
    room = tile.stride(0) - tile.storage_offset() % tile.stride(0) if rows > 1 else v
    return int(min(room, math.ceil(v / 16) * 16))


def _flags(request: Request) -> dict[str, Any]:
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


@triton.jit(do_not_specialize=["v"])
def _measure(
    sums, tile, stride, end, targets, bias, v, width, order, k, inner, outer,
    form: tl.constexpr, capped: tl.constexpr, smoothing: tl.constexpr, diagnose: tl.constexpr,
    split: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """Store the sums of a row, or those of `width` of its columns for `_merge` if the row is split.

    The target's column starts off the largest logit, is left out of the pass over the others, and is added to
    the sums of the whole row.
    """
    # The target comes first: the search for the largest logit starts from its own.
    row, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    tile += row * stride
    order, k = tl.cast(order, tl.float32), tl.cast(k, tl.float32)
    y, here = _target(targets + row, v)
    target, _ = _logits(tl.load(tile + y, mask=here, other=0.0), bias, y, here, inner, outer, capped)
    target = tl.where(here, target, -float("inf"))
    first = tl.multiple_of(part * width, 16)  # of a row that is not split: 0
    last = tl.minimum(first + width, v)
    top, bad, others, box_cox, powers, squares, total, count = _sums_of_others(
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
        tl.store(sums + 4 * parts, box_cox)
        tl.store(sums + 5 * parts, powers)
        tl.store(sums + 6 * parts, squares)
        tl.store(sums + 7 * parts, total)
        tl.store(sums + 8 * parts, count)
    else:
        _store_sums(
            sums + row, tl.num_programs(0), target, top, bad, others, box_cox, powers, squares, total, count,
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
    box_cox, powers = _of_parts(partial + 4 * parts, here), _of_parts(partial + 5 * parts, here)
    squares, total = _of_parts(partial + 6 * parts, here), _of_parts(partial + 7 * parts, here)
    count = _of_parts(partial + 8 * parts, here)
    top = tl.max(tops, axis=0)
    d = tl.maximum(tops - tl.where(top > -float("inf"), top, 0.0), FLOOR)
    r = _exp(d)
    box_cox, powers = _move(box_cox, powers, others, d, r, order, k, form)
    _store_sums(
        sums + row, tl.num_programs(0), target, top, tl.sum(bad, axis=0), tl.sum(r * others, axis=0),
        tl.sum(box_cox, axis=0), tl.sum(powers, axis=0), tl.sum(r * r * squares, axis=0),
        tl.sum(total + d * count, axis=0), tl.sum(count, axis=0), order, k, form, diagnose,
    )  # fmt: skip


@triton.jit
def _of_parts(partial, here):
    return tl.load(partial, mask=here, other=0.0)


@triton.jit
def _store_sums(
    sums, rows, target, top, bad, others, box_cox, powers, squares, total, count, order, k,
    form: tl.constexpr, diagnose: tl.constexpr,
):  # fmt: skip
    """Store what `Sums` has of a row, from the sums without its target."""
    z_y = tl.where(target < float("inf"), target, -float("inf"))
    bad += tl.where(target < float("inf"), 0.0, target)
    shift = tl.where(top > -float("inf"), top, 0.0)
    u_y = tl.maximum(z_y - shift, FLOOR)
    e_y = _exp(u_y)
    box_cox, powers = _add(box_cox, powers, u_y, e_y, z_y == shift, order, k, form)
    top = tl.where(bad == 0.0, top, bad)
    tl.store(sums, tl.where(top == -float("inf"), 0.0, top))
    tl.store(sums + rows, top)
    tl.store(sums + 2 * rows, target)
    tl.store(sums + 3 * rows, others)
    tl.store(sums + 4 * rows, box_cox / tl.where(k > 0.0, k, 1.0))
    tl.store(sums + 5 * rows, powers if form == ABOVE else 0.0)
    tl.store(sums + 6 * rows, squares + e_y * e_y if diagnose else 0.0)
    tl.store(sums + 7 * rows, total + tl.where(z_y > -float("inf"), z_y - shift, 0.0))
    tl.store(sums + 8 * rows, count + tl.where(z_y > -float("inf"), 1.0, 0.0))


@triton.jit
def _sums_of_others(
    y, top, tile, first, last, end, bias, v, order, k, inner, outer,
    form: tl.constexpr, capped: tl.constexpr, smoothing: tl.constexpr, diagnose: tl.constexpr,
    block: tl.constexpr,
):  # fmt: skip
    """Return a row's largest logit (at least `top`), a mark of NaN, and its sums over all tokens but y.

    Each lane keeps sums of its own and waits for the others only to learn the largest logit; where that
    grows, by −d, the sums so far are moved to the new one.
    """
    # The maximum comes before the exponentials: sums move to a new one before anything is added to them.
    bad, nothing = 0.0, tl.full([block], 0.0, tl.float32)
    others, box_cox, powers, squares, total, count = nothing, nothing, nothing, nothing, nothing, nothing
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
    plain = tl.sum(others, axis=0)
    return (
        top, bad + 0.0 * plain,  # NaN if a logit is
        plain, tl.sum(box_cox, axis=0), tl.sum(powers, axis=0),
        tl.sum(squares, axis=0), tl.sum(total, axis=0), tl.sum(count, axis=0),
    )  # fmt: skip


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


@triton.jit(do_not_specialize=["v"])
def _write(
    out, out_stride, end, tile, stride, targets, bias, plain, box_cox, ratio, uniform, own, top, v,
    order, k, inner, outer,
    form: tl.constexpr, capped: tl.constexpr, smoothing: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * block + tl.arange(0, block)
    order, k = tl.cast(order, tl.float32), tl.cast(k, tl.float32)
    top, plain = tl.load(top + row), tl.load(plain + row)
    box_cox, ratio = tl.load(box_cox + row), tl.load(ratio + row)
    y, _ = _target(targets + row, v)
    x = tl.load(tile + row * stride + column, mask=column < end, other=0.0)
    x = tl.where(column < v, x, -float("inf"))
    z, cap_slope = _logits(x, bias, column, column < v, inner, outer, capped)
    shift = tl.where(top > -float("inf"), top, 0.0)
    u = tl.maximum(z - shift, FLOOR)
    e = _exp(u)
    if form == ONE:
        g = e * (plain + box_cox * u)
    elif form == ABOVE:
        g = e * (plain + box_cox * _expm1(k * (u + ratio)))
    elif form == BELOW:
        g = e * plain + _exp(order * u) * (box_cox * _expm1(k * (u + ratio)))
    else:  # by the logit itself: u may come out of one rounding for a product and the difference
        g = e * plain + tl.where(z == shift, box_cox, 0.0)
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


@triton.jit(do_not_specialize=["rows"])
def _loss_and_grad_coefficients(
    losses, slopes, shift, top, target, others, box_cox, powers, squares, total, finite, lam, weights,
    lse_weights, strength, rows, order, k, smoothing_share, slope, cap, z_loss,
    form: tl.constexpr, capped: tl.constexpr, smoothing: tl.constexpr, exponential: tl.constexpr,
    diagnose: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """Store the losses and the slopes of a block of rows, in float64: a few numbers per row cost nothing."""
    # In the order of `row_statistics`, so that the two can be read side by side.
    row = tl.program_id(0) * block + tl.arange(0, block)
    here = row < rows
    z_y, highest = _column(target, row, here), _column(top, row, here)
    others, box_cox = _column(others, row, here), _column(box_cox, row, here)
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

    ratio, of_plain, of_box_cox, of_own = _renyi(
        s, e_y, u_y, others, box_cox, _column(powers, row, here), order, k, form
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
    tl.store(slopes + rows, weight * strength * of_box_cox, mask=here)
    tl.store(slopes + 2 * rows, ratio, mask=here)
    tl.store(slopes + 3 * rows, weight * uniform, mask=here)
    tl.store(slopes + 4 * rows, slope * own, mask=here)
    tl.store(slopes + 5 * rows, _column(shift, row, here), mask=here)


@triton.jit
def _column(pointer, row, here):
    return tl.load(pointer + row, mask=here, other=1.0).to(tl.float64)


@triton.jit
def _renyi(s, e_y, u_y, others, box_cox, powers, order, k, form: tl.constexpr):
    """Return Rényi's entropy R less log s, and the slopes of R; `row_statistics` derives the formulas."""
    if form == ONE:
        ratio = -box_cox / s
        plain, slope = -ratio / s, -1.0 / s
        own = tl.where(e_y > 0.0, slope * e_y * (u_y + ratio), 0.0)
    elif form == ABOVE:
        share = powers / s
        ratio = -tl.where(share < 0.5, tl.log(share), _log1p_64(k * box_cox / s)) / k
        plain, slope = 0.0 * s, -order / (k * s)
        own = slope * e_y * _expm1_64(k * (u_y + ratio))
    elif form == BELOW:
        ratio = _log1p_64(-k * box_cox / s) / k
        plain, slope = 0.0 * s, -order / (k * (s - k * box_cox))
        own = slope * tl.exp(order * u_y) * _expm1_64(k * (u_y + ratio))
    else:
        ratio, plain, slope, is_top = 0.0 * s, 1.0 / s, -1.0 / box_cox, u_y == 0.0
        own = tl.where(is_top & (box_cox == 1.0), -others / s, e_y / s + tl.where(is_top, slope, 0.0))
    return ratio, plain, slope, own


@triton.jit
def _log1p_64(x):
    return tl.where(tl.abs(x) < 1e-5, x - 0.5 * x * x, tl.log(1.0 + x))  # in float64 to 3e-11


@triton.jit
def _expm1_64(x):
    return tl.where(tl.abs(x) < 1e-5, x + 0.5 * x * x, tl.exp(x) - 1.0)  # likewise
