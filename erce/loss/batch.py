"""The arguments of a call into the positions to score, and their losses into what the caller asked for."""

import math
from collections.abc import Callable
from functools import wraps
from numbers import Real
from typing import Any, NamedTuple, TypeVar, cast

import torch
from torch import Tensor

from erce.loss.penalties import Penalty

REDUCTIONS = ("mean", "sum", "none")


class Loss(NamedTuple):
    """What both functions return.

    `objective` = nll + λ · penalty is differentiable: its mean or sum over the scored positions or, for
    reduction="none", one per position, in the shape of the targets and 0 where they are ignored. `nll` and
    `entropy` (the penalty's value) are detached, for the log: means over the scored positions for "mean" and
    for "sum", else per position like the objective. With nothing scored all three are 0.
    """

    objective: Tensor
    nll: Tensor
    entropy: Tensor


class Scored(NamedTuple):
    """The positions of a call whose target is not ignored."""

    rows: Tensor  # (m,), indices into the n flattened positions
    targets: Tensor  # (m,)
    shape: tuple[int, ...]  # of the targets as given

    @property
    def all(self) -> bool:
        return len(self.rows) == math.prod(self.shape)


def check_settings(lam: float, penalty: Penalty, reduction: str) -> None:
    if not isinstance(lam, Real) or not math.isfinite(lam):
        raise ValueError(f"lam must be a finite number, got {lam!r}; 0 is plain cross-entropy")
    if not isinstance(penalty, Penalty):
        raise ValueError(f"penalty must be one such as Shannon() or Renyi(0.5), got {penalty!r}")
    if reduction not in REDUCTIONS:
        raise ValueError(f"no reduction {reduction!r}; there are {', '.join(map(repr, REDUCTIONS))}")


def scored_positions(targets: Tensor, leading: tuple[int, ...], v: int, *, ignore_index: int) -> Scored:
    """Which of the targets (...) to score, each in [0, v); `leading` is the shape that they must have."""
    if targets.shape != leading:
        raise ValueError(
            f"targets have shape {tuple(targets.shape)}, but the rows that they belong to {tuple(leading)}; "
            f"give one target a row, {ignore_index} where there is none"
        )
    if targets.is_floating_point() or targets.is_complex():
        raise ValueError(f"targets are token ids, got {targets.dtype}; convert them with .long()")
    flat = targets.reshape(-1).long()
    rows = (flat != ignore_index).nonzero()[:, 0]
    kept = flat.index_select(0, rows)
    if len(kept):
        low, high = (int(end) for end in kept.aminmax())
        if low < 0 or high >= v:
            raise ValueError(
                f"target {low if low < 0 else high} is outside the vocabulary of {v} tokens; "
                f"mark positions without a target with ignore_index, here {ignore_index}"
            )
    return Scored(rows, kept, tuple(targets.shape))


def spread(values: Tensor, scored: Scored) -> Tensor:
    """(m, ...) at the scored rows → (n, ...), 0 elsewhere."""
    if scored.all:
        return values
    return values.new_zeros(math.prod(scored.shape), *values.shape[1:]).index_copy_(0, scored.rows, values)


def as_loss(objective: Tensor, nll: Tensor, entropy: Tensor, *, scored: Scored, reduction: str) -> Loss:
    """`objective` is (n,) if nothing is to be reduced, else a sum; `nll` and `entropy` are (m,)."""
    if reduction == "none":
        given = (objective, spread(nll, scored), spread(entropy, scored))
        return Loss(*(values.reshape(scored.shape) for values in given))
    count = max(len(scored.rows), 1)
    return Loss(
        objective / count if reduction == "mean" else objective, nll.sum() / count, entropy.sum() / count
    )


_Backward = TypeVar("_Backward", bound=Callable[..., Any])


def not_differentiable(backward: _Backward) -> _Backward:
    """`backward`, refusing create_graph: torch's `once_differentiable` would pass it for a constant."""

    @wraps(backward)
    def refusing(*args: Any) -> Any:
        if torch.is_grad_enabled():
            raise RuntimeError(
                "the gradient of this loss was made in the forward and cannot be differentiated again; "
                "leave out create_graph=True"
            )
        return backward(*args)

    return cast(_Backward, refusing)
