"""Hidden states, the head's weight and targets into the entropy-regularised cross-entropy.

λ, the penalty, the mask and the weights are known before the loss is formed, so the gradient is made in the
forward (`chunks.sweep`). With a frozen head the backward is a row scaling, whatever weighs the rows by then.
"""

from typing import Any

import torch
from torch import Tensor
from torch.distributed import ProcessGroup

from erce.loss import checkpoint, shards
from erce.loss.batch import (
    Given,
    Loss,
    Scored,
    as_loss,
    check_given,
    not_differentiable,
    rows_to_log,
    spread,
    transform_of,
)
from erce.loss.call import ROW_GRADIENTS, Call, autocast_dtype, check_call, dtypes_of, finished, operands_of
from erce.loss.chunks import Gradients, Operands, Wanted
from erce.loss.objectives import CROSS_ENTROPY, Objective
from erce.loss.penalties import SHANNON, Penalty
from erce.loss.settle import Scores


def linear_entropy_regularized_cross_entropy(  # noqa: PLR0913 — the public signature
    hidden: Tensor,  # (..., d)
    weight: Tensor,  # (v, d)
    targets: Tensor,  # (...), token ids
    *,
    lam: float | Tensor,  # one, or (...)
    penalty: Penalty = SHANNON,
    objective: Objective = CROSS_ENTROPY,
    bias: Tensor | None = None,  # (v,)
    adapter: tuple[Tensor, Tensor] | None = None,  # (..., r) and (v, r), a low-rank addition to the head
    logit_scale: float = 1.0,
    softcap: float | None = None,
    temperature: float = 1.0,
    row_weights: Tensor | None = None,  # (...)
    num_items_in_batch: float | Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    diagnose: bool = False,
    chunk_bytes: float | None = None,
    method: str = "fused",
    group: ProcessGroup | None = None,
) -> Loss:
    """`entropy_regularized_cross_entropy` of the logits x = hidden @ weight.T + bias, a chunk at a time.

    An `adapter` (a, b) adds a @ b.T to x. The loss sees softcap · tanh(logit_scale · x / softcap) /
    temperature, without a cap logit_scale · x / temperature. Ignored positions are dropped before the
    projection.

    A frozen head costs two matmuls, whatever weighs the objectives of reduction="none" later. A trainable one
    costs three, and four for reduction="none"; `row_weights` and `num_items_in_batch` avoid that. A mean
    divides by `num_items_in_batch` or by the number of scored positions, whatever their weights.

    `chunk_bytes` of logits are held at once (512 MiB, on a CPU 160 MiB in float32 and 80 MiB in bfloat16;
    one row at the least). They are scored in float32, or in float64 where an operand is; under autocast the
    operands are rounded to its dtype first. bfloat16 operands on a CPU make bfloat16 logits, of which each
    with p > 2⁻¹⁰, and the target's, is computed again in float32 (from 16,384 tokens up; below, all are).

    `method="checkpoint"` is the paper's: chunks of 512 positions under gradient checkpointing. With `group`,
    each of its processes holds some of the vocabulary, in the order of the ranks, in `weight`, `bias` and the
    adapter's b, and the same hidden states and targets; d hidden is summed over the group. A head that
    FSDP or DeepSpeed has sharded is gathered once, for the forward. Not differentiable twice. Section 4 and
    the appendix on chunked computation.

    >>> hidden, weight = torch.ones(3, 2, requires_grad=True), torch.eye(4, 2)
    >>> loss = linear_entropy_regularized_cross_entropy(hidden, weight, torch.tensor([0, 3, -100]), lam=1.0)
    >>> loss.objective.backward()
    >>> round(float(loss.nll), 4), round(float(loss.entropy), 4), hidden.grad[2].tolist()
    (1.5064, 1.2754, [0.0, 0.0])
    """
    given = Given(lam, reduction, row_weights, num_items_in_batch, ignore_index, diagnose)
    check_given(given, penalty, objective, tuple(targets.shape))
    transform = transform_of(logit_scale, softcap, temperature)
    autocast = autocast_dtype(hidden.device.type)
    call = Call(given, penalty, objective, transform, targets, chunk_bytes, autocast, method, group)
    if torch.compiler.is_compiling():
        from erce.loss import compiled  # not before: the compiler takes seconds to import

        if not compiled.takes(weight, call):  # here: inside a `with` it would compile what follows a break
            return compiled.outside(_loss, hidden, weight, bias, adapter, call)
    return _loss(hidden, weight, bias, adapter, call)


def _loss(
    hidden: Tensor, weight: Tensor, bias: Tensor | None, adapter: tuple[Tensor, Tensor] | None, call: Call
) -> Loss:
    low, up = (None, None) if adapter is None else adapter
    with shards.gathered(weight, bias, up, split=call.group is not None) as (whole, whole_bias, whole_up):
        operands = operands_of(hidden, whole, whole_bias, low, whole_up)
        check_call(operands, call, hidden.shape[:-1])
        if call.method == "checkpoint":
            return checkpoint.loss(operands, call)
        if torch.compiler.is_compiling():
            from erce.loss import compiled

            return compiled.loss(operands, call)
        return _uncompiled(operands, call)


def _uncompiled(operands: Operands, call: Call) -> Loss:
    if call.group is not None:
        call = call._replace(sizes=shards.sizes(operands.weight, call.group))
    scored = call.scored(len(operands.weight))
    head_learns = any(x is not None and x.requires_grad for x in operands[1:3] + operands[4:])
    function = _GradientInBackward if call.given.per_row and head_learns else _GradientInForward
    total, *logged = function.apply(*operands, call, scored, torch.is_grad_enabled())
    return as_loss(total, logged, call.given, count=max(len(scored.rows), 1), shape=scored.shape)


class _GradientInForward(torch.autograd.Function):
    """Operands → objective, (n,) or its sum, and what is logged, (n,) each.

    Rows weighed later scale d hidden, but could not be told apart inside d weight: not for both at once.
    """

    @staticmethod
    def forward(ctx: Any, *args: Any) -> tuple[Tensor, ...]:
        operands, (call, scored, differentiate) = Operands(*args[:5]), args[5:]
        wanted = Wanted(*(differentiate and needed for needed in ctx.needs_input_grad[:5]))
        scores, gradients = call.run(operands, scored, wanted)
        ctx.save_for_backward(*gradients)
        ctx.scored, ctx.per_row, ctx.dtypes = scored, call.given.per_row, dtypes_of(operands)
        return outputs(ctx, scores, scored, call)

    @staticmethod
    @not_differentiable
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        gradients = Gradients(*ctx.saved_tensors)
        rows = upstream[0][ctx.scored.rows, None] if ctx.per_row else upstream[0]
        found = (
            None if x is None else x * (rows if name in ROW_GRADIENTS else upstream[0])
            for name, x in gradients._asdict().items()
        )
        return *finished(Gradients(*found), ctx.scored, ctx.dtypes), None, None, None


class _GradientInBackward(torch.autograd.Function):
    """The same for a trainable head whose rows are weighed later: the backward sweeps again, with weights."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> tuple[Tensor, ...]:
        operands, (call, scored, _) = Operands(*args[:5]), args[5:]
        scores, _ = call.run(operands, scored, Wanted())
        ctx.save_for_backward(*operands)
        ctx.call, ctx.scored = call, scored
        return outputs(ctx, scores, scored, call)

    @staticmethod
    @not_differentiable
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        operands, scored = Operands(*ctx.saved_tensors), ctx.scored
        wanted = Wanted(*ctx.needs_input_grad[:5])
        _, found = ctx.call.run(operands, scored, wanted, weights=upstream[0][scored.rows])
        return *finished(found, scored, dtypes_of(operands)), None, None, None


def outputs(ctx: Any, scores: Scores, scored: Scored, call: Call) -> tuple[Tensor, ...]:
    logged = rows_to_log(scores, scored)
    ctx.mark_non_differentiable(*logged)
    total = spread(scores.objective, scored) if call.given.per_row else scores.objective.sum()
    return total, *logged
