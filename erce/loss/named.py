"""A name and a number → the penalty or the base loss, of erce or user-defined.

A user-defined one is tried on a few rows first: a mistake in it would train with a wrong loss for hours.
"""

from collections.abc import Iterable
from typing import Any, TypeVar

import torch
from torch import Tensor

from erce import catalog
from erce.catalog import is_user_defined, load_user_defined, split_number, unknown
from erce.errors import InputError
from erce.loss.base_losses import BaseLoss
from erce.loss.penalties import Penalty

Kind = TypeVar("Kind", Penalty, BaseLoss)

V = 7  # tokens of the rows that a user-defined one is tried on
STEP = 1e-5  # of a logit; the error of a central difference in float64 is then about 1e-10
NLLS = (0.0, 1e-6, 0.1, 1.0, 5.0, 50.0)


def _classes(table: dict[str, catalog.Listed]) -> dict[str, Any]:
    return {name: load_user_defined("class", listed.home) for name, listed in table.items()}


PENALTIES: dict[str, type[Penalty]] = _classes(catalog.PENALTIES)
BASE_LOSSES: dict[str, type[BaseLoss]] = _classes(catalog.BASE_LOSSES)


def make_penalty(entropy_type: str, order: float = 1.0) -> Penalty:
    """Make the penalty that a recipe or a configuration names.

    A user-defined one, "package.module:NAME", is a subclass of `Penalty`, made by `of_order`, or an
    instance of one. It is tried on a few rows first: an InputError says where it breaks the protocol.

    >>> make_penalty("renyi", 0.5)
    Renyi(order=0.5)
    """
    name = str(entropy_type)
    if name in PENALTIES:
        return PENALTIES[name].of_order(order)
    penalty = _user_defined("penalty", name, PENALTIES, Penalty)
    if isinstance(penalty, type):
        penalty = penalty.of_order(order)
    elif order != 1:
        raise InputError(f"order = {order!r} has no effect on {name!r}, which is an instance; name its class")
    try_penalty(penalty, name)
    return penalty


def make_base_loss(name: str) -> BaseLoss:
    """Make the base loss that a recipe or a configuration names, with its number, if any, after a colon.

    A user-defined one, "package.module:NAME" or "package.module:NAME:2", is a subclass of `BaseLoss`, made
    by `of`, or an instance of one, which takes no number; it is tried first.

    >>> make_base_loss("focal"), make_base_loss("label-smoothing:0.2")
    (Focal(gamma=2.0), LabelSmoothing(smoothing=0.2))
    """
    kind, text = split_number(str(name))
    base_loss = (
        BASE_LOSSES[kind] if kind in BASE_LOSSES else _user_defined("base loss", kind, BASE_LOSSES, BaseLoss)
    )
    if isinstance(base_loss, type):
        try:
            base_loss = base_loss.of(None if text is None else float(text))
        except ValueError as error:
            raise InputError(f"base loss {name!r}: {error}") from None
    elif text is not None:
        raise InputError(f"base loss {name!r}: {kind!r}, an instance, takes no number; name its class")
    if kind not in BASE_LOSSES:
        try_base_loss(base_loss, kind)
    return base_loss


def check_names(penalty: str, order: float, base_losses: Iterable[str]) -> None:
    """Make the penalty and each base loss once; an InputError names the one that cannot be made."""
    make_penalty(penalty, order)
    for name in base_losses:
        make_base_loss(name)


def _user_defined(what: str, name: str, known: Iterable[str], kind: type[Kind]) -> Kind | type[Kind]:
    """Return what `name` names, if it is a `kind` or a class of that kind."""
    if not is_user_defined(name):
        raise InputError(unknown(what, name, known))
    named, wanted = load_user_defined(what, name), f"erce.loss.{kind.__name__}"
    if isinstance(named, kind) or (isinstance(named, type) and issubclass(named, kind)):
        return named
    module, _, attribute = name.partition(":")
    raise InputError(
        f"{name!r} is not {'an' if what[0] in 'aeiou' else 'a'} {what}: {module} has no subclass or instance "
        f"of {wanted} named {attribute!r}"
    )


@torch.no_grad()
def try_penalty(penalty: Penalty, name: str) -> None:
    """Raise an InputError where shapes are not the protocol's, a number is not finite, the gradient is not
    that of the value, or a row depends on other rows.

    The gradient is held to central differences of `value`, which need not be fit for autograd.
    """
    prefix, both = f"penalty {name!r}:", f"penalty {name!r}: value_and_logit_grad"
    logits = _logits()
    masked = logits.index_fill(1, torch.tensor([0]), -torch.inf)
    for z, where in ((logits, ""), (masked, ", where a p is 0 and its log the lowest number,")):
        log_p, p = _distribution(z)
        alone = penalty.value(log_p, p)
        _check(alone, f"{prefix} value{where} gives", like=z[:, 0])
        value, gradient = _pair(penalty.value_and_logit_grad(log_p, p), both)
        _check(value, f"{both}{where} gives as value", like=z[:, 0])
        _check(gradient, f"{both}{where} gives as gradient", like=z)
        if not all(map(torch.equal, (log_p, p), _distribution(z))):
            raise InputError(f"{prefix} it writes into log p or p, which others read; let it write to a copy")
        _check_close(value, alone, f"{both} gives another value than value does")
        first = penalty.value(log_p[:1], p[:1])
        _check_close(alone[:1], first, f"{prefix} a row's value depends on the other rows")
        _check_close(gradient, _differences(penalty, z), f"{both} gives a gradient that is not the value's")


@torch.no_grad()
def try_base_loss(base_loss: BaseLoss, name: str) -> None:
    """Raise an InputError where shapes are not the protocol's, or a number is not finite.

    The slope is not held to the value: a factor may be meant to carry no gradient.
    """
    prefix, both = f"base loss {name!r}:", f"base loss {name!r}: value_and_slope"
    nll, gate = torch.tensor(NLLS, dtype=torch.float64, device="cpu"), None
    if base_loss.gated:
        gate = base_loss.gate(_logits(len(nll)))
        _check(gate, f"{prefix} gate gives", like=nll)
    kept = nll.clone()
    value, slope = _pair(base_loss.value_and_slope(nll, gate), both)
    _check(value, f"{both} gives as value", like=kept)
    if not isinstance(slope, int | float):
        _check(slope, f"{both} gives as slope", like=kept)
    if not torch.equal(nll, kept):
        raise InputError(f"{prefix} it writes into nll, which others read; let it write to a copy")


def _logits(rows: int = 4) -> Tensor:
    """Return rows from nearly flat to confident, without ties; the same at every call."""
    generator = torch.Generator("cpu").manual_seed(0)
    normal = torch.randn(rows, V, generator=generator, dtype=torch.float64, device="cpu")
    return normal * torch.linspace(0.5, 4, rows, dtype=torch.float64, device="cpu")[:, None]


def _distribution(logits: Tensor) -> tuple[Tensor, Tensor]:
    """Return log p and p as the loss hands them over."""
    log_p = logits.log_softmax(-1)
    return log_p.clamp(min=torch.finfo(log_p.dtype).min), log_p.exp()


def _differences(penalty: Penalty, logits: Tensor) -> Tensor:
    """Return d value / d logits, (rows, v), by differences."""
    columns = []
    for step in STEP * torch.eye(V, dtype=logits.dtype, device="cpu"):
        up, down = (penalty.value(*_distribution(logits + way * step)) for way in (1, -1))
        columns.append((up - down) / (2 * STEP))
    return torch.stack(columns, -1)


def _pair(result: Any, where: str) -> tuple[Any, Any]:
    if not (isinstance(result, tuple) and len(result) == 2):
        raise InputError(f"{where} gives {_described(result)}; it must give a tuple of two, the value first")
    return result


def _check(result: Any, where: str, *, like: Tensor) -> None:
    """Raise an InputError unless the result is a tensor of that shape and dtype, and finite."""
    if not (isinstance(result, Tensor) and (result.shape, result.dtype) == (like.shape, like.dtype)):
        raise InputError(f"{where} {_described(result)}, for {len(like)} rows; it must be {_described(like)}")
    if not result.isfinite().all():
        raise InputError(f"{where} {result.flatten()[~result.isfinite().flatten()][0]}; it must be finite")


def _described(result: Any) -> str:
    if not isinstance(result, Tensor):
        return f"a {type(result).__name__}"
    return f"a {str(result.dtype).removeprefix('torch.')} tensor of shape {tuple(result.shape)}"


def _check_close(result: Tensor, wanted: Tensor, sentence: str) -> None:
    """Raise an InputError that shows where the result differs most."""
    error, allowed = (result - wanted).abs(), 1e-5 * wanted.abs() + 1e-8 * (1 + wanted.abs().max())
    if not (error <= allowed).all():
        at = (error / allowed).argmax()
        raise InputError(f"{sentence}: {result.flatten()[at]:.4g} in place of {wanted.flatten()[at]:.4g}")
