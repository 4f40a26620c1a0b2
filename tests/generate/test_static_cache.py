"""A compiled decoding step: the same completions, two shapes of batch, no model's weights in another's."""

import copy
import shutil
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from peft import LoraConfig, get_peft_model
from torch._dynamo.utils import counters
from toys.policy import PROBLEMS, random_model, tokenizer_of_problems
from transformers import CTRLConfig, CTRLLMHeadModel

from erce.errors import InputError
from erce.generate import static_cache
from erce.generate.decoding import GenerationSettings
from erce.generate.static_cache import compiles
from erce.generate.transformers import generate
from erce.hf.models import adapted, shadow

GREEDY = GenerationSettings(temperature=0.0, samples=1, max_new_tokens=12, batch_size=16)
SAMPLED = replace(GREEDY, temperature=0.8, samples=3)


@pytest.fixture(scope="module")
def tokenizer():
    return tokenizer_of_problems()


@pytest.fixture
def model(tokenizer):
    return random_model(tokenizer, seed=0, end=3)


@pytest.fixture
def uncompiled(monkeypatch):
    """All is as with compilation, but torch runs each step as it is, which saves the seconds of compiling."""
    monkeypatch.setenv("TORCHDYNAMO_DISABLE", "1")


def check_same_with_compilation(model, tokenizer, decoding, problems=PROBLEMS):
    plain = generate(model, tokenizer, problems, decoding=decoding, seed=0)
    compiled = generate(model, tokenizer, problems, decoding=replace(decoding, compile=True), seed=0)
    assert compiled == [
        replace(
            other,
            logprob=pytest.approx(other.logprob, abs=1e-4),
            entropy=pytest.approx(other.entropy, abs=1e-5),
        )
        for other in plain
    ]
    return compiled


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize(
    "decoding",
    [
        GREEDY,
        SAMPLED,
        replace(GREEDY, batch_size=1),
        replace(SAMPLED, batch_size=10),  # batches of mixed problems, the last of 6 rows; tails of 3 rows
        replace(SAMPLED, batch_size=1000),
        replace(SAMPLED, max_new_tokens=1),
        replace(SAMPLED, stop=("A", "7"), batch_size=10),
    ],
)
def test_a_static_cache_samples_the_same_completions(model, tokenizer, decoding):
    check_same_with_compilation(model, tokenizer, decoding)


@pytest.mark.usefixtures("uncompiled")
def test_rows_that_a_cache_without_spare_room_cuts_off_go_on_in_the_next_batch(model, tokenizer, monkeypatch):
    monkeypatch.setattr(static_cache, "LENGTH_STEP", 1)
    model.lm_head.weight.data[tokenizer.eos_token_id] /= 3  # long completions
    check_same_with_compilation(model, tokenizer, replace(SAMPLED, batch_size=6, max_new_tokens=40))


@pytest.mark.usefixtures("uncompiled")
def test_heads_that_share_keys_attend_without_a_copy_of_the_cache(model, tokenizer, monkeypatch):
    def seen(query, key, value, **settings):
        keys.append((query.shape[1], key.shape[1], value.shape[1]))
        return attention(query, key, value, **settings)

    keys, attention = [], static_cache.scaled_dot_product_attention
    monkeypatch.setattr(static_cache, "scaled_dot_product_attention", seen)
    generate(model, tokenizer, PROBLEMS, decoding=replace(GREEDY, compile=True), seed=0)
    assert set(keys) == {(2, 2, 2)}


@pytest.mark.usefixtures("uncompiled")
def test_a_copy_of_a_model_that_was_compiled_samples_from_its_own_weights(model, tokenizer):
    base = check_same_with_compilation(model, tokenizer, GREEDY)
    policy = copy.deepcopy(model)
    policy.lm_head.weight.data = policy.lm_head.weight.data.flip(1)
    assert check_same_with_compilation(policy, tokenizer, GREEDY) != base


@pytest.mark.usefixtures("uncompiled")
def test_the_model_is_left_as_it_was_even_after_an_error(model, tokenizer):
    before = dict(vars(model))
    generate(model, tokenizer, PROBLEMS, decoding=replace(GREEDY, compile=True), seed=0)
    with pytest.raises(AttributeError):
        generate(model, tokenizer, PROBLEMS, decoding=replace(GREEDY, compile=True, stop=(1,)), seed=0)
    assert model.config._attn_implementation == "sdpa"
    assert "_compiled_call" not in before | vars(model)


def without_static_steps(tokenizer):
    config = CTRLConfig(vocab_size=len(tokenizer), n_embd=8, dff=8, n_layer=1, n_head=2)
    return CTRLLMHeadModel(config)


def sliding(tokenizer):
    window = {"use_sliding_window": True, "sliding_window": 4, "max_window_layers": 1}
    return random_model(tokenizer, seed=0, end=3, **window)


def eager(tokenizer):
    return random_model(tokenizer, seed=0, end=3, attn_implementation="eager")


def elsewhere(tokenizer):
    return random_model(tokenizer, seed=0, end=3).to("meta")


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (without_static_steps, "cannot compile a CTRLLMHeadModel; leave compile out"),
        (sliding, "layers with a StaticSlidingWindowLayer, and only full attention is"),
        (eager, "attention 'eager' is not compiled here, only 'sdpa' is"),
        (elsewhere, "the model is on meta, and only"),
    ],
)
def test_a_model_without_static_steps_is_refused_before_anything_is_sampled(tokenizer, kind, message):
    with pytest.raises(InputError, match=message):
        generate(kind(tokenizer), tokenizer, PROBLEMS, decoding=replace(GREEDY, compile=True), seed=0)


class OnCuda:
    """A model that says its weights are on a CUDA device."""

    def __init__(self, model):
        self.model = model

    def __getattr__(self, name):
        return getattr(self.model, name)

    def parameters(self):
        yield SimpleNamespace(device=torch.device("cuda"))


def test_a_gpu_compiles_unless_a_recipe_says_no(tokenizer, model, monkeypatch):
    monkeypatch.setattr(static_cache, "has_triton", lambda: True)
    monkeypatch.setenv("CC", "gcc")
    there = OnCuda(model)
    assert [compiles(there, wanted) for wanted in (None, True, False)] == [True, True, False]
    assert [compiles(model, wanted) for wanted in (None, True, False)] == [False, True, False]
    with pytest.warns(UserWarning, match=r"^the decoding step is not compiled, .* attention 'eager' is not"):
        assert not compiles(OnCuda(eager(tokenizer)), None)
    monkeypatch.setattr(static_cache, "has_triton", lambda: False)
    with pytest.warns(UserWarning, match="Triton and a C compiler, and one of them is not installed"):
        assert not compiles(there, None)
    assert not compiles(there, False)


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("g++"), reason="inductor compiles C++, here is no g++")
@pytest.mark.filterwarnings("ignore:.torch.jit.script_method. is deprecated:DeprecationWarning")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)  # adapters merged, and beside
def test_three_policies_of_a_process_share_what_is_compiled_and_no_weights(tokenizer, tmp_path, dtype):
    torch.compiler.reset()
    counters.clear()
    base, drawn = random_model(tokenizer, seed=0, end=3).to(dtype), []
    for seed in range(3):
        torch.manual_seed(seed)
        lora = LoraConfig(task_type="CAUSAL_LM", target_modules="all-linear", r=4, init_lora_weights=False)
        get_peft_model(shadow(base), lora).save_pretrained(str(tmp_path))
        with adapted(base, tmp_path) as policy:
            for decoding in (GREEDY, SAMPLED):
                if dtype == torch.float32 and decoding is GREEDY:
                    drawn.append(check_same_with_compilation(policy, tokenizer, decoding))
                else:
                    compiled = replace(decoding, compile=True)
                    drawn.append(generate(policy, tokenizer, PROBLEMS, decoding=compiled, seed=0))
                    plain = generate(policy, tokenizer, PROBLEMS, decoding=decoding, seed=0)
                    # A rounding of logits changes a completion from there on; greedy ones rarely meet it.
                    same = sum(one.text == other.text for one, other in zip(drawn[-1], plain, strict=True))
                    least = 0.9 if dtype == torch.float32 else 0.6 if decoding is GREEDY else 0.1
                    assert same >= len(plain) * least
    assert len({str(completions) for completions in drawn}) == 6
    assert counters["stats"]["unique_graphs"] <= 2
    assert not counters["graph_break"]
