"""A causal LM's forward with one more keyword: `model(..., labels=labels, scores=scorer)` gives `BatchSums`.

Only the positions that are trained on pass through the output head, and their logits are never stored. The
keyword is read inside the model's own forward, so adapters, autocast and checkpointing apply as usual. It
carries all of the objective: the model itself keeps nothing of a trainer, and its other calls are unchanged.
"""

import functools
import inspect
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.utils.generic import ModelOutput

from erce.hf.head import IGNORED, AddedLoss, Readout, backbone_of, bind_forward, head_loss
from erce.hf.sequences import begin_count, refuse_other_lengths, shifted_targets
from erce.loss import BaseLoss, CrossEntropy, Loss, Penalty

COLUMNS = ("weight", "source")  # of a data set, that a batch holds per token


@dataclass
class BatchSums(ModelOutput):
    """The amounts that a batch adds to the training's objective and to the sums behind its log; scalars.

    `weighed` is our loss, and `loss` what others add to it; both carry a gradient. `loss` has the name of a
    model's output because adapters such as AdaLoRA add to that; a model's router adds to it too. It is one
    mean per micro-batch.
    """

    loss: Tensor
    objective: Any = None  # sum over the scored tokens, nats
    nll: Any = None  # sum of −log p(target)
    entropy: Any = None  # sum of the penalty
    hits: Any = None  # how many scored tokens are the likeliest at their position, ties included
    tokens: Any = None  # how many were scored
    weighed: Any = None  # sum of the objective with each token's weight, 1 or 1/T
    num_items: Any = None  # how many tokens or sequences `weighed` is a sum over
    by_source: Any = None  # (sources, 3): sums of −log p(target) and of the penalty, and how many were scored
    aux_loss: Any = None  # of a router, as the model gives it, without the coefficient that it has in `loss`

    def columns(self) -> tuple[Tensor, ...]:
        """Return the sums that are logged, in the order of the fields."""
        others = ("loss", "by_source", "aux_loss")
        return tuple(value for name, value in self.items() if name not in others)


@dataclass(frozen=True, kw_only=True)
class Scorer:
    """The objective of one trainer at one step, which a call of the model carries."""

    readout: Readout
    added_loss: AddedLoss | None = None
    lam: float
    penalty: Penalty
    base_loss: BaseLoss
    by_sequence: bool
    sources: int = 0  # of the data set, whose sums are kept apart

    def __call__(  # noqa: PLR0913 — the columns
        self,
        model: PreTrainedModel,
        hidden: Tensor,
        targets: Tensor,
        sequences: Tensor,
        num_scored: int | None,
        *,
        weight: Tensor | None = None,
        source: Tensor | None = None,
    ) -> BatchSums:
        """Score hidden states (rows, length, d), each to predict its target (rows, length).

        `sequences` (rows, length) numbers the sequences that the targets are in. `weight` (rows, length)
        multiplies each target's objective and leaves `num_items` alone; `source` (rows, length)
        is the number of its source, negative for none.
        """
        tokens = tokens_by_sequence(targets, sequences)
        weights = tokens.clamp(min=1).reciprocal()[sequences] if self.by_sequence else None
        if weight is not None:
            weights = weight if weights is None else weights * weight
        apart = weights is not None and not isinstance(self.base_loss, CrossEntropy)
        at_once = model.training and source is None and not apart
        loss = head_loss(
            model,
            hidden,
            targets,
            self.readout,
            lam=self.lam,
            penalty=self.penalty,
            base_loss=self.base_loss,
            ignore_index=IGNORED,
            num_scored=num_scored,
            reduction="sum" if at_once else "none",
            row_weights=weights if at_once else None,
        )
        count = tokens.sum()
        sums = self._sums(loss, weights, count if at_once else None)
        if self.sources:
            sums["by_source"] = self._by_source(loss, targets, source)
        num_items = (tokens > 0).sum() if self.by_sequence else count
        return BatchSums(loss=torch.zeros_like(sums["weighed"]), tokens=count, num_items=num_items, **sums)

    def _by_source(self, loss: Loss, targets: Tensor, source: Tensor | None) -> Tensor:
        if source is None:
            return loss.nll.new_zeros(self.sources, 3)
        nobody = (targets == IGNORED) | (source < 0)
        numbers = source.masked_fill(nobody, self.sources).flatten().to(loss.nll.device)
        columns = torch.stack([loss.nll, loss.entropy, torch.ones_like(loss.nll)], -1).view(-1, 3)
        return columns.new_zeros(self.sources + 1, 3).index_add(0, numbers, columns)[:-1]

    def _sums(self, loss: Loss, weights: Tensor | None, count: Tensor | None) -> dict[str, Tensor]:
        """Return the sums of a loss per position, or of `count` scored tokens whose loss was summed at once.

        Summed at once, the loss of a trainable head takes 3 matmuls; kept apart by position it takes 4.
        """
        logged = {"nll": loss.nll, "entropy": loss.entropy, "hits": loss.top1}
        sums = {name: x.sum() if count is None else x * count for name, x in logged.items()}
        weighed, objective = loss.objective, loss.objective.sum()
        if count is None:
            weighed = (weighed if weights is None else weighed * weights).sum()
        elif weights is not None:
            objective = sums["nll"] + self.lam * sums["entropy"]
        return sums | {"weighed": weighed, "objective": objective.detach()}


def tokens_by_sequence(targets: Tensor, sequences: Tensor) -> Tensor:
    """Return how many tokens of each sequence are scored, (rows · (length + 1),); most numbers have none."""
    is_scored = (targets != IGNORED).long().flatten()
    counts = is_scored.new_zeros(len(targets) * (targets.shape[1] + 1))
    return counts.scatter_add(0, sequences.flatten(), is_scored)


def add_scores(model: PreTrainedModel) -> None:
    """Teach `model.forward` the keyword `scores`, a `Scorer`; a call without it is passed on unchanged.

    Beside the labels it takes `weight` and `source`, (rows, length) each, as the collator makes them.
    """
    if getattr(inspect.unwrap(model.forward), "reads_scores", False):
        return
    before = model.forward
    score: Any = torch.compiler.disable(Scorer.__call__)  # the compiler would compile each λ anew
    # Not bound to this model, so that a copy of it calls its own.
    original = getattr(before, "__func__", lambda self, *args, **kwargs: before(*args, **kwargs))

    def forward(self: PreTrainedModel, *args: Any, scores: Scorer | None = None, **kwargs: Any) -> Any:
        if scores is None:
            return original(self, *args, **kwargs)
        kwargs["use_cache"] = False
        labels = kwargs["labels"]
        refuse_other_lengths(labels, kwargs)
        # Labels are longer than a batch's columns by an adapter's virtual tokens.
        columns = {
            name: nn.functional.pad(column, (labels.shape[1] - column.shape[1], 0))[:, 1:]
            for name in COLUMNS
            if (column := kwargs.pop(name, None)) is not None
        }
        targets, sequences = shifted_targets(kwargs, labels)
        count = begin_count(targets, IGNORED)
        output = None
        if scores.added_loss is None:
            del kwargs["labels"]
            states = backbone_of(self)(*args, **kwargs).last_hidden_state
        else:
            own_forward = functools.partial(original, self)
            output, states = scores.added_loss.forward(self, own_forward, kwargs)
        sums = score(scores, self, states[:, :-1], targets, sequences, count(), **columns)
        if output is not None:
            sums.loss, sums.aux_loss = sums.loss + output.loss, getattr(output, "aux_loss", None)
        return sums

    bind_forward(model, forward)
    vars(forward)["reads_scores"] = True
