"""−log p(y) into what λ · penalty is added to: the cross-entropy, and what people compare it with.

To add one: a class with `value_and_slope`, `of` if it has a number, and its line in `erce.catalog`.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, is_dataclass
from numbers import Real
from typing import ClassVar

import torch
from torch import Tensor

from erce.catalog import BASE_LOSSES
from erce.errors import InputError

EAFT_TOP = 20  # tokens that its entropy is of, as in its paper


class BaseLoss(ABC):
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
    def of(cls, parameter: float | None) -> "BaseLoss":
        """Make the base loss from the number after its name ("focal:2"); None takes its paper's default.

        The number goes to a dataclass's only field.
        """
        if parameter is None:
            return cls()
        if not (is_dataclass(cls) and fields(cls)):
            raise InputError(f"{cls.__name__} has no number, got {parameter!r}; leave it out")
        return cls(**{fields(cls)[0].name: parameter})


class _Numbered(BaseLoss):
    """A base loss with a number, whose rule `erce.catalog` has."""

    listed_as: ClassVar[str]

    def __post_init__(self) -> None:
        rule, value = BASE_LOSSES[self.listed_as].number, next(iter(vars(self).values()))
        assert rule is not None
        if not isinstance(value, Real) or not rule.fits(float(value)):
            raise InputError(f"{type(self).__name__} needs a number that is {rule.wanted}, got {value!r}")


@dataclass(frozen=True)
class CrossEntropy(BaseLoss):
    """−log p(y). With a negative λ on the Shannon entropy, the confidence penalty of Pereyra et al. (2017,
    arXiv:1701.06548)."""

    def value_and_slope(self, nll: Tensor, gate: Tensor | None) -> tuple[Tensor, Tensor | float]:
        return nll, 1.0


@dataclass(frozen=True)
class LabelSmoothing(_Numbered):
    """(1 − ε) · −log p(y) + ε · the mean of −log p over the vocabulary: Szegedy et al. (2016,
    arXiv:1512.00567). Tokens whose logit is −inf are left out of that mean."""

    smoothing: float = 0.1
    listed_as: ClassVar[str] = "label-smoothing"

    def value_and_slope(self, nll: Tensor, gate: Tensor | None) -> tuple[Tensor, Tensor | float]:
        return nll, 1.0  # `row_statistics` mixes in the mean, by `smoothing`


@dataclass(frozen=True)
class DFT(BaseLoss):
    """p(y) · −log p(y), the factor without a gradient: dynamic fine-tuning, Wu et al. (2025,
    arXiv:2508.05629)."""

    def value_and_slope(self, nll: Tensor, gate: Tensor | None) -> tuple[Tensor, Tensor]:
        p = (-nll).exp()
        return torch.where(p > 0, p * nll, p), p


@dataclass(frozen=True)
class EAFT(_Numbered):
    """h^α · −log p(y), where h in [0, 1] is the entropy of the 20 likeliest tokens, renormalised, over
    log 20, without a gradient: entropy-adaptive fine-tuning (2026, arXiv:2601.02151). The exponent α is
    the `eaft_alpha` of LLaMA-Factory and Axolotl, which divide by 3 for log 20."""

    alpha: float = 1.0
    listed_as: ClassVar[str] = "eaft"

    def value_and_slope(self, nll: Tensor, gate: Tensor | None) -> tuple[Tensor, Tensor]:
        assert gate is not None
        return gate * nll, gate

    gated = True

    def gate(self, logits: Tensor) -> Tensor:
        log_p = logits.topk(min(EAFT_TOP, logits.shape[-1])).values.log_softmax(-1)
        log_p = log_p.clamp_(min=torch.finfo(logits.dtype).min)
        entropy = -(log_p.exp() * log_p).sum(-1) / math.log(EAFT_TOP)
        return entropy if self.alpha == 1 else entropy**self.alpha


@dataclass(frozen=True)
class Focal(_Numbered):
    """(1 − p(y))^γ · −log p(y): the focal loss, Lin et al. (2017, arXiv:1708.02002)."""

    gamma: float = 2.0
    listed_as: ClassVar[str] = "focal"

    def value_and_slope(self, nll: Tensor, gate: Tensor | None) -> tuple[Tensor, Tensor]:
        p, miss = (-nll).exp(), -torch.expm1(-nll)
        factor = miss**self.gamma
        # With p = e^(−nll), d/d nll of (1 − p)^γ nll is (1 − p)^γ + γ (1 − p)^(γ−1) p nll. The second term is
        # written with nll / (1 − p), which tends to 1 as p → 1.
        ratio = torch.where(miss > 0, nll / miss, 1.0)
        pull = torch.where(p > 0, self.gamma * factor * p * ratio, p)
        return factor * nll, factor + pull


@dataclass(frozen=True)
class ProbabilityPower(_Numbered):
    """(1 − p(y)^a) / a, which is cross-entropy as a → 0 and 1 − p(y) at a = 1: the prior-leaning losses
    of Li et al. (2025, arXiv:2510.00526)."""

    a: float = 1.0
    listed_as: ClassVar[str] = "power"

    def value_and_slope(self, nll: Tensor, gate: Tensor | None) -> tuple[Tensor, Tensor]:
        return -torch.expm1(-self.a * nll) / self.a, (-self.a * nll).exp()


@dataclass(frozen=True)
class Threshold(_Numbered):
    """−log p(y) where p(y) ≥ t, and 0 where the model finds the token less likely: ProFit, Liu et al. (2026,
    arXiv:2601.09195). The mean still divides by all scored tokens."""

    t: float = 0.1
    listed_as: ClassVar[str] = "threshold"

    def value_and_slope(self, nll: Tensor, gate: Tensor | None) -> tuple[Tensor, Tensor]:
        kept = nll <= (-math.log(self.t) if self.t else math.inf)
        return torch.where(kept, nll, 0.0), kept.to(nll.dtype)


CROSS_ENTROPY = CrossEntropy()
