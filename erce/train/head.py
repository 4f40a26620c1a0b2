"""A causal LM's forward becomes one that also gives `Scores`: `model(..., labels=labels, scores=True)`.

Only the positions that are trained on pass through the output head, and their logits are never stored. The
keyword is read inside the model's own forward, so adapters, autocast and checkpointing apply as usual.
"""

import functools
import types
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from transformers import PretrainedConfig, PreTrainedModel

from erce.loss import Penalty, linear_entropy_regularized_cross_entropy

IGNORED = -100  # the label of a position that is not trained on, everywhere in transformers
SCALES = ("logit_scale", "logits_scaling", "output_multiplier", "lm_head_multiplier")
CAPS = ("final_logit_softcapping", "logit_softcapping", "logits_soft_cap")


class Scores(NamedTuple):
    """Sums over the scored positions of each sequence, in nats; `objective` alone carries a gradient."""

    objective: Tensor  # (sequences,) sum of -log p(target) + λ · penalty
    nll: Tensor  # (sequences,) sum of -log p(target)
    entropy: Tensor  # (sequences,) sum of the penalty
    tokens: Tensor  # (sequences,) how many positions were scored


def scored(labels: Tensor) -> Tensor:  # (sequences, length)
    """Which of the positions 0 … length-2 predict a token that is trained on, (sequences, length-1)."""
    return labels[:, 1:] != IGNORED


def add_scores(model: PreTrainedModel, *, lam: float, penalty: Penalty) -> None:
    """Teaches `model.forward` the keyword `scores`; every other call is passed on as it came.

    A model whose logits are not `hidden @ weight.T + bias` of one plain linear layer is a ValueError.
    """
    refuse_other_heads(model)
    original = model.forward

    @functools.wraps(type(model).forward)  # the trainer reads the signature
    def forward(self: PreTrainedModel, *args: Any, scores: bool = False, **kwargs: Any) -> Any:
        if not scores:
            return original(*args, **kwargs)
        labels = kwargs.pop("labels")
        states = self.base_model(*args, **kwargs | {"use_cache": False}).last_hidden_state
        head = output_head(self)
        loss = linear_entropy_regularized_cross_entropy(
            states[:, :-1],
            head.weight,
            labels[:, 1:],
            lam=lam,
            penalty=penalty,
            bias=head.bias,
            ignore_index=IGNORED,
            reduction="none",  # (sequences, length-1), 0 where ignored
        )
        return Scores(loss.objective.sum(1), loss.nll.sum(1), loss.entropy.sum(1), scored(labels).sum(1))

    model.forward = types.MethodType(forward, model)


def refuse_other_heads(model: PreTrainedModel) -> None:
    """A ValueError, with the way out, unless the model's logits are those of one plain linear layer."""
    head, config = output_head(model), model.config.get_text_config()
    for name in (*CAPS, *SCALES):
        value = getattr(config, name, None)
        if value is not None and (name in CAPS or value != 1):
            raise ValueError(
                f"the model changes its logits after the head ({name} = {value}); set head='trl'"
            )
    if not _logits_are_linear(model, head, config):
        raise ValueError(
            f"the logits of {type(model).__name__} are not its last hidden state through its output head; "
            "set head='trl'"
        )


def output_head(model: PreTrainedModel) -> nn.Linear:
    """The layer from hidden states to logits; anything but a plain `nn.Linear` is a ValueError."""
    head = model.get_output_embeddings()
    if type(head) is nn.Linear:
        return head
    raise ValueError(
        f"the output head is a {type(head).__module__}.{type(head).__qualname__}, not a torch.nn.Linear; "
        "leave the head out of the adapter and of quantisation, or set head='trl'"
    )


@torch.no_grad()
def _logits_are_linear(model: PreTrainedModel, head: nn.Linear, config: PretrainedConfig) -> bool:
    """Whether the model, on four tokens, gives the logits that its head alone gives."""
    tokens = torch.arange(4, device=head.weight.device)[None] % config.vocab_size
    training = model.training
    model.eval()
    try:
        ours = head(model.base_model(input_ids=tokens, use_cache=False).last_hidden_state)
        theirs = model(input_ids=tokens, use_cache=False).logits
    finally:
        model.train(training)
    return theirs.shape == ours.shape and bool((theirs - ours).abs().max() <= 1e-3 * ours.abs().max())
