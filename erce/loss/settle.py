"""The sums of rows of logits into their scores and the slopes of their gradient: a few numbers a row."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from erce.loss.criterion import Criterion, Transform
from erce.loss.passes import Slopes, Sums
from erce.loss.penalties import SupportSize


class Scores(NamedTuple):
    """Per row, in the exact dtype of its logits; a gradient belongs to `objective` alone."""

    objective: Tensor  # what is minimised, times the row's weight
    nll: Tensor  # −log p(target), nats
    entropy: Tensor  # the penalty
    top1: Tensor  # 1 where no token is likelier than the target, else 0
    log_sum_p2: Tensor  # log Σ p²
    pushed_down: Tensor  # 1 where the gradient lowers the target's own logit, else 0
    tail: Tensor  # Σ p^order outside the likeliest tokens, as a share of all; 0 unless it is asked for
    shift: Tensor  # the largest logit: not finite where there is no distribution


class Settled(NamedTuple):
    scores: Scores
    slopes: Slopes
    log_total: Tensor  # log Σ e^u
    strength: Tensor | float  # d objective / d penalty


def settle(
    sums: Sums, criterion: Criterion, *, gate: Tensor | None, penalty: Tensor | None = None
) -> Settled:
    """`penalty` is the value of one that has no order; its part of the slopes is then left to the caller."""
    u_y = sums.target - sums.shift
    e_y = u_y.exp()
    total = sums.others + e_y
    log_total = torch.log1p(sums.others + torch.expm1(u_y))
    nll = log_total - u_y
    by_order = penalty is None
    ratio = _ratio(sums, total, criterion.order) if by_order else torch.zeros_like(nll)
    is_size = type(criterion.penalty) is SupportSize
    if penalty is None:
        penalty = (log_total + ratio).exp_() if is_size else log_total + ratio

    value, *slopes = _objective(nll, log_total, sums, criterion, gate)
    objective, slopes = value + criterion.lam * penalty, (*slopes, criterion.lam)
    if (weights := criterion.weights) is not None:
        objective, slopes = objective * weights, tuple(x * weights for x in slopes)
    pull, spread, uniform, strength = slopes

    plain, bent, own = (pull + spread) / total, 0.0, -pull * sums.others / total
    if criterion.smooths:
        own = own + spread * e_y / total - uniform
    if by_order:
        bend = strength * penalty if is_size else strength
        of_penalty = _penalty_slopes(sums, u_y, e_y, total, ratio, criterion.order)
        plain, bent, own = (a + bend * b for a, b in zip((plain, bent, own), of_penalty, strict=True))
    found = Slopes(*_columns(nll, plain, bent, ratio, uniform, own, sums.shift))
    scores = Scores(
        objective,
        nll,
        penalty,
        (sums.target >= sums.top).to(nll.dtype),
        sums.squares.log().sub_(log_total, alpha=2),
        (found.own > 0).to(nll.dtype),
        torch.zeros_like(nll),
        sums.shift,
    )
    return Settled(scores, _through(found, sums, criterion.transform), log_total, strength)


def _objective(
    nll: Tensor, log_total: Tensor, sums: Sums, criterion: Criterion, gate: Tensor | None
) -> tuple[Tensor, Tensor | float, float, Tensor | float]:
    """What the penalty is added to; its slopes in nll and in the mean of −log p, and that for each token."""
    value, pull = criterion.objective.value_and_slope(nll, gate)
    if not criterion.smooths:
        return value, pull, 0.0, 0.0
    spread = criterion.objective.smoothing
    value = (1 - spread) * value + spread * (log_total - sums.total / sums.finite)
    return value, (1 - spread) * pull, spread, spread / sums.finite


def _columns(like: Tensor, *values: Tensor | float) -> list[Tensor]:
    return [x if isinstance(x, Tensor) else torch.full_like(like, x) for x in values]


def _through(slopes: Slopes, sums: Sums, transform: Transform) -> Slopes:
    """With respect to the head's output, before its transform."""
    if transform.slope != 1:
        factors = {
            name: getattr(slopes, name) * transform.slope for name in ("plain", "bent", "uniform", "own")
        }
        slopes = slopes._replace(**factors)
    if (cap := transform.cap) is not None:
        slopes = slopes._replace(own=slopes.own * (1 - (sums.target / cap).square()))
    return slopes


def _ratio(sums: Sums, total: Tensor, order: float | None) -> Tensor:
    """R − log Σ e^u; R = log Σ p^order / (1 − order)."""
    assert order is not None
    if order == 1:
        return -sums.bent / total
    if math.isinf(order):
        return torch.zeros_like(total)
    c = order - 1
    if order < 1:
        return torch.log1p(c * sums.bent / total) / -c
    share = sums.powers / total  # Σ p^order e^(…): below 1/2 the sum itself is the better-conditioned number
    return torch.where(share < 0.5, share.log(), torch.log1p(c * sums.bent / total)) / -c


def _penalty_slopes(
    sums: Sums, u_y: Tensor, e_y: Tensor, total: Tensor, ratio: Tensor, order: float | None
) -> tuple[Tensor | float, Tensor, Tensor]:
    """The parts of `Slopes.plain`, `.bent` and `.own` that d R / d logits has."""
    assert order is not None
    if order == 1:  # −p (u + ratio)
        own = (e_y / total * (u_y + ratio)).neg_()
        return -ratio / total, -1 / total, own.where(e_y > 0, 0)
    if math.isinf(order):  # p − 1/ties at each of the maxima
        ties = sums.bent
        alone = (u_y == 0) & (ties == 1)
        own = torch.where(alone, -sums.others / total, e_y / total - (u_y == 0) / ties)
        return 1 / total, -1 / ties, own
    k = abs(order - 1)
    w_total, w_y = (total, e_y) if order > 1 else (total + (order - 1) * sums.bent, (order * u_y).exp())
    own = -order / k * torch.expm1(k * (u_y + ratio)) * w_y / w_total
    return 0.0, -order / (k * w_total), own
