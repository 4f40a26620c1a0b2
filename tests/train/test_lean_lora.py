"""The lean LoRA policy has PEFT's bits, and leaves variants of LoRA alone."""

from typing import Any

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from torch import Tensor
from toys import training as toy

from erce.hf.models import shadow
from erce.train.lean_lora import make_lean

TOKENS = torch.tensor([[3, 4, 5, 6], [7, 8, 9, 3]])


def policy(**changes: Any) -> PeftModel:
    torch.manual_seed(0)
    config: Any = {"target_modules": "all-linear", "r": 4, "lora_alpha": 8, "lora_dropout": 0.3} | changes
    lora = get_peft_model(shadow(toy.model()), LoraConfig(task_type="CAUSAL_LM", **config))
    assert isinstance(lora, PeftModel)
    for name, weight in lora.named_parameters():
        if "lora_B" in name:  # which begins at 0, so that A would have no gradient
            torch.nn.init.normal_(weight, std=0.1)
    return lora.train()


def logits_and_gradients(lora: PeftModel) -> list[Tensor]:
    torch.manual_seed(1)
    logits = lora(input_ids=TOKENS).logits
    logits.square().mean().backward()
    return [logits, *(weight.grad for weight in lora.parameters() if weight.requires_grad)]


def test_a_lean_policy_has_peft_s_bits_in_logits_and_gradients():
    lean = policy()
    make_lean(lean)
    assert all(map(torch.equal, logits_and_gradients(lean), logits_and_gradients(policy())))


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


def test_a_lean_policy_lists_what_is_trained_and_changes_mode_in_every_module():
    lean = policy()
    make_lean(lean)
    assert [*lean.parameters()] == [weight for _, weight in lean.named_parameters() if weight.requires_grad]
    assert lean.eval() is lean
    assert not any(module.training for module in lean.modules())
    lean.train()
    assert all(module.training for module in lean.modules())
