"""The targets of a request → the rows to score, with their numbers checked; a loss per row → all positions.

Whether the numbers make sense is known on the targets' device. The host waits for a GPU only if it must learn
there how many rows it has.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from erce.errors import InputError
from erce.loss.request import Loss, Request, num_items_in_batch_error


class ScoredRows(NamedTuple):
    """The m positions to score, those whose target is not ignored."""

    positions: Tensor | slice  # (m,), indices into the n flattened positions; a slice where all are scored
    targets: Tensor  # (m,)
    weights: Tensor | None = None  # (m,), factors on the objectives

    @property
    def m(self) -> int:
        return self.targets.shape[0]

    def at(self, part: slice) -> "ScoredRows":
        if part.start == 0 and part.stop == self.m:
            return self
        columns: dict[str, Any] = {
            name: x[part] for name, x in self._asdict().items() if isinstance(x, Tensor)
        }
        if isinstance(self.positions, slice):
            first = self.positions.start
            columns["positions"] = slice(first + part.start, first + part.stop)
        return self._replace(**columns)

    def weighed(self, factors: Tensor, dtype: torch.dtype) -> "ScoredRows":
        """Return the rows with factors (n,) on top of their own weights."""
        weights = self.of(factors).to(dtype)
        return self._replace(weights=weights if self.weights is None else self.weights * weights)

    def of(self, x: Tensor) -> Tensor:
        """Return the scored rows of x (n, ...)."""
        if isinstance(self.positions, Tensor):
            return x.index_select(0, self.positions)
        return x if self.m == x.shape[0] else x[self.positions]


def scored_rows(request: Request, v: int, dtype: torch.dtype) -> ScoredRows:
    """Return the positions to score, with their weights in `dtype`; each target must be in [0, v)."""
    flat, weights = request.targets.reshape(-1).long(), request.row_weights
    rows = ScoredRows(slice(0, len(flat)), flat)
    scored = flat != request.ignore_index
    tokens = flat * scored
    count = _count(request, tokens, scored, v)
    if count < len(flat):
        # The places of 1, 2, … among the running counts; nonzero would have a GPU waited for.
        numbers = torch.arange(1, count + 1, device=flat.device)
        rows = rows._replace(positions=torch.searchsorted(scored.cumsum(0), numbers))
    return rows._replace(
        targets=rows.of(tokens), weights=None if weights is None else rows.of(weights.reshape(-1)).to(dtype)
    )


def spread(values: Tensor, rows: ScoredRows, request: Request) -> Tensor:
    """Return values (m, ...) of the scored rows as (n, ...), with 0 at ignored positions."""
    if isinstance(rows.positions, slice):
        return values
    zeros = values.new_zeros(request.targets.numel(), *values.shape[1:])
    return zeros.index_copy_(0, rows.positions, values)


def outputs_of(ctx: Any, loss: Loss, rows: ScoredRows, request: Request) -> tuple[Tensor, ...]:
    """Return the objective and the values that are logged, made of a loss that holds one value per row.

    The objective is (n,), or the sum over the rows; a logged value is (n,). They are an autograd function's
    outputs, of which the objective alone is differentiable.
    """
    total = spread(loss.objective, rows, request) if request.per_row else loss.objective.sum()
    made = total, *(spread(values, rows, request) for values in loss[1:])
    ctx.mark_non_differentiable(*made[1:])
    ctx.set_materialize_grads(False)
    return made


def _count(request: Request, tokens: Tensor, scored: Tensor, v: int) -> int:
    """Return how many positions are scored, and raise an InputError for numbers that make no sense.

    `tokens` (n,) has 0 where no target is. On a GPU that is told the number the device itself checks, later.
    """
    told = request.num_scored
    if not len(tokens) or told is None or not tokens.is_cuda or torch.is_anomaly_enabled():
        count = _read_once(request, tokens, scored, v) if len(tokens) else 0
        if told not in (None, count):
            raise InputError(
                f"num_scored is {told}, but {count} targets are not {request.ignore_index}; leave num_scored "
                "out, and they are counted"
            )
        return count
    low, high = tokens.aminmax()
    facts = [scored.sum() == told, low >= 0, high < v, *_are_fine(request)]
    torch.ops.aten._assert_async.msg(
        torch.stack(facts).all(),
        "erce: bad targets, num_scored, row_weights or num_items_in_batch; torch.autograd.detect_anomaly() "
        "says which",
    )
    return told


def _read_once(request: Request, tokens: Tensor, scored: Tensor, v: int) -> int:
    """Return how many positions are scored; the call waits for the device here alone."""
    facts = [scored.sum(), *tokens.aminmax(), *_are_fine(request)]
    count, low, high, *fine = torch.stack([x.to(tokens) for x in facts]).tolist()
    if low < 0 or high >= v:
        raise InputError(
            f"target {low if low < 0 else high} is outside the vocabulary of {v} tokens; "
            f"mark positions without a target with ignore_index, here {request.ignore_index}"
        )
    if not all(fine):
        weights = request.row_weights
        if weights is None or weights.isfinite().all():
            assert isinstance(request.num_items_in_batch, Tensor)
            raise num_items_in_batch_error(request.num_items_in_batch.item())
        raise InputError(f"row_weights must be finite numbers, got {float(weights[~weights.isfinite()][0])}")
    return count


def _are_fine(request: Request) -> list[Tensor]:
    """Return, as tensors, whether row weights are finite and a `num_items_in_batch` on the device above 0."""
    weights, num_items_in_batch = request.row_weights, request.num_items_in_batch
    fine = [] if weights is None else [weights.isfinite().all()]
    if isinstance(num_items_in_batch, Tensor):
        fine.append(((num_items_in_batch > 0) & num_items_in_batch.isfinite()).reshape(()))
    return fine
