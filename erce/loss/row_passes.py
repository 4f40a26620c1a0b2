"""A tile of the head's output → each row's loss and, in its place, the gradient of the rows' objectives.

Two passes over the rows, in PyTorch: sums over the vocabulary, then the gradient. Between them,
`row_statistics` turns a row's sums into its loss and slopes. `triton_kernels` does all that in one kernel.
"""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from erce.loss.base_losses import CrossEntropy, LabelSmoothing
from erce.loss.request import ROW_RESULTS, Loss, Request
from erce.loss.row_statistics import Slopes, Sums, loss_and_grad_coefficients, user_penalty_and_slopes
from erce.loss.scored_rows import ScoredRows

BLOCK_BYTES_ON_CPU = 9 * 2**19  # 4.5 MiB: a block and its few temporaries stay in a core's caches
BLOCK_BYTES_ELSEWHERE = 64 * 2**20


class Scratch:
    """Tensors (rows, v) to work in: each is made when it is first asked for, and all blocks get the same."""

    def __init__(self, tile: Tensor, dtype: torch.dtype) -> None:
        self._tile, self._dtype = tile, dtype
        self._made: dict[int, Tensor] = {}
        self.rows = 0  # of the block at hand; none is larger than the first

    def __getitem__(self, number: int) -> Tensor:
        made = self._made.get(number)
        if made is None:
            made = self._tile.new_empty(self.rows, self._tile.shape[1], dtype=self._dtype)
            self._made[number] = made
        return made if made.shape[0] == self.rows else made[: self.rows]


class RowTerms(NamedTuple):
    """What both passes read of a block of rows of logits z."""

    u: Tensor  # (rows, v), z − shift
    e: Tensor  # (rows, v), e^u
    # (rows, v): at order 1 e^u u, after `sums_of`, in u's memory if no one reads u by then; the gradient of a
    # user-defined penalty; or scratch.
    product: Tensor
    shift: Tensor  # (rows,), finite where the row is a distribution
    top: Tensor  # (rows,), max z
    target: Tensor  # (rows,), z of the target
    others: Tensor | None = None  # (rows,), Σ e^u without the target, where it is known


# A block of the head's output, its rows in the tile, their targets (rows, 1) and scratch → its terms.
RowTermsFn = Callable[[Tensor, slice, Tensor, Scratch], RowTerms]


def score_tile(  # noqa: PLR0913, PLR0917 — a tile, and where its results go
    tile: Tensor,
    rows: ScoredRows,
    request: Request,
    bias: Tensor | None,
    make_terms: RowTermsFn,
    out: Tensor | None,
    columns: Tensor | None = None,
) -> tuple[Loss, Tensor]:
    """Return the loss of each row of the head's output `tile` (rows, v), and its largest logit.

    `bias` is added to the tile, which is used up. The gradient goes to `out`: the tile, memory of its own, or
    memory of the same rows of the tile; None wants no gradient. Losses and largest logits are written to
    `columns` (ROW_RESULTS, rows), if it is there.
    """
    dtype = torch.promote_types(tile.dtype, torch.float32)
    if request.impl == "triton" and request.order is not None and tile.dtype == torch.float32:
        if columns is None:
            columns = tile.new_empty(ROW_RESULTS, tile.shape[0])
        _score_by_kernel(tile, rows, request, bias, out, columns)
        return Loss(*columns[:-1]), columns[-1]
    y = rows.targets[:, None]
    for part, scratch in blocks(tile, dtype):
        if columns is None and part.stop - part.start == tile.shape[0]:
            terms = make_terms(tile, part, y, scratch)
            return _score_block(terms, y, rows, request, out), terms.top
        if columns is None:  # before the first block: what is kept later would split the memory of the blocks
            columns = tile.new_empty(ROW_RESULTS, tile.shape[0], dtype=dtype)
        terms = make_terms(tile[part], part, y[part], scratch)
        loss = _score_block(terms, y[part], rows.at(part), request, None if out is None else out[part])
        torch.stack([*loss, terms.top], out=columns[:, part])
    assert columns is not None
    return Loss(*columns[:-1]), columns[-1]


def row_blocks(rows: int, row_bytes: int, device: torch.device) -> Iterator[slice]:
    """Yield slices that cover `rows` rows, in sizes that suit the passes; none is larger than the first."""
    block_bytes = BLOCK_BYTES_ON_CPU if device.type == "cpu" else BLOCK_BYTES_ELSEWHERE
    step = max(1, block_bytes // row_bytes)
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


def blocks(tile: Tensor, dtype: torch.dtype) -> Iterator[tuple[slice, Scratch]]:
    """Yield slices that cover a tile's rows, each with the same scratch."""
    scratch = Scratch(tile, dtype)
    for part in row_blocks(tile.shape[0], tile.shape[1] * dtype.itemsize, tile.device):
        scratch.rows = part.stop - part.start
        yield part, scratch


def make_row_terms(bias: Tensor | None, request: Request) -> RowTermsFn:
    """Return what makes the terms of a block in its own memory."""

    def make_terms(block: Tensor, part: slice, y: Tensor, scratch: Scratch) -> RowTerms:
        z = logits_(block, bias, request)
        return terms_at(z, z.amax(-1), y, scratch, request)

    return make_terms


def terms_at(
    z: Tensor,
    top: Tensor,
    y: Tensor,
    scratch: Scratch,
    request: Request,
    *,
    exp: Callable[..., Tensor] = torch.exp,
) -> RowTerms:
    """Return the terms of logits relative to `top` (rows,), in the logits' own memory and in scratch."""
    target = z.gather(-1, y)[:, 0]
    u = z.sub_(top[:, None])
    keeps_u = request.order != 1 or request.softcap is not None or request.has_label_smoothing
    return RowTerms(u, exp(u, out=scratch[0]), scratch[1] if keeps_u else u, top, top, target)


def logits_(x: Tensor, bias: Tensor | None, request: Request) -> Tensor:
    """Turn the head's output into logits, in place."""
    return request.to_logits_(x if bias is None else x.add_(bias))


def _score_block(terms: RowTerms, y: Tensor, rows: ScoredRows, request: Request, out: Tensor | None) -> Loss:
    base_loss = request.base_loss
    gate = base_loss.gate(terms.u) if base_loss.gated else None
    sums = sums_of(terms, y, request)
    penalty = None
    if request.order is None:
        penalty, gradient = user_penalty_and_slopes(terms.u, sums, y, request.penalty, out is not None)
        terms = terms if gradient is None else terms._replace(product=gradient)
    loss, slopes = loss_and_grad_coefficients(sums, rows, request, gate, penalty)
    if out is not None:
        gradient_into(out, terms, y, slopes, request)
    return loss


def sums_of(terms: RowTerms, y: Tensor, request: Request) -> Sums:
    """Return the sums of each row, whose targets are y (rows, 1).

    At order 1, write e^u u into `terms.product`, for the gradient. The target's e^u is lost.
    """
    u, e, *_ = terms
    total = finite = zero = torch.zeros_like(terms.shift)
    if request.has_label_smoothing:
        live = u.isfinite()
        total, finite = u.where(live, 0).sum(-1), live.sum(-1).to(u.dtype)
    box_cox, powers = _penalty_sums(terms, zero, request.order)
    others = e.scatter_(-1, y, 0).sum(-1) if terms.others is None else terms.others
    return Sums(terms.shift, terms.top, terms.target, others, box_cox, powers, total, finite)


def _penalty_sums(terms: RowTerms, zero: Tensor, order: float | None) -> tuple[Tensor, Tensor]:
    """Return `Sums.box_cox` and `Sums.powers`; `zero` (rows,) is that of what is not needed."""
    u, e, scratch, *_ = terms
    if order is None:
        return zero, zero
    if order == 1:
        box_cox = torch.mul(e, u, out=scratch).sum(-1)
        if u.device.type != "cpu" or math.isnan(float(box_cox.sum())):  # 0 · −inf
            box_cox = scratch.nan_to_num_(nan=0.0).sum(-1)
        return box_cox, zero
    if math.isinf(order):
        return (u == 0).sum(-1).to(u.dtype), zero
    k = abs(order - 1)
    curve = torch.mul(u, k, out=scratch).expm1_()
    if order > 1:
        box_cox = curve.mul_(e).sum(-1) / k
        return box_cox, torch.mul(u, order, out=scratch).exp_().sum(-1)
    return curve.mul_((order * u).exp_()).sum(-1) / k, zero


def gradient_into(out: Tensor, terms: RowTerms, y: Tensor, slopes: Slopes, request: Request) -> None:
    """Write the rows' gradient, as `Slopes` has it, to `out`, which may be `terms.u`; use the terms up."""
    u, e, *_ = terms
    cap = request.cap
    cap_slope = None if cap is None else 1 - ((u + terms.shift[:, None]) / cap).square_()
    masked = u.isneginf() if request.has_label_smoothing else None
    penalty = _penalty_gradient(terms, slopes, request.order)
    g = out if out.dtype == e.dtype else e
    torch.addcmul(e.mul_(slopes.plain[:, None]), penalty, slopes.tilt[:, None], out=g)
    if masked is not None:
        g.sub_(slopes.uniform[:, None]).masked_fill_(masked, 0)
    if cap_slope is not None:
        g.mul_(cap_slope)
    g.scatter_(-1, y, slopes.at_target[:, None])
    if g is not out:
        out.copy_(g)


def _penalty_gradient(terms: RowTerms, slopes: Slopes, order: float | None) -> Tensor:
    """Return what `slopes.tilt` multiplies in the gradient, in the terms' own memory."""
    u, e, scratch, *_ = terms
    if order is None or order == 1:
        return scratch
    if math.isinf(order):
        return scratch.copy_(u == 0)
    g = torch.add(u, slopes.ratio[:, None], out=scratch).mul_(abs(order - 1)).expm1_()
    return g.mul_(e if order > 1 else u.mul_(order).exp_())


def _score_by_kernel(
    tile: Tensor, rows: ScoredRows, request: Request, bias: Tensor | None, out: Tensor | None, columns: Tensor
) -> None:
    """Fill `columns` and `out` by the kernel, and by PyTorch what it lacks."""
    from erce.loss import triton_kernels

    base_loss, given = request.base_loss, None
    gate = tile.new_empty(len(tile)) if base_loss.gated else None
    if gate is not None:
        for part, scratch in blocks(tile, tile.dtype):
            z = logits_(scratch[2].copy_(tile[part]), bias, request)
            gate[part] = base_loss.gate(z.sub_(z.amax(-1, keepdim=True)))
    if type(base_loss) not in (CrossEntropy, LabelSmoothing):  # a function of nll, which comes first
        triton_kernels.score(tile, rows, request, bias, None, columns)
        given = tile.new_empty(2, len(tile))
        given[0], given[1] = base_loss.value_and_slope(columns[1], gate)
    triton_kernels.score(tile, rows, request, bias, out, columns, given)
