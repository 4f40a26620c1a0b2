"""The paper's definitions, as written there, in float64: what the tests hold the package to."""

import math

import torch
from torch import Tensor

from erce.catalog import PENALTIES
from erce.loss import Penalty, make_penalty
from erce.loss.penalties import order_of

ORDERS = (0.1, 0.25, 0.5, 0.999, 1.0, 1.001, 2.0, 5.0, math.inf)
LAMS = (0.0, 1.0, 8.0, -0.1)
EACH = [  # every entry of the table, at every order that it takes
    (name, order)
    for name, each in PENALTIES.items()
    for order in ORDERS
    if (each.number.fits(order) if each.number else order == 1)
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


def objective(logits: Tensor, targets: Tensor, lam: float, case: tuple[str, float]) -> Tensor:
    """Per row, differentiable by autograd, for finite logits."""
    log_p = logits.log_softmax(-1)
    name, order = case
    return -log_p.gather(-1, targets[:, None])[:, 0] + lam * DEFINITIONS[name](log_p, order)


def truth(logits: Tensor, targets: Tensor, lam: float, case: tuple[str, float]) -> tuple[Tensor, Tensor]:
    """Objective per row and its gradient, in float64; a column of −inf is a column that is not there."""
    there = ~torch.isneginf(logits[0])
    columns = torch.cumsum(there, 0) - 1
    finite = logits[:, there].double().requires_grad_()
    value = objective(finite, columns[targets], lam, case)
    (grad,) = torch.autograd.grad(value.sum(), finite)
    full = torch.zeros(logits.shape, dtype=torch.float64)
    full[:, there] = grad
    return value.detach(), full
