"""Logits and targets → the entropy-regularised cross-entropy."""

from typing import Any

import torch
from torch import Tensor

from erce.errors import InputError
from erce.loss.base_losses import CROSS_ENTROPY, BaseLoss
from erce.loss.gpu_self_check import chosen_impl
from erce.loss.penalties import SHANNON, Penalty
from erce.loss.request import ROW_RESULTS, Loss, Request, check_tensors, not_differentiable
from erce.loss.row_passes import make_row_terms, row_blocks, score_tile
from erce.loss.row_statistics import refuse_no_distribution
from erce.loss.scored_rows import ScoredRows, outputs_of, scored_rows


def entropy_regularized_cross_entropy(  # noqa: PLR0913 — the public signature
    logits: Tensor,  # (..., v)
    targets: Tensor,  # (...), token ids
    *,
    lam: float,
    penalty: Penalty = SHANNON,
    base_loss: BaseLoss = CROSS_ENTROPY,
    row_weights: Tensor | None = None,  # (...)
    num_items_in_batch: float | Tensor | None = None,
    num_scored: int | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    impl: str = "auto",
) -> Loss:
    """Return −log p(target) + lam · penalty(p) with p = softmax(logits), as a `Loss`. Section 4.

    Half-precision logits are scored in float32, and the objective is float32; float64 stays float64. The
    gradient is made in the forward and cannot be differentiated again (RuntimeError).

    Args:
        logits: One row per position, (..., v). They may be −inf (a masked vocabulary); where the target's
            is, the objective is inf and its gradient finite.
        targets: Token ids, (...).
        lam: The strength λ. Negative, it is the confidence penalty of Pereyra et al. (2017).
        penalty: What λ multiplies.
        base_loss: What stands in for the cross-entropy.
        row_weights: What multiplies each row's objective, (...).
        num_items_in_batch: What a mean divides by; left out, the number of scored positions, whatever their
            weights.
        num_scored: How many targets are not `ignore_index`; with it the call does not wait for a GPU.
        ignore_index: The target of a position that is not scored. If none is, every result is 0, not NaN.
        reduction: "mean", "sum", or "none" for one objective per position.
        impl: "torch" for plain PyTorch, "triton" for the kernels on CUDA, or "auto": what ERCE_KERNELS says,
            else the kernels whose variant a small case, before its first use on a device, has shown to be
            right.

    Returns:
        The objective, differentiable, and the detached means over the scored positions.

    Raises:
        InputError: An argument does not fit; the sentence says which.
        DivergedError: A row's largest logit is not finite; on CUDA only in torch's anomaly mode.

    >>> loss = entropy_regularized_cross_entropy(torch.zeros(2, 4), torch.tensor([1, -100]), lam=0.5)
    >>> [round(float(x), 4) for x in loss[:3]]  # log 4 + 0.5 log 4, log 4, log 4
    [2.0794, 1.3863, 1.3863]
    """
    check_tensors({"logits": logits})
    if not logits.ndim or not logits.shape[-1]:
        raise InputError(f"logits have shape {tuple(logits.shape)}; give (..., v) with v > 0 tokens")
    request = Request(
        targets,
        lam,
        penalty,
        base_loss,
        row_weights=row_weights,
        num_items_in_batch=num_items_in_batch,
        num_scored=num_scored,
        ignore_index=ignore_index,
        reduction=reduction,
        impl=impl,
    )
    request.check(logits.shape[:-1])
    if torch.compiler.is_compiling():
        from erce.loss import compiled  # not before: the compiler takes seconds to import

        return compiled.outside(_loss, logits, request)
    return _loss(logits, request)


def reference_from_logits(logits: Tensor, targets: Tensor, lam: float, penalty: Penalty = SHANNON) -> Tensor:
    """Return the objectives (n,) of logits (n, v) as they are defined, for autograd; the tests compare."""
    log_p = logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(-1)
    nll = -log_p.gather(-1, targets[:, None])[:, 0]
    return nll + lam * penalty(log_p)


def _loss(logits: Tensor, request: Request) -> Loss:
    v = logits.shape[-1]
    exact = torch.promote_types(logits.dtype, torch.float32)
    request = request._replace(impl=chosen_impl(request, logits.device, exact, v))
    rows = scored_rows(request, v, exact)
    outputs = _FromLogits.apply(logits.reshape(-1, v), rows, request, torch.is_grad_enabled())
    return request.reduced(outputs, rows.m)


class _FromLogits(torch.autograd.Function):
    """(n, v) logits → objective, (n,) or its sum, and what is logged, (n,) each."""

    @staticmethod
    def forward(
        ctx: Any, logits: Tensor, rows: ScoredRows, request: Request, differentiate: bool
    ) -> tuple[Tensor, ...]:
        exact = torch.promote_types(logits.dtype, torch.float32)
        # float16's gradient is kept in float32: a loss scale that comes later may bring into float16's range
        # what would round to 0 or infinity now.
        kept = exact if logits.dtype == torch.float16 else logits.dtype
        wanted = differentiate and ctx.needs_input_grad[0]
        gradient = torch.zeros_like(logits, dtype=kept) if wanted else None
        columns = logits.new_empty(ROW_RESULTS, rows.m, dtype=exact)
        for block in row_blocks(rows.m, logits.shape[-1] * exact.itemsize, logits.device):
            part = rows.at(block)
            tile = part.of(logits).to(exact, copy=isinstance(part.positions, slice))
            out = None if gradient is None else tile
            score_tile(tile, part, request, None, make_row_terms(None, request), out, columns[:, block])
            if gradient is not None:
                gradient[part.positions] = tile.to(kept)
        refuse_no_distribution(columns[-1], rows)
        ctx.save_for_backward(gradient)
        ctx.dtype = logits.dtype
        return outputs_of(ctx, Loss(*columns[:-1]), rows, request)

    @staticmethod
    @not_differentiable
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,) = ctx.saved_tensors
        return (gradient * upstream[0][..., None]).to(ctx.dtype), None, None, None
