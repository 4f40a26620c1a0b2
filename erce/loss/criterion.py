"""What a position is scored by: objective, penalty, λ and weight, and how a head's output becomes logits."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from erce.loss.objectives import CROSS_ENTROPY, Objective
from erce.loss.penalties import SHANNON, Penalty, order_of


class Transform(NamedTuple):
    """Of the head's output x: softcap · tanh(logit_scale · x / softcap) / temperature, without a cap
    logit_scale · x / temperature."""

    logit_scale: float = 1.0
    softcap: float | None = None
    temperature: float = 1.0

    @property
    def cap(self) -> float | None:
        """Of the logits that the loss sees."""
        return None if self.softcap is None else self.softcap / self.temperature

    @property
    def slope(self) -> float:
        """d logit / d x; where there is a cap, at x = 0."""
        return self.logit_scale / self.temperature

    def apply_(self, x: Tensor) -> Tensor:
        if self.softcap is not None:
            return x.mul_(self.logit_scale / self.softcap).tanh_().mul_(self.softcap / self.temperature)
        return x if self.slope == 1 else x.mul_(self.slope)


PLAIN = Transform()


@dataclass(frozen=True, kw_only=True)
class Criterion:
    lam: float | Tensor  # one, or one a row
    penalty: Penalty = SHANNON
    objective: Objective = CROSS_ENTROPY
    weights: Tensor | None = None  # (rows,), factors on the rows' objectives
    transform: Transform = PLAIN
    diagnose: bool = False

    @property
    def order(self) -> float | None:
        return order_of(self.penalty)

    @property
    def smooths(self) -> bool:
        return self.objective.smoothing > 0

    def to(self, dtype: torch.dtype) -> "Criterion":
        lam = self.lam.to(dtype) if isinstance(self.lam, Tensor) else self.lam
        return replace(self, lam=lam, weights=None if self.weights is None else self.weights.to(dtype))

    def at(self, rows: slice | Tensor) -> "Criterion":
        lam = self.lam[rows] if isinstance(self.lam, Tensor) else self.lam
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, lam=lam, weights=weights)
