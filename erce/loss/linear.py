"""Hidden states, the head's weight and targets into the entropy-regularised cross-entropy.

λ, the penalty and the mask are known before the loss is formed, so the gradient is made in the forward
(`chunks.sweep`). With a frozen head the backward is a row scaling, whatever weighs the rows by then.
"""

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
from erce.loss.chunks import Operands, Settings, sweep
from erce.loss.penalties import SHANNON, Penalty
from erce.loss.rows import Scores


def linear_entropy_regularized_cross_entropy(  # noqa: PLR0913 — the public signature
    hidden: Tensor,  # (..., d)
    weight: Tensor,  # (v, d)
    targets: Tensor,  # (...), token ids
    *,
    lam: float,
    penalty: Penalty = SHANNON,
    bias: Tensor | None = None,  # (v,)
    ignore_index: int = -100,
    reduction: str = "mean",
    chunk_bytes: int = 512 * 2**20,
) -> Loss:
    """`entropy_regularized_cross_entropy(hidden @ weight.T + bias, …)`, holding `chunk_bytes` of logits.

    (One row at the least; for bfloat16 operands half as much again.) Ignored positions are dropped before the
    projection. Logits are float32 for half-precision operands too; under autocast the operands are rounded to
    its dtype first, as a linear layer's would be. Whatever weighs the objectives of reduction="none" later,
    their gradients are exact: at no cost with a frozen head, while a trainable one computes its logits again
    in the backward. Not differentiable twice. Section 4 and the appendix on chunked computation.

    >>> hidden, weight = torch.ones(3, 2, requires_grad=True), torch.eye(4, 2)
    >>> loss = linear_entropy_regularized_cross_entropy(hidden, weight, torch.tensor([0, 3, -100]), lam=1.0)
    >>> loss.objective.backward()
    >>> round(float(loss.nll), 4), round(float(loss.entropy), 4), hidden.grad[2].tolist()
    (1.5064, 1.2754, [0.0, 0.0])
    """
    check_settings(lam, penalty, reduction)
    _check_operands(hidden, weight, bias, chunk_bytes)
    device, d = hidden.device.type, hidden.shape[-1]
    autocast = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else None
    call = _Call(
        scored=scored_positions(targets, hidden.shape[:-1], len(weight), ignore_index=ignore_index),
        settings=Settings(lam=float(lam), penalty=penalty, chunk_bytes=chunk_bytes, autocast=autocast),
        per_row=reduction == "none",
        gradient=torch.is_grad_enabled(),
    )
    head_learns = weight.requires_grad or (bias is not None and bias.requires_grad)
    function = _GradientInBackward if call.per_row and head_learns else _GradientInForward
    found = function.apply(hidden.reshape(-1, d), weight, bias, call)
    return as_loss(*found, scored=call.scored, reduction=reduction)


def _check_operands(hidden: Tensor, weight: Tensor, bias: Tensor | None, chunk_bytes: int) -> None:
    if weight.ndim != 2 or hidden.ndim < 1 or hidden.shape[-1] != weight.shape[1]:
        raise ValueError(
            f"hidden {tuple(hidden.shape)} and weight {tuple(weight.shape)} do not fit; "
            f"they must be (..., d) and (v, d)"
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ValueError(f"bias has shape {tuple(bias.shape)}, but weight has {len(weight)} rows; give (v,)")
    if not chunk_bytes > 0:
        raise ValueError(f"chunk_bytes must be above 0, got {chunk_bytes!r}; the default is 512 MiB")


class _GradientInForward(torch.autograd.Function):
    """Operands → objective, (n,) or its sum; nll and penalty, (m,) at the scored rows.

    Rows weighed later scale d hidden, but could not be told apart inside d weight: not for both at once.
    """

    @staticmethod
    def forward(ctx: Any, *args: Any) -> tuple[Tensor, Tensor, Tensor]:
        operands, call = Operands(*args[:3]), args[3]
        wanted = tuple(call.gradient and needed for needed in ctx.needs_input_grad[:3])
        scores, gradients = sweep(operands, call.scored, call.settings, wanted=wanted)
        ctx.save_for_backward(*gradients)
        ctx.call = call
        return _outputs(ctx, scores, call)

    @staticmethod
    @not_differentiable
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        scale, (d_hidden, d_weight, d_bias) = upstream[0], ctx.saved_tensors
        if d_hidden is not None:
            rows = scale[ctx.call.scored.rows, None] if ctx.call.per_row else scale
            d_hidden = spread(d_hidden * rows, ctx.call.scored)
        d_weight, d_bias = (x if x is None else x * scale for x in (d_weight, d_bias))
        return d_hidden, d_weight, d_bias, None


class _GradientInBackward(torch.autograd.Function):
    """The same for a trainable head whose rows are weighed later: the backward sweeps again, with weights."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> tuple[Tensor, Tensor, Tensor]:
        operands, call = Operands(*args[:3]), args[3]
        scores, _ = sweep(operands, call.scored, call.settings, wanted=(False, False, False))
        ctx.save_for_backward(*operands)
        ctx.call = call
        return _outputs(ctx, scores, call)

    @staticmethod
    @not_differentiable
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        scored, settings = ctx.call.scored, ctx.call.settings
        operands, scale = Operands(*ctx.saved_tensors), upstream[0][scored.rows]
        _, found = sweep(operands, scored, settings, wanted=ctx.needs_input_grad[:3], scale=scale)
        d_hidden = None if found.hidden is None else spread(found.hidden, scored)
        return d_hidden, found.weight, found.bias, None


@dataclass(frozen=True, kw_only=True)
class _Call:
    """What a call fixes beside its tensors."""

    scored: Scored
    settings: Settings
    per_row: bool
    gradient: bool


def _outputs(ctx: Any, scores: Scores, call: _Call) -> tuple[Tensor, Tensor, Tensor]:
    ctx.mark_non_differentiable(*scores)
    objective = scores.nll + call.settings.lam * scores.penalty
    objective = spread(objective, call.scored) if call.per_row else objective.sum()
    return objective, scores.nll, scores.penalty
