"""The entropy penalty as a torchtitan loss; in a config function, to store the logits of a chunk alone:

ChunkedLossWrapper.Config(loss_fn=EntropyLoss.Config(lam=2.0))
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

from torch import Tensor
from torchtitan.components.loss import BaseLoss

from erce import entropy_regularized_cross_entropy


def summed(pred: Tensor, labels: Tensor, *, lam: float) -> Tensor:
    """Return the sum over the labels, which torchtitan divides by their number in the whole batch."""
    return entropy_regularized_cross_entropy(pred, labels, lam=lam, reduction="sum").objective


class EntropyLoss(BaseLoss):
    """Without tensor parallelism, which would give this loss a part of the vocabulary."""

    @dataclass(kw_only=True, slots=True)
    class Config(BaseLoss.Config):
        lam: float

    def __init__(self, config: Config, *, compile_config: Any = None) -> None:
        self.fn = partial(summed, lam=config.lam)
