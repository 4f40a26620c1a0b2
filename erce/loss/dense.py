"""Logits and targets into the entropy-regularised cross-entropy."""

from typing import Any

import torch
from torch import Tensor

from erce.loss.batch import (
    Given,
    Loss,
    Scored,
    as_loss,
    check_given,
    criterion_of,
    not_differentiable,
    rows_to_log,
    scored_positions,
    spread,
)
from erce.loss.chunks import refuse_no_distribution
from erce.loss.criterion import PLAIN, Criterion
from erce.loss.objectives import CROSS_ENTROPY, Objective
from erce.loss.penalties import SHANNON, Penalty
from erce.loss.rows import Job, row_blocks, score
from erce.loss.settle import Scores


def entropy_regularized_cross_entropy(  # noqa: PLR0913 — the public signature
    logits: Tensor,  # (..., v)
    targets: Tensor,  # (...), token ids
    *,
    lam: float | Tensor,  # one, or (...)
    penalty: Penalty = SHANNON,
    objective: Objective = CROSS_ENTROPY,
    row_weights: Tensor | None = None,  # (...)
    num_items_in_batch: float | Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    diagnose: bool = False,
) -> Loss:
    """−log p(target) + lam · penalty(p) with p = softmax(logits), as a `Loss`. Section 4.

    `objective` may stand in for the cross-entropy. A mean divides by `num_items_in_batch`, or by the number
    of scored positions whatever their `row_weights`. Half-precision logits are scored in float32, and the
    objective is float32; float64 stays float64. Logits may be −inf (a masked vocabulary); where the target's
    is, the objective is inf and its gradient finite. The gradient is made in the forward and cannot be
    differentiated again. A negative `lam` is the confidence penalty of Pereyra et al. (2017).

    >>> loss = entropy_regularized_cross_entropy(torch.zeros(2, 4), torch.tensor([1, -100]), lam=0.5)
    >>> [round(float(x), 4) for x in loss[:3]]  # log 4 + 0.5 log 4, log 4, log 4
    [2.0794, 1.3863, 1.3863]
    """
    given = Given(lam, reduction, row_weights, num_items_in_batch, ignore_index, diagnose)
    check_given(given, penalty, objective, tuple(targets.shape))
    v = logits.shape[-1]
    scored = scored_positions(targets, logits.shape[:-1], v, ignore_index=ignore_index)
    criterion = criterion_of(given, penalty, objective, scored, PLAIN)
    rows = logits.reshape(-1, v)
    total, *logged = _Dense.apply(rows, scored, criterion, given.per_row, torch.is_grad_enabled())
    return as_loss(total, logged, given, count=max(len(scored.rows), 1), shape=scored.shape)


class _Dense(torch.autograd.Function):
    """(n, v) logits → objective, (n,) or its sum, and what is logged, (n,) each."""

    @staticmethod
    def forward(
        ctx: Any, logits: Tensor, scored: Scored, criterion: Criterion, per_row: bool, differentiate: bool
    ) -> tuple[Tensor, ...]:
        exact = torch.promote_types(logits.dtype, torch.float32)
        criterion = criterion.to(exact)
        gradient = differentiate and ctx.needs_input_grad[0]
        d_logits = torch.zeros_like(logits) if gradient else None
        scores = Scores(*logits.new_empty(len(Scores._fields), len(scored.rows), dtype=exact))
        for block in row_blocks(len(scored.rows), logits.shape[-1] * exact.itemsize, logits.device):
            tile = logits.index_select(0, scored.rows[block]).to(exact)
            job = Job(scored.targets[block], criterion.at(block), gradient)
            for whole, part in zip(scores, score(tile, job), strict=True):
                whole[block] = part
            if d_logits is not None:
                d_logits.index_copy_(0, scored.rows[block], tile.to(logits.dtype))
        refuse_no_distribution(scores.shift, scored.rows)
        ctx.save_for_backward(d_logits)
        logged = rows_to_log(scores, scored)
        ctx.mark_non_differentiable(*logged)
        return spread(scores.objective, scored) if per_row else scores.objective.sum(), *logged

    @staticmethod
    @not_differentiable
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        (d_logits,) = ctx.saved_tensors
        return (d_logits * upstream[0][..., None]).to(d_logits.dtype), None, None, None, None
