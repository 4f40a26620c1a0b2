"""A head that learns, and rows that fit in one chunk → the loss; the backward multiplies by what it kept.

The forward keeps the gradient in the head's output, which is smaller than d weight or about as large. So
d weight is written once, in the weight's dtype, already scaled, where `sweep` would sum it in float32 first.
"""

from typing import Any

import torch
from torch import Tensor

from erce.loss.request import not_differentiable
from erce.loss.row_statistics import refuse_no_distribution
from erce.loss.scored_rows import outputs_of
from erce.loss.sweep import Gradients, Head, Operands, dtypes_of, finished


class GradientOfOneChunk(torch.autograd.Function):
    """Operands → the sum of the objectives, and what is logged, (n,) each."""

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
