"""A causal LM → what it adds to its cross-entropy, such as a router's loss, found by trying, not by name."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from erce.errors import InputError
from erce.hf.head import backbone_of, evaluating, probe_tokens


class OwnLoss(NamedTuple):
    """The losses that a model adds to its cross-entropy; `logits_to_keep` is what they need of the logits."""

    logits_to_keep: int | None  # 1: none of them; 0: all; None: the model has no such setting

    def forward(
        self, model: PreTrainedModel, forward: Callable[..., Any], inputs: dict[str, Any]
    ) -> tuple[Any, Tensor]:
        """Call the model's own forward without its cross-entropy.

        Returns its output, whose loss is what the model adds, and the last hidden states.
        """
        hidden: list[Tensor] = []
        keep = {} if self.logits_to_keep is None else {"logits_to_keep": self.logits_to_keep}
        handle = backbone_of(model).register_forward_hook(
            lambda module, inputs, output: hidden.append(output.last_hidden_state)
        )
        try:
            with _without_cross_entropy(model):
                output = forward(**inputs, **keep, return_dict=True)
        finally:
            handle.remove()
        return output, hidden[-1]


@torch.no_grad()
def own_loss_of(model: PreTrainedModel) -> OwnLoss | None:
    """Find whether the model's loss has more than the mean cross-entropy of its logits; None if it has not.

    Tried with the outputs of routers on. An InputError if the rest cannot be told from the cross-entropy.
    """
    tokens, names = probe_tokens(model), inspect.signature(model.forward).parameters
    inputs: dict[str, Any] = {"input_ids": tokens, "labels": tokens, "use_cache": False}
    if "output_router_logits" in names:
        inputs["output_router_logits"] = True
    keep = 1 if "logits_to_keep" in names else None
    with evaluating(model):
        usual = model(**inputs)
        cross_entropy = nn.functional.cross_entropy(usual.logits[0, :-1].double(), tokens[0, 1:])
        with _without_cross_entropy(model) as calls:
            rest = model(**inputs).loss.double()
            cut = rest
            if calls and keep is not None:
                cut = model(**inputs, logits_to_keep=keep).loss.double()
    error = usual.loss.double() - cross_entropy - (rest if calls else 0)  # no calls: a function of its own
    if not error.abs() <= max(1e-5, 4 * torch.finfo(usual.loss.dtype).eps) * cross_entropy.abs():
        raise InputError(
            f"the loss of {type(model).__name__} is not the mean cross-entropy of its logits, "
            f"{usual.loss:.4f} against {cross_entropy:.4f}, and what else is in it cannot be told apart; "
            "leave its own loss as it is"
        )
    if not calls or not rest:
        return None
    return OwnLoss(logits_to_keep=keep if keep is None or torch.equal(cut, rest) else 0)


@contextmanager
def _without_cross_entropy(model: PreTrainedModel) -> Iterator[list[int]]:
    """Make the model's loss function 0 in the block; yields a list with an entry per call of it."""
    calls: list[int] = []
    before = vars(model).get("_loss_function")

    def nothing(logits: Tensor, *_: Any, **__: Any) -> Tensor:
        calls.append(1)
        return torch.zeros((), device=logits.device)

    model.loss_function = nothing
    try:
        yield calls
    finally:
        if before is None:
            del model._loss_function
        else:
            model.loss_function = before
