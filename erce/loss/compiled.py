"""The linear form as one operator that torch.compile takes whole.

What cannot be an operator's argument (the penalty, the objective, the settings) travels as a line of text.
The gradients are outputs like any other, so that the backward is a scaling, as outside of the compiler.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from erce.loss.batch import Given, Loss, as_loss, check_given, not_differentiable, rows_to_log, spread
from erce.loss.call import ROW_GRADIENTS, Call, dtypes_of, finished
from erce.loss.chunks import Gradients, Operands, Wanted
from erce.loss.criterion import Transform
from erce.loss.named import (
    OBJECTIVES,
    PENALTIES,
    make_objective,
    make_penalty,
    objective_name,
    penalty_name,
)

_LOGGED = len(Loss._fields) - 1


def takes(weight: Tensor, call: Call) -> bool:
    """Not anybody's own penalty or objective, which has no name here; no process group, no ZeRO-3 head."""
    ours = type(call.objective) in OBJECTIVES.values() and type(call.penalty) in PENALTIES.values()
    return ours and call.method == "fused" and call.group is None and not hasattr(weight, "ds_id")


@torch.compiler.disable()
def outside(function: Callable[..., Loss], *args: Any) -> Loss:
    """What the function returns, out of the compiler's sight."""
    return function(*args)


def loss(operands: Operands, call: Call) -> Loss:
    given, targets = call.given, call.targets
    lam = given.lam
    if not isinstance(lam, Tensor):  # so that another λ does not compile the loss again
        lam = torch.ones((), dtype=_exact(*operands), device=targets.device) * lam
    wanted = [torch.is_grad_enabled() and x is not None and x.requires_grad for x in operands]
    total, *rest = _forward(*operands, targets, lam, given.row_weights, _settings(call), wanted)
    count = (targets != given.ignore_index).sum().clamp(min=1)
    logged = [x.detach() for x in rest[:_LOGGED]]
    return as_loss(total, logged, given, count=count, shape=tuple(targets.shape))


def _settings(call: Call) -> str:
    """A line that `_call` reads: nothing but f-strings, which the compiler can follow."""
    logit_scale, softcap, temperature = call.transform
    return ";".join(
        [
            f"reduction={'none' if call.given.per_row else 'sum'}",
            f"ignore_index={call.given.ignore_index}",
            f"diagnose={call.given.diagnose}",
            f"penalty={penalty_name(call.penalty)}",
            f"order={getattr(call.penalty, 'order', 1.0)}",
            f"objective={objective_name(call.objective)}",
            f"logit_scale={logit_scale}",
            f"softcap={softcap}",
            f"temperature={temperature}",
            f"chunk_bytes={call.chunk_bytes}",
            f"autocast={call.autocast}",
        ]
    )


def _read(settings: str) -> dict[str, Any]:
    return dict(entry.split("=", 1) for entry in settings.split(";"))


def _number(text: str) -> float | None:
    return None if text == "None" else float(text)


def _call(settings: str, targets: Tensor, lam: Tensor, row_weights: Tensor | None) -> Call:
    of = _read(settings)
    chunk_bytes = _number(of["chunk_bytes"])
    given = Given(lam, of["reduction"], row_weights, None, int(of["ignore_index"]), of["diagnose"] == "True")
    penalty, objective = make_penalty(of["penalty"], float(of["order"])), make_objective(of["objective"])
    check_given(given, penalty, objective, tuple(targets.shape))
    autocast = None if of["autocast"] == "None" else getattr(torch, of["autocast"].removeprefix("torch."))
    transform = Transform(float(of["logit_scale"]), _number(of["softcap"]), float(of["temperature"]))
    return Call(given, penalty, objective, transform, targets, chunk_bytes, autocast)


def _per_row(settings: str) -> bool:
    return _read(settings)["reduction"] == "none"


def _later(settings: str, wanted: list[bool]) -> bool:
    """Whether the rows of a head that learns are weighed after the forward."""
    learns = Wanted(*wanted)
    return _per_row(settings) and (learns.weight or learns.bias or learns.up)


@torch.library.custom_op("erce::linear_loss", mutates_args=())
def _forward(  # noqa: PLR0913, PLR0917 — an operator takes its tensors one by one
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    low: Tensor | None,
    up: Tensor | None,
    targets: Tensor,
    lam: Tensor,
    row_weights: Tensor | None,
    settings: str,
    wanted: list[bool],
) -> list[Tensor]:
    """The objective, what is logged, and the gradients, in the exact dtype as they are yet to be scaled, and
    empty where they are not wanted or come later."""
    operands, call = Operands(hidden, weight, bias, low, up), _call(settings, targets, lam, row_weights)
    scored = call.scored(len(weight))
    made = Wanted() if _later(settings, wanted) else Wanted(*wanted)
    scores, gradients = call.run(operands, scored, made)
    total = spread(scores.objective, scored) if call.given.per_row else scores.objective.sum()
    found = finished(gradients, scored, [None] * len(operands))
    return [total, *_distinct(rows_to_log(scores, scored)), *_or_empty(found, hidden)]


@torch.library.custom_op("erce::linear_loss_gradients", mutates_args=())
def _gradients(  # noqa: PLR0913, PLR0917
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    low: Tensor | None,
    up: Tensor | None,
    targets: Tensor,
    lam: Tensor,
    row_weights: Tensor | None,
    upstream: Tensor,
    settings: str,
    wanted: list[bool],
) -> list[Tensor]:
    operands, call = Operands(hidden, weight, bias, low, up), _call(settings, targets, lam, row_weights)
    scored = call.scored(len(weight))
    _, gradients = call.run(operands, scored, Wanted(*wanted), weights=upstream[scored.rows])
    return _or_empty(finished(gradients, scored, dtypes_of(operands)), hidden)


def _distinct(rows: list[Tensor]) -> list[Tensor]:
    """An operator's outputs share no memory."""
    return [x.clone() for x in rows]


def _or_empty(gradients: tuple[Tensor | None, ...], like: Tensor) -> list[Tensor]:
    return [like.new_empty(0) if x is None else x for x in gradients]


@_forward.register_fake
def _(hidden, weight, bias, low, up, targets, lam, row_weights, settings, wanted):  # noqa: PLR0913, PLR0917
    operands = Operands(hidden, weight, bias, low, up)
    exact = _exact(*operands)
    rows = hidden.new_empty(hidden.shape[0], dtype=exact)  # len() would fix the size
    total = torch.empty_like(rows) if _per_row(settings) else rows.new_empty(())
    made = [is_wanted and not _later(settings, wanted) for is_wanted in wanted]
    return [total, *(torch.empty_like(rows) for _ in range(_LOGGED)), *_made(operands, made, [exact] * 5)]


@_gradients.register_fake
def _(hidden, weight, bias, low, up, targets, lam, row_weights, upstream, settings, wanted):  # noqa: PLR0913, PLR0917
    operands = Operands(hidden, weight, bias, low, up)
    return _made(operands, wanted, dtypes_of(operands))


def _made(operands: Operands, made: list[bool], dtypes: list[torch.dtype | None]) -> list[Tensor]:
    """Room for the gradients."""
    rooms = zip(operands, made, dtypes, strict=True)
    found = (
        x.new_empty(x.shape, dtype=dtype) if is_made and x is not None else None
        for x, is_made, dtype in rooms
    )
    return _or_empty(tuple(found), operands.hidden)


def _exact(*operands: Tensor | None) -> torch.dtype:
    exact = torch.float32
    for x in operands:
        exact = exact if x is None else torch.promote_types(exact, x.dtype)
    return exact


def _keep(ctx: Any, inputs: tuple, output: list[Tensor]) -> None:
    *tensors, settings, wanted = inputs
    ctx.settings, ctx.wanted, ctx.later = settings, wanted, _later(settings, wanted)
    ctx.dtypes = dtypes_of(Operands(*tensors[:5]))
    ctx.save_for_backward(*(tensors if ctx.later else output[1 + _LOGGED :]))


@not_differentiable
def _backward(ctx: Any, upstream: list[Tensor]) -> tuple:
    """Of the operator's ten arguments; only the first five have one."""
    scale = upstream[0]
    if ctx.later:
        found = _gradients(*ctx.saved_tensors, scale, ctx.settings, ctx.wanted)
    else:
        rows = scale[:, None] if scale.ndim else scale
        made = zip(Gradients._fields, ctx.saved_tensors, ctx.wanted, strict=True)
        found = [
            x * (rows if name in ROW_GRADIENTS else scale) if is_wanted else x for name, x, is_wanted in made
        ]
    given = zip(found, ctx.dtypes, ctx.wanted, strict=True)
    return *(x.to(dtype) if is_wanted else None for x, dtype, is_wanted in given), *[None] * 5


_forward.register_autograd(_backward, setup_context=_keep)
