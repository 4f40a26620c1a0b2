"""A Hugging Face causal LM → what the loss needs of it: the head, an adapter on the head, a scale, a cap.

The only file that knows how such a model makes logits of hidden states, and what it adds to their
cross-entropy, such as a router's loss: found by trying, not by name. It refuses models that it cannot read.
"""

import functools
import inspect
import math
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from numbers import Real
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from transformers import PretrainedConfig, PreTrainedModel

from erce.errors import InputError
from erce.loss import Loss, linear_entropy_regularized_cross_entropy

IGNORED = -100  # the label of a position that is not trained on, everywhere in transformers
SCALES = (
    "logit_scale",
    "logits_scaling",
    "logits_mup_width_multiplier",
    "output_multiplier",
    "lm_head_multiplier",
)
CAPS = ("final_logit_softcapping", "logit_softcapping", "logits_soft_cap", "output_logit_soft_cap")
FLOATS = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
OTHERWISE = "leave its own loss as it is, in ERCETrainer head='trl'"
LARGEST_PROBE = 64.0  # the probe's largest logits, before they are scaled: a cap that matters bends them


class Readout(NamedTuple):
    """How a model changes the logits x of its head: softcap · tanh(logit_scale · x / softcap)."""

    logit_scale: float
    softcap: float | None

    def __call__(self, x: Tensor) -> Tensor:
        x = self.logit_scale * x
        return x if self.softcap is None else self.softcap * torch.tanh(x / self.softcap)


class Projection(NamedTuple):
    """A head as it is: x = hidden @ weight.T + bias, plus low @ up.T of the LoRA adapters on it."""

    weight: Tensor  # (v, d)
    bias: Tensor | None  # (v,)
    adapter: tuple[Tensor, Tensor] | None  # low (..., r), of given hidden states, and up (v, r)

    def __call__(self, hidden: Tensor) -> Tensor:
        x = nn.functional.linear(hidden, self.weight, self.bias)
        return x if self.adapter is None else x + self.adapter[0] @ self.adapter[1].T


def head_loss(
    model: PreTrainedModel, hidden: Tensor, targets: Tensor, readout: Readout, **settings: Any
) -> Loss:
    """Return the loss of hidden states (..., d) through the model's head as it is at this moment.

    `readout` is `readout_of(model)`, which is found once; `settings` are the loss's own.
    """
    projection = projection_of(model, hidden)
    device = projection.weight.device  # the labels may be on another one if the model is split over devices
    settings = {name: x.to(device) if isinstance(x, Tensor) else x for name, x in settings.items()}
    return linear_entropy_regularized_cross_entropy(
        hidden.to(device), targets=targets.to(device), **projection._asdict(), **readout._asdict(), **settings
    )


def projection_of(model: PreTrainedModel, hidden: Tensor) -> Projection:
    """Return the model's head, with the adapters on it applied to `hidden` (..., d).

    InputError: a head that is not a linear layer, or has other adapters than LoRA or trained tokens on it.
    """
    head: Any = _in_use(_head(model))
    if _is_peft(head, "utils.other", "TrainableTokensWrapper"):  # trainable_token_indices, tied embeddings
        _, bias = _plain(head.original_module)
        active = [] if head.disable_adapters else head.active_adapters
        return Projection(head.token_adapter.get_merged_weights(active), bias, None)
    if not _is_peft(head, "tuners.lora.layer", "Linear"):
        return Projection(*_plain(head), None)
    weight, bias = _plain(head.base_layer)
    if head.disable_adapters and head.merged:
        head.unmerge()  # as its own forward does
    if head.disable_adapters or head.merged:
        return Projection(weight, bias, None)
    return Projection(weight, bias, _lora(head, hidden))


@torch.no_grad()
def readout_of(model: PreTrainedModel) -> Readout:
    """Find how the model goes from its head to its logits, by comparing the logits of four tokens.

    The config only names numbers; whether each is applied, and whether a scale multiplies or divides, is
    tried out. Two tokens have their own hidden states, two have larger ones, on which a cap shows. An
    InputError if no reading of the numbers gives the model's logits: the loss would be of other logits.
    """
    if any(hasattr(weight, "ds_id") for weight in model.parameters()):
        raise InputError(
            "DeepSpeed's ZeRO-3 has partitioned the model's weights, so its logits cannot be tried out; use "
            "DDP, FSDP 2 or ZeRO-2"
        )
    if model.config.is_encoder_decoder:
        raise InputError(f"{type(model).__name__} has an encoder and a decoder; give a causal LM")
    refuse_offloaded(model)
    readouts = _readouts(model.config.get_text_config())
    ours, theirs = _probe(model, LARGEST_PROBE * max(readout.logit_scale for readout in readouts))
    if len(readouts) > 1 and not ours.any():
        raise InputError("the model's head is all zeros, so its logits have no scale; initialise it")
    for readout in readouts:
        if equal(readout(ours), theirs):
            return readout
    raise InputError(
        f"the logits of {type(model).__name__} are not its last hidden state through its output head, "
        f"scaled and soft-capped as its config says; {OTHERWISE}"
    )


def refuse_offloaded(model: PreTrainedModel) -> None:
    """Refuse a model whose embeddings or output head have no values, as with accelerate's `cpu_offload`."""
    for module in (model.get_input_embeddings(), _head(model)):
        if getattr(getattr(module, "weight", None), "is_meta", False):
            raise InputError(
                f"{type(model).__name__} has its embeddings or its output head offloaded, or not loaded yet; "
                "load both to a device that computes"
            )


class AddedLoss(NamedTuple):
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
def added_loss_of(model: PreTrainedModel) -> AddedLoss | None:
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
    return AddedLoss(logits_to_keep=keep if keep is None or torch.equal(cut, rest) else 0)


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Run the block with the model in eval mode, then restore the mode of each module.

    Quantised layers are in training mode meanwhile: on a CPU, bitsandbytes packs the 4-bit weights that run
    in eval mode, and from then on no gradient goes through them.
    """
    modes = {module: module.training for module in model.modules()}
    for module in modes:
        module.training = is_quantised(module)
    try:
        yield
    finally:
        for module, mode in modes.items():
            module.training = mode


def is_quantised(module: nn.Module) -> bool:
    """Return whether a layer's own weights are integers, as those that bitsandbytes quantises."""
    return any(not weight.is_floating_point() for weight in module.parameters(recurse=False))


def backbone_of(model: PreTrainedModel) -> nn.Module:
    """Return the module that gives the last hidden states; some classes name one that they do not have."""
    backbone = model.base_model if model.base_model is not model else getattr(model, "model", model)
    if _head(model) is not None and backbone is model:
        raise InputError(
            f"{type(model).__name__} has no backbone under its output head; load it with AutoModelForCausalLM"
        )
    return backbone


def probe_tokens(model: PreTrainedModel) -> Tensor:  # (1, 4)
    device: Any = model.get_input_embeddings().weight.device
    return torch.arange(4, device=device)[None] % model.config.get_text_config().vocab_size


def _probe(model: PreTrainedModel, large: float) -> tuple[Tensor, Tensor]:
    """Return the head's own logits of four tokens and what the model makes of them, (1, 4, v) each."""
    tokens, head = probe_tokens(model), _head(model)
    with evaluating(model):
        hidden = backbone_of(model)(input_ids=tokens, use_cache=False).last_hidden_state
        width = projection_of(model, hidden).weight.shape[1]
        if width != hidden.shape[-1]:
            raise InputError(
                f"the output head of {type(model).__name__} reads {width} numbers per token and its backbone "
                f"gives {hidden.shape[-1]}, so something lies between them; {OTHERWISE}"
            )
        size = projection_of(model, hidden)(hidden).abs().max().clamp(min=1e-6)
        factors = torch.stack([torch.ones_like(size), large / size]).repeat_interleave(2)
        factors = factors[:, None].to(hidden.dtype)
        handle = head.register_forward_pre_hook(
            lambda _, inputs: (inputs[0] * factors[: inputs[0].shape[-2]], *inputs[1:])
        )
        try:
            theirs = model(input_ids=tokens, use_cache=False).logits
            start = model(input_ids=tokens[:, :2], use_cache=False).logits
        finally:
            handle.remove()
        if not equal(start, theirs[:, : start.shape[1]]):
            raise InputError(
                f"{type(model).__name__} reads the tokens that it is to predict; give a causal LM, without "
                "layers that are quantised dynamically, over all tokens at once"
            )
        return projection_of(model, hidden * factors)(hidden * factors), theirs


def _readouts(config: PretrainedConfig) -> list[Readout]:
    """Return every reading of the numbers that the config names, those that use most of them first."""

    def numbers(names: tuple[str, ...]) -> list[float]:
        values = (getattr(config, name, None) for name in names)  # some configs hold None or a word there
        return [float(x) for x in values if isinstance(x, Real) and 0 < float(x) < math.inf]

    scales = [reading for x in numbers(SCALES) for reading in (x, 1 / x)] + [1.0]
    return [Readout(scale, cap) for scale, cap in product(scales, [*numbers(CAPS), None])]


def equal(ours: Tensor, theirs: Tensor) -> bool:
    """Return whether they are equal token by token, up to the rounding of their dtype."""
    if ours.shape != theirs.shape:
        return False
    error, size = (ours - theirs).float().abs().amax(-1), ours.float().abs().amax(-1)
    return bool((error <= max(1e-3, 4 * torch.finfo(theirs.dtype).eps) * size).all())


def bind_forward(model: PreTrainedModel, forward: Callable[..., Any]) -> None:
    """Make `forward(model, ...)` the model's forward, with the signature of the one that its class has.

    A copy of the model has it, too, and so has a model that accelerate unwraps: unlike functools.wraps it
    leaves no `__wrapped__` to be followed past it. A pickled model comes back with its class's forward.
    """
    own = type(model).forward
    functools.update_wrapper(forward, own)
    del vars(forward)["__wrapped__"]
    vars(forward)["__signature__"] = inspect.signature(own)
    model.forward = types.MethodType(forward, model)


def refresh_forward(model: Any, base: PreTrainedModel) -> None:
    """Let a PEFT model around `base` call its present forward: AdaptionPrompt keeps its first one."""
    tuner = getattr(model, "base_model", None)
    if tuner is not None and tuner is not base and "forward" in vars(tuner):
        tuner.forward = base.forward


def refuse_prompts_with_a_loss(model: Any) -> None:
    """Refuse PEFT's CPT, which weighs the tokens and makes a loss of the logits itself."""
    for config in (getattr(model, "peft_config", None) and model.peft_config.values()) or ():
        if config.peft_type == "CPT":
            raise InputError(
                "PEFT's CPT replaces the loss of the model by one of its own; take another adapter, such as "
                "PromptTuningConfig or LoraConfig"
            )


@contextmanager
def _without_cross_entropy(model: PreTrainedModel) -> Iterator[list[int]]:
    """Let the model's loss function return 0 in the block; yield a list that each call of it lengthens."""
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


def _head(model: PreTrainedModel) -> nn.Module:
    head = model.get_output_embeddings()
    if head is None:
        raise InputError(f"{type(model).__name__} has no output head; load it with AutoModelForCausalLM")
    return head


def _is_peft(module: nn.Module, where: str, name: str) -> bool:
    """Compare by name, so that a model without adapters needs no peft."""
    kind = _kind(module)
    return (kind.__module__, kind.__qualname__) == (f"peft.{where}", name)


def _kind(module: nn.Module) -> type:
    """Return the module's class; for a module that FSDP 2 gave a class of its own, the one it had before."""
    kind = type(module)
    return kind.__bases__[-1] if kind.__module__.startswith("torch.distributed.fsdp") else kind


def _in_use(head: Any) -> Any:
    """Return the head that is called: for one that PEFT trains whole (`modules_to_save`), the active copy."""
    if not _is_peft(head, "utils.other", "ModulesToSaveWrapper"):
        return head
    active = head.active_adapters
    if head.disable_adapters or not active or any(name not in head.modules_to_save for name in active):
        return head.original_module
    return head.modules_to_save[active[0]]


def _plain(head: Any) -> tuple[Tensor, Tensor | None]:
    """Return weight and bias; an InputError if they alone do not give the logits."""
    kind = _kind(head)
    if kind is not nn.Linear:
        raise InputError(
            f"the output head is a {kind.__module__}.{kind.__qualname__}, not a torch.nn.Linear "
            "or plain LoRA on one; leave the head out of the adapter and of quantisation"
        )
    weight = head.weight
    whole = type(weight) in (nn.Parameter, Tensor) or hasattr(weight, "full_tensor")
    if not whole or weight.dtype not in FLOATS or weight.is_meta:
        raise InputError(
            f"the output head's weight is a {type(weight).__name__} of {weight.dtype} on {weight.device}; "
            "leave the head out of quantisation and of offloading"
        )
    return weight, head.bias


def _lora(head: Any, hidden: Tensor) -> tuple[Tensor, Tensor] | None:
    """Return the active adapters as one, whose rank is the sum of theirs; None if none is active."""
    if head._forward_pre_hooks:
        raise InputError("the adapter on the output head has a hook, as adapter_names sets one; leave it out")
    low, up = [], []
    for name in head.active_adapters:
        if name not in head.lora_A:
            continue
        a, b = head.lora_A[name], head.lora_B[name]
        kind = head.lora_variant.get(name)
        if kind is not None or type(a) is not nn.Linear or type(b) is not nn.Linear or b.bias is not None:
            what = "a bias" if kind is None else f"a {type(kind).__name__}"
            raise InputError(
                f"the adapter {name!r} on the output head has {what}, which is not supported; "
                "leave the head out of target_modules"
            )
        low.append(head.scaling[name] * a(head.lora_dropout[name](hidden.to(a.weight.dtype))))
        up.append(b.weight)
    return (torch.cat(low, -1), torch.cat(up, 1)) if low else None
