"""The penalty of a user's own: whole rows of log p through its class, where built-in ones need a few sums."""

import torch
from torch import Tensor

from erce.loss.penalties import Penalty
from erce.loss.row_statistics import Slopes, Sums, logs


def value_and_slopes(
    u: Tensor, sums: Sums, targets: Tensor, penalty: Penalty, gradient: bool
) -> tuple[tuple[Tensor, Slopes], Tensor | None]:
    """Return what `settle` takes of the penalty, and the gradient in the logits (rows, v) if wanted.

    `u` is `RowTerms.u`, (rows, v).
    """
    log_s, nll = logs(sums)
    y, zero = targets[:, None], torch.zeros_like(nll)
    log_p = (u - log_s[:, None]).clamp_(min=torch.finfo(u.dtype).min)
    p = log_p.exp().scatter_(-1, y, (-nll[:, None]).exp())
    if not gradient:
        return (penalty.value(log_p, p), Slopes(zero, zero, zero, zero, zero, sums.shift)), None
    value, part = penalty.value_and_logit_grad(log_p, p)
    own = part.gather(-1, y)[:, 0]
    return (value, Slopes(zero, torch.ones_like(zero), zero, zero, own, sums.shift)), part
