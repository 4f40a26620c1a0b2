"""Hidden states and the head into scores and gradients, with the logits of one chunk of rows at a time.

Per chunk: one matmul to logits, one call of `rows.score` that leaves their gradient in their place, one
matmul to d hidden and, if the head learns, one to d weight. `products` has the matmuls.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from erce.loss import products
from erce.loss.criterion import Criterion
from erce.loss.rows import Combine, Job, score
from erce.loss.settle import Scores

CHUNK_BYTES = 512 * 2**20  # of logits, on an accelerator
CHUNK_LOGITS_ON_CPU = 40 * 2**20  # 160 MiB in float32: more rows at a time hardly speed its matmuls up


class Operands(NamedTuple):
    """logits = hidden @ weight.T + low @ up.T + bias, of n positions."""

    hidden: Tensor  # (n, d)
    weight: Tensor  # (v, d)
    bias: Tensor | None  # (v,)
    low: Tensor | None  # (n, r)
    up: Tensor | None  # (v, r)

    @property
    def factors(self) -> list[tuple[Tensor, Tensor]]:
        pairs = ((self.hidden, self.weight), (self.low, self.up))
        return [(x, w) for x, w in pairs if x is not None and w is not None]


class Gradients(NamedTuple):
    """Of the sum of the scored rows' objectives; None where it was not wanted."""

    hidden: Tensor | None  # (m, d)
    weight: Tensor | None  # (v, d)
    bias: Tensor | None  # (v,)
    low: Tensor | None  # (m, r)
    up: Tensor | None  # (v, r)


class Wanted(NamedTuple):
    """Which of the gradients."""

    hidden: bool = False
    weight: bool = False
    bias: bool = False
    low: bool = False
    up: bool = False


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a call fixes beside its operands."""

    rows: Tensor  # (m,), which of the n positions are scored
    targets: Tensor  # (m,)
    criterion: Criterion
    chunk_bytes: float | None
    autocast: torch.dtype | None  # what the operands are rounded to first
    combine: Combine | None = None  # adds up the shards of a vocabulary,
    widest: int | None = None  # of which the largest has so many tokens


def sweep(operands: Operands, plan: Plan, wanted: Wanted) -> tuple[Scores, Gradients]:
    """The scores (m,) and the gradients, in float32, or in float64 where an operand is float64."""
    operands = _rounded(operands, plan.autocast)
    exact = torch.float32
    for x in operands:
        exact = exact if x is None else torch.promote_types(exact, x.dtype)
    bias = None if operands.bias is None else _centred(operands.bias.to(exact), plan)
    m, criterion = len(plan.rows), plan.criterion.to(exact)
    scores = Scores(*operands.hidden.new_empty(len(Scores._fields), m, dtype=exact))
    gradients = _empty_gradients(operands, m, wanted, exact)
    rounds = plan.combine is None and plan.criterion.order != math.inf
    how = products.choose(operands.factors, exact, may_round=rounds)
    for chunk in _chunks(plan, operands.weight, how.bytes_per_logit):
        factors = [(x.index_select(0, plan.rows[chunk]), w) for x, w in operands.factors]
        tile, out = how.logits(factors)
        job = Job(
            plan.targets[chunk],
            criterion.at(chunk),
            any(wanted),
            bias=bias,
            exact=how.exact(factors, plan.targets[chunk]),
            combine=plan.combine,
            out=out,
        )
        for whole, part in zip(scores, score(tile, job), strict=True):
            whole[chunk] = part
        _add_gradients(gradients, chunk, tile if out is None else out, factors, how)
    refuse_no_distribution(scores.shift, plan.rows)
    return scores, gradients


def _rounded(operands: Operands, dtype: torch.dtype | None) -> Operands:
    """As autocast has a linear layer's operands: float64 stays. The bias is added in the exact dtype."""
    if dtype is None:
        return operands

    def of(x: Tensor) -> Tensor:
        return x if x.dtype == torch.float64 else x.to(dtype)

    hidden, weight, bias, low, up = operands
    return Operands(
        of(hidden), of(weight), bias, None if low is None else of(low), None if up is None else of(up)
    )


def _centred(bias: Tensor, plan: Plan) -> Tensor:
    """Minus its largest entry: no probability changes, and a large one costs no digits."""
    if plan.criterion.transform.softcap is not None or plan.combine is not None:
        return bias
    return bias - bias.amax()


def _empty_gradients(operands: Operands, m: int, wanted: Wanted, dtype: torch.dtype) -> Gradients:
    """Those of the rows to be written, those of the head to be added to."""

    def of(x: Tensor | None, rows: int | None, is_wanted: bool) -> Tensor | None:
        if x is None or not is_wanted:
            return None
        return (
            x.new_zeros(x.shape, dtype=dtype) if rows is None else x.new_empty(rows, x.shape[1], dtype=dtype)
        )

    rows = (m, None, None, m, None)
    return Gradients(*map(of, operands, rows, wanted))


def _chunks(plan: Plan, weight: Tensor, bytes_per_logit: int) -> Iterator[slice]:
    """Even slices of the scored rows, each with at most `chunk_bytes` of logits, or of one row."""
    default = CHUNK_LOGITS_ON_CPU * bytes_per_logit if weight.device.type == "cpu" else CHUNK_BYTES
    m, most = len(plan.rows), default if plan.chunk_bytes is None else plan.chunk_bytes
    most_rows = max(1, int(most // ((plan.widest or len(weight)) * bytes_per_logit)))
    step = max(1, math.ceil(m / max(1, math.ceil(m / most_rows))))
    for start in range(0, m, step):
        yield slice(start, min(start + step, m))


def _add_gradients(
    gradients: Gradients,
    chunk: slice,
    tile: Tensor,
    factors: list[tuple[Tensor, Tensor]],
    how: products.Products,
) -> None:
    of_factors = ((gradients.hidden, gradients.weight), (gradients.low, gradients.up))
    for (d_x, d_w), (x, w) in zip(of_factors, factors, strict=False):
        if d_x is not None:
            how.d_rows_into(d_x[chunk], tile, w)
        if d_w is not None:  # summed over chunks in the exact dtype: a bf16 sum drifts
            how.add_d_weight(d_w, tile, x)
    if gradients.bias is not None:
        gradients.bias.add_(tile.sum(0, dtype=gradients.bias.dtype))


class NoSoftmaxError(ValueError):
    """Logits that are NaN or infinite, and so no distribution."""


def refuse_no_distribution(shift: Tensor, rows: Tensor) -> None:
    bad = ~shift.isfinite()
    if bad.any():
        first = int(bad.nonzero()[0, 0])
        raise NoSoftmaxError(
            f"the logits of position {int(rows[first])} (its index when flattened) have no softmax: the "
            f"largest is {float(shift[first])}; look for NaN or infinity in hidden states, weight and bias"
        )
