"""What would take the attached loss away, or leave something out: refused, or stopped at the first step."""

import types
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import get_peft_model
from torch import Tensor, nn
from toys import training as toy
from transformers.modeling_outputs import CausalLMOutputWithPast
from trl import SFTConfig, SFTTrainer

import erce
from erce.train.trainer import ERCETrainer

BATCH = toy.batch(toy.UNEQUAL[:4])
BYPASSED = "erce.attach put into this model is bypassed: something else trains on its hidden .* erce.detach"


def sft(model: Any, folder: Path) -> SFTTrainer:
    args = SFTConfig(**toy.common(folder, **toy.ON_A_CPU))
    data = toy.dataset(toy.SCORED)
    return SFTTrainer(model, args, train_dataset=data, processing_class=toy.tokenizer())


def test_trls_trainer_would_bypass_it_and_is_stopped_at_the_first_step(tmp_path):
    adapter = toy.lora(init_lora_weights=False)
    for model in (erce.attach(toy.model(), 1.0), erce.attach(get_peft_model(toy.model(), adapter), 1.0)):
        with pytest.raises(ValueError, match=BYPASSED):
            sft(model, tmp_path).train()
    trls = sft(toy.model(), tmp_path)
    with pytest.raises(ValueError, match=r"Qwen2ForCausalLM was replaced by trl\.trainer\.utils, whose"):
        erce.attach(trls.model, 1.0)


def test_our_own_trainer_wants_the_model_without_it(tmp_path):
    data, tokens = toy.dataset(toy.SCORED), toy.tokenizer()
    for head in ("erce",) if toy.TRLS_HEAD.args[0] else ("erce", "trl"):
        model, args = erce.attach(toy.model(), 1.0), toy.config(tmp_path, head=head)
        with pytest.raises(ValueError, match=r"loss of erce.attach already; use erce.detach\(model\) first"):
            ERCETrainer(model, args, train_dataset=data, processing_class=tokens)
    model = erce.detach(erce.attach(toy.model(), 1.0))
    trainer = ERCETrainer(model, toy.config(tmp_path), train_dataset=data, processing_class=tokens)
    with pytest.raises(ValueError, match=r"was replaced by erce\.train\.scores, whose loss and ours exclude"):
        erce.attach(trainer.model, 1.0)


def lce_forward(self: Any, input_ids: Tensor, labels: Any = None, **rest: Any) -> CausalLMOutputWithPast:
    """As Liger's and Unsloth's are: the backbone and a loss of their own."""
    states = self.model(input_ids=input_ids, **rest).last_hidden_state
    if labels is None:
        return CausalLMOutputWithPast(logits=self.lm_head(states))
    logits = self.lm_head(states[:, :-1]).flatten(0, 1)
    return CausalLMOutputWithPast(loss=nn.functional.cross_entropy(logits, labels[:, 1:].flatten()))


@pytest.mark.parametrize("where", ["liger_kernel.transformers.model.qwen2", "unsloth.models.llama"])
def test_a_forward_that_others_replaced_is_refused_or_stopped(where):
    model = erce.attach(toy.model(), 1.0)
    model.forward = types.MethodType(lce_forward, model)  # what Liger does when a training starts
    with pytest.raises(ValueError, match=BYPASSED):
        model.train()(**BATCH)
    with pytest.raises(ValueError, match=r"replaced after erce.attach; undo that before erce.detach"):
        erce.detach(model)

    theirs = types.FunctionType(lce_forward.__code__, globals() | {"__name__": where})
    message = (
        f"the forward of Qwen2ForCausalLM was replaced by {where}, whose loss and ours exclude each other"
    )
    model = toy.model()
    model.forward = types.MethodType(theirs, model)
    with pytest.raises(ValueError, match=message):
        erce.attach(model, 1.0)
    for replaced in (toy.Qwen2ForCausalLM, type(toy.model().model)):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(replaced, "forward", theirs)
            with pytest.raises(ValueError, match=message):
                erce.attach(toy.model(), 1.0)


@pytest.mark.parametrize(
    "other",
    [{"label_smoothing_factor": 0.1}, {"compute_loss_func": lambda output, *_, **__: output.logits.sum()}],
)
def test_a_loss_made_of_the_logits_would_bypass_it_and_is_stopped(other, tmp_path):
    with pytest.raises(ValueError, match="needs labels, and a training forward without them would bypass it"):
        toy.plain_training(tmp_path, erce.attach(toy.model(), 1.0), micro=2, steps=1, **other)


def test_a_copy_for_several_gpus_is_refused():
    model = erce.attach(toy.model(), 1.0)
    with pytest.raises(ValueError, match="DataParallel copies a model without what erce"):
        model._replicate_for_data_parallel()  # what nn.DataParallel calls first
    assert erce.detach(model)._replicate_for_data_parallel()


def compiled_in_place() -> Any:
    model = toy.model()
    model.compile(backend="eager")
    return model


def prepared() -> Any:
    """Return what accelerate's mixed precision makes of a model, as far as is told from it."""
    model = toy.model()
    model._original_forward = model.forward
    return model


def sharded() -> Any:
    model = toy.model()
    next(model.parameters()).full_tensor = None  # which a DTensor has
    return model


@pytest.mark.parametrize(
    ("made", "settings", "message"),
    [
        (lambda: nn.Linear(2, 2), {}, "got a Linear; attach first"),
        (prepared, {}, "accelerate has prepared the model; attach first, then"),
        (sharded, {}, "the model's weights are distributed; attach first, then"),
        (
            lambda: torch.compile(toy.model(), backend="eager"),
            {},
            "got a OptimizedModule; attach first, then",
        ),
        (compiled_in_place, {}, "the model is compiled; attach first"),
        (lambda: toy.model().model, {}, "Qwen2Model has no output head; load it with"),
        (toy.model, {"entropy_penalty": float("nan")}, "got nan; 0"),
        (toy.model, {"entropy_penalty": "4"}, "got '4'; 0"),
        (toy.model, {"lam": 1.0}, "did you mean 'entropy_penalty'"),
        (toy.model, {"entropy_type": "renji"}, "did you mean 'renyi'"),
        (toy.model, {"base_loss": "focus"}, "did you mean 'focal'"),
    ],
)
def test_what_cannot_be_attached_to_is_one_sentence_and_leaves_nothing(made, settings, message):
    model = made()
    before = set(vars(model))
    with pytest.raises(ValueError, match=message) as refused:
        erce.attach(model, **{"entropy_penalty": 1.0} | settings)
    assert "\n" not in str(refused.value)
    assert set(vars(model)) == before
