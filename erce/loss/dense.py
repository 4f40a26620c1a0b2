"""Logits and targets into the entropy-regularised cross-entropy."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from erce.loss.batch import (
    Loss,
    Scored,
    as_loss,
    check_settings,
    not_differentiable,
    scored_positions,
    spread,
)
from erce.loss.penalties import SHANNON, Penalty
from erce.loss.rows import row_blocks, score


def entropy_regularized_cross_entropy(
    logits: Tensor,  # (..., v)
    targets: Tensor,  # (...), token ids
    *,
    lam: float,
    penalty: Penalty = SHANNON,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Loss:
    """−log p(target) + lam · penalty(p) with p = softmax(logits), as a `Loss`. Section 4.

    A mean divides by the number of scored positions. Half-precision logits are scored in float32, and the
    objective is float32; float64 stays float64. Logits may be −inf (a masked vocabulary); where the target's
    is, the objective is inf and its gradient finite. The gradient is made in the forward and cannot be
    differentiated again. A negative `lam` is the confidence penalty of Pereyra et al. (2017).

    >>> loss = entropy_regularized_cross_entropy(torch.zeros(2, 4), torch.tensor([1, -100]), lam=0.5)
    >>> [round(float(x), 4) for x in loss]  # log 4 + 0.5 log 4, log 4, log 4
    [2.0794, 1.3863, 1.3863]
    """
    check_settings(lam, penalty, reduction)
    v = logits.shape[-1]
    scored = scored_positions(targets, logits.shape[:-1], v, ignore_index=ignore_index)
    settings = _Settings(float(lam), penalty, reduction == "none", torch.is_grad_enabled())
    found = _Dense.apply(logits.reshape(-1, v), scored, settings)
    return as_loss(*found, scored=scored, reduction=reduction)


@dataclass(frozen=True)
class _Settings:
    lam: float
    penalty: Penalty
    per_row: bool
    gradient: bool


class _Dense(torch.autograd.Function):
    """(n, v) logits → objective, (n,) or its sum; nll and penalty of the scored rows."""

    @staticmethod
    def forward(
        ctx: Any, logits: Tensor, scored: Scored, settings: _Settings
    ) -> tuple[Tensor, Tensor, Tensor]:
        exact = torch.promote_types(logits.dtype, torch.float32)
        nll = logits.new_empty(len(scored.rows), dtype=exact)
        penalty = torch.empty_like(nll)
        gradient = settings.gradient and ctx.needs_input_grad[0]
        d_logits = torch.zeros_like(logits) if gradient else None
        for block in row_blocks(len(nll), logits.shape[-1] * exact.itemsize, logits.device):
            rows = scored.rows[block]
            tile = logits.index_select(0, rows).to(exact)
            nll[block], penalty[block] = score(
                tile, scored.targets[block], lam=settings.lam, penalty=settings.penalty, gradient=gradient
            )
            if d_logits is not None:
                d_logits.index_copy_(0, rows, tile.to(logits.dtype))
        ctx.save_for_backward(d_logits)
        ctx.mark_non_differentiable(nll, penalty)
        objective = nll + settings.lam * penalty
        return spread(objective, scored) if settings.per_row else objective.sum(), nll, penalty

    @staticmethod
    @not_differentiable
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, None, None]:
        (d_logits,) = ctx.saved_tensors
        return (d_logits * upstream[0][..., None]).to(d_logits.dtype), None, None
