"""The paper's own way to the loss: the definition, on chunks of positions under gradient checkpointing.

The logits of a chunk are computed again in the backward (appendix on chunked computation).
"""

import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from erce.loss import Penalty
from erce.loss.from_logits import reference_from_logits
from erce.loss.penalties import SHANNON

CHUNK = 512  # positions


def paper_loss(
    hidden: Tensor,  # (n, d)
    weight: Tensor,  # (v, d)
    targets: Tensor,  # (n,)
    lam: float,
    penalty: Penalty = SHANNON,
    bias: Tensor | None = None,  # (v,)
) -> Tensor:
    """Return the objective of each position, (n,), for autograd."""

    def of_chunk(h: Tensor, y: Tensor) -> Tensor:
        return reference_from_logits(functional.linear(h, weight, bias), y, lam, penalty)

    parts = zip(hidden.split(CHUNK), targets.split(CHUNK), strict=True)
    return torch.cat([checkpoint(of_chunk, h, y, use_reentrant=False) for h, y in parts])
