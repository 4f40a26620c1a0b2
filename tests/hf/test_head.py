"""What a causal LM makes of its hidden states, against the model's own logits."""

import copy
from typing import Any

import pytest
import torch
import transformers
from peft import LoHaConfig, get_peft_model
from torch import nn
from toys import training as toy

from erce.hf.attach import attach
from erce.hf.head import Readout, backbone_of, head_loss, projection_of, readout_of
from erce.loss import Loss, Shannon, entropy_regularized_cross_entropy

BATCH = toy.batch(toy.UNEQUAL[:4])
INPUTS = {"input_ids": BATCH["input_ids"]}


def base_of(model: Any) -> Any:
    return getattr(model, "get_base_model", lambda: model)()


def ours(model: Any, *, lam: float = 3.0) -> Loss:
    base = base_of(model)
    states = base.base_model(**INPUTS).last_hidden_state
    targets = nn.functional.pad(BATCH["labels"], (0, 1), value=toy.IGNORED)[:, 1:]
    return head_loss(base, states, targets, readout_of(base), lam=lam, penalty=Shannon())


def wanted(model: Any, *, lam: float = 3.0) -> Loss:
    logits = model(**INPUTS).logits[:, :-1]
    return entropy_regularized_cross_entropy(logits, BATCH["labels"][:, 1:], lam=lam)


def gradients(model: Any, loss: Loss) -> dict[str, torch.Tensor]:
    model.zero_grad()
    loss.objective.backward()
    return {name: w.grad.clone() for name, w in model.named_parameters() if w.grad is not None}


def assert_same(model: Any) -> None:
    """Objective and gradients, the latter of everything that learns."""
    torch.manual_seed(0)  # dropout, if there is one
    loss = ours(model)
    torch.manual_seed(0)
    true = wanted(model)
    torch.testing.assert_close(loss.objective, true.objective, rtol=1e-9, atol=0)
    mine, theirs = gradients(model, loss), gradients(model, true)
    assert mine.keys() == theirs.keys() != set()
    for name, gradient in theirs.items():
        torch.testing.assert_close(mine[name], gradient, rtol=1e-7, atol=1e-9, msg=name)


@pytest.mark.parametrize("name", toy.FAMILIES)
def test_scaled_and_capped_logits_are_those_of_the_model(name):
    model = toy.family(name)
    assert_same(model)
    plain = ours(model).nll
    states = model.base_model(**INPUTS).last_hidden_state[:, :-1]
    logits = nn.functional.linear(states, model.get_output_embeddings().weight)
    bare = entropy_regularized_cross_entropy(logits, BATCH["labels"][:, 1:], lam=0.0).nll
    assert (abs(plain - bare) < 1e-9) == (name == "qwen2")


@pytest.mark.parametrize(
    ("name", "readout"),
    [
        ("gemma2", Readout(1.0, 5.0)),
        ("cohere", Readout(0.25, None)),
        ("granite", Readout(0.25, None)),
        ("hyperclovax", Readout(2.5, None)),
    ],
)
def test_the_model_and_not_the_name_says_what_a_number_does(name, readout):
    assert readout_of(toy.family(name)) == readout
    unused = toy.family("qwen2")
    for key, value in toy.FAMILIES[name].items():
        setattr(unused.config, key, value)
    assert readout_of(unused) == Readout(1.0, None)


def adapted(name: str = "qwen2", *, tied: bool = False, **settings: Any) -> Any:
    targets = {"target_modules": ["q_proj", "lm_head"], "init_lora_weights": False}
    base = toy.family(name, tie_word_embeddings=tied)
    return get_peft_model(base, toy.lora(**targets | settings), autocast_adapter_dtype=False).double()


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("qwen2", {}),
        ("qwen2", {"use_rslora": True, "lora_alpha": 3}),
        ("qwen2", {"lora_dropout": 0.5}),
        ("gemma2", {}),
        ("cohere", {}),
    ],
    ids=str,
)
def test_lora_on_the_head_is_part_of_it(name, settings):
    assert_same(adapted(name, **settings).train())


def test_lora_on_a_head_that_is_tied_to_the_embeddings_is_part_of_it():
    with pytest.warns(UserWarning, match="tie_word_embeddings"):
        model = adapted(tied=True)
    assert_same(model)


def test_several_active_adapters_add_up_and_inactive_ones_do_not():
    model = adapted()
    extra = {"target_modules": ["lm_head"], "init_lora_weights": False, "r": 3, "lora_alpha": 5}
    for name in ("second", "third"):
        model.add_adapter(name, toy.lora(**extra), autocast_adapter_dtype=False)
    model.double().base_model.set_adapter(["default", "second"])
    assert projection_of(base_of(model), torch.ones(1, 32).double()).adapter[1].shape == (259, 4 + 3)
    assert_same(model)
    model.base_model.set_adapter(["third"])
    assert projection_of(base_of(model), torch.ones(1, 32).double()).adapter[1].shape == (259, 3)
    assert_same(model)


@torch.no_grad()
def test_merged_and_disabled_adapters_count_as_they_would():
    def value(loss: Loss) -> float:
        return pytest.approx(loss.objective.item(), rel=1e-9)

    model = adapted()
    on, bare = wanted(model), wanted(toy.family("qwen2", tie_word_embeddings=False))
    assert ours(model).objective.item() == value(on) != value(bare)
    model.merge_adapter()
    assert ours(model).objective.item() == value(on)
    with model.disable_adapter():
        assert projection_of(base_of(model), torch.ones(1, 32).double()).adapter is None
        assert not model.get_base_model().lm_head.merged
        assert ours(model).objective.item() == value(bare)
    assert ours(model).objective.item() == value(on)


def test_a_head_that_is_trained_whole_is_the_copy_that_learns():
    base = toy.family("qwen2", tie_word_embeddings=False)
    settings = {"target_modules": ["q_proj"], "modules_to_save": ["lm_head"]}
    model = get_peft_model(base, toy.lora(**settings), autocast_adapter_dtype=False).double()
    with torch.no_grad():
        model.get_base_model().lm_head.modules_to_save["default"].weight.mul_(1.5)
    assert_same(model)
    assert any("modules_to_save" in name for name in gradients(model, ours(model)))
    with torch.no_grad(), model.disable_adapter():
        torch.testing.assert_close(ours(model).objective, wanted(model).objective)


def test_an_adapter_in_float32_on_a_head_in_bfloat16_is_no_worse_than_the_model_itself():
    exact = adapted(lora_alpha=64)
    rounded = copy.deepcopy(exact).bfloat16()
    for name, weight in rounded.named_parameters():
        weight.data = weight.data.float() if "lora" in name else weight.data
    reference = copy.deepcopy(rounded).double()
    truth = wanted(reference).objective.item()
    assert abs(ours(rounded).objective.item() - truth) <= 2 * abs(wanted(rounded).objective.item() - truth)


def test_tokens_that_are_trained_on_a_tied_head_are_part_of_it():
    base = toy.family("qwen2", tie_word_embeddings=True)
    settings = {"target_modules": ["q_proj"], "trainable_token_indices": [5, 7]}
    model = get_peft_model(base, toy.lora(**settings), autocast_adapter_dtype=False).double()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "trainable_tokens_delta" in name:
                weight.add_(0.5)
    assert_same(model)
    assert any("trainable_tokens_delta" in name for name in gradients(model, ours(model)))
    with torch.no_grad(), model.disable_adapter():
        torch.testing.assert_close(ours(model).objective, wanted(model).objective)


class Capped(nn.Linear):
    def forward(self, states: torch.Tensor) -> torch.Tensor:
        return 2 * torch.tanh(super().forward(states) / 2)


def capped() -> Any:
    model = toy.family("qwen2", tie_word_embeddings=False)
    model.lm_head.__class__ = Capped
    return model


def quantised() -> Any:
    model = toy.family("qwen2", tie_word_embeddings=False)
    whole = model.lm_head.weight.data.to(torch.float8_e4m3fn)
    model.lm_head.weight = nn.Parameter(whole, requires_grad=False)
    return model


def loha() -> Any:
    base = toy.family("qwen2", tie_word_embeddings=False)
    return get_peft_model(base, LoHaConfig(target_modules=["lm_head"]))


def biased() -> Any:
    with pytest.warns(UserWarning, match="lora_bias"):
        return adapted(lora_bias=True)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: adapted(use_dora=True), r"adapter 'default' on the output head has a Dora\w+, which is not"),
        (biased, "adapter 'default' on the output head has a bias, which is not"),
        (loha, r"the output head is a peft\.\S*loha\S*, not a torch\.nn\.Linear or plain LoRA on one; leave"),
        (capped, r"the output head is a \S*Capped, not a torch\.nn\.Linear or plain LoRA on one; leave"),
        (
            quantised,
            r"the output head's weight is a Parameter of torch\.float8_e4m3fn on cpu; leave the head",
        ),
        (lambda: toy.family("qwen2").model, "Qwen2Model has no output head; load it with AutoModelForCausal"),
    ],
)
def test_what_else_lies_on_a_head_is_refused_in_one_sentence(made, message):
    with pytest.raises(ValueError, match=message) as refused:
        ours(made())
    assert "\n" not in str(refused.value)


def test_an_encoder_and_decoder_is_refused():
    from transformers import T5Config, T5ForConditionalGeneration

    small = {"d_model": 8, "d_kv": 4, "d_ff": 8, "num_layers": 1, "num_heads": 2, "vocab_size": 16}
    model = T5ForConditionalGeneration(T5Config(**small))
    with pytest.raises(ValueError, match="has an encoder and a decoder; give a causal LM"):
        readout_of(model)


@pytest.mark.parametrize("name", ["llama4_text", "mllama"])
def test_a_class_that_names_a_backbone_it_does_not_have_is_read(name):
    small = toy.WIDTHS | {"vocab_size": 259, "num_hidden_layers": 2, "pad_token_id": 0, "head_dim": 8}
    experts = {"intermediate_size_mlp": 48, "num_local_experts": 2, "attention_chunk_size": 64}
    small |= experts if name == "llama4_text" else {"cross_attention_layers": []}
    config = toy.AutoConfig.for_model(name)
    config = type(config.get_text_config())(**small)
    model = getattr(transformers, {"llama4_text": "Llama4", "mllama": "Mllama"}[name] + "ForCausalLM")(config)
    assert model.base_model is model
    base = model.eval()
    states = backbone_of(base)(**INPUTS).last_hidden_state[:, :-1]
    loss = head_loss(base, states, BATCH["labels"][:, 1:], readout_of(base), lam=3.0, penalty=Shannon())
    torch.testing.assert_close(loss.objective, wanted(base).objective)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        (
            "bert",
            {},
            "BertLMHeadModel reads the tokens that it is to predict; give a causal LM",
        ),
        (
            "electra",
            {"embedding_size": 16},
            "the output head of .* reads 16 numbers per token and its backbone",
        ),
        (
            "rembert",
            {"output_embedding_size": 24},
            "the output head of RemBertForCausalLM reads 24 numbers per",
        ),
    ],
)
def test_a_head_that_is_not_a_causal_lms_is_one_sentence(name, settings, message):
    small = {"hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4, "num_hidden_layers": 1}
    config = toy.AutoConfig.for_model(name, **small, vocab_size=259, **settings)
    model = toy.AutoModelForCausalLM.from_config(config).eval()
    with pytest.raises(ValueError, match=message) as refused:
        readout_of(model)
    assert "\n" not in str(refused.value)


def test_weights_that_zero_3_has_partitioned_are_refused_before_they_are_used():
    model = base_of(toy.family("qwen2"))
    for number, weight in enumerate(model.parameters()):
        weight.ds_id, weight.data = number, weight.data.new_empty(0)  # as DeepSpeed leaves them
    for refused in (readout_of, lambda model: attach(model, entropy_penalty=1.0)):
        with pytest.raises(ValueError, match="ZeRO-3 has partitioned the model's weights"):
            refused(model)


def test_adapters_by_row_are_refused():
    model = adapted().eval()
    with (
        model._enable_peft_forward_hooks(adapter_names=["default"] * 4),
        pytest.raises(ValueError, match="adapter on the output head has a hook, as adapter_names sets one"),
    ):
        projection_of(base_of(model), torch.ones(4, 32).double())


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x / 8,
        lambda x: 30 * torch.tanh(x / 30),
        lambda x: 150 * torch.tanh(x / 150),  # nothing to be seen at the size that logits have here
        lambda x: x + 0.05,
        lambda x: x[..., :-1],
        lambda x: x.relu(),
    ],
)
def test_an_unknown_change_of_the_logits_is_noticed(change):
    odd = toy.family("qwen2")
    original = odd.forward

    def forward(**inputs: Any) -> Any:
        output = original(**inputs)
        output.logits = change(output.logits)
        return output

    odd.forward = forward
    with pytest.raises(ValueError, match="logits of Qwen2ForCausalLM are not its last hidden state through"):
        readout_of(odd)


def test_looking_at_a_model_leaves_it_as_it_was():
    model = adapted().train()
    model.get_base_model().model.norm.eval()
    before = {name: (m.training, len(m._forward_hooks)) for name, m in model.named_modules()}
    generator, weights = torch.get_rng_state(), copy.deepcopy(model.state_dict())
    readout_of(base_of(model))
    assert {name: (m.training, len(m._forward_hooks)) for name, m in model.named_modules()} == before
    assert not any(m._forward_pre_hooks for m in model.modules())
    assert torch.equal(torch.get_rng_state(), generator)
    assert all(torch.equal(weights[name], w) for name, w in model.state_dict().items())
