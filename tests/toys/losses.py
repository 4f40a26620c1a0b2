"""What the tests of the loss compare with: the papers' formulas as written there, and erce's reference."""

import math

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from erce.catalog import PENALTIES
from erce.loss import Penalty, linear_entropy_regularized_cross_entropy, make_penalty
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


def penalty_of(case: tuple[str, float]) -> Penalty:
    return make_penalty(*case)


# Rényi's family, which a row's few sums determine: it may be split over processes and written out in mpmath.
FAMILY = [case for case in EACH if order_of(penalty_of(case)) is not None]


def renyi(log_p: Tensor, order: float) -> Tensor:
    if order == 1:
        return -(log_p.exp() * log_p).sum(-1)
    if order == math.inf:
        return -log_p.amax(-1)
    return (order * log_p).logsumexp(-1) / (1 - order)


DEFINITIONS = {
    "shannon": lambda log_p, order: -(log_p.exp() * log_p).sum(-1),
    "renyi": renyi,
    "support-size": lambda log_p, order: renyi(log_p, order).exp(),
}


def reference(logits: Tensor, targets: Tensor, lam: float | Tensor, case: tuple[str, float]) -> Tensor:
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


PAPERS = {  # the objective, and its value from log p and nll
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


N, V, D, R = 11, 40, 5, 2  # positions, tokens, width, and rank of the adapter of the operands below


def operands(dtype: torch.dtype = torch.float64) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(3)
    shapes = {"hidden": (N, D), "weight": (V, D), "bias": (V,), "low": (N, R), "up": (V, R)}
    return {
        name: torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype).requires_grad_()
        for name, shape in shapes.items()
    }


def targets() -> Tensor:
    y = torch.arange(N) * 3
    y[::4] = -100
    return y


def linear(x: dict[str, Tensor], **how):
    adapter = (x["low"], x["up"])
    return linear_entropy_regularized_cross_entropy(
        x["hidden"], x["weight"], targets(), bias=x["bias"], adapter=adapter, **how
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
