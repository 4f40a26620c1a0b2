"""−log p(y) into what a position is trained on besides λ · penalty: the objectives that people compare with.

To add one: a class with `value_and_slope`, and a line in `OBJECTIVES`.
"""

import difflib
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real

import torch
from torch import Tensor


class Objective(ABC):
    """What λ · penalty is added to: a function of nll = −log p(target) and of weights that carry no gradient.

    `smoothing` is the share of the target's probability that is spread over the vocabulary.
    """

    smoothing: float = 0.0
    gated: bool = False  # whether there is a `gate`

    @abstractmethod
    def value_and_slope(self, nll: Tensor, gate: Tensor | None) -> tuple[Tensor, Tensor | float]:
        """(rows,) → the value and d value / d nll, (rows,) each; `gate` is what `gate` returned."""

    def gate(self, logits: Tensor) -> Tensor:
        """A weight (rows,) from logits (rows, v), known up to a constant a row; for those that are gated."""
        raise TypeError(f"{type(self).__name__} has no gate; give it one, or leave gated False")

    @classmethod
    @abstractmethod
    def of(cls, parameter: float | None) -> "Objective":
        """The objective of a configuration, with its one number; None is that of its paper."""


@dataclass(frozen=True)
class CrossEntropy(Objective):
    """−log p(y). With a negative λ on the Shannon entropy, the confidence penalty of Pereyra et al. (2017,
    arXiv:1701.06548)."""

    def value_and_slope(self, nll: Tensor, gate: Tensor | None) -> tuple[Tensor, Tensor | float]:
        return nll, 1.0

    @classmethod
    def of(cls, parameter: float | None) -> "CrossEntropy":
        _refuse_parameter("cross-entropy", parameter)
        return cls()


@dataclass(frozen=True)
class LabelSmoothing(Objective):
    """(1 − ε) · −log p(y) + ε · the mean of −log p over the vocabulary: Szegedy et al. (2016,
    arXiv:1512.00567). Tokens whose logit is −inf are left out of that mean."""

    smoothing: float = 0.1

    def __post_init__(self) -> None:
        _check_number("LabelSmoothing", self.smoothing, "in [0, 1)", 0 <= self.smoothing < 1)

    def value_and_slope(self, nll: Tensor, gate: Tensor | None) -> tuple[Tensor, Tensor | float]:
        return nll, 1.0  # the rows' engine mixes it with the mean, by `smoothing`

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

    @classmethod
    def of(cls, parameter: float | None) -> "DFT":
        _refuse_parameter("dft", parameter)
        return cls()


@dataclass(frozen=True)
class EAFT(Objective):
    """h · −log p(y), where h in [0, 1] is the entropy of the `top` likeliest tokens, renormalised, over
    log `top`, without a gradient: entropy-adaptive fine-tuning (2026, arXiv:2601.02151)."""

    top: float = 20

    def __post_init__(self) -> None:
        _check_number("EAFT", self.top, "a whole number above 1", isinstance(self.top, int) and self.top > 1)

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
        _check_number("Focal", self.gamma, "0 or above", 0 <= self.gamma < math.inf)

    def value_and_slope(self, nll: Tensor, gate: Tensor | None) -> tuple[Tensor, Tensor]:
        p, miss = (-nll).exp(), -torch.expm1(-nll)
        factor = miss**self.gamma
        # γ (1 − p)^(γ−1) p nll, written with nll / (1 − p), which tends to 1 as p → 1.
        ratio = torch.where(miss > 0, nll / miss, 1.0)
        pull = torch.where(p > 0, self.gamma * factor * p * ratio, p)
        return factor * nll, factor + pull

    @classmethod
    def of(cls, parameter: float | None) -> "Focal":
        return cls() if parameter is None else cls(parameter)


CROSS_ENTROPY = CrossEntropy()

OBJECTIVES: dict[str, type[Objective]] = {
    "cross-entropy": CrossEntropy,
    "label-smoothing": LabelSmoothing,
    "dft": DFT,
    "eaft": EAFT,
    "focal": Focal,
}


def make_objective(name: str) -> Objective:
    """The objective that a recipe or a configuration names, with its number after a colon if it is another
    than its paper's.

    >>> make_objective("focal"), make_objective("label-smoothing:0.2")
    (Focal(gamma=2.0), LabelSmoothing(smoothing=0.2))
    """
    kind, colon, number = str(name).partition(":")
    if kind not in OBJECTIVES:
        near = difflib.get_close_matches(kind.lower(), OBJECTIVES, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(map(repr, OBJECTIVES))}"
        raise ValueError(f"no objective {name!r}; {hint}")
    if not colon:
        return OBJECTIVES[kind].of(None)
    try:
        return OBJECTIVES[kind].of(float(number))
    except ValueError as error:
        raise ValueError(f"objective {name!r}: {error}") from None


def objective_name(objective: Objective) -> str:
    """What `make_objective` makes it of.

    >>> objective_name(Focal(3.0)), objective_name(DFT())
    ('focal:3.0', 'dft')
    """
    name = next(name for name, kind in OBJECTIVES.items() if kind is type(objective))
    return ":".join([name, *(repr(number) for number in vars(objective).values())])


def _refuse_parameter(name: str, parameter: float | None) -> None:
    if parameter is not None:
        raise ValueError(f"{name!r} has no number, got {parameter!r}; leave it out")


def _check_number(name: str, value: float, wanted: str, fits: bool) -> None:
    if not isinstance(value, Real) or not fits:
        raise ValueError(f"{name} needs a number that is {wanted}, got {value!r}")
