"""The linear form as one operator that torch.compile takes whole.

What cannot be an operator's argument (the penalty, the objective, the settings) travels as a line of text.
The gradients are outputs like any other, so that the backward is a scaling, as outside of the compiler.
"""

from typing import Any

import torch
from torch import Tensor

from erce.loss.batch import Given, Loss, Scored, as_loss, check_given, rows_to_log, spread
from erce.loss.call import ROW_GRADIENTS, Call, dtypes_of, finished
from erce.loss.chunks import Gradients, Operands, Wanted
from erce.loss.criterion import Transform
from erce.loss.objectives import OBJECTIVES, make_objective, objective_name
from erce.loss.penalties import make_penalty, order_of, penalty_name

_LOGGED = len(Loss._fields) - 1


def takes(call: Call) -> bool:
    """Not anybody's own penalty or objective, which has no name, and no process group."""
    ours = type(call.objective) in OBJECTIVES.values() and order_of(call.penalty) is not None
    return ours and call.group is None


def loss(operands: Operands, call: Call) -> Loss:
    given, targets = call.given, call.targets
    lam_rows = given.lam if isinstance(given.lam, Tensor) else None
    wanted = [torch.is_grad_enabled() and x is not None and x.requires_grad for x in operands]
    total, *rest = _forward(*operands, targets, lam_rows, given.row_weights, _settings(call), wanted)
    count = (targets != given.ignore_index).sum().clamp(min=1)
    logged = [x.detach() for x in rest[:_LOGGED]]
    return as_loss(total, logged, given, count=count, shape=tuple(targets.shape))


def _settings(call: Call) -> str:
    """A line that `_call` reads: nothing but f-strings, which the compiler can follow."""
    lam, (logit_scale, softcap, temperature) = call.given.lam, call.transform
    return ";".join(
        [
            f"lam={None if isinstance(lam, Tensor) else lam}",
            f"reduction={'none' if call.given.per_row else 'sum'}",
            f"ignore_index={call.given.ignore_index}",
            f"diagnose={call.given.diagnose}",
            f"penalty={penalty_name(call.penalty)}",
            f"order={order_of(call.penalty)}",
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


def _call(settings: str, targets: Tensor, lam: Tensor | None, row_weights: Tensor | None) -> Call:
    of = _read(settings)
    strength, chunk_bytes = float(of["lam"]) if lam is None else lam, _number(of["chunk_bytes"])
    given = Given(
        strength, of["reduction"], row_weights, None, int(of["ignore_index"]), of["diagnose"] == "True"
    )
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
    lam: Tensor | None,
    row_weights: Tensor | None,
    settings: str,
    wanted: list[bool],
) -> list[Tensor]:
    """The objective, what is logged, and the gradients, empty where they are not wanted or come later."""
    operands, call = Operands(hidden, weight, bias, low, up), _call(settings, targets, lam, row_weights)
    scored = call.scored(len(weight))
    made = Wanted() if _later(settings, wanted) else Wanted(*wanted)
    scores, gradients = call.run(operands, scored, made)
    total = spread(scores.objective, scored) if call.given.per_row else scores.objective.sum()
    return [total, *_distinct(rows_to_log(scores, scored)), *_full(gradients, scored, operands)]


@torch.library.custom_op("erce::linear_loss_gradients", mutates_args=())
def _gradients(  # noqa: PLR0913, PLR0917
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    low: Tensor | None,
    up: Tensor | None,
    targets: Tensor,
    lam: Tensor | None,
    row_weights: Tensor | None,
    upstream: Tensor,
    settings: str,
    wanted: list[bool],
) -> list[Tensor]:
    operands, call = Operands(hidden, weight, bias, low, up), _call(settings, targets, lam, row_weights)
    scored = call.scored(len(weight))
    _, gradients = call.run(operands, scored, Wanted(*wanted), weights=upstream[scored.rows])
    return _full(gradients, scored, operands)


def _distinct(rows: list[Tensor]) -> list[Tensor]:
    """An operator's outputs share no memory."""
    return [x.clone() for x in rows]


def _full(gradients: Gradients, scored: Scored, operands: Operands) -> list[Tensor]:
    whole = finished(gradients, scored, dtypes_of(operands))
    return [operands.hidden.new_empty(0) if x is None else x for x in whole]


@_forward.register_fake
def _(hidden, weight, bias, low, up, targets, lam, row_weights, settings, wanted):  # noqa: PLR0913, PLR0917
    rows = hidden.new_empty(len(hidden), dtype=_exact(hidden, weight, bias, low, up))
    total = torch.empty_like(rows) if _per_row(settings) else rows.new_empty(())
    later = _later(settings, wanted)
    operands = (hidden, weight, bias, low, up)
    return [total, *(torch.empty_like(rows) for _ in range(_LOGGED)), *_like(operands, wanted, not later)]


@_gradients.register_fake
def _(hidden, weight, bias, low, up, targets, lam, row_weights, upstream, settings, wanted):  # noqa: PLR0913, PLR0917
    return _like((hidden, weight, bias, low, up), wanted, True)


def _exact(*operands: Tensor | None) -> torch.dtype:
    exact = torch.float32
    for x in operands:
        exact = exact if x is None else torch.promote_types(exact, x.dtype)
    return exact


def _like(operands: Any, wanted: list[bool], made: bool) -> list[Tensor]:
    return [
        torch.empty_like(x) if made and is_wanted and x is not None else operands[0].new_empty(0)
        for x, is_wanted in zip(operands, wanted, strict=True)
    ]


def _keep(ctx: Any, inputs: tuple, output: list[Tensor]) -> None:
    *tensors, settings, wanted = inputs
    ctx.settings, ctx.wanted, ctx.later = settings, wanted, _later(settings, wanted)
    ctx.save_for_backward(*(tensors if ctx.later else output[1 + _LOGGED :]))


def _backward(ctx: Any, upstream: list[Tensor]) -> tuple:
    """Of the operator's ten arguments; only the first five have one."""
    scale = upstream[0]
    if ctx.later:
        found = _gradients(*ctx.saved_tensors, scale, ctx.settings, ctx.wanted)
    else:
        found = [
            (x * (scale[:, None] if scale.ndim and name in ROW_GRADIENTS else scale)).to(x.dtype)
            if x.numel()
            else x
            for name, x in zip(Gradients._fields, ctx.saved_tensors, strict=True)
        ]
    given = (x if is_wanted else None for x, is_wanted in zip(found, ctx.wanted, strict=True))
    return *given, *[None] * 5


_forward.register_autograd(_backward, setup_context=_keep)
