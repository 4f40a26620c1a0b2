"""Names into models: what they may be, in which precision, and one readable sentence when they are not."""

import copy

import huggingface_hub
import huggingface_hub.constants
import pytest
import torch
from huggingface_hub.errors import HfHubHTTPError
from peft import get_peft_model
from toys import training as toy

from erce.catalog import EMBEDDED_MODELS
from erce.hf import models
from erce.hf.models import adapted, load_model, load_tokenizer, shadow


@pytest.fixture
def saved(tmp_path):
    folder = tmp_path / "base"
    toy.model().to(torch.bfloat16).save_pretrained(folder)
    toy.tokenizer().save_pretrained(folder)
    return folder


@pytest.mark.skipif(torch.cuda.is_available(), reason="what 'auto' is on a CPU")
@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize(
    ("dtype", "wanted"), [("auto", None), ("bfloat16", torch.bfloat16), ("float16", torch.float16)]
)
def test_the_precision_is_ours_to_say_not_the_checkpoints(saved, dtype, wanted, fast, monkeypatch):
    monkeypatch.setattr(models, "bfloat16_is_fast", lambda: fast)
    wanted = wanted or (torch.bfloat16 if fast else torch.float32)
    assert models.dtype_here("auto", "tiny") == "float32"  # its results are the same on every machine
    model = load_model(str(saved), dtype=dtype)
    assert {weight.dtype for weight in model.parameters()} == {wanted}
    assert model.config._attn_implementation == "sdpa"
    assert not model.training


def test_loading_is_silent_and_leaves_progress_bars_as_they_were(saved, capfd):
    from transformers.utils import logging

    assert logging.is_progress_bar_enabled()
    load_model(str(saved))
    assert capfd.readouterr() == ("", "")
    assert logging.is_progress_bar_enabled()


def test_a_tokenizer_without_padding_pads_with_its_unknown_token_or_says_that_it_pads_with_its_end(tmp_path):
    tokens = toy.tokenizer()
    tokens.pad_token = None
    toy.model().config.save_pretrained(tmp_path)
    tokens.save_pretrained(tmp_path)
    with pytest.warns(UserWarning, match=r"pads with its end, '<\|end\|>'; do not use"):
        assert load_tokenizer(str(tmp_path)).pad_token == "<|end|>"
    tokens.unk_token = "Ā"
    tokens.save_pretrained(tmp_path)
    assert load_tokenizer(str(tmp_path)).pad_token == "Ā"


def test_tiny_is_the_model_in_the_package(saved, monkeypatch):
    monkeypatch.setitem(EMBEDDED_MODELS, "tiny", saved)
    assert load_model("tiny").config.name_or_path == str(saved)
    monkeypatch.setitem(EMBEDDED_MODELS, "tiny", saved / "nothing")
    with pytest.raises(ValueError, match="lacks the model 'tiny'; build it with scripts/pretrain_tiny"):
        load_model("tiny")


@pytest.mark.parametrize("name", ["tinny", "no-one/nothing", "a b", "", "/"])
@pytest.mark.parametrize("load", [load_model, load_tokenizer])
def test_a_name_that_is_no_model_is_one_sentence(load, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ValueError, match=r"no model '.*' could be loaded \(.*give|no config.json") as caught:
        load(name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "offline"),
    [(ConnectionError("no route"), True), (HfHubHTTPError.__new__(HfHubHTTPError), False)],
)
def test_a_hub_that_is_silent_is_asked_once_and_the_nearest_name_is_said(answer, offline, monkeypatch):
    asked, offline_inside = [], []

    def ask(url):
        asked.append(url)
        raise answer

    def load(*names, **settings):
        offline_inside.append(huggingface_hub.constants.HF_HUB_OFFLINE)
        raise OSError("no such model.\nand so on")

    monkeypatch.setattr(huggingface_hub, "get_hf_file_metadata", ask)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(models.AutoTokenizer, "from_pretrained", load)
    with pytest.raises(
        ValueError, match=r"\(no such model\); did you mean 'Qwen/Qwen2.5-1.5B-Instruct'\? Else give"
    ):
        load_tokenizer("Qwen/Qwen2.5-1.5B-Instrcut")
    assert asked == ["https://huggingface.co/Qwen/Qwen2.5-1.5B-Instrcut/resolve/main/config.json"]
    assert offline_inside == [offline]
    assert huggingface_hub.constants.HF_HUB_OFFLINE is False


def test_an_unknown_precision_is_refused(saved):
    with pytest.raises(ValueError, match="dtype must be 'auto', 'float32', 'bfloat16', 'float16', got 'fp8'"):
        load_model(str(saved), dtype="fp8")


def test_a_shadow_shares_the_weights_and_nothing_else():
    base = toy.model()
    copied = shadow(base)
    pairs = list(zip(base.parameters(), copied.parameters(), strict=True))
    assert all(a.data_ptr() == b.data_ptr() and a.requires_grad and not b.requires_grad for a, b in pairs)
    assert copied.lm_head.weight is copied.model.embed_tokens.weight
    config = copy.deepcopy(base.config.to_dict())
    copied.config.use_cache = not copied.config.use_cache
    copied.model.layers[0].self_attn.q_proj = None
    assert base.config.to_dict() == config
    assert base.model.layers[0].self_attn.q_proj is not None


def test_a_model_that_a_trainer_has_patched_casts_no_shadow(tmp_path):
    base = toy.model()
    toy.trainer(tmp_path, toy.UNEQUAL[:2], policy=base)
    with pytest.raises(ValueError, match="forward was replaced, by a trainer it seems; load the model anew"):
        shadow(base)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_the_policy_is_the_base_model_under_its_adapter(dtype, tmp_path):
    base, ids = toy.model().to(dtype), torch.arange(9)[None]
    trained = get_peft_model(toy.model().to(dtype), toy.lora(init_lora_weights=False)).eval()
    trained.save_pretrained(tmp_path / "adapter", save_embedding_layers=False)
    before = {name: (weight.data_ptr(), weight.clone()) for name, weight in base.named_parameters()}
    with torch.no_grad(), adapted(base, tmp_path / "adapter") as policy:
        assert not policy.training
        assert torch.allclose(policy(input_ids=ids).logits, trained(input_ids=ids).logits, rtol=0, atol=2e-5)
        assert not torch.allclose(policy(input_ids=ids).logits, base(input_ids=ids).logits, atol=0.1)
    for name, weight in base.named_parameters():
        assert (weight.data_ptr(), weight.requires_grad) == (before[name][0], True)
        assert torch.equal(weight, before[name][1])
