"""The arguments of a call into the positions to score, and their scores into what the caller asked for."""

import math
from collections.abc import Callable
from functools import wraps
from numbers import Real
from typing import Any, NamedTuple, TypeVar, cast

import torch
from torch import Tensor

from erce.loss.criterion import Criterion, Transform
from erce.loss.objectives import Objective
from erce.loss.penalties import Penalty
from erce.loss.settle import Scores

REDUCTIONS = ("mean", "sum", "none")


class Loss(NamedTuple):
    """What both functions return.

    `objective`, what is minimised, is differentiable: its mean or sum over the scored positions or, for
    reduction="none", one per position, in the shape of the targets and 0 where they are ignored. All else is
    detached, for the log, and knows no weights: means over the scored positions for "mean" and for "sum",
    else per position. With nothing scored all are 0.
    """

    objective: Tensor
    nll: Tensor  # −log p(target), nats
    entropy: Tensor  # the penalty's value
    top1: Tensor  # 1 where no token is likelier than the target, else 0
    log_sum_p2: Tensor  # log Σ p², nats: −R of order 2
    pushed_down: Tensor  # 1 where a step against the gradient lowers the target's own logit, else 0
    tail_share: Tensor | None = None  # of Σ p^order, outside the 100 likeliest tokens; with `diagnose` only


class Given(NamedTuple):
    """What both functions take beside their operands, targets and penalty."""

    lam: float | Tensor
    reduction: str
    row_weights: Tensor | None
    num_items_in_batch: float | Tensor | None
    ignore_index: int
    diagnose: bool

    @property
    def per_row(self) -> bool:
        return self.reduction == "none"


class Scored(NamedTuple):
    """The positions of a call whose target is not ignored."""

    rows: Tensor  # (m,), indices into the n flattened positions
    targets: Tensor  # (m,)
    shape: tuple[int, ...]  # of the targets as given

    @property
    def all(self) -> bool:
        return len(self.rows) == math.prod(self.shape)


def check_given(given: Given, penalty: Penalty, objective: Objective, shape: tuple[int, ...]) -> None:
    """A ValueError for what makes no sense; `shape` is that of the targets."""
    lam, items = given.lam, given.num_items_in_batch
    if not isinstance(penalty, Penalty):
        raise ValueError(f"penalty must be one such as Shannon() or Renyi(0.5), got {penalty!r}")
    if not isinstance(objective, Objective):
        raise ValueError(f"objective must be one such as CrossEntropy() or Focal(2.0), got {objective!r}")
    if given.reduction not in REDUCTIONS:
        raise ValueError(f"no reduction {given.reduction!r}; there are {', '.join(map(repr, REDUCTIONS))}")
    if not isinstance(lam, Tensor) and not (isinstance(lam, Real) and -math.inf < lam < math.inf):
        raise ValueError(f"lam must be a finite number, got {lam!r}; 0 is plain cross-entropy")
    for name, rows in (("lam", lam), ("row_weights", given.row_weights)):
        if isinstance(rows, Tensor):
            _check_rows(name, rows, shape)
    if items is None:
        return
    if given.reduction != "mean":
        raise ValueError(
            f"num_items_in_batch divides a mean, got it with reduction={given.reduction!r}; leave it out"
        )
    if not isinstance(items, Tensor) and not (isinstance(items, Real) and 0 < items < math.inf):
        raise ValueError(
            f"num_items_in_batch must be above 0, got {items!r}; it is what the sum is divided by"
        )


def _check_rows(name: str, rows: Tensor, shape: tuple[int, ...]) -> None:
    if rows.shape != shape and not (name == "lam" and rows.ndim == 0):
        raise ValueError(
            f"{name} has shape {tuple(rows.shape)}, but the targets {tuple(shape)}; give one a target"
        )
    if rows.requires_grad:
        raise ValueError(f"{name} is a constant here and has no gradient; give {name}.detach()")
    if not torch.compiler.is_compiling() and not rows.isfinite().all():
        raise ValueError(f"{name} must be finite numbers, got {float(rows[~rows.isfinite()][0])}")


def transform_of(logit_scale: float, softcap: float | None, temperature: float) -> Transform:
    for name, value in (("logit_scale", logit_scale), ("softcap", softcap), ("temperature", temperature)):
        if value is None and name == "softcap":
            continue
        if not isinstance(value, Real) or not 0 < value < math.inf:
            way_out = "None is no cap" if name == "softcap" else "1 changes nothing"
            raise ValueError(f"{name} must be a number above 0, got {value!r}; {way_out}")
    cap = None if softcap is None else float(softcap)
    return Transform(float(logit_scale), cap, float(temperature))


def criterion_of(
    given: Given, penalty: Penalty, objective: Objective, scored: Scored, transform: Transform
) -> Criterion:
    def rows(x: Tensor) -> Tensor:
        return x.broadcast_to(scored.shape).reshape(-1).index_select(0, scored.rows)

    return Criterion(
        lam=rows(given.lam) if isinstance(given.lam, Tensor) else float(given.lam),
        penalty=penalty,
        objective=objective,
        weights=None if given.row_weights is None else rows(given.row_weights),
        transform=transform,
        diagnose=given.diagnose,
    )


def scored_positions(targets: Tensor, leading: tuple[int, ...], v: int, *, ignore_index: int) -> Scored:
    """Which of the targets (...) to score, each in [0, v); `leading` is the shape that they must have."""
    check_targets(targets, leading, ignore_index)
    flat = targets.reshape(-1).long()
    rows = (flat != ignore_index).nonzero()[:, 0]
    kept = flat.index_select(0, rows)
    if len(kept):
        low, high = torch.stack(kept.aminmax()).tolist()
        if low < 0 or high >= v:
            raise ValueError(
                f"target {low if low < 0 else high} is outside the vocabulary of {v} tokens; "
                f"mark positions without a target with ignore_index, here {ignore_index}"
            )
    return Scored(rows, kept, tuple(targets.shape))


def check_targets(targets: Tensor, leading: tuple[int, ...], ignore_index: int) -> None:
    if targets.shape != leading:
        raise ValueError(
            f"targets have shape {tuple(targets.shape)}, but the rows that they belong to {tuple(leading)}; "
            f"give one target a row, {ignore_index} where there is none"
        )
    if targets.is_floating_point() or targets.is_complex():
        raise ValueError(f"targets are token ids, got {targets.dtype}; convert them with .long()")


def spread(values: Tensor, scored: Scored) -> Tensor:
    """(m, ...) at the scored rows → (n, ...), 0 elsewhere."""
    if scored.all:
        return values
    return values.new_zeros(math.prod(scored.shape), *values.shape[1:]).index_copy_(0, scored.rows, values)


def rows_to_log(scores: Scores, scored: Scored) -> list[Tensor]:
    """(n,) each, in the order of `Loss`."""
    logged = (scores.nll, scores.entropy, scores.top1, scores.log_sum_p2, scores.pushed_down, scores.tail)
    return [spread(values, scored) for values in logged]


def as_loss(
    objective: Tensor, logged: list[Tensor], given: Given, *, count: int | Tensor, shape: tuple[int, ...]
) -> Loss:
    """`objective` is (n,) if nothing is to be reduced, else a sum; the rest is (n,), 0 where not scored."""
    *rest, tail = logged
    kept = rest + [tail] * given.diagnose
    if given.per_row:
        return Loss(*(values.reshape(shape) for values in (objective, *kept)))
    if given.reduction == "mean":
        items = given.num_items_in_batch
        objective = objective / (count if items is None else items)
    return Loss(objective, *(values.sum() / count for values in kept))


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
