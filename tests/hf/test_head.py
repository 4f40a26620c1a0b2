"""What a causal LM makes of its hidden states, against the model's own logits."""

import copy
from typing import Any

import pytest
import torch
import transformers
from peft import LoHaConfig, get_peft_model
from torch import Tensor, nn
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


def assert_same(model: Any) -> None:
    """Objective and gradients, the latter of everything that learns."""
    torch.manual_seed(0)  # dropout, if there is one
    loss = ours(model)
    torch.manual_seed(0)
    true = wanted(model)
    torch.testing.assert_close(loss.objective, true.objective, rtol=1e-9, atol=0)
    toy.assert_same(*(toy.gradients(model, each.objective) for each in (loss, true)))


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
    base = toy.family(name, tie_word_embeddings=tied)
    return toy.adapter_on(base, **{"target_modules": ["q_proj", "lm_head"]} | settings)


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


@pytest.mark.parametrize(
    ("tied", "settings", "learns"),
    [
        (False, {"modules_to_save": ["lm_head"]}, "modules_to_save"),
        (True, {"trainable_token_indices": [5, 7]}, "trainable_tokens_delta"),
    ],
    ids=["the copy of a head that is trained whole", "tokens that are trained on a tied head"],
)
def test_what_else_learns_on_a_head_is_part_of_it(tied, settings, learns):
    model = adapted(tied=tied, target_modules=["q_proj"], init_lora_weights=True, **settings)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if learns in name:
                weight.add_(0.5)
    assert_same(model)
    assert any(learns in name for name in toy.gradients(model, ours(model).objective))
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


class ByBatch(nn.Linear):
    """As torch's dynamic quantisation: the scale is that of all tokens at once."""

    def forward(self, input: Tensor) -> Tensor:
        scale = input.abs().max() / 7
        return super().forward((input / scale).round() * scale)


def quantised_by_batch() -> Any:
    model = toy.family("qwen2")
    for layer in model.model.modules():
        if type(layer) is nn.Linear:
            layer.__class__ = ByBatch
    return model


def loha() -> Any:
    base = toy.family("qwen2", tie_word_embeddings=False)
    return get_peft_model(base, LoHaConfig(target_modules=["lm_head"]))


def biased() -> Any:
    with pytest.warns(UserWarning, match="lora_bias"):
        return adapted(lora_bias=True)


def of_kind(name: str, **settings: Any) -> Any:
    small = {"hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4, "num_hidden_layers": 1}
    config = toy.AutoConfig.for_model(name, **small, vocab_size=259, **settings)
    return toy.AutoModelForCausalLM.from_config(config).eval()


def with_an_encoder() -> Any:
    small = {"d_model": 8, "d_kv": 4, "d_ff": 8, "num_layers": 1, "num_heads": 2, "vocab_size": 16}
    return transformers.T5ForConditionalGeneration(transformers.T5Config(**small))


REFUSED = {  # → what the sentence says
    "DoRA": (lambda: adapted(use_dora=True), r"adapter 'default' .* has a Dora"),
    "a bias": (biased, "adapter 'default' .* has a bias"),
    "LoHa": (loha, r"is a peft\.\S*loha\S*, not a .* leave"),
    "a cap": (capped, r"is a \S*Capped, not a .* leave"),
    "float8": (quantised, r"a Parameter of torch\.float8_e4m3fn on cpu; leave"),
    "no head": (
        lambda: toy.family("qwen2").model,
        "Qwen2Model has no output head; load it with AutoModelFor",
    ),
    "an encoder": (with_an_encoder, "an encoder and a decoder; give a causal LM"),
    "offloaded": (lambda: toy.family("qwen2").to("meta"), "has its embeddings or its output head offloaded"),
    "dynamic quantisation": (quantised_by_batch, "without layers that are quantised dynamically"),
    "bert": (
        lambda: of_kind("bert"),
        "BertLMHeadModel reads the tokens that it is to predict; give a causal",
    ),
    "electra": (lambda: of_kind("electra", embedding_size=16), "reads 16 numbers per token"),
    "rembert": (lambda: of_kind("rembert", output_embedding_size=24), "RemBert.* reads 24 numbers per"),
}


def read(model: Any) -> None:
    readout_of(model)
    projection_of(model, torch.ones(1, 32))


@pytest.mark.parametrize(("made", "message"), REFUSED.values(), ids=REFUSED)
def test_a_head_that_is_not_understood_is_refused_in_one_sentence(made, message):
    model = base_of(made())
    with pytest.raises(ValueError, match=message) as refused:
        read(model)
    assert "\n" not in str(refused.value)


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


def test_weights_that_zero_3_has_partitioned_are_refused_before_they_are_used():
    model = base_of(toy.family("qwen2"))
    for number, weight in enumerate(model.parameters()):
        weight.ds_id, weight.data = number, weight.data.new_empty(0)  # as DeepSpeed leaves them
    for refused in (readout_of, lambda model: attach(model, entropy_penalty=1.0)):
        with pytest.raises(ValueError, match="ZeRO-3 has partitioned the model's weights"):
            refused(model)


def test_a_head_of_zeros_shows_no_scale():
    model = toy.family("granite", logits_scaling=8.0, tie_word_embeddings=False)
    nn.init.zeros_(model.lm_head.weight)
    with pytest.raises(ValueError, match="the model's head is all zeros, so its logits have no scale"):
        readout_of(model)


def test_adapters_by_row_are_refused():
    model = adapted().eval()
    with (
        model._enable_peft_forward_hooks(adapter_names=["default"] * 4),
        pytest.raises(ValueError, match="adapter on the output head has a hook, as adapter_names sets one"),
    ):
        projection_of(base_of(model), torch.ones(4, 32).double())


@pytest.mark.parametrize("name", ["qwen2", "cohere"])
@pytest.mark.parametrize(
    "change",
    [
        lambda x: x / 8,
        lambda x: 30 * torch.tanh(x / 30),
        # Nothing to be seen at the size that logits have here, nor on the probe if a scale of 1/4 shrank it.
        lambda x: 600 * torch.tanh(x / 600),
        lambda x: x + 0.05,
        lambda x: x[..., :-1],
        lambda x: x.relu(),
    ],
)
def test_an_unknown_change_of_the_logits_is_noticed(name, change):
    odd = toy.family(name)
    original = odd.forward

    def forward(**inputs: Any) -> Any:
        output = original(**inputs)
        output.logits = change(output.logits)
        return output

    odd.forward = forward
    with pytest.raises(ValueError, match=f"logits of {type(odd).__name__} are not"):
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


@pytest.mark.parametrize("mode", [True, False], ids=["train", "eval"])
def test_looking_at_a_model_leaves_its_quantised_layers_able_to_train(mode):
    model = toy.model()
    layer = model.model.layers[1].mlp
    layer.down_proj = toy.Packing(layer.down_proj)
    attach(model.train(mode), 1.0)
    assert not layer.down_proj.is_packed
    assert [module.training for module in model.modules()] == [mode] * len([*model.modules()])
    before = layer.down_proj.weight.clone()
    model.train()(**BATCH).loss.backward()
    assert layer.up_proj.weight.grad is not None
    assert torch.equal(layer.down_proj.weight, before)
