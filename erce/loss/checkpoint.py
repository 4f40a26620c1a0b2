"""The paper's own way to the loss: its formulas as written, on chunks of 512 positions under gradient
checkpointing, so that logits are computed again in the backward. The reference that `linear` is held to."""

import math

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from erce.loss.batch import Loss, as_loss, criterion_of, rows_to_log, spread
from erce.loss.call import Call
from erce.loss.chunks import Operands
from erce.loss.criterion import Criterion, Transform
from erce.loss.penalties import SupportSize
from erce.loss.settle import Scores

CHUNK = 512  # positions; the appendix on chunked computation


def loss(operands: Operands, call: Call) -> Loss:
    scored = call.scored(len(operands.weight))
    criterion = criterion_of(call.given, call.penalty, call.objective, scored, call.transform)
    parts = []
    for start in range(0, max(1, len(scored.rows)), CHUNK):
        chunk = slice(start, start + CHUNK)
        rows = scored.rows[chunk]
        low = None if operands.low is None else operands.low[rows]
        part = operands._replace(hidden=operands.hidden[rows], low=low)
        of_chunk = (part, scored.targets[chunk], criterion.at(chunk))
        parts.append(checkpoint(_scores, *of_chunk, use_reentrant=False))
    scores = Scores(*map(torch.cat, zip(*parts, strict=True)))
    logged = rows_to_log(Scores(*(x.detach() for x in scores)), scored)
    total = spread(scores.objective, scored) if call.given.per_row else scores.objective.sum()
    return as_loss(total, logged, call.given, count=max(len(scored.rows), 1), shape=scored.shape)


def _scores(operands: Operands, targets: Tensor, criterion: Criterion) -> Scores:
    """By autograd; what is only for the log is NaN, but for the nll and the penalty."""
    logits = torch.nn.functional.linear(operands.hidden, operands.weight)
    if operands.low is not None and operands.up is not None:
        logits = logits + torch.nn.functional.linear(operands.low, operands.up)
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    if operands.bias is not None:
        logits = logits + operands.bias
    logits = _transformed(logits, criterion.transform)
    log_p = logits.log_softmax(-1)
    if logits.isneginf().any():  # 0 log 0 = 0; not the paper's, and not for nothing
        log_p = log_p.clamp(min=torch.finfo(logits.dtype).min)
    nll = -log_p.gather(-1, targets[:, None])[:, 0]
    penalty = _penalty(log_p, criterion)
    value = _value(nll, log_p, logits.detach(), criterion) + criterion.lam * penalty
    if criterion.weights is not None:
        value = value * criterion.weights
    unknown = [torch.full_like(nll, math.nan)] * (len(Scores._fields) - 3)
    return Scores(value, nll, penalty, *unknown)


def _transformed(x: Tensor, transform: Transform) -> Tensor:
    if transform.softcap is not None:
        x = transform.softcap * torch.tanh(x * transform.logit_scale / transform.softcap)
        return x / transform.temperature
    return x if transform.slope == 1 else x * transform.slope


def _value(nll: Tensor, log_p: Tensor, logits: Tensor, criterion: Criterion) -> Tensor:
    """The objective; its factors without a gradient are made constants by its slope."""
    objective = criterion.objective
    gate = objective.gate(logits) if objective.gated else None
    value, slope = objective.value_and_slope(nll.detach(), gate)
    value = value + slope * (nll - nll.detach())
    if not criterion.smooths:
        return value
    there = ~logits.isneginf()
    mean = -(log_p * there).sum(-1) / there.sum(-1)
    return (1 - objective.smoothing) * value + objective.smoothing * mean


def _penalty(log_p: Tensor, criterion: Criterion) -> Tensor:
    order = criterion.order
    assert order is not None
    if order == 1:
        r = -(log_p.exp() * log_p).sum(-1)
    elif math.isinf(order):
        r = -log_p.amax(-1)
    else:
        r = (order * log_p).logsumexp(-1) / (1 - order)
    return r.exp() if type(criterion.penalty) is SupportSize else r
