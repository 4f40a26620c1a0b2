"""Hidden states, the head's weight and targets → the entropy-regularised cross-entropy.

λ, the penalty, the mask and the weights are known before the loss is formed, so the gradient is made in the
forward (`sweep`). With a frozen head the backward is a row scaling, whatever weighs the rows by then.
"""

from typing import Any

import torch
from torch import Tensor
from torch.distributed import ProcessGroup
from torch.nn import functional

from erce.errors import InputError
from erce.loss import tensor_parallel
from erce.loss.from_logits import reference_from_logits
from erce.loss.gathered import gathered, is_partitioned, whole
from erce.loss.objectives import CROSS_ENTROPY, Objective
from erce.loss.penalties import SHANNON, Penalty
from erce.loss.request import Loss, Request, check_tensors, not_differentiable
from erce.loss.row_statistics import refuse_no_distribution
from erce.loss.scored_rows import outputs_of, scored_rows
from erce.loss.sweep import (
    NONE_WANTED,
    Gradients,
    Head,
    Operands,
    Vocabulary,
    choose_matmuls,
    chunks,
    dtypes_of,
    finished,
    sweep,
)


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
    num_scored: int | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    diagnose: bool = False,
    z_loss: float = 0.0,
    return_lse: bool = False,
    chunk_bytes: float | None = None,
    group: ProcessGroup | None = None,
    impl: str = "auto",
) -> Loss:
    """Return `entropy_regularized_cross_entropy` of the logits x = hidden @ weight.T + bias, chunk by chunk.

    An `adapter` (a, b) adds a @ b.T to x. The loss sees softcap · tanh(logit_scale · x / softcap) /
    temperature, without a cap logit_scale · x / temperature. Ignored positions are dropped before the
    projection.

    A frozen head costs two matmuls, even if you weight the objectives of reduction="none" afterwards. A
    trainable head costs three, or four for reduction="none"; to weight rows at the price of three, give
    `row_weights` and `num_items_in_batch`. With `return_lse` the backward makes the logits again: three and
    four. A mean divides by `num_items_in_batch` or by the number of scored positions, whatever their weights.

    `chunk_bytes` bounds the logits that are held at once; a chunk has at least one row. The default is 512
    MiB, or the size of the weight's gradient if that is larger; on a CPU 160 MiB in float32 and 80 MiB in
    bfloat16. Logits are scored in float32, or in float64 where an operand is; under autocast the operands
    are rounded to its dtype first. bfloat16 operands on a CPU make bfloat16 logits; the target's and those
    with p > 2⁻⁸ are computed again in float32. With fewer than 4,096 tokens a second matmul into bfloat16
    makes what the first one rounded off; small calls multiply in float32.

    The call waits for a GPU once, to learn how many targets are scored and whether all numbers make sense. If
    you know how many, give `num_scored`: nothing waits, and an assertion on the device ends the process later
    if something is wrong; torch's anomaly mode raises the error in its place.

    With `group`, each of its processes holds some of the vocabulary, in the order of the ranks, in `weight`,
    `bias` and the adapter's b, and the same hidden states and targets; d hidden is summed over the group. A
    head that FSDP or DeepSpeed has sharded is gathered once, for the forward. `impl` "triton" also multiplies
    half-precision operands into float32, which "torch" converts first.

    The gradient cannot be differentiated again (RuntimeError). InputError: an argument does not fit.
    DivergedError: a row's largest logit is not finite; on CUDA only in torch's anomaly mode. Paper, Section
    4.

    >>> hidden, weight = torch.ones(3, 2, requires_grad=True), torch.eye(4, 2)
    >>> loss = linear_entropy_regularized_cross_entropy(hidden, weight, torch.tensor([0, 3, -100]), lam=1.0)
    >>> loss.objective.backward()
    >>> round(float(loss.nll), 4), round(float(loss.entropy), 4), hidden.grad[2].tolist()
    (1.5064, 1.2754, [0.0, 0.0])
    """
    check_tensors({"hidden": hidden, "weight": weight, "bias": bias})
    device = hidden.device.type
    request = Request(
        targets,
        lam,
        penalty,
        objective,
        logit_scale=logit_scale,
        softcap=softcap,
        temperature=temperature,
        chunk_bytes=chunk_bytes,
        row_weights=row_weights,
        num_items_in_batch=num_items_in_batch,
        num_scored=num_scored,
        ignore_index=ignore_index,
        impl=impl,
        reduction=reduction,
        diagnose=diagnose,
        z_loss=z_loss,
        return_lse=return_lse,
        autocast=torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else None,
    )
    if torch.compiler.is_compiling():
        from erce.loss import compiled  # not before: the compiler takes seconds to import

        if not compiled.takes(weight, request, group):
            return compiled.outside(_loss, hidden, weight, bias, adapter, request, group)
    return _loss(hidden, weight, bias, adapter, request, group)


def reference_from_hidden(
    hidden: Tensor,
    weight: Tensor,
    targets: Tensor,
    lam: float,
    penalty: Penalty = SHANNON,
    bias: Tensor | None = None,
) -> Tensor:
    """Return the objectives (n,) of hidden states (n, d) and a head as they are defined, for autograd."""
    logits = functional.linear(hidden, weight, bias)
    return reference_from_logits(logits, targets, lam, penalty)


def _loss(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    adapter: tuple[Tensor, Tensor] | None,
    request: Request,
    group: ProcessGroup | None,
) -> Loss:
    request.check(hidden.shape[:-1])
    low, up = (None, None) if adapter is None else adapter
    check_tensors({"adapter[0]": low, "adapter[1]": up})
    if group is not None:
        tensor_parallel.check(request, weight, bias, up)
    if is_partitioned(weight, bias, up):  # never inside the compiler, which may not enter this `with`
        with gathered(weight, bias, up) as (present, present_bias, present_up):
            operands = _operands(hidden, present, present_bias, low, present_up)
            return _of_whole_head(operands, request, group)
    bias, up = (x if x is None else whole(x) for x in (bias, up))
    return _of_whole_head(_operands(hidden, whole(weight), bias, low, up), request, group)


def _of_whole_head(operands: Operands, request: Request, group: ProcessGroup | None) -> Loss:
    if group is None and not len(operands.weight):  # in a group all processes must hear of it
        raise InputError("weight has no rows, so there are no tokens; give (v, d) with v > 0")
    if torch.compiler.is_compiling():
        from erce.loss import compiled

        return compiled.loss(operands, request)
    vocabulary = Vocabulary() if group is None else tensor_parallel.SplitVocabulary(operands.weight, group)
    return _uncompiled(operands, request, vocabulary)


def _operands(
    hidden: Tensor, weight: Tensor, bias: Tensor | None, low: Tensor | None, up: Tensor | None
) -> Operands:
    """Return the operands with their leading axes made one, if their shapes fit."""
    if weight.ndim != 2 or hidden.ndim < 1 or hidden.shape[-1] != weight.shape[1]:
        raise InputError(
            f"hidden {tuple(hidden.shape)} and weight {tuple(weight.shape)} do not fit; "
            f"they must be (..., d) and (v, d)"
        )
    if hidden.device != weight.device:
        raise InputError(f"hidden is on {hidden.device} and weight on {weight.device}; move one of them")
    if bias is not None and bias.shape != weight.shape[:1]:
        raise InputError(f"bias has shape {tuple(bias.shape)}, but weight has {len(weight)} rows; give (v,)")
    n = hidden.shape[:-1].numel()  # reshape(-1, d) cannot tell n where d is 0
    if low is not None and up is not None:
        if low.shape[:-1] != hidden.shape[:-1] or up.shape != (len(weight), low.shape[-1]):
            raise InputError(
                f"adapter {tuple(low.shape)} and {tuple(up.shape)} does not fit hidden {tuple(hidden.shape)} "
                f"and weight {tuple(weight.shape)}; it must be (..., r) and (v, r)"
            )
        low = low.reshape(n, low.shape[-1])
    if hidden.ndim != 2:
        hidden = hidden.reshape(n, hidden.shape[-1])
    return Operands(hidden, weight, bias, low, up)


def _uncompiled(operands: Operands, request: Request, vocabulary: Vocabulary) -> Loss:
    rows = scored_rows(request, vocabulary.size(operands.weight), operands.exact)
    head_learns = any(x is not None and x.requires_grad for x in operands[1:3] + operands[4:])
    learns = torch.is_grad_enabled() and head_learns
    function = _GradientInForward
    if request.return_lse or (learns and request.per_row):
        function = _GradientInBackward
    elif learns:
        matmuls = choose_matmuls(operands, request, vocabulary)
        if len(chunks(operands, rows.m, request, vocabulary, matmuls)) == 1:
            function = _GradientOfOneChunk
    outputs = function.apply(*operands, rows, request, vocabulary, torch.is_grad_enabled())
    return request.reduced(outputs, count=max(rows.m, 1))


class _GradientInForward(torch.autograd.Function):
    """Operands → objective, (n,) or its sum, and what is logged, (n,) each.

    The backward receives a weight for each row. It scales d hidden row by row, but d weight is a sum over
    rows by then, so a trainable head with reduction="none" takes another class. Where it has one chunk alone,
    `_GradientOfOneChunk` makes its gradient.
    """

    @staticmethod
    def forward(ctx: Any, *args: Any) -> tuple[Tensor, ...]:
        operands, (rows, request, vocabulary, differentiate) = Operands(*args[:5]), args[5:]
        wanted = [differentiate and needed for needed in ctx.needs_input_grad[:5]]
        loss, gradients = sweep(operands, rows, request, wanted, vocabulary)
        ctx.save_for_backward(*gradients)
        ctx.rows, ctx.request, ctx.dtypes = rows, request, dtypes_of(operands)
        return outputs_of(ctx, loss, rows, request)

    @staticmethod
    @not_differentiable
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        by_row = ctx.rows.of(upstream[0])[:, None] if ctx.request.per_row else upstream[0]
        scales = Gradients(by_row, upstream[0], upstream[0], by_row, upstream[0])
        scaled = Gradients(
            *(None if x is None else x * s for x, s in zip(ctx.saved_tensors, scales, strict=True))
        )
        return *finished(scaled, ctx.rows, ctx.request, ctx.dtypes), *[None] * 4


class _GradientInBackward(torch.autograd.Function):
    """The loss whose weights come later, of a trainable head's rows or of lse: its backward sweeps again."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> tuple[Tensor, ...]:
        operands, (rows, request, vocabulary, _) = Operands(*args[:5]), args[5:]
        loss, _ = sweep(operands, rows, request, NONE_WANTED, vocabulary)
        ctx.save_for_backward(*operands)
        ctx.rows, ctx.request, ctx.vocabulary = rows, request, vocabulary
        return outputs_of(ctx, loss, rows, request)

    @staticmethod
    @not_differentiable
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        operands, rows, request = Operands(*ctx.saved_tensors), ctx.rows, ctx.request
        factors = upstream[0].expand(len(operands.hidden))
        of_lse = upstream[-1] if request.return_lse else None
        weighed = rows.weighed(factors, of_lse, operands.exact)
        _, gradients = sweep(operands, weighed, request, ctx.needs_input_grad[:5], ctx.vocabulary)
        return *finished(gradients, rows, request, dtypes_of(operands)), *[None] * 4


class _GradientOfOneChunk(torch.autograd.Function):
    """The loss of a head that learns, where all rows fit in one chunk; its backward multiplies what it kept.

    The forward keeps the gradient in the head's output, which is smaller than d weight or about as large. So
    d weight is written once, in the weight's dtype, already scaled, where `sweep` would sum it in float32.
    """

    @staticmethod
    def forward(ctx: Any, *args: Any) -> tuple[Tensor, ...]:
        operands, (rows, request, vocabulary, _) = Operands(*args[:5]), args[5:]
        head = Head.of(operands, request, vocabulary)
        loss, top, d_logits = head.score(head.factors(rows), rows, differentiate=True)
        refuse_no_distribution(top, rows)
        ctx.save_for_backward(d_logits, *operands)
        ctx.rows, ctx.request, ctx.vocabulary = rows, request, vocabulary
        return outputs_of(ctx, loss, rows, request)

    @staticmethod
    @not_differentiable
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        d_logits, *saved = ctx.saved_tensors
        operands, scale = Operands(*saved), upstream[0]
        head = Head.of(operands, ctx.request, ctx.vocabulary)
        wanted = dict(zip(Gradients._fields, ctx.needs_input_grad[:5], strict=True))
        made: dict[str, Tensor] = {}
        pairs = (("hidden", "weight"), ("low", "up"))
        for (rows_name, weight_name), (x, w) in zip(pairs, head.factors(ctx.rows), strict=False):
            if wanted[rows_name]:
                made[rows_name] = d_rows = x.new_empty(x.shape, dtype=operands.exact)
                head.matmuls.d_rows_into(d_rows, d_logits, w)
                ctx.vocabulary.complete_(d_rows.mul_(scale))
            if wanted[weight_name]:
                made[weight_name] = head.matmuls.d_weight(d_logits, x, scale)
        if wanted["bias"]:
            made["bias"] = d_logits.sum(0, dtype=operands.exact).mul_(scale)
        return *finished(Gradients(**made), ctx.rows, ctx.request, dtypes_of(operands)), *[None] * 4
