"""A causal LM's forward with one more keyword: `model(..., labels=labels, scores=True)` gives `BatchSums`.

Only the positions that are trained on pass through the output head, and their logits are never stored. The
keyword is read inside the model's own forward, so adapters, autocast and checkpointing apply as usual.
"""

import functools
import types
from dataclasses import dataclass
from typing import Any, NamedTuple

from torch import Tensor
from transformers import PreTrainedModel

from erce.hf.head import IGNORED, Readout, head_loss
from erce.hf.scored_count import ScoredCount
from erce.loss import CrossEntropy, Loss, Objective, Penalty

DIAGNOSTICS = ("log_sum_p2", "pushed_down", "tail_share")  # as `Loss` names them


class BatchSums(NamedTuple):
    """The amounts that a batch adds to the training's objective and to the sums behind its log.

    `loss` alone carries a gradient. The rest is detached: a sum for each sequence, (sequences,), or one for
    the whole batch, (1,).
    """

    loss: Tensor  # scalar: the sum of `weighed`
    objective: Tensor  # sum over the scored tokens, nats
    nll: Tensor  # sum of −log p(target)
    entropy: Tensor  # sum of the penalty
    hits: Tensor  # how many scored tokens are the likeliest at their position, ties included
    tokens: Tensor  # how many were scored
    weighed: Tensor  # sum of the objective with each token's weight, 1 or 1/T
    items: Tensor  # how many tokens or sequences `weighed` is a sum over
    diagnostics: tuple[Tensor, ...] = ()  # sums, in the order of `DIAGNOSTICS`

    def columns(self) -> tuple[Tensor, ...]:
        """Return all but `loss`, in the order of the fields."""
        return (*self[1:-1], *self.diagnostics)


@dataclass(kw_only=True)
class Scorer:
    """The objective of a training; only `lam` may change, from one step to the next."""

    readout: Readout
    # Under torch.compile a scalar tensor: a number that changes would be compiled again.
    lam: float | Tensor
    penalty: Penalty
    objective: Objective
    by_sequence: bool
    diagnose: bool

    def __call__(
        self, model: PreTrainedModel, hidden: Tensor, targets: Tensor, num_scored: int | None
    ) -> BatchSums:
        """Score hidden states (sequences, length, d), each to predict its target (sequences, length)."""
        loss = functools.partial(
            head_loss,
            model,
            hidden,
            targets,
            self.readout,
            lam=self.lam,
            penalty=self.penalty,
            objective=self.objective,
            ignore_index=IGNORED,
            num_scored=num_scored,
            diagnose=self.diagnose,
        )
        tokens = (targets != IGNORED).sum(1)
        weights = tokens.clamp(min=1).reciprocal() if self.by_sequence else None
        if model.training and (weights is None or isinstance(self.objective, CrossEntropy)):
            rows = None if weights is None else weights[:, None].expand_as(targets)
            return self._of_batch(loss(reduction="sum", row_weights=rows), tokens)
        return self._of_sequences(loss(reduction="none"), tokens, weights)

    def set_lam(self, lam: float) -> None:
        if isinstance(self.lam, Tensor):
            self.lam.fill_(lam)
        else:
            self.lam = lam

    def _of_batch(self, loss: Loss, tokens: Tensor) -> BatchSums:
        """Return sums over the whole batch.

        Summed at once, the loss of a trainable head takes 3 matmuls; kept apart by sequence it takes 4.
        """
        count = tokens.sum().reshape(1)
        weighed = loss.objective.detach().reshape(1)
        nll, entropy = loss.nll * count, loss.entropy * count
        items = (tokens > 0).sum().reshape(1) if self.by_sequence else count
        return BatchSums(
            loss=loss.objective,
            objective=nll + self.lam * entropy if self.by_sequence else weighed,
            nll=nll,
            entropy=entropy,
            hits=loss.top1 * count,
            tokens=count,
            weighed=weighed,
            items=items,
            diagnostics=tuple(x * count for x in self._diagnostics(loss)),
        )

    def _of_sequences(self, loss: Loss, tokens: Tensor, weights: Tensor | None) -> BatchSums:
        objective = loss.objective.sum(1)
        weighed = objective if weights is None else objective * weights
        return BatchSums(
            loss=weighed.sum(),
            objective=objective.detach(),
            nll=loss.nll.sum(1),
            entropy=loss.entropy.sum(1),
            hits=loss.top1.sum(1),
            tokens=tokens,
            weighed=weighed.detach(),
            items=tokens if weights is None else (tokens > 0).long(),
            diagnostics=tuple(x.sum(1) for x in self._diagnostics(loss)),
        )

    def _diagnostics(self, loss: Loss) -> list[Tensor]:
        return [getattr(loss, name) for name in DIAGNOSTICS] if self.diagnose else []


def scored(labels: Tensor) -> Tensor:  # (sequences, length)
    """Return which positions predict a token that is trained on, (sequences, length - 1)."""
    return labels[:, 1:] != IGNORED


def add_scores(model: PreTrainedModel, scorer: Scorer) -> None:
    """Teach `model.forward` the keyword `scores`; a call without it is passed on unchanged."""
    original = model.forward

    @functools.wraps(type(model).forward)  # the trainer reads the signature
    def forward(self: PreTrainedModel, *args: Any, scores: bool = False, **kwargs: Any) -> Any:
        if not scores:
            return original(*args, **kwargs)
        targets = kwargs.pop("labels")[:, 1:]
        count = ScoredCount(targets, IGNORED)
        states = self.base_model(*args, **kwargs | {"use_cache": False}).last_hidden_state
        return scorer(self, states[:, :-1], targets, count.read())

    model.forward = types.MethodType(forward, model)
