"""The form from hidden states as one operator that torch.compile takes whole.

A request travels as its tensors and a line of text, for an operator takes no other arguments; `num_scored`,
which changes from call to call, stays behind. The gradients are outputs like any other, so that the backward
is a scaling, as outside of the compiler.
"""
# ruff: noqa: PLR0913, PLR0917 — an operator takes its tensors one by one

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.distributed import ProcessGroup

from erce.loss.chunked import NONE_WANTED, Gradients, Operands, Plan, cast_and_scatter, chunked_loss
from erce.loss.named import (
    OBJECTIVES,
    PENALTIES,
    make_objective,
    make_penalty,
    objective_name,
    penalty_name,
)
from erce.loss.request import Loss, Request, not_differentiable
from erce.loss.row_passes import Vocabulary
from erce.loss.scored_rows import outputs

FIRST_TORCH = "2.12"  # whose compiler follows the properties of a named tuple
OLD_COMPILER = torch.__version__ < FIRST_TORCH
BY_ROW = [name in {"hidden", "low"} for name in Gradients._fields]


def takes(weight: Tensor, request: Request, group: ProcessGroup | None) -> bool:
    """Return whether the operator takes the call.

    It takes no user-defined penalty or objective, which has no name here, no process group, no ZeRO-3 head,
    no lse to differentiate, and no torch before 2.12.
    """
    if OLD_COMPILER:
        return False
    named = type(request.objective) in tuple(OBJECTIVES.values()) and type(request.penalty) in tuple(
        PENALTIES.values()
    )
    return named and group is None and not hasattr(weight, "ds_id") and not request.return_lse


@torch.compiler.disable(
    reason="only the loss from hidden states, with erce's own penalties and objectives and without a process "
    f"group or return_lse, compiles with fullgraph=True, from torch {FIRST_TORCH} on"
)
def outside(function: Callable[..., Loss], *args: Any) -> Loss:
    """Return what the function returns, out of the compiler's sight."""
    return function(*args)


def outputs_and_count(operands: Operands, request: Request) -> tuple[tuple[Tensor, ...], Tensor]:
    """Return what `Request.reduced` takes, through the one operator that torch.compile takes whole."""
    lam = request.lam
    if not isinstance(lam, Tensor):  # so that another λ does not compile the loss again
        lam = torch.ones((), dtype=operands.exact, device=request.targets.device) * lam
    wanted = [torch.is_grad_enabled() and x is not None and x.requires_grad for x in operands]
    tensors = (*operands, request.targets, lam, request.row_weights)
    total, *rest = _forward(*tensors, to_text(request), wanted)
    count = (request.targets != request.ignore_index).sum().clamp(min=1)
    return (total, *(x.detach() for x in rest[: len(request.fields) - 1])), count


def _number(text: str) -> float | None:
    return None if text == "None" else float(text)


def _dtype(text: str) -> torch.dtype | None:
    return None if text == "None" else getattr(torch, text.removeprefix("torch."))


AS_TEXT: dict[
    str, Callable[[str], Any]
] = {  # the fields of a request that travel as text, and how to read each
    "reduction": str,
    "ignore_index": int,
    "diagnose": lambda text: text == "True",
    "z_loss": float,
    "logit_scale": float,
    "softcap": _number,
    "temperature": float,
    "chunk_bytes": _number,
    "autocast": _dtype,
    "impl": str,
}


def to_text(request: Request) -> str:
    """Return the line that `from_text` reads: of nothing but f-strings, which the compiler can follow."""
    request = request._replace(reduction="none" if request.per_row else "sum")
    penalty = f"{penalty_name(request.penalty)},{request.order}"
    fields = [f"{name}={getattr(request, name)}" for name in AS_TEXT]
    named = [f"penalty={penalty}", f"objective={objective_name(request.objective)}"]
    return ";".join([*named, *fields, f"logged={len(request.fields) - 1}"])


def from_text(text: str, targets: Tensor, lam: Tensor, row_weights: Tensor | None) -> Request:
    """Return the request of a line and its tensors, checked."""
    line = dict(entry.split("=", 1) for entry in text.split(";"))
    name, order = line.pop("penalty").split(",")
    penalty, objective = make_penalty(name, float(order)), make_objective(line.pop("objective"))
    fields = {field: read(line[field]) for field, read in AS_TEXT.items()}
    request = Request(targets, lam, penalty, objective, row_weights=row_weights, **fields)
    request.check(tuple(targets.shape))
    return request


def _per_row(text: str) -> bool:
    return "reduction=none;" in text


def _later(text: str, wanted: list[bool]) -> bool:
    """Return whether the rows of a trainable head are weighed after the forward."""
    _, weight, bias, _, up = wanted
    return _per_row(text) and (weight or bias or up)


@torch.library.custom_op("erce::linear_loss", mutates_args=())
def _forward(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    low: Tensor | None,
    up: Tensor | None,
    targets: Tensor,
    lam: Tensor,
    row_weights: Tensor | None,
    text: str,
    wanted: list[bool],
) -> list[Tensor]:
    """Return the objective, what is logged, and the gradients: in the exact dtype, as they are yet to be
    scaled, and empty where they are not wanted or come later."""
    operands, request = Operands(hidden, weight, bias, low, up), from_text(text, targets, lam, row_weights)
    plan = Plan.of(operands, request, Vocabulary())
    made = NONE_WANTED if _later(text, wanted) else wanted
    per_row, gradients = chunked_loss(operands, plan, made)
    total, *logged = outputs(per_row, plan.rows, request)
    scattered = cast_and_scatter(gradients, plan, [None] * len(operands))
    # An operator's outputs share no memory, and `logged` may be rows of one tensor.
    return [total, *(x.clone() for x in logged), *_or_empty(scattered, hidden)]


@torch.library.custom_op("erce::linear_loss_gradients", mutates_args=())
def _gradients(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    low: Tensor | None,
    up: Tensor | None,
    targets: Tensor,
    lam: Tensor,
    row_weights: Tensor | None,
    upstream: Tensor,
    text: str,
    wanted: list[bool],
) -> list[Tensor]:
    operands, request = Operands(hidden, weight, bias, low, up), from_text(text, targets, lam, row_weights)
    plan = Plan.of(operands, request, Vocabulary())
    weighed = plan.rows.weighed(upstream, None, operands.exact)
    _, gradients = chunked_loss(operands, plan._replace(rows=weighed), wanted)
    return _or_empty(cast_and_scatter(gradients, plan, operands.dtypes), hidden)


def _or_empty(gradients: tuple[Tensor | None, ...], like: Tensor) -> list[Tensor]:
    return [like.new_empty(0) if x is None else x for x in gradients]


@_forward.register_fake
def _(hidden, weight, bias, low, up, targets, lam, row_weights, text, wanted):
    operands = Operands(hidden, weight, bias, low, up)
    rows = hidden.new_empty(hidden.shape[0], dtype=operands.exact)  # len() would fix the size
    total = torch.empty_like(rows) if _per_row(text) else rows.new_empty(())
    made = [is_wanted and not _later(text, wanted) for is_wanted in wanted]
    logged = [torch.empty_like(rows) for _ in range(_logged(text))]
    return [total, *logged, *_made(operands, made, [operands.exact] * 5)]


@_gradients.register_fake
def _(hidden, weight, bias, low, up, targets, lam, row_weights, upstream, text, wanted):
    operands = Operands(hidden, weight, bias, low, up)
    return _made(operands, wanted, operands.dtypes)


def _logged(text: str) -> int:
    """Return how many fields of `Loss` are logged: all that are asked for but the objective."""
    return int(text.rpartition("=")[2])


def _made(operands: Operands, made: list[bool], dtypes: list[torch.dtype | None]) -> list[Tensor]:
    """Return room for the gradients."""
    room = (
        x.new_empty(x.shape, dtype=dtype) if is_made and x is not None else None
        for x, is_made, dtype in zip(operands, made, dtypes, strict=True)
    )
    return _or_empty(tuple(room), operands.hidden)


def _keep(ctx: Any, inputs: tuple, output: list[Tensor]) -> None:
    *tensors, text, wanted = inputs
    ctx.text, ctx.wanted, ctx.later = text, wanted, _later(text, wanted)
    ctx.dtypes = Operands(*tensors[:5]).dtypes
    ctx.save_for_backward(*(tensors if ctx.later else output[1 + _logged(text) :]))


@not_differentiable
def _backward(ctx: Any, upstream: list[Tensor]) -> tuple:
    """Return the gradients of the operator's ten arguments; only the first five have one."""
    scale = upstream[0]
    if ctx.later:
        gradients = _gradients(*ctx.saved_tensors, scale, ctx.text, ctx.wanted)
    else:
        rows = scale[:, None] if scale.ndim else scale
        made = zip(ctx.saved_tensors, BY_ROW, ctx.wanted, strict=True)
        gradients = [x * (rows if by_row else scale) if is_wanted else x for x, by_row, is_wanted in made]
    wanted = zip(gradients, ctx.dtypes, ctx.wanted, strict=True)
    return *(x.to(dtype) if is_wanted else None for x, dtype, is_wanted in wanted), *[None] * 5


_forward.register_autograd(_backward, setup_context=_keep)
