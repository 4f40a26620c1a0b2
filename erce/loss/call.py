"""The arguments of the linear form, checked, and one sweep with them."""

from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor
from torch.distributed import ProcessGroup

from erce.loss import shards
from erce.loss.batch import Given, Scored, check_targets, criterion_of, scored_positions, spread
from erce.loss.chunks import Gradients, Operands, Plan, Wanted, sweep
from erce.loss.criterion import Transform
from erce.loss.objectives import Objective
from erce.loss.penalties import Penalty, order_of
from erce.loss.settle import Scores

METHODS = ("fused", "checkpoint")
ROW_GRADIENTS = ("hidden", "low")  # (m, ...), the rest is of the head


class Call(NamedTuple):
    """What a call fixes beside its operands."""

    given: Given
    penalty: Penalty
    objective: Objective
    transform: Transform
    targets: Tensor  # (...)
    chunk_bytes: float | None
    autocast: torch.dtype | None
    method: str = "fused"
    group: ProcessGroup | None = None
    sizes: list[int] | None = None  # of the vocabulary, what each process of the group has

    def scored(self, v: int) -> Scored:
        v = v if self.sizes is None else sum(self.sizes)
        return scored_positions(
            self.targets, tuple(self.targets.shape), v, ignore_index=self.given.ignore_index
        )

    def run(
        self, operands: Operands, scored: Scored, wanted: Wanted, *, weights: Tensor | None = None
    ) -> tuple[Scores, Gradients]:
        """`weights` (m,) come on top of the rows' own."""
        criterion = criterion_of(self.given, self.penalty, self.objective, scored, self.transform)
        if weights is not None:
            own = criterion.weights
            criterion = replace(criterion, weights=weights if own is None else own * weights)
        plan = Plan(
            rows=scored.rows,
            targets=scored.targets,
            criterion=criterion,
            chunk_bytes=self.chunk_bytes,
            autocast=self.autocast,
        )
        if self.group is None or self.sizes is None:
            return sweep(operands, plan, wanted)
        return shards.sweep_shard(operands, plan, wanted, group=self.group, sizes=self.sizes)


def operands_of(
    hidden: Tensor, weight: Tensor, bias: Tensor | None, low: Tensor | None, up: Tensor | None
) -> Operands:
    """Their leading axes made one, if their shapes fit."""
    if weight.ndim != 2 or hidden.ndim < 1 or hidden.shape[-1] != weight.shape[1]:
        raise ValueError(
            f"hidden {tuple(hidden.shape)} and weight {tuple(weight.shape)} do not fit; "
            f"they must be (..., d) and (v, d)"
        )
    if not (hidden.is_floating_point() and weight.is_floating_point()):
        raise ValueError(
            f"hidden is {hidden.dtype} and weight {weight.dtype}; a quantised head must be dequantised first"
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ValueError(f"bias has shape {tuple(bias.shape)}, but weight has {len(weight)} rows; give (v,)")
    if low is not None and up is not None:
        if low.shape[:-1] != hidden.shape[:-1] or up.shape != (len(weight), low.shape[-1]):
            raise ValueError(
                f"adapter {tuple(low.shape)} and {tuple(up.shape)} does not fit hidden {tuple(hidden.shape)} "
                f"and weight {tuple(weight.shape)}; it must be (..., r) and (v, r)"
            )
        low = low.reshape(-1, low.shape[-1])
    return Operands(hidden.reshape(-1, hidden.shape[-1]), weight, bias, low, up)


def check_call(operands: Operands, call: Call, leading: tuple[int, ...]) -> None:
    check_targets(call.targets, leading, call.given.ignore_index)
    if call.chunk_bytes is not None and not call.chunk_bytes > 0:
        raise ValueError(f"chunk_bytes must be above 0, got {call.chunk_bytes!r}; None is the default")
    if call.method not in METHODS:
        raise ValueError(f"no method {call.method!r}; there are {', '.join(map(repr, METHODS))}")
    if call.method == "checkpoint" and call.group is not None:
        raise ValueError("method='checkpoint' has the whole vocabulary; leave out group")
    if call.method == "checkpoint" and order_of(call.penalty) is None:
        raise ValueError(f"method='checkpoint' cannot differentiate {call.penalty!r}; leave it out")
    if call.group is not None and (
        call.objective.gated or order_of(call.penalty) is None or call.given.diagnose
    ):
        raise ValueError(
            "a vocabulary that is split over a group has no gated objective, no penalty of your own and no "
            f"diagnosis, got {call.objective!r}, {call.penalty!r} and diagnose={call.given.diagnose}"
        )
    if operands.hidden.device != operands.weight.device:
        raise ValueError(
            f"hidden is on {operands.hidden.device} and weight on {operands.weight.device}; move one of them"
        )


def dtypes_of(operands: Operands) -> list[torch.dtype | None]:
    return [None if x is None else x.dtype for x in operands]


def finished(
    gradients: Gradients, scored: Scored, dtypes: list[torch.dtype | None]
) -> tuple[Tensor | None, ...]:
    """Of all n positions and in the operands' dtypes."""
    whole = (
        spread(x, scored) if x is not None and name in ROW_GRADIENTS else x
        for name, x in gradients._asdict().items()
    )
    return tuple(
        x if x is None or dtype is None else x.to(dtype) for x, dtype in zip(whole, dtypes, strict=True)
    )


def autocast_dtype(device: str) -> torch.dtype | None:
    """What a linear layer would round its operands to here."""
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else None
