"""Hidden states and the head into scores and gradients, with the logits of one chunk of rows at a time.

Per chunk: one matmul to logits, one pass over them (`rows.score`) that leaves their gradient in their place,
one matmul to d hidden and, if the head learns, one to d weight.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from erce.loss.batch import Scored
from erce.loss.penalties import Penalty
from erce.loss.rows import Scores, score_in_blocks

_WEIGHT_BLOCK_BYTES = 4 * 2**20  # of a half-precision weight, what is float32 at a time


class Operands(NamedTuple):
    hidden: Tensor  # (n, d)
    weight: Tensor  # (v, d)
    bias: Tensor | None  # (v,)


class Gradients(NamedTuple):
    """Of the sum of the scored rows' objectives; None where it was not wanted."""

    hidden: Tensor | None  # (m, d)
    weight: Tensor | None  # (v, d)
    bias: Tensor | None  # (v,)


@dataclass(frozen=True, kw_only=True)
class Settings:
    lam: float
    penalty: Penalty
    chunk_bytes: int
    autocast: torch.dtype | None  # what the operands are rounded to first


def sweep(
    operands: Operands,
    scored: Scored,
    settings: Settings,
    *,
    wanted: tuple[bool, bool, bool],  # which of the gradients
    scale: Tensor | None = None,  # (m,), a factor on each row's gradient
) -> tuple[Scores, Gradients]:
    """The scores (m,) and the gradients, in float32, or in float64 where an operand is float64."""
    hidden, weight = (_rounded(x, settings.autocast) for x in operands[:2])
    exact = torch.promote_types(torch.promote_types(hidden.dtype, weight.dtype), torch.float32)
    m, v, d = len(scored.rows), *weight.shape
    scores = Scores(hidden.new_empty(m, dtype=exact), hidden.new_empty(m, dtype=exact))
    gradients = Gradients(
        hidden.new_empty(m, d, dtype=exact) if wanted[0] else None,
        weight.new_zeros(v, d, dtype=exact) if wanted[1] else None,
        weight.new_zeros(v, dtype=exact) if wanted[2] else None,
    )
    how = {"lam": settings.lam, "penalty": settings.penalty, "gradient": any(wanted)}
    for chunk, tile in _tiles(hidden, m, v, dtype=exact, most_bytes=settings.chunk_bytes):
        h = hidden.index_select(0, scored.rows[chunk])
        _logits_into(tile, h, weight, operands.bias)
        scores.nll[chunk], scores.penalty[chunk] = score_in_blocks(tile, scored.targets[chunk], **how)
        if scale is not None:
            tile.mul_(scale[chunk, None])
        if gradients.hidden is not None:
            _d_hidden_into(gradients.hidden[chunk], tile, h, weight)
        if gradients.weight is not None:  # summed over chunks in the exact dtype: a bf16 sum drifts
            gradients.weight.addmm_(tile.t(), h.to(exact))
        if gradients.bias is not None:
            gradients.bias.add_(tile.sum(0))
    return scores, gradients


def _rounded(x: Tensor, dtype: torch.dtype | None) -> Tensor:
    """As autocast has a linear layer's operands: float64 stays."""
    return x if dtype is None or x.dtype == torch.float64 else x.to(dtype)


def _tiles(
    like: Tensor, m: int, v: int, *, dtype: torch.dtype, most_bytes: int
) -> Iterator[tuple[slice, Tensor]]:
    """Even chunks of m rows, each with its part of one buffer of (rows, v)."""
    most_rows = max(1, most_bytes // (v * dtype.itemsize))
    step = max(1, math.ceil(m / max(1, math.ceil(m / most_rows))))
    buffer = like.new_empty(min(step, m), v, dtype=dtype)
    for start in range(0, m, step):
        stop = min(start + step, m)
        yield slice(start, stop), buffer[: stop - start]


def _logits_into(tile: Tensor, h: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    """In the tile's dtype: half-precision logits would cost more accuracy than all the rest together."""
    h = h.to(tile.dtype)
    for columns, w in _weight_as(tile.dtype, weight):
        torch.mm(h, w.t(), out=tile[:, columns])
    if bias is not None:
        tile.add_(bias)


def _d_hidden_into(d_hidden: Tensor, tile: Tensor, h: Tensor, weight: Tensor) -> None:
    """tile @ weight, the tile rounded to bf16 if both operands are; fp16 has not the range for that."""
    if h.dtype == weight.dtype == torch.bfloat16:
        d_hidden.copy_(tile.to(torch.bfloat16) @ weight)
        return
    d_hidden.zero_()
    for columns, w in _weight_as(tile.dtype, weight):
        d_hidden.addmm_(tile[:, columns], w)


def _weight_as(dtype: torch.dtype, weight: Tensor) -> Iterator[tuple[slice, Tensor]]:
    """Columns of the vocabulary with their weight in `dtype`: all at once, unless it must be converted."""
    v, d = weight.shape
    step = v if weight.dtype == dtype else max(1, _WEIGHT_BLOCK_BYTES // (d * dtype.itemsize))
    for start in range(0, v, step):
        yield slice(start, start + step), weight[start : start + step].to(dtype)
