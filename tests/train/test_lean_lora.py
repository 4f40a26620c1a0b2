"""The lean LoRA policy has PEFT's bits, and leaves variants of LoRA alone."""

from typing import Any

import pytest
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from peft.tuners.lora.layer import Linear
from torch import Tensor
from toys import training as toy

from erce.hf.models import shadow
from erce.train import lean_lora
from erce.train.lean_lora import make_lean

TOKENS = torch.tensor([[3, 4, 5, 6], [7, 8, 9, 3]])


def policy(dtype: torch.dtype = torch.float32, **changes: Any) -> Any:
    torch.manual_seed(0)
    base: Any = toy.model()
    config: Any = {"target_modules": "all-linear", "r": 4, "lora_alpha": 8, "lora_dropout": 0.3} | changes
    lora = get_peft_model(shadow(base.to(dtype)), LoraConfig(task_type="CAUSAL_LM", **config))
    assert isinstance(lora, PeftModel)
    for name, weight in lora.named_parameters():
        if "lora_B" in name:  # which begins at 0, so that A would have no gradient
            torch.nn.init.normal_(weight, std=0.1)
    return lora.train()


def lean_layers(lora: Any) -> list[bool]:
    """Return for each LoRA layer whether it has left PEFT's forward."""
    layers = [module for module in lora.modules() if type(module) is Linear]
    return [getattr(layer.forward, "func", None) is lean_lora._lora_linear for layer in layers]


def logits_and_gradients(lora: Any) -> list[Tensor]:
    torch.manual_seed(1)
    logits = lora(input_ids=TOKENS).logits
    logits.square().mean().backward()
    return [logits, *(weight.grad for weight in lora.parameters() if weight.requires_grad)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_a_lean_policy_has_peft_s_bits_in_logits_and_gradients(dtype, dropout):
    lean = policy(dtype, lora_dropout=dropout)
    make_lean(lean)
    assert all(lean_layers(lean))
    others = policy(dtype, lora_dropout=dropout)
    assert all(map(torch.equal, logits_and_gradients(lean), logits_and_gradients(others)))


@pytest.mark.parametrize(
    ("base", "factors", "device", "lean"),
    [
        (torch.float16, torch.float32, "cpu", True),
        (torch.float32, torch.float32, "meta", True),  # no CPU: as a GPU is
        (torch.bfloat16, torch.float32, "meta", False),
        (torch.float64, torch.float32, "cpu", False),
        (torch.bfloat16, torch.bfloat16, "cpu", False),
    ],
    ids=str,
)
def test_only_layers_whose_arithmetic_is_the_same_leave_peft_s_forward(base, factors, device, lean):
    lora = policy().to(device)
    for name, weight in lora.named_parameters():
        weight.data = weight.data.to(factors if "lora_" in name else base)
    make_lean(lora)
    assert set(lean_layers(lora)) == {lean}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_dropout_keeps_a_byte_a_number_for_backward(dtype):
    """And x, which it does not copy; PyTorch's keeps two float32 copies of it."""
    x, factor = torch.randn(6, 32, dtype=dtype, requires_grad=True), torch.randn(4, 32, requires_grad=True)
    kept: dict[int, Tensor] = {}

    def note(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        lean_lora._DroppedDown.apply(x, factor, 0.3)
    del kept[x.data_ptr()], kept[factor.data_ptr()]
    assert sum(tensor.untyped_storage().nbytes() for tensor in kept.values()) == x.numel()


def test_a_variant_of_lora_keeps_its_own_forward():
    lean = policy(use_dora=True, lora_dropout=0.0)
    make_lean(lean)
    assert all(
        map(
            torch.equal,
            logits_and_gradients(lean),
            logits_and_gradients(policy(use_dora=True, lora_dropout=0.0)),
        )
    )
