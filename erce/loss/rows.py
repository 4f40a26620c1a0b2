"""A tile of logits into the nll and the penalty of each row and, in place, the gradient of nll + λ · penalty.

The one place where the formulas are evaluated; `dense` and `linear` only bring tiles here.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from erce.loss.penalties import Penalty

_BLOCK_BYTES = {"cpu": 2 * 2**20}  # a block and its few temporaries stay in a core's cache
_BLOCK_BYTES_ELSEWHERE = 64 * 2**20


class Scores(NamedTuple):
    """Per row and in the tile's dtype: −log p(target) in nats, and the penalty."""

    nll: Tensor
    penalty: Tensor


def score(
    logits: Tensor,  # (rows, v), float32 or float64; overwritten
    targets: Tensor,  # (rows,)
    *,
    lam: float,
    penalty: Penalty,
    gradient: bool,
) -> Scores:
    """The scores of each row; `logits` then holds d(nll + λ penalty)/d logits, or scratch without `gradient`.

    Shift-invariant (all sums are over e^(z − max)), and the target's column y is kept apart: 1 − p_y is the
    sum of the other columns, so nll, penalty and gradient keep their relative precision as p_y → 1.
    """
    y = targets[:, None]
    log_p = logits.sub_(logits.amax(-1, keepdim=True))
    log_p_y = log_p.gather(-1, y)
    p = log_p.exp().scatter_(-1, y, 0)
    others = p.sum(-1, keepdim=True)
    total = others + log_p_y.exp()
    log_total = torch.log1p(others + log_p_y.expm1())
    nll = log_total - log_p_y

    log_p.sub_(log_total).clamp_(min=torch.finfo(log_p.dtype).min)  # finite, so that 0 log 0 = 0
    p.div_(total).scatter_(-1, y, (-nll).exp())
    if not gradient:
        return Scores(nll[:, 0], penalty.value(log_p, p))
    value, penalty_grad = penalty.value_and_logit_grad(log_p, p)
    ce_grad = p.scatter_(-1, y, -others / total)  # p − 1_y
    torch.add(ce_grad, penalty_grad, alpha=lam, out=logits)
    return Scores(nll[:, 0], value)


def score_in_blocks(
    logits: Tensor, targets: Tensor, *, lam: float, penalty: Penalty, gradient: bool
) -> Scores:
    """`score`, a few rows at a time."""
    # Made first: results kept from block to block would split the memory that the blocks' temporaries reuse.
    scores = Scores(logits.new_empty(len(logits)), logits.new_empty(len(logits)))
    for rows in row_blocks(len(logits), logits[0].nbytes, logits.device):
        scores.nll[rows], scores.penalty[rows] = score(
            logits[rows], targets[rows], lam=lam, penalty=penalty, gradient=gradient
        )
    return scores


def row_blocks(rows: int, row_bytes: int, device: torch.device) -> Iterator[slice]:
    """Slices that cover `rows` rows, in each as many as suit `score`."""
    step = max(1, _BLOCK_BYTES.get(device.type, _BLOCK_BYTES_ELSEWHERE) // row_bytes)
    for start in range(0, rows, step):
        yield slice(start, start + step)
