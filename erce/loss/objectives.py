"""−log p(y) into what λ · penalty is added to: the cross-entropy, and what people compare it with.

To add one: a class with `value_and_slope`, `of` if it has a number, and its line in `erce.catalog`.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real

import torch
from torch import Tensor

from erce.catalog import OBJECTIVES
from erce.errors import InputError


class Objective(ABC):
    """What λ · penalty is added to: a function of nll = −log p(target) and of weights that carry no gradient.

    `smoothing` is the share of the target's probability that is spread over the vocabulary.
    """

    smoothing: float = 0.0
    gated: bool = False  # whether there is a `gate`

    @abstractmethod
    def value_and_slope(self, nll: Tensor, gate: Tensor | None) -> tuple[Tensor, Tensor | float]:
        """Return the value and d value / d nll of each row, (rows,); `gate` has the weights of `gate()`."""

    def gate(self, logits: Tensor) -> Tensor:
        """Return a weight (rows,) from logits (rows, v), each row up to a constant; only if `gated`."""
        raise TypeError(f"{type(self).__name__} has no gate; give it one, or leave gated False")

    @classmethod
    def of(cls, parameter: float | None) -> "Objective":
        """Make the objective from the number after its name ("focal:2"); None takes its paper's default."""
        if parameter is not None:
            raise InputError(f"{cls.__name__} has no number, got {parameter!r}; leave it out")
        return cls()


@dataclass(frozen=True)
class CrossEntropy(Objective):
    """−log p(y). With a negative λ on the Shannon entropy, the confidence penalty of Pereyra et al. (2017,
    arXiv:1701.06548)."""

    def value_and_slope(self, nll: Tensor, gate: Tensor | None) -> tuple[Tensor, Tensor | float]:
        return nll, 1.0


@dataclass(frozen=True)
class LabelSmoothing(Objective):
    """(1 − ε) · −log p(y) + ε · the mean of −log p over the vocabulary: Szegedy et al. (2016,
    arXiv:1512.00567). Tokens whose logit is −inf are left out of that mean."""

    smoothing: float = 0.1

    def __post_init__(self) -> None:
        _check_number(self, "label-smoothing", self.smoothing)

    def value_and_slope(self, nll: Tensor, gate: Tensor | None) -> tuple[Tensor, Tensor | float]:
        return nll, 1.0  # `row_statistics` mixes in the mean, by `smoothing`

    @classmethod
    def of(cls, parameter: float | None) -> "LabelSmoothing":
        return cls() if parameter is None else cls(parameter)


@dataclass(frozen=True)
class DFT(Objective):
    """p(y) · −log p(y), the factor without a gradient: dynamic fine-tuning, Wu et al. (2025,
    arXiv:2508.05629)."""

    def value_and_slope(self, nll: Tensor, gate: Tensor | None) -> tuple[Tensor, Tensor]:
        p = (-nll).exp()
        return torch.where(p > 0, p * nll, p), p


@dataclass(frozen=True)
class EAFT(Objective):
    """h · −log p(y), where h in [0, 1] is the entropy of the `top` likeliest tokens, renormalised, over
    log `top`, without a gradient: entropy-adaptive fine-tuning (2026, arXiv:2601.02151)."""

    top: float = 20

    def __post_init__(self) -> None:
        _check_number(self, "eaft", self.top)

    def value_and_slope(self, nll: Tensor, gate: Tensor | None) -> tuple[Tensor, Tensor]:
        assert gate is not None
        return gate * nll, gate

    gated = True

    def gate(self, logits: Tensor) -> Tensor:
        top = int(min(self.top, logits.shape[-1]))
        log_p = logits.topk(top).values.log_softmax(-1).clamp_(min=torch.finfo(logits.dtype).min)
        return -(log_p.exp() * log_p).sum(-1) / math.log(self.top)

    @classmethod
    def of(cls, parameter: float | None) -> "EAFT":
        if parameter is not None and float(parameter).is_integer():
            parameter = int(parameter)
        return cls() if parameter is None else cls(parameter)


@dataclass(frozen=True)
class Focal(Objective):
    """(1 − p(y))^γ · −log p(y): the focal loss, Lin et al. (2017, arXiv:1708.02002)."""

    gamma: float = 2.0

    def __post_init__(self) -> None:
        _check_number(self, "focal", self.gamma)

    def value_and_slope(self, nll: Tensor, gate: Tensor | None) -> tuple[Tensor, Tensor]:
        p, miss = (-nll).exp(), -torch.expm1(-nll)
        factor = miss**self.gamma
        # With p = e^(−nll), d/d nll of (1 − p)^γ nll is (1 − p)^γ + γ (1 − p)^(γ−1) p nll. The second term is
        # written with nll / (1 − p), which tends to 1 as p → 1.
        ratio = torch.where(miss > 0, nll / miss, 1.0)
        pull = torch.where(p > 0, self.gamma * factor * p * ratio, p)
        return factor * nll, factor + pull

    @classmethod
    def of(cls, parameter: float | None) -> "Focal":
        return cls() if parameter is None else cls(parameter)


CROSS_ENTROPY = CrossEntropy()


def _check_number(objective: Objective, name: str, value: float) -> None:
    rule = OBJECTIVES[name].number
    assert rule is not None
    if not isinstance(value, Real) or not rule.fits(float(value)):
        raise InputError(f"{type(objective).__name__} needs a number that is {rule.wanted}, got {value!r}")
