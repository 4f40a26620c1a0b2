"""A PEFT policy → the same policy, which Hugging Face's trainer trains with less work.

The bits are the same where lora_alpha / rank is a power of two, and differ by rounding elsewhere.
"""

import functools
from collections.abc import Iterator
from typing import Any

import torch
from peft import PeftModel
from peft.tuners.lora.layer import Linear
from torch import Tensor, nn
from torch.nn import functional

ADAPTER = "default"  # PEFT's name for an only adapter


def make_lean(policy: PeftModel) -> None:
    """Set the policy to training mode, and make its LoRA layers in float32 and the trainer's steps cheaper.

    For a policy that one process trains and nobody merges: the layers leave PEFT's forward, and `parameters`
    lists only what was trainable at the call.
    """
    for module in policy.modules():
        if _is_plain(module):
            module.forward = functools.partial(_lora_linear, module)  # pyright: ignore[reportAttributeAccessIssue]
    trained = [weight for weight in policy.parameters() if weight.requires_grad]
    policy.train()
    # Every step the trainer asks for both, and each walks over hundreds of modules.
    policy.parameters = functools.partial(_listed, trained)  # pyright: ignore[reportAttributeAccessIssue]
    policy.train = functools.partial(_train, policy)  # pyright: ignore[reportAttributeAccessIssue]


def _is_plain(module: nn.Module) -> bool:
    """Return whether the module is W x + s B A x in float32, without a variant of LoRA."""
    if type(module) is not Linear or type(module.base_layer) is not nn.Linear:
        return False
    weights = (
        module.base_layer.weight,
        *(factor[ADAPTER].weight for factor in (module.lora_A, module.lora_B)),
    )
    return not module.lora_variant and all(weight.dtype == torch.float32 for weight in weights)


def _lora_linear(layer: Any, x: Tensor) -> Tensor:
    """Return W x + B (s A x): scaled where the rank is small, and summed where W x lies.

    For s a power of two, such as lora_alpha / rank = 2, these are PEFT's bits for W x + s (B (A x)).
    """
    width, base = x.shape[-1], layer.base_layer
    # Reshaped twice, so that backward adds the gradients of x in PEFT's order.
    out = functional.linear(x.reshape(-1, width), base.weight, base.bias)
    dropped = layer.lora_dropout[ADAPTER](x.reshape(-1, width))
    down = functional.linear(dropped, layer.lora_A[ADAPTER].weight) * layer.scaling[ADAPTER]
    out.addmm_(down, layer.lora_B[ADAPTER].weight.t())
    return out.view(*x.shape[:-1], -1)


def _listed(weights: list[nn.Parameter], recurse: bool = True) -> Iterator[nn.Parameter]:
    return iter(weights)


def _train(policy: PeftModel, mode: bool = True) -> PeftModel:
    """Walk over the modules only where the mode changes."""
    return policy if policy.training == mode else type(policy).train(policy, mode)
