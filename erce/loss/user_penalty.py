"""The penalty of a user's own: whole rows of log p through its class, where built-in ones need a few sums."""

import torch
from torch import Tensor

from erce.loss.penalties import Penalty
from erce.loss.row_statistics import Sums, softmax


def value_and_slopes(
    u: Tensor, sums: Sums, y: Tensor, penalty: Penalty, gradient: bool
) -> tuple[tuple[Tensor, Tensor], Tensor | None]:
    """Return what `settle` takes of the penalty, and the gradient in the logits (rows, v) if wanted.

    `u` is `RowTerms.u`, (rows, v); y (rows, 1) are the targets.
    """
    of = softmax(sums)
    log_p = (u - of.log_s[:, None]).clamp_(min=torch.finfo(u.dtype).min)
    p = log_p.exp().scatter_(-1, y, (-of.nll[:, None]).exp())
    if not gradient:
        return (penalty.value(log_p, p), torch.zeros_like(of.nll)), None
    value, part = penalty.value_and_logit_grad(log_p, p)
    return (value, part.gather(-1, y)[:, 0]), part
