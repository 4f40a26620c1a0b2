"""A PEFT policy → the same policy, whose LoRA layers take less time and memory.

The bits are the same where lora_alpha / rank is a power of two, and differ by rounding elsewhere.
"""

import functools
from typing import Any

import torch
from peft import PeftModel
from peft.tuners.lora.layer import Linear
from torch import Tensor, nn
from torch.nn import functional

ADAPTER = "default"  # PEFT's name for an only adapter


def make_lean(policy: PeftModel) -> None:
    """Let plain LoRA layers leave PEFT's forward, in a policy that one process trains and nobody merges."""
    for module in policy.modules():
        if _is_plain(module):
            module.forward = functools.partial(_lora_linear, module)  # pyright: ignore[reportAttributeAccessIssue]


def _is_plain(module: nn.Module) -> bool:
    """Return whether the module is W x + s B A x without a variant of LoRA, B and A in float32.

    W is in float32 too, or in half precision on a CPU.
    """
    if type(module) is not Linear or type(module.base_layer) is not nn.Linear or module.lora_variant:
        return False
    base = module.base_layer.weight
    factors = (factor[ADAPTER].weight.dtype for factor in (module.lora_A, module.lora_B))
    is_half_on_cpu = base.dtype in (torch.bfloat16, torch.float16) and base.device.type == "cpu"
    return {*factors} == {torch.float32} and (base.dtype == torch.float32 or is_half_on_cpu)


def _lora_linear(layer: Any, x: Tensor) -> Tensor:
    """Return W x + B (s A x): scaled where the rank is small, and summed where W x lies.

    For s a power of two, such as lora_alpha / rank = 2, these are PEFT's bits for W x + s (B (A x)).
    """
    width, base = x.shape[-1], layer.base_layer
    # Reshaped twice, so that backward adds the gradients of x in PEFT's order.
    out = functional.linear(x.reshape(-1, width), base.weight, base.bias)
    down = _lora_down(layer, x.reshape(-1, width)) * layer.scaling[ADAPTER]
    if out.dtype == torch.float32:
        out.addmm_(down, layer.lora_B[ADAPTER].weight.t())
    else:
        out = (out + functional.linear(down, layer.lora_B[ADAPTER].weight)).to(out.dtype)
    return out.view(*x.shape[:-1], -1)


def _lora_down(layer: Any, x: Tensor) -> Tensor:
    """Return A x with dropout on x, in float32."""
    factor, dropout = layer.lora_A[ADAPTER].weight, layer.lora_dropout[ADAPTER]
    if x.device.type == "cpu" and isinstance(dropout, nn.Dropout) and dropout.training:
        return _DroppedDown.apply(x, factor, dropout.p)  # pyright: ignore[reportReturnType]
    return functional.linear(dropout(x.to(factor.dtype)), factor)


class _DroppedDown(torch.autograd.Function):
    """A (dropout of x) with PyTorch's bits, which keeps a byte for each number of x for backward, not 8.

    x itself is kept too, but the layers that read it share it. PyTorch keeps its noise and what is left of x,
    both in float32: two thirds of all that is kept in a training in bfloat16.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, factor: Tensor, p: float) -> Tensor:
        noise = torch.empty_like(x, dtype=factor.dtype).bernoulli_(1 - p)
        ctx.save_for_backward(x, factor, noise.bool())
        ctx.p = p
        return functional.linear(x.to(factor.dtype) * noise.div_(1 - p), factor)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        x, factor, kept = ctx.saved_tensors
        noise = kept.to(factor.dtype).div_(1 - ctx.p)
        to_factor = grad.t() @ (x.to(factor.dtype) * noise)
        to_x = ((grad @ factor) * noise).to(x.dtype) if ctx.needs_input_grad[0] else None
        return to_x, to_factor, None
