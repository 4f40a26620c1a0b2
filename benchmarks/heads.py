"""Operands into the mean objective, by each output head that is compared: ours, the paper's, naive, peers'.

The peers are TRL's `ChunkedLogProbFunction`, two fused functions of Liger's, QuACK's and PyTorch's linear
cross-entropies, called as their own trainers and documentation call them. `why_not` says which cannot run
here.
"""

import importlib.util
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from paper_loss import paper_loss
from torch import Tensor, nn
from torch.nn import functional

from erce.loss import Penalty, Renyi, Shannon, linear_entropy_regularized_cross_entropy

TRL_CHUNK = 32768  # tokens of the vocabulary; what TRL's trainers pass


@dataclass(frozen=True)
class Operands:
    hidden: Tensor  # (n, d)
    weight: Tensor  # (v, d)
    targets: Tensor  # (n,)
    lam: float = 1.0
    order: float = 1.0  # of the Rényi entropy; 1 is Shannon's
    bias: Tensor | None = None  # (v,)


Head = Callable[[Operands], Tensor]


def naive(x: Operands) -> Tensor:
    """Compute all logits at once, by the formulas as written, with autograd."""
    logits = x.hidden @ x.weight.t()
    return by_definition(logits if x.bias is None else logits + x.bias, x).mean()


def trl(x: Operands, *, chunk: int = TRL_CHUNK) -> Tensor:
    chunked = importlib.import_module("trl.kernels.chunked_logprob").ChunkedLogProbFunction
    outputs = ("entropy",) if x.lam else ()
    log_p, entropy, *_ = chunked.apply(x.hidden, x.weight, x.bias, x.targets, 1.0, chunk, None, 1.0, outputs)
    return (-log_p if entropy is None else x.lam * entropy - log_p).mean()


def liger(x: Operands) -> Tensor:
    fused = importlib.import_module("liger_kernel.ops.fused_linear_scaled_cross_entropy")
    function = fused.LigerFusedLinearScaledCrossEntropyFunction
    if not x.lam:
        return function.apply(x.hidden, x.weight, x.targets).mean()
    nll, entropy = function.apply(x.hidden, x.weight, x.targets, return_entropy=True)
    return (nll + x.lam * entropy).mean()


def liger_cross_entropy(x: Operands) -> Tensor:
    fused = importlib.import_module("liger_kernel.ops.fused_linear_cross_entropy")
    return fused.LigerFusedLinearCrossEntropyFunction.apply(x.hidden, x.weight, x.targets, x.bias)[0]


def quack_cross_entropy(x: Operands) -> Tensor:
    fused = importlib.import_module("quack.linear_cross_entropy")
    return fused.chunked_linear_cross_entropy(x.hidden, x.weight, x.targets)


def torch_cross_entropy(x: Operands) -> Tensor:
    options = nn.LinearCrossEntropyOptions()
    return functional.linear_cross_entropy(x.hidden, x.weight, x.targets, linear_bias=x.bias, options=options)


def ours(x: Operands, **settings: Any) -> Tensor:
    return linear_entropy_regularized_cross_entropy(
        x.hidden, x.weight, x.targets, lam=x.lam, penalty=_penalty(x), bias=x.bias, **settings
    ).objective


def _penalty(x: Operands) -> Penalty:
    return Shannon() if x.order == 1 else Renyi(x.order)


def paper(x: Operands) -> Tensor:
    """Compute chunks of 512 positions under gradient checkpointing: logits once more in the backward."""
    return paper_loss(x.hidden, x.weight, x.targets, x.lam, _penalty(x), x.bias).mean()


def without_entropy(head: Head) -> Head:
    return lambda x: head(replace(x, lam=0.0))


HEADS: dict[str, Head] = {  # "-ce": cross-entropy only, whatever λ is
    "naive": naive,
    "paper": paper,
    "trl": trl,
    "trl-ce": without_entropy(trl),
    "liger": liger,
    "liger-ce": without_entropy(liger_cross_entropy),
    "quack-ce": without_entropy(quack_cross_entropy),
    "torch-ce": without_entropy(torch_cross_entropy),
    "ours": ours,
    "ours-ce": without_entropy(ours),
}


def label(name: str) -> str:
    """
    >>> label("torch-ce")
    'torch, cross-entropy only'
    """
    return name.replace("-ce", ", cross-entropy only")


def why_not(name: str, device: str) -> str | None:
    """Return why this head cannot run here, in a few words; None where it can."""
    if name in {"liger-ce", "quack-ce"} and device != "cuda":
        return "needs a GPU"
    if name == "torch-ce" and not hasattr(functional, "linear_cross_entropy"):
        return "not in this PyTorch"
    packages = {"trl": "trl", "liger": "liger_kernel", "quack": "quack"}
    package = packages.get(name.removesuffix("-ce"))
    if package and importlib.util.find_spec(package) is None:
        return "not installed"
    return None


def by_definition(logits: Tensor, x: Operands) -> Tensor:
    """Return the objective of each row, (n,), by the textbook's formulas, in float32 at the least."""
    log_p = logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(-1)
    nll = -log_p.gather(-1, x.targets[:, None])[:, 0]
    if x.lam == 0:
        return nll
    if x.order == 1:
        return nll - x.lam * (log_p.exp() * log_p).sum(-1)
    return nll + x.lam * (x.order * log_p).logsumexp(-1) / (1 - x.order)


def truth(x: Operands) -> tuple[Tensor, Tensor]:
    """Return the mean objective and its gradient in the logits, (n, v), in float64 from these operands.

    A masked token (a bias of −inf) is left out before the formulas, which would make 0 · −inf of it.
    """
    h = x.hidden.detach().double()
    logits = torch.cat([h @ w.detach().double().t() for w in x.weight.split(8192)], 1)
    kept = torch.ones(logits.shape[1], dtype=torch.bool, device=h.device)
    if x.bias is not None:
        logits, kept = logits + x.bias.double(), x.bias > -math.inf
    places = kept.cumsum(0) - 1
    logits = logits[:, kept].requires_grad_()
    objective = by_definition(logits, replace(x, targets=places[x.targets])).mean()
    gradient = torch.zeros(len(h), len(kept), dtype=h.dtype, device=h.device)
    gradient[:, kept] = torch.autograd.grad(objective, logits)[0]
    return objective.detach(), gradient


def in_hidden(gradient: Tensor, weight: Tensor) -> Tensor:
    """Return the gradient in the hidden states (n, d) of a float64 gradient in the logits (n, v)."""
    blocks = zip(gradient.split(8192, 1), weight.split(8192), strict=True)
    return sum((g @ w.detach().double() for g, w in blocks), gradient.new_zeros(()))
