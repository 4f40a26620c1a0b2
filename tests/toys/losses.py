"""What the tests of the loss compare with: the papers' formulas as written there, and erce's reference."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from erce.catalog import PENALTIES
from erce.loss import (
    Loss,
    Penalty,
    entropy_regularized_cross_entropy,
    linear_entropy_regularized_cross_entropy,
    make_base_loss,
    make_penalty,
)
from erce.loss.from_logits import reference_from_logits
from erce.loss.penalties import order_of

ORDERS = (0.1, 0.25, 0.5, 0.999, 1.0, 1.001, 2.0, 5.0, math.inf)
LAMS = (0.0, 1.0, 8.0, -0.1)
EACH = [  # every entry of the table, at every order that it takes
    (name, order)
    for name, listed in PENALTIES.items()
    for order in ORDERS
    if (listed.number.fits(order) if listed.number else order == 1)
]


@dataclass(frozen=True)  # for a repr without an address: xdist compares the tests' names
class Gini(Penalty):
    """1 − Σ p²: a user's own."""

    def value(self, log_p: Tensor, p: Tensor) -> Tensor:
        return 1 - (p * p).sum(-1)

    def value_and_logit_grad(self, log_p: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        squares = (p * p).sum(-1, keepdim=True)
        return 1 - squares[..., 0], -2 * p * (p - squares)


def penalty_of(case: tuple[str, float]) -> Penalty:
    return Gini() if case[0] == "gini" else make_penalty(*case)


# Rényi's family, which a row's few sums determine and mpmath can write out.
FAMILY = [case for case in EACH if order_of(penalty_of(case)) is not None]


def renyi(log_p: Tensor, order: float) -> Tensor:
    if order == 1:
        return -(log_p.exp() * log_p).sum(-1)
    if order == math.inf:
        return -log_p.amax(-1)
    return (order * log_p).logsumexp(-1) / (1 - order)


DEFINITIONS = {  # of the penalties that the paper has, as it writes them
    "shannon": lambda log_p, order: -(log_p.exp() * log_p).sum(-1),
    "renyi": renyi,
    "support-size": lambda log_p, order: renyi(log_p, order).exp(),
}


def reference(logits: Tensor, targets: Tensor, lam: float, case: tuple[str, float]) -> Tensor:
    """Return the objectives (n,) by erce's own reference function."""
    return reference_from_logits(logits, targets, lam, penalty_of(case))


def truth(logits: Tensor, targets: Tensor, lam: float, case: tuple[str, float]) -> tuple[Tensor, Tensor]:
    """Objective per row and its gradient, in float64; a column of −inf is a column that is not there."""
    there = ~torch.isneginf(logits[0])
    columns = torch.cumsum(there, 0) - 1
    finite = logits[:, there].double().requires_grad_()
    value = reference(finite, columns[targets], lam, case)
    (grad,) = torch.autograd.grad(value.sum(), finite)
    full = torch.zeros(logits.shape, dtype=torch.float64)
    full[:, there] = grad
    return value.detach(), full


def smoothed(log_p: Tensor, nll: Tensor, epsilon: float) -> Tensor:
    return (1 - epsilon) * nll - epsilon * log_p.mean(-1)


def entropy_gate(log_p: Tensor, top: int) -> Tensor:
    log_q = log_p.topk(top).values.log_softmax(-1)
    return (-(log_q.exp() * log_q).sum(-1) / math.log(top)).detach()


PAPERS = {  # the base loss, and its value from log p and nll
    "cross-entropy": lambda log_p, nll: nll,
    "label-smoothing": lambda log_p, nll: smoothed(log_p, nll, 0.1),
    "label-smoothing:0.3": lambda log_p, nll: smoothed(log_p, nll, 0.3),
    "dft": lambda log_p, nll: (-nll).exp().detach() * nll,
    "eaft": lambda log_p, nll: entropy_gate(log_p, 20) * nll,
    "eaft:0.5": lambda log_p, nll: entropy_gate(log_p, 20) ** 0.5 * nll,
    "focal": lambda log_p, nll: (1 - (-nll).exp()) ** 2 * nll,
    "focal:0.5": lambda log_p, nll: (1 - (-nll).exp()) ** 0.5 * nll,
    "focal:0": lambda log_p, nll: nll,
    "power": lambda log_p, nll: 1 - (-nll).exp(),
    "power:0.5": lambda log_p, nll: (1 - (-0.5 * nll).exp()) / 0.5,
    "power:1e-3": lambda log_p, nll: -torch.expm1(-1e-3 * nll) / 1e-3,
    "threshold": lambda log_p, nll: torch.where((-nll).exp() >= 0.1, nll, 0),
    "threshold:0": lambda log_p, nll: nll,
}


class Counted(TorchDispatchMode):
    """Counts the operations that, with their arguments and result, are of a kind."""

    def __init__(self, is_counted: Callable[[Any, Any, Any], bool]) -> None:
        super().__init__()
        self.is_counted, self.count = is_counted, 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        self.count += self.is_counted(func, args, out)
        return out


class Matmuls(TorchDispatchMode):
    """Counts multiply-adds of matrix products, and the elements of the largest tensor that comes up."""

    def __init__(self):
        super().__init__()
        self.products, self.largest = 0, 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if func._schema.name in ("aten::mm", "aten::addmm", "aten::addmm_", "aten::bmm", "aten::baddbmm"):
            a, b = [x for x in args if isinstance(x, Tensor)][-2:]
            self.products += a.numel() * b.shape[-1]
        if isinstance(out, Tensor):
            self.largest = max(self.largest, out.numel())
        return out


N, V, D, R = 11, 150, 5, 2  # positions, tokens, width, and rank of the adapter of the operands below
ALL = ("hidden", "weight", "bias", "low", "up")
UPSTREAM = torch.linspace(-1, 2, N, dtype=torch.float64)  # what positions' losses are weighed by afterwards


def operands(
    dtype: torch.dtype = torch.float64, *, n: int = N, learns: Iterable[str] = ALL, likely: float = 2.0
) -> dict[str, Tensor]:
    """Of which every second target is a token as likely as that."""
    generator, y = torch.Generator().manual_seed(3), targets(n)
    shapes = {"hidden": (n, D), "weight": (V, D), "bias": (V,), "low": (n, R), "up": (V, R)}
    x = {name: torch.randn(shape, generator=generator, dtype=torch.float64) for name, shape in shapes.items()}
    for row in range(1, n, 2):
        x["weight"][y[row]] = likely * x["hidden"][row]
    return {name: values.to(dtype).requires_grad_(name in learns) for name, values in x.items()}


def targets(n: int = N) -> Tensor:
    """Token ids, of which every fourth is ignored."""
    y = torch.arange(n) * 13 % V
    y[::4] = -100
    return y


def logits(x: dict[str, Tensor]) -> Tensor:
    return x["hidden"] @ x["weight"].t() + x["bias"] + x["low"] @ x["up"].t()


def transformed(z: Tensor, logit_scale: float = 1.0, softcap: float | None = None, temperature: float = 1.0):
    z = logit_scale * z
    return (z if softcap is None else softcap * torch.tanh(z / softcap)) / temperature


TRANSFORM = ("logit_scale", "softcap", "temperature")


def linear(x: dict[str, Tensor], y: Tensor | None = None, **settings: Any) -> Loss:
    return linear_entropy_regularized_cross_entropy(
        x["hidden"],
        x["weight"],
        targets(len(x["hidden"])) if y is None else y,
        bias=x["bias"],
        adapter=(x["low"], x["up"]),
        **settings,
    )


def dense(x: dict[str, Tensor], y: Tensor | None = None, **settings: Any) -> Loss:
    """The same by the form from logits, which transforms none."""
    z = transformed(logits(x), **{name: settings.pop(name) for name in TRANSFORM if name in settings})
    return entropy_regularized_cross_entropy(z, targets(len(z)) if y is None else y, **settings)


ROWS = {"lam": 2.0, "row_weights": torch.linspace(0.1, 3, N)}
SETTINGS: dict[str, dict[str, Any]] = {  # of a call; penalties and base losses by their names
    "cross-entropy": {"lam": 0.0},
    "Shannon": {"lam": 8.0},
    "strong": {"lam": 200.0},  # a token that is not likely is pushed down by a strong penalty only
    "confident": {"lam": -0.1},
    "below one": {"lam": 2.0, "penalty": ("renyi", 0.5)},
    "above one": {"lam": 2.0, "penalty": ("renyi", 3.0)},
    "inf": {"lam": 2.0, "penalty": ("renyi", math.inf)},
    "size": {"lam": 0.1, "penalty": ("support-size", 0.5)},
    "rows": ROWS,
    "rows, inf": {**ROWS, "penalty": ("renyi", math.inf)},
    "rows, size": {**ROWS, "penalty": ("support-size", 2.0)},
    "smoothed": {"lam": 1.0, "base_loss": "label-smoothing:0.3"},
    "gated": {"lam": 1.0, "base_loss": "eaft:0.5"},
    "focal": {"lam": 1.0, "base_loss": "focal:0.5", "penalty": ("renyi", 2.0)},
    "masked": {"lam": 1.0, "base_loss": "label-smoothing", "masked": True},
    "scaled": {"lam": 1.7, "logit_scale": 0.5, "temperature": 0.7},
    "scaled, inf": {"lam": 1.7, "logit_scale": 0.25, "penalty": ("renyi", math.inf)},
    "capped": {"lam": 1.7, "logit_scale": 2.0, "softcap": 3.0, "temperature": 1.3},
    "capped, size": {"lam": 1.7, "softcap": 4.0, "penalty": ("support-size", 2.0)},
    "smoothed, capped": {**ROWS, "softcap": 3.0, "base_loss": "label-smoothing"},
    "one's own": {**ROWS, "penalty": ("gini", 1.0)},
    "one's own, capped": {**ROWS, "penalty": ("gini", 1.0), "logit_scale": 1.5, "softcap": 5.0},
}


def operands_of(
    setting: str, dtype: torch.dtype = torch.float64, learns: Iterable[str] = ALL
) -> dict[str, Tensor]:
    x = operands(dtype, learns=learns)
    if SETTINGS[setting].get("masked"):
        x["bias"].data[5::9] = -math.inf
    return x


def arguments(setting: str) -> dict[str, Any]:
    """A setting as the loss takes it."""
    makers = {"penalty": penalty_of, "base_loss": make_base_loss}
    return {
        name: makers.get(name, lambda x: x)(x) for name, x in SETTINGS[setting].items() if name != "masked"
    }


def written_out(  # noqa: PLR0913 — the settings of the loss
    x: dict[str, Tensor],
    *,
    lam: float,
    penalty: tuple[str, float] = ("shannon", 1.0),
    base_loss: str = "cross-entropy",
    reduction: str = "mean",
    row_weights: Tensor | None = None,
    masked: bool = False,
    **transform: Any,
) -> Loss:
    """Return the loss by its formula, for autograd; a column of −inf is a column that is not there."""
    y, name, order = targets(len(x["hidden"])), *penalty
    kept, there = y >= 0, ~x["bias"].isneginf()
    target = (there.cumsum(0) - 1)[y[kept]][:, None]
    z = transformed(logits(x)[kept][:, there], **transform)
    log_p = z.log_softmax(-1)
    nll = -log_p.gather(-1, target)[:, 0]
    entropy = 1 - (2 * log_p).exp().sum(-1) if name == "gini" else DEFINITIONS[name](log_p, order)
    each = PAPERS[base_loss](log_p, nll) + lam * entropy
    logged = {
        "nll": nll,
        "entropy": entropy,
        "top1": (log_p.argmax(-1) == target[:, 0]).to(z.dtype),
    }

    def at_its_position(values: Tensor) -> Tensor:
        return torch.zeros(len(y), dtype=values.dtype).masked_scatter(kept, values)

    each = each if row_weights is None else row_weights[kept] * each
    reduced: Callable[[Tensor], Tensor] = at_its_position if reduction == "none" else Tensor.mean
    return Loss(
        objective=each.sum() if reduction == "sum" else reduced(each),
        **{field: reduced(values).detach() for field, values in logged.items()},
    )


def results(loss: Loss, x: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return all of a loss, and the gradients of whatever learns, by their names."""
    upstream = UPSTREAM if loss.objective.ndim else -2.0  # exact, so that it costs no rounding
    total = (loss.objective * upstream).sum()
    learns = [name for name in x if x[name].requires_grad]
    grads = torch.autograd.grad(total, [x[name] for name in learns]) if learns else ()
    fields = {name: values.detach() for name, values in loss._asdict().items() if values is not None}
    return fields | {f"d {name}": grad for name, grad in zip(learns, grads, strict=True)}


def assert_same(computed: dict[str, Tensor], wanted: dict[str, Tensor], **tolerance: float) -> None:
    assert computed.keys() == wanted.keys()
    for name, values in computed.items():
        torch.testing.assert_close(
            values, wanted[name], msg=lambda text, name=name: f"{name}: {text}", **tolerance
        )


class OnCuda:
    """torch, whose matmuls take half-precision operands into float32 as on a CUDA device."""

    def __getattr__(self, name):
        return getattr(torch, name)

    @staticmethod
    def mm(a, b, *, out=None, out_dtype=None):
        product = a.to(out_dtype or a.dtype) @ b.to(out_dtype or b.dtype)
        return product if out is None else out.copy_(product)

    @staticmethod
    def addmm(c, a, b, *, out, out_dtype):
        return out.copy_(c + a.to(out_dtype) @ b.to(out_dtype))
