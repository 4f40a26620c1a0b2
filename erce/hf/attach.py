"""Our loss inside a Hugging Face causal LM: `model(input_ids=…, labels=…).loss`, in any loop.

TRL's trainer and Liger replace a model's forward, which would drop this loss without a word. So a pre-hook on
the model's backbone stops the first step in which anyone else asks for hidden states to train on.
"""

import functools
import inspect
import math
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from erce.errors import InputError
from erce.hf.head import IGNORED, evaluating, head_loss, probe_tokens, readout_of
from erce.hf.scored_count import ScoredCount
from erce.loss import Loss, make_objective, make_penalty

Model = TypeVar("Model", bound=nn.Module)
FOREIGN = ("trl", "liger_kernel", "unsloth", "unsloth_zoo", "erce")
BYPASSED = (
    "the loss that erce.attach put into this model is bypassed: something else trains on its hidden states, "
    "as TRL's SFTTrainer, Liger's and Unsloth's losses do; use ERCETrainer, switch that loss off, or call "
    "erce.detach(model)"
)


def attach(
    model: Model,
    entropy_penalty: float,
    *,
    entropy_type: str = "shannon",
    entropy_order: float = 1.0,
    objective: str = "cross-entropy",
    ignore_index: int = IGNORED,
) -> Model:
    """Make the `outputs.loss` of a causal LM or `PeftModel` the objective + λ · entropy; return the model.

    With `labels` (or `shift_labels`, which are not shifted) the output has no logits: they are never stored.
    The loss is the mean over the labels that are predicted, or the sum over `num_items_in_batch`, as
    transformers has it. `model.erce.last` is the last call's `Loss`, detached. Without labels nothing
    changes, but a training forward with gradients is an InputError: it would train on another loss.
    Attaching again replaces; attach before compiling or distributing. The settings are `ERCEConfig`'s.

    InputError: a model whose logits or loss are not those of its head alone, a forward that others replaced.
    """
    if not isinstance(entropy_penalty, int | float) or not math.isfinite(entropy_penalty):
        raise InputError(f"entropy_penalty must be a finite number, got {entropy_penalty!r}; 0 adds nothing")
    penalty, objective_function = make_penalty(entropy_type, entropy_order), make_objective(objective)
    base = _base(detach(model))
    _refuse_foreign(base)
    base.erce = Attached(
        base, lam=entropy_penalty, penalty=penalty, objective=objective_function, ignore_index=ignore_index
    )
    base.accepts_loss_kwargs = True  # transformers.Trainer: num_items_in_batch is honoured

    @functools.wraps(type(base).forward)  # whose signature others read
    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self.erce(self, *args, **kwargs)

    base.forward = types.MethodType(forward, base)
    return model


def detach(model: Model) -> Model:
    """Remove `attach`'s loss, if the model has it, and return the model.

    InputError: something has replaced the model's forward since; undo that first.
    """
    base = _base(model)
    attached = vars(base).get("erce")
    if attached is None:
        return model
    if "erce.hf.attach" not in _origins(vars(base).get("forward"))[:1]:
        raise InputError("the model's forward was replaced after erce.attach; undo that before erce.detach")
    attached.handle.remove()
    del base.erce, base.accepts_loss_kwargs, base.forward
    if attached.own_forward:
        base.forward = attached.forward
    return model


class Attached:
    """The loss inside a model, as `model.erce`; `last` is the last call's `Loss`, detached."""

    def __init__(self, model: PreTrainedModel, **settings: Any) -> None:
        self.last: Loss | None = None
        self.settings = settings  # of the loss
        self.readout = readout_of(model)
        self.output = _usual_output(model)
        self.forward, self.own_forward = model.forward, "forward" in vars(model)
        self.names = tuple(inspect.signature(model.forward).parameters)
        self.handle = model.base_model.register_forward_pre_hook(self._refuse_others)
        self._asking = False

    def __call__(self, model: PreTrainedModel, *args: Any, **kwargs: Any) -> Any:
        inputs = dict(zip(self.names, args, strict=False)) | kwargs
        if inputs.get("labels") is not None or inputs.get("shift_labels") is not None:
            return self._with_loss(model, inputs)
        if model.training and torch.is_grad_enabled():
            raise InputError(
                "erce.attach's loss needs labels, and a training forward without them would bypass it; give "
                "labels, or ask for logits in eval mode or under torch.no_grad()"
            )
        return self.forward(*args, **kwargs)

    def _with_loss(self, model: PreTrainedModel, inputs: dict[str, Any]) -> Any:
        labels, targets = inputs.pop("labels", None), inputs.pop("shift_labels", None)
        items, kept = inputs.pop("num_items_in_batch", None), inputs.pop("logits_to_keep", 0)
        settings = dict(self.settings)
        if "ignore_index" in inputs:
            settings["ignore_index"] = inputs.pop("ignore_index")
        as_dict = inputs.pop("return_dict", None) is not False
        if isinstance(kept, Tensor) or kept:
            raise InputError("logits_to_keep has no meaning with labels; leave it out")
        _refuse_router_loss(model, inputs)
        is_shifted = targets is None
        targets = labels[:, 1:] if is_shifted else targets
        count = ScoredCount(targets, settings.get("ignore_index", IGNORED))
        with self._own_call():
            outputs = model.base_model(**inputs, return_dict=True)
        states = outputs.last_hidden_state[:, :-1] if is_shifted else outputs.last_hidden_state
        if isinstance(items, Tensor):
            items = items.clamp(min=1)  # a window without a label has the objective 0
        settings |= {"num_items_in_batch": items, "num_scored": count.read()}
        loss = head_loss(model, states, targets, self.readout, **settings)
        self.last = loss._replace(objective=loss.objective.detach())
        names = self.output.__dataclass_fields__
        output = self.output(loss=loss.objective, **{name: x for name, x in outputs.items() if name in names})
        return output if as_dict else output.to_tuple()

    @contextmanager
    def _own_call(self) -> Iterator[None]:
        self._asking = True
        try:
            yield
        finally:
            self._asking = False

    def _refuse_others(self, backbone: nn.Module, inputs: Any) -> None:
        if backbone.training and torch.is_grad_enabled() and not self._asking:
            raise InputError(BYPASSED)


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
    for forward in (model.forward, model.base_model.forward):
        for origin in _origins(forward):
            if origin.split(".")[0] in FOREIGN or origin.startswith("unsloth_compiled"):
                raise InputError(
                    f"the forward of {type(model).__name__} was replaced by {origin}, whose loss and ours "
                    "exclude each other; load the model anew without it"
                )


@torch.no_grad()
def _usual_output(model: PreTrainedModel) -> Any:
    """Return the class of the model's outputs; refuse a loss other than the cross-entropy of its logits."""
    _refuse_router_loss(model, {})
    tokens = probe_tokens(model)
    with evaluating(model):
        output = model(input_ids=tokens, labels=tokens, use_cache=False)
    ours = nn.functional.cross_entropy(output.logits[0, :-1].float(), tokens[0, 1:])
    if not torch.isclose(output.loss.float(), ours, rtol=1e-3):
        raise InputError(
            f"the loss of {type(model).__name__} is not the mean cross-entropy of its logits, "
            f"{output.loss:.4f} against {ours:.4f}, and erce.attach would replace it; leave it as it is"
        )
    return type(output)


def _refuse_router_loss(model: PreTrainedModel, inputs: dict[str, Any]) -> None:
    config = model.config.get_text_config()
    wants_router_loss = inputs.get("output_router_logits")
    if wants_router_loss is None:
        wants_router_loss = getattr(config, "output_router_logits", False)
    if wants_router_loss and getattr(config, "router_aux_loss_coef", 0):
        raise InputError(
            "erce.attach leaves out a mixture of experts' load-balancing loss; set "
            "output_router_logits=False or router_aux_loss_coef=0 to train without it"
        )
