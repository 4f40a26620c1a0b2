"""Demonstrations, verified samples → how much likelier a first training step makes the right samples.

With z the mean log-probability of accepted samples minus that of rejected ones, a small step against the
gradient of a loss L changes z by −⟨∇z, ∇L⟩ per unit of step size. Both gradients are taken at a fresh
adapter, so they are the base model's own; a whole training may turn elsewhere.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from peft import get_peft_model
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from erce import events
from erce.hf.attach import attach
from erce.hf.head import IGNORED
from erce.hf.models import BasePolicy, known_warning_silenced, shadow
from erce.hf.prompt import training_rows
from erce.recipe import RegularizedObjective, Training
from erce.train.fine_tune import lora_config
from erce.types import Problem

Gradient = list[Tensor]


class Pushes(NamedTuple):
    """How fast z changes under a step of the objective alone, and under one of the penalty at λ = 1."""

    objective: float
    penalty: float


class VerifiedTexts(NamedTuple):
    """A base model's own samples, as problems whose demonstration is the sample."""

    accepted: Sequence[Problem]
    rejected: Sequence[Problem]


def pushes(
    base: BasePolicy,
    demonstrations: Sequence[Problem],
    samples: Sequence[VerifiedTexts],
    *,
    objective: RegularizedObjective,
    training: Training,
) -> list[Pushes]:
    """Return the pushes on each group of verified samples, in units of nats per unit of step size.

    `objective.lam` has no effect: the penalty counts at λ = 1. No group may lack either kind of sample.
    """
    with torch.random.fork_rng(), known_warning_silenced():
        torch.manual_seed(0)
        model = get_peft_model(shadow(base.model), lora_config(training)).eval()

        def gradient(problems: Sequence[Problem], lam: float, name: str = objective.objective) -> Gradient:
            attach(
                model,
                entropy_penalty=lam,
                entropy_type=objective.penalty,
                entropy_order=objective.order,
                objective=name,
            )
            return _gradient(model, base, problems, training)

        plain = gradient(demonstrations, 0.0)
        both = gradient(demonstrations, 1.0)
        measured = []
        for group in samples:
            accepted, rejected = (gradient(problems, 0.0, "cross-entropy") for problems in group)
            # `gradient` is that of −log p; the margin is accepted samples' mean log p less rejected ones'.
            of_margin = [
                of_rejected / len(group.rejected) - of_accepted / len(group.accepted)
                for of_accepted, of_rejected in zip(accepted, rejected, strict=True)
            ]
            by_plain, by_both = (-_dot(of_margin, of_loss) / len(demonstrations) for of_loss in (plain, both))
            measured.append(Pushes(by_plain, by_both - by_plain))
    return measured


def _gradient(
    model: torch.nn.Module, base: BasePolicy, problems: Sequence[Problem], training: Training
) -> Gradient:
    """Return the gradient of the loss summed over the problems' scored tokens, one tensor a weight."""
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    sums = [torch.zeros_like(weight, dtype=torch.float32) for weight in weights]
    rows = training_rows(base.tokenizer, problems, training.max_length)
    device = base.model.device
    for start in range(0, len(rows), size := training.sequences()):
        batch = rows[start : start + size]
        ids, scored = (_padded([row[name] for row in batch]) for name in ("input_ids", "completion_mask"))
        read = _padded([[1] * len(row["input_ids"]) for row in batch])
        labels = ids.where(scored.bool(), IGNORED)
        loss = model(
            input_ids=ids.to(device),
            attention_mask=read.to(device),
            labels=labels.to(device),
            num_items_in_batch=1,
        ).loss
        for total, part in zip(sums, torch.autograd.grad(loss, weights), strict=True):
            total.add_(part)
        events.advance(len(batch))
    return sums


def _padded(rows: list[list[int]]) -> Tensor:
    return pad_sequence([torch.tensor(row) for row in rows], batch_first=True)


def _dot(first: Gradient, second: Gradient) -> float:
    return sum(float((a * b).sum()) for a, b in zip(first, second, strict=True))
