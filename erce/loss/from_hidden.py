"""Hidden states, the head's weight and targets → the entropy-regularised cross-entropy.

λ, the penalty, the mask and the weights are known before the loss is formed, so the gradient is made in the
forward (`chunked`). With a frozen head the backward is a row scaling, whatever weighs the rows by then.
"""

import torch
from torch import Tensor

from erce.loss import chunked
from erce.loss.base_losses import CROSS_ENTROPY, BaseLoss
from erce.loss.penalties import SHANNON, Penalty
from erce.loss.request import Loss, Request, check_tensors


def linear_entropy_regularized_cross_entropy(  # noqa: PLR0913 — the public signature
    hidden: Tensor,  # (..., d)
    weight: Tensor,  # (v, d)
    targets: Tensor,  # (...), token ids
    *,
    lam: float,
    penalty: Penalty = SHANNON,
    base_loss: BaseLoss = CROSS_ENTROPY,
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
    chunk_bytes: float | None = None,
    impl: str = "auto",
) -> Loss:
    """Return `entropy_regularized_cross_entropy` of the logits x = hidden @ weight.T + bias, chunk by chunk.

    Paper, Section 4.

    The loss sees softcap · tanh(logit_scale · x / softcap) / temperature, without a cap logit_scale · x /
    temperature. Ignored positions are dropped before the projection.

    A frozen head costs two matmuls, even if you weight the objectives of reduction="none" afterwards. A
    trainable head costs three, or four for reduction="none"; to weight rows at the price of three, give
    `row_weights` and `num_items_in_batch`. A head that FSDP 2 has sharded is gathered once, for the forward.
    The gradient cannot be differentiated again (RuntimeError).

    Logits are scored in float32, or in float64 where an operand is; under autocast the operands are rounded
    to its dtype first. From 4,096 tokens up, bfloat16 operands on a CPU make bfloat16 logits; the target's
    and those with p > 2⁻⁸ are computed again in float32.

    Args:
        hidden: Last hidden states, (..., d).
        weight: The output head, (v, d).
        targets: Token ids, (...).
        lam: The strength λ.
        penalty: What λ multiplies.
        base_loss: What stands in for the cross-entropy.
        bias: The head's, (v,).
        adapter: (a, b), (..., r) and (v, r), which add a @ b.T to x.
        logit_scale: Multiplies x.
        softcap: Bounds the scaled logits.
        temperature: Divides what the loss sees.
        row_weights: What multiplies each row's objective, (...).
        num_items_in_batch: What a mean divides by; left out, the number of scored positions, whatever their
            weights.
        num_scored: How many targets are not `ignore_index`. Left out, the call waits for a GPU once, to
            learn it and whether all numbers make sense. With it nothing waits, and an assertion on the
            device ends the process later if something is wrong (in torch's anomaly mode in its place).
        ignore_index: The target of a position that is not scored. If none is, every result is 0, not NaN.
        reduction: "mean", "sum", or "none" for one objective per position.
        chunk_bytes: Bounds the logits that are held at once; a chunk has at least one row. Left out, it is
            256 MiB, or more where d weight in float32 is larger than that; on a CPU 40 Mi logits.
        impl: As for the logits.

    Returns:
        The objective, differentiable, and the detached means over the scored positions.

    Raises:
        InputError: An argument does not fit; the sentence says which.
        DivergedError: A row's largest logit is not finite; on CUDA only in torch's anomaly mode.

    >>> hidden, weight = torch.ones(3, 2, requires_grad=True), torch.eye(4, 2)
    >>> loss = linear_entropy_regularized_cross_entropy(hidden, weight, torch.tensor([0, 3, -100]), lam=1.0)
    >>> loss.objective.backward()
    >>> round(float(loss.nll), 4), round(float(loss.entropy), 4), hidden.grad[2].tolist()
    (1.5064, 1.2754, [0.0, 0.0])
    """
    # Everything is checked before the compiler is asked, which may take the rest out of sight.
    low, up = (None, None) if adapter is None else adapter
    check_tensors({"hidden": hidden, "weight": weight, "bias": bias, "adapter[0]": low, "adapter[1]": up})
    device = hidden.device.type
    request = Request(
        targets,
        lam,
        penalty,
        base_loss,
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
        autocast=torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else None,
    )
    request.check(hidden.shape[:-1])
    if torch.compiler.is_compiling():
        from erce.loss import compiled  # not before: the compiler takes seconds to import

        return compiled.outside(chunked.loss, hidden, weight, bias, (low, up), request)
    return chunked.loss(hidden, weight, bias, (low, up), request)
