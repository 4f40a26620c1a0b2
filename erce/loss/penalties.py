"""Measures of how widely a distribution p spreads, and their gradients in the logits: what λ multiplies.

These classes define the penalties. Built-in penalties are not computed by them: R of any order follows from a
few sums over a row, and `row_statistics` derives value and gradient from those. The tests hold that to the
classes here. A user-defined penalty, and a subclass of a built-in one, runs through its class
(`row_statistics.user_penalty_and_slopes`), and so not in Triton.

To add one: a class with `value` and `value_and_logit_grad`, `of_order` if it takes an order, an example in
its docstring, and its line in `erce.catalog`.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import torch
from torch import Tensor

from erce.catalog import ORDER
from erce.errors import InputError


class Penalty(ABC):
    """What λ multiplies: a number per row of p, and its gradient with respect to the row's logits.

    The methods take log p and p, both (..., v), and write to neither. log p is finite: where p is 0 it is the
    dtype's lowest number, which makes 0 log 0 = 0. Their results need no autograd.
    """

    def __call__(self, log_p: Tensor) -> Tensor:
        """Return the penalty (...) of rows of log p (..., v), which may hold −inf."""
        return self.value(log_p.clamp(min=torch.finfo(log_p.dtype).min), log_p.exp())

    @abstractmethod
    def value(self, log_p: Tensor, p: Tensor) -> Tensor:
        """Return the penalty: (..., v), (..., v) → (...)."""

    @abstractmethod
    def value_and_logit_grad(self, log_p: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        """Return the value (...) and d value / d logits (..., v), a tensor of its own."""

    @classmethod
    def of_order(cls, order: float) -> "Penalty":
        """Make the penalty from a recipe's `order`; a penalty without an order takes 1 alone, the default."""
        if order != 1:
            raise InputError(f"{cls.__name__} takes no order, got {order!r}; leave it out, or name 'renyi'")
        return cls()


@dataclass(frozen=True)
class Shannon(Penalty):
    """H(p) = −Σ p log p, in nats: the paper's penalty, and order 1 of both families below.

    >>> Shannon()(torch.tensor([0.5, 0.5, 0.0]).log())
    tensor(0.6931)
    """

    order: ClassVar[float] = 1.0

    def value(self, log_p: Tensor, p: Tensor) -> Tensor:
        return -(p * log_p).sum(-1)

    def value_and_logit_grad(self, log_p: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        h = self.value(log_p, p)
        return h, (-h[..., None] - log_p).mul_(p)


@dataclass(frozen=True)
class _Ordered(Penalty):
    """A penalty with an order."""

    order: float

    def __post_init__(self) -> None:
        if not isinstance(self.order, Real) or not ORDER.fits(float(self.order)):
            raise InputError(
                f"{type(self).__name__} needs an order {ORDER.wanted}, got {self.order!r}; 1 is Shannon's "
                "entropy, and the smaller the order the nearer to a count of the support"
            )

    @classmethod
    def of_order(cls, order: float) -> "_Ordered":
        return cls(order)


@dataclass(frozen=True)
class Renyi(_Ordered):
    """R(p) = log(Σ p^order) / (1 − order), in nats, for an order in (0, inf]; its limits at 1 and at inf are
    Shannon's H and −log max p (whose gradient is shared by tied maxima). Appendix on the Rényi order.

    Written so that nothing cancels, near order 1 or on a confident row, and nothing overflows. With
    c = order − 1, k = |c|, box_cox(x) = (e^(kx) − 1) / k, and w the lighter-tailed of p and p^order:

        t = Σ w box_cox(log p)        R = −log1p(c t) / c        dR/dz = −order w box_cox(log p + R)

    where w = p from order 1 up; below it w = p^order in t, and p^order / Σ p^order in dR/dz. At order 1 all
    this reads box_cox(x) = x, R = −t = H and dR/dz = −p (log p + H).

    >>> p = torch.tensor([0.7, 0.2, 0.1])
    >>> [round(float(Renyi(order)(p.log())), 4) for order in (0.5, 1, 1 + 1e-9, 2, math.inf)]
    [0.9401, 0.8018, 0.8018, 0.6162, 0.3567]
    """

    def value(self, log_p: Tensor, p: Tensor) -> Tensor:
        if math.isinf(self.order):
            return -log_p.amax(-1)
        w = p if self.order >= 1 else (self.order * log_p).exp()
        t = (w * self._box_cox(log_p)).sum(-1)
        c = self.order - 1
        if c == 0:
            return -t
        r = torch.log1p(c * t) / -c
        if self.order < 1:
            return r
        # Where Σ p^order < 1/2, the sum itself is the better-conditioned number.
        return torch.where(c * t < -0.5, (self.order * log_p).logsumexp(-1) / -c, r)

    def value_and_logit_grad(self, log_p: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        value = self.value(log_p, p)
        r = value[..., None]
        if math.isinf(self.order):
            return value, _min_entropy_logit_grad(log_p, p, r)
        w = p if self.order >= 1 else (self.order * log_p).add_((self.order - 1) * r).exp_()
        return value, self._box_cox(log_p + r).mul(w).mul_(-self.order)

    def _box_cox(self, x: Tensor) -> Tensor:
        """Return (e^(kx) − 1) / k."""
        k = abs(self.order - 1)
        return x if k == 0 else (k * x).expm1() / k


@dataclass(frozen=True)
class SupportSize(_Ordered):
    """S(p) = exp R(p) in [1, v]: a smooth count of the tokens in play, |supp p| as the order → 0. Section 4.

    In tokens, not nats: on a flat row λ weighs up to v / log v times more than with `Renyi`.

    >>> SupportSize(0.5)(torch.tensor([0.5, 0.5, 0.0]).log())
    tensor(2.)
    """

    def value(self, log_p: Tensor, p: Tensor) -> Tensor:
        return Renyi(self.order).value(log_p, p).exp()

    def value_and_logit_grad(self, log_p: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        r, r_logit_grad = Renyi(self.order).value_and_logit_grad(log_p, p)
        size = r.exp()
        return size, r_logit_grad.mul_(size[..., None])


SHANNON = Shannon()
# The penalties that a row's sums determine, and whether each is exp R, and not R itself. By exact class, as a
# subclass may mean something else.
_EXPONENTIAL: dict[type[Penalty], bool] = {Shannon: False, Renyi: False, SupportSize: True}


def order_of(penalty: Penalty) -> float | None:
    """Return the order of a built-in penalty; None for a subclass or a user-defined one."""
    return float(getattr(penalty, "order", 1.0)) if type(penalty) in _EXPONENTIAL else None


def is_exponential(penalty: Penalty) -> bool:
    """Return whether a built-in penalty is exp R, and not R itself."""
    return _EXPONENTIAL.get(type(penalty), False)


def _min_entropy_logit_grad(log_p: Tensor, p: Tensor, r: Tensor) -> Tensor:
    """Return p − 1/m at each of m tied maxima, as −p expm1(log(1/m) − log p) so as not to cancel, else p."""
    top = log_p == -r
    share = r - top.sum(-1, keepdim=True).to(p.dtype).log()
    return torch.where(top, share, -math.inf).expm1_().mul_(p).neg_()
