"""One's own penalty or objective, tried on a few rows → nothing, or a sentence for where it breaks the rules.

What is wrong here would train for hours, on something else.
"""

from typing import Any

import torch
from torch import Tensor

from erce.loss.objectives import Objective
from erce.loss.penalties import Penalty

V = 7
STEP = 1e-5  # of a logit; the error of a central difference in float64 is then about 1e-10
NLLS = (0.0, 1e-6, 0.1, 1.0, 5.0, 50.0)


@torch.no_grad()
def check_penalty(penalty: Penalty, name: str) -> None:
    """A ValueError where the shapes are others than the protocol's, the gradient is not that of the value, a
    row depends on other rows, or a token without probability makes it infinite.

    The derivative is held to central differences of `value`, which need not be fit for autograd.
    """
    if not isinstance(penalty, Penalty):
        raise ValueError(f"penalty {name!r}: of_order gives {penalty!r}; it must give an erce.loss.Penalty")
    logits = _logits()
    log_p, p = _distribution(logits)
    said, both = f"penalty {name!r}:", f"penalty {name!r}: value_and_logit_grad"
    alone = penalty.value(log_p, p)
    _check(alone, f"{said} value gives", like=logits[:, 0])
    value, gradient = _pair(penalty.value_and_logit_grad(log_p, p), both)
    _check(value, f"{both} gives as value", like=logits[:, 0])
    _check(gradient, f"{both} gives as gradient", like=logits)
    if not all(map(torch.equal, (log_p, p), _distribution(logits))):
        raise ValueError(f"{said} it writes into log p or p, which others read; let it write to a copy")
    _close(value, alone, f"{both} gives another value than value does")
    _close(alone[:1], penalty.value(log_p[:1], p[:1]), f"{said} a row's value depends on the other rows")
    _close(gradient, _differences(penalty, logits), f"{both} gives a gradient that is not the value's")
    logits[:, 0] = -torch.inf
    log_p, p = _distribution(logits)
    if not all(
        x.isfinite().all() for x in (penalty.value(log_p, p), *penalty.value_and_logit_grad(log_p, p))
    ):
        raise ValueError(
            f"{said} it is not finite where a p is 0; log p is the lowest number there, not −inf"
        )


@torch.no_grad()
def check_objective(objective: Objective, name: str) -> None:
    """A ValueError where the shapes are others than the protocol's, or a number is not finite.

    The slope is not held to the value: a factor may be meant to carry no gradient.
    """
    if not isinstance(objective, Objective):
        raise ValueError(f"objective {name!r}: of gives {objective!r}; it must give an erce.loss.Objective")
    said, both = f"objective {name!r}:", f"objective {name!r}: value_and_slope"
    if not 0 <= objective.smoothing < 1:
        raise ValueError(f"{said} smoothing = {objective.smoothing!r} must be in [0, 1)")
    nll, gate = torch.tensor(NLLS, dtype=torch.float64, device="cpu"), None
    if objective.gated:
        gate = objective.gate(_logits(len(nll)))
        _check(gate, f"{said} gate gives", like=nll)
    given = nll.clone()
    value, slope = _pair(objective.value_and_slope(given, gate), both)
    _check(value, f"{both} gives as value", like=nll)
    if not isinstance(slope, int | float):
        _check(slope, f"{both} gives as slope", like=nll)
    if not torch.equal(given, nll):
        raise ValueError(f"{said} it writes into nll, which others read; let it write to a copy")


def _logits(rows: int = 4) -> Tensor:
    """Rows from nearly flat to confident, without ties; the same at every call."""
    generator = torch.Generator("cpu").manual_seed(0)
    drawn = torch.randn(rows, V, generator=generator, dtype=torch.float64, device="cpu")
    return drawn * torch.linspace(0.5, 4, rows, dtype=torch.float64, device="cpu")[:, None]


def _distribution(logits: Tensor) -> tuple[Tensor, Tensor]:
    """log p and p as the loss hands them over."""
    log_p = logits.log_softmax(-1)
    return log_p.clamp(min=torch.finfo(log_p.dtype).min), log_p.exp()


def _differences(penalty: Penalty, logits: Tensor) -> Tensor:
    """d value / d logits, (rows, v)."""
    columns = []
    for step in STEP * torch.eye(V, dtype=logits.dtype, device="cpu"):
        up, down = (penalty.value(*_distribution(logits + way * step)) for way in (1, -1))
        columns.append((up - down) / (2 * STEP))
    return torch.stack(columns, -1)


def _pair(found: Any, where: str) -> tuple[Any, Any]:
    if not (isinstance(found, tuple) and len(found) == 2):
        raise ValueError(f"{where} gives {_what(found)}; it must give a tuple of two, the value first")
    return found


def _check(found: Any, where: str, *, like: Tensor) -> None:
    """A ValueError unless it is a tensor of that shape and dtype, and finite."""
    if not (isinstance(found, Tensor) and (found.shape, found.dtype) == (like.shape, like.dtype)):
        raise ValueError(f"{where} {_what(found)}, for {len(like)} rows; it must be {_what(like)}")
    if not found.isfinite().all():
        raise ValueError(f"{where} {found.flatten()[~found.isfinite().flatten()][0]}; it must be finite")


def _what(found: Any) -> str:
    if not isinstance(found, Tensor):
        return f"a {type(found).__name__}"
    return f"a {str(found.dtype).removeprefix('torch.')} tensor of shape {tuple(found.shape)}"


def _close(found: Tensor, wanted: Tensor, sentence: str) -> None:
    """A ValueError that shows where they differ most."""
    error, room = (found - wanted).abs(), 1e-5 * wanted.abs() + 1e-8 * (1 + wanted.abs().max())
    if not (error <= room).all():
        at = (error / room).argmax()
        raise ValueError(f"{sentence}: {found.flatten()[at]:.4g} in place of {wanted.flatten()[at]:.4g}")
