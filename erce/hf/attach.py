"""Our loss inside a Hugging Face causal LM: `model(input_ids=…, labels=…).loss`, in any loop.

TRL's trainer and Liger replace a model's forward, which would drop this loss without a word. So a pre-hook on
the model's backbone stops the first step in which anyone else asks for hidden states to train on.
"""

import inspect
import math
import warnings
from typing import Any, NoReturn, TypeVar

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from erce.catalog import refusing_unknown_names
from erce.errors import InputError
from erce.hf.head import (
    IGNORED,
    added_loss_of,
    backbone_of,
    bind_forward,
    evaluating,
    head_loss,
    probe_tokens,
    readout_of,
    refresh_forward,
    refuse_prompts_with_a_loss,
)
from erce.hf.sequences import begin_count, has_several, keeps_apart, refuse_other_lengths
from erce.loss import Loss, make_base_loss, make_penalty

Model = TypeVar("Model", bound=nn.Module)
FOREIGN = ("trl", "liger_kernel", "unsloth", "unsloth_zoo", "erce")
BYPASSED = (
    "the loss that erce.attach put into this model is bypassed: something else trains on its hidden states, "
    "as TRL's SFTTrainer, Liger's and Unsloth's losses do; use ERCETrainer, switch that loss off, or call "
    "erce.detach(model)"
)
LOST = (
    "the forward that erce.attach gave this model is gone, as after pickling or where others replace it, and "
    "its loss with it; call erce.attach(model, ...) again, or erce.detach(model) for the model's own loss"
)


@refusing_unknown_names
def attach(
    model: Model,
    entropy_penalty: float,
    *,
    entropy_type: str = "shannon",
    entropy_order: float = 1.0,
    base_loss: str = "cross-entropy",
    ignore_index: int = IGNORED,
) -> Model:
    """Make the `outputs.loss` of a causal LM or `PeftModel` the base loss + λ · entropy; return the model.

    With `labels` (or `shift_labels`, which are not shifted) the output has no logits: they are never stored,
    and `outputs.logits` is an object that says so if it is used.
    The loss is the mean over the labels that are predicted, or the sum over `num_items_in_batch`, as
    transformers has it. `model.erce.last` is the last call's `Loss`, detached. Without labels nothing
    changes, but a training forward with gradients is an InputError: it would train on another loss.
    Attaching again replaces; attach before compiling or distributing.

    The model itself holds the loss, in its forward: a copy has its own, and a model that lost the forward, as
    by pickling, refuses to compute.

    Args:
        model: A causal LM of transformers, or a `PeftModel` of one; it is changed.
        entropy_penalty: The strength λ; 0 adds nothing.
        entropy_type: "shannon", "renyi", "support-size", or your own, "package.module:NAME".
        entropy_order: The order of "renyi", "support-size" or your own.
        base_loss: What λ · entropy is added to, by name.
        ignore_index: The label of a token that is not trained on.

    Returns:
        `model` itself.

    Raises:
        InputError: The model's logits or loss are not those of its head alone, or others have replaced its
            forward.
    """
    if not isinstance(entropy_penalty, int | float) or not math.isfinite(entropy_penalty):
        raise InputError(
            f"entropy_penalty must be a finite int or float, got {entropy_penalty!r}; 0 adds nothing"
        )
    penalty, added_to = make_penalty(entropy_type, entropy_order), make_base_loss(base_loss)
    refuse_prompts_with_a_loss(model)
    base = _base(detach(model))
    _refuse_foreign(base)
    base.erce = Attached(
        base, lam=entropy_penalty, penalty=penalty, base_loss=added_to, ignore_index=ignore_index
    )
    base.accepts_loss_kwargs = True  # transformers.Trainer: num_items_in_batch is honoured

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self.erce(self, *args, **kwargs)

    bind_forward(base, forward)
    base._replicate_for_data_parallel = _refuse_replicas
    refresh_forward(model, base)
    return model


def detach(model: Model) -> Model:
    """Remove `attach`'s loss, if the model has it, and return the model.

    InputError: something has replaced the model's forward since; undo that first.
    """
    base = _base(model)
    attached = vars(base).get("erce")
    if attached is None:
        return model
    is_lost = getattr(base.forward, "__func__", None) is type(base).forward
    if not is_lost and "erce.hf.attach" not in _origins(base.forward)[:1]:
        raise InputError("the model's forward was replaced after erce.attach; undo that before erce.detach")
    attached.handle.remove()
    for name in ("erce", "accepts_loss_kwargs", "forward", "_replicate_for_data_parallel"):
        vars(base).pop(name, None)
    if attached.own_forward:
        base.forward = attached.forward
    refresh_forward(model, base)
    return model


class Attached:
    """The loss inside a model, as `model.erce`; `last` is the last call's `Loss`, detached."""

    def __init__(self, model: PreTrainedModel, **settings: Any) -> None:
        self.last: Loss | None = None
        self.model, self.settings = model, settings  # of the loss
        self.readout = readout_of(model)
        self.added_loss = added_loss_of(model)
        tokens = probe_tokens(model)
        with torch.no_grad(), evaluating(model):
            self.output = type(model(input_ids=tokens, use_cache=False))
        self.keeps_apart = keeps_apart(model, tokens, {"position_ids": tokens})
        self.forward, self.own_forward = model.forward, "forward" in vars(model)
        self.names = tuple(inspect.signature(model.forward).parameters)
        self.handle = backbone_of(model).register_forward_pre_hook(self._refuse_others)
        self._is_called = self._has_warned = False

    def __call__(self, model: PreTrainedModel, *args: Any, **kwargs: Any) -> Any:
        inputs = dict(zip(self.names, args, strict=False)) | kwargs
        with_loss = inputs.get("labels") is not None or inputs.get("shift_labels") is not None
        if not with_loss and model.training and torch.is_grad_enabled():
            raise InputError(
                "erce.attach's loss needs labels, and a training forward without them would bypass it; give "
                "labels, or ask for logits in eval mode or under torch.no_grad()"
            )
        self._is_called = True
        try:
            return self._with_loss(model, inputs) if with_loss else self.forward(*args, **kwargs)
        finally:
            self._is_called = False

    def _with_loss(self, model: PreTrainedModel, inputs: dict[str, Any]) -> Any:
        labels, targets = inputs.pop("labels", None), inputs.pop("shift_labels", None)
        num_items_in_batch, kept = inputs.pop("num_items_in_batch", None), inputs.pop("logits_to_keep", 0)
        settings = dict(self.settings)
        if "ignore_index" in inputs:
            settings["ignore_index"] = inputs.pop("ignore_index")
        as_dict = inputs.pop("return_dict", None) is not False
        if isinstance(kept, Tensor) or kept:
            raise InputError("logits_to_keep has no meaning with labels; leave it out")
        inputs.setdefault("use_cache", False)  # with it transformers lets flattened sequences read each other
        is_shifted = targets is None
        labels = labels if is_shifted else targets
        refuse_other_lengths(labels, inputs)
        targets = labels[:, 1:] if is_shifted else labels
        self._warn_of_mixed_sequences(inputs, labels)
        count = begin_count(targets, settings["ignore_index"])
        output, hidden = self._outputs(model, inputs, labels)
        scored, is_scored = count(), targets != settings["ignore_index"]
        _warn_of_nothing(is_scored, scored, num_items_in_batch)
        if isinstance(num_items_in_batch, Tensor):  # without a label the objective is 0
            num_items_in_batch = num_items_in_batch.clamp(min=1)
        settings |= {"num_items_in_batch": num_items_in_batch, "num_scored": scored}
        loss = head_loss(model, hidden[:, :-1] if is_shifted else hidden, targets, self.readout, **settings)
        # A copy: others change the loss in place, as AdaLoRA and transformers' evaluation do.
        self.last = loss._replace(objective=loss.objective.detach().clone())
        added = output.loss
        if added is not None and num_items_in_batch is not None:
            # The model's is a mean; a micro-batch has its labels' share of it.
            added = added * (is_scored.sum() / num_items_in_batch).to(added.device)
        output.loss = loss.objective if added is None else loss.objective + added
        return output if as_dict else output.to_tuple()

    def _outputs(self, model: PreTrainedModel, inputs: dict[str, Any], labels: Tensor) -> tuple[Any, Tensor]:
        """Return the usual output without logits, its loss what the model adds or None; the hidden states."""
        if self.added_loss is not None:
            outputs, hidden = self.added_loss.forward(model, self.forward, inputs | {"labels": labels})
        else:
            outputs = backbone_of(model)(**inputs, return_dict=True)
            hidden = outputs.last_hidden_state
        names = self.output.__dataclass_fields__.keys() - {"logits"}
        usual = self.output(**{name: x for name, x in outputs.items() if name in names})
        object.__setattr__(usual, "logits", NoLogits())  # among the output's items there are none
        return usual, hidden

    def _warn_of_mixed_sequences(self, inputs: dict[str, Any], labels: Tensor) -> None:
        if self._has_warned or torch.compiler.is_compiling():
            return
        is_marked = inputs.get("position_ids") is not None and inputs.get("attention_mask") is None
        keeps_apart = self.keeps_apart and is_marked and not inputs["use_cache"]
        if not keeps_apart and has_several(inputs, labels):
            self._has_warned = True
            warnings.warn(
                "a row holds several sequences, and the model lets one read the other; pass position_ids "
                "that start again, without attention_mask and use_cache, or one sequence per row",
                stacklevel=2,
            )

    def _refuse_others(self, backbone: nn.Module, inputs: Any) -> None:
        if self._is_called:
            return
        is_lost = getattr(self.model.forward, "__func__", None) is type(self.model).forward
        if backbone.training and torch.is_grad_enabled() and not is_lost:
            raise InputError(BYPASSED)
        if is_lost or "erce.hf.attach" not in _origins(self.model.forward):
            raise InputError(LOST)


def _warn_of_nothing(is_scored: Tensor, scored: int | None, items: Tensor | int | None) -> None:
    """Warn if no label is scored, here and in all that is accumulated; `scored` counts them where known."""
    if torch.compiler.is_compiling() or (is_scored.any() if scored is None else scored) or items:
        return
    warnings.warn("no label of this batch is scored, so its loss is 0", stacklevel=2)


class NoLogits:
    """What `outputs.logits` is after a call with labels: any use of it is an InputError."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # which Python asks for, as to copy
            raise AttributeError(name)
        raise InputError(
            "a call with labels makes no logits after erce.attach; for logits call the model without labels, "
            "in eval mode or under torch.no_grad()"
        )

    def __getitem__(self, index: Any) -> Any:
        return self.indexed


def _refuse_replicas() -> NoReturn:
    raise InputError(
        "nn.DataParallel copies a model without what erce.attach put into it; start one process per GPU with "
        "accelerate launch or torchrun, or show one GPU only (CUDA_VISIBLE_DEVICES)"
    )


def _base(model: nn.Module) -> Any:
    """Return the causal LM itself, under its adapters."""
    base = model
    if type(model).__module__.startswith("peft."):
        base = getattr(model, "get_base_model", lambda: model)()
    if not isinstance(base, PreTrainedModel):
        raise InputError(
            f"erce.attach needs a transformers model or a PeftModel, got a {type(base).__name__}; attach "
            "first, then compile or distribute"
        )
    if base._compiled_call_impl is not None or model._compiled_call_impl is not None:
        raise InputError("the model is compiled; attach first, then compile")
    return base


def _origins(forward: Any) -> list[str]:
    """Return the modules whose code a forward runs through, outermost first; `__module__` may be borrowed."""
    origins = []
    while forward is not None:
        code = getattr(forward, "func", getattr(forward, "__func__", forward))
        origins.append(getattr(code, "__globals__", {}).get("__name__", ""))
        forward = getattr(forward, "__wrapped__", None)
    return origins


def _refuse_foreign(model: PreTrainedModel) -> None:
    if "_original_forward" in vars(model):  # accelerate's mixed precision, which our forward would go past
        raise InputError("accelerate has prepared the model; attach first, then accelerator.prepare")
    if any(hasattr(weight, "full_tensor") for weight in model.parameters()):
        raise InputError("the model's weights are distributed; attach first, then fully_shard or parallelise")
    for forward in (model.forward, backbone_of(model).forward):
        for origin in _origins(forward):
            if origin.split(".")[0] in FOREIGN or origin.startswith("unsloth_compiled"):
                raise InputError(
                    f"the forward of {type(model).__name__} was replaced by {origin}, whose loss and ours "
                    "exclude each other; load the model anew without it"
                )
