"""Bytes are those that a model takes; batch sizes left out fit the free memory, and a minute on a CPU."""

import json
from dataclasses import replace
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from toys.recipes import tiny_recipe
from transformers import LlamaConfig, Qwen2Config, Qwen2ForCausalLM

from erce.catalog import EMBEDDED_MODELS
from erce.errors import InputError
from erce.hf.models import load_model
from erce.recipe import Decoding, Resources, Training
from erce.study import memory
from erce.study.demonstrations import cell_splits
from erce.study.memory import (
    BatchSizes,
    Lengths,
    adapter_weights,
    batch_sizes,
    fitting,
    free_memory,
    generation_memory,
    read_config,
    training_memory,
    weights,
)
from erce.study.run import run
from erce.study.samples import Journal

SMOLLM2 = LlamaConfig(
    hidden_size=576,
    intermediate_size=1536,
    num_hidden_layers=30,
    num_attention_heads=9,
    num_key_value_heads=3,
    vocab_size=49_152,
    tie_word_embeddings=True,
)
LENGTHS = Lengths(trained=512, sampled=900, new=512)
GB = 1e9
LEFT_OUT = tiny_recipe(model="some/model", dtype="bfloat16", training=Training(), decoding=Decoding())


def test_the_weights_are_counted_as_the_model_has_them():
    model, config = load_model("tiny"), read_config("tiny")
    assert weights(config) == pytest.approx(sum(weight.numel() for weight in model.parameters()), rel=0.005)
    adapted = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", target_modules="all-linear", r=3))
    assert adapter_weights(config, 3) == sum(w.numel() for w in adapted.parameters() if w.requires_grad)


def kept_bytes(config: Qwen2Config, *, rank: int, rows: int) -> int:
    """What autograd saves in a bfloat16 model with LoRA in float32, under autocast, of `rows` · 32 tokens."""
    lora = LoraConfig(task_type="CAUSAL_LM", target_modules="all-linear", r=rank, lora_dropout=0.05)
    model: Any = Qwen2ForCausalLM(config)
    model = get_peft_model(model.to(torch.bfloat16), lora).train()
    own = {weight.untyped_storage().data_ptr() for weight in model.parameters()}
    kept: dict[int, torch.Tensor] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.untyped_storage().data_ptr() not in own:
            kept[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x), torch.autocast("cpu", torch.bfloat16):
        model.get_base_model().model(torch.zeros(rows, 32, dtype=torch.long))
    return sum(tensor.untyped_storage().nbytes() for tensor in kept.values())


@pytest.mark.parametrize(("hidden", "intermediate", "rank"), [(128, 512, 16), (256, 512, 4)])
def test_the_activations_are_what_autograd_keeps_of_a_token(hidden, intermediate, rank):
    config = Qwen2Config(
        hidden_size=hidden,
        intermediate_size=intermediate,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        vocab_size=64,
    )
    few, many = (kept_bytes(config, rank=rank, rows=rows) for rows in (2, 4))
    parts = training_memory(LEFT_OUT, config, Lengths(32, 32, 32), 2, "h100")
    assert parts["activations"] == pytest.approx(many - few, rel=0.08)


def test_checkpointing_needs_a_tenth_of_the_activations():
    often = replace(LEFT_OUT, training=Training(gradient_checkpointing=True))
    less, more = (training_memory(each, SMOLLM2, LENGTHS, 8, "h100") for each in (often, LEFT_OUT))
    assert less["activations"] < more["activations"] / 10
    assert less | {"activations": 0} == more | {"activations": 0}
    assert more["loss"] == 512 * 2**20  # a chunk of logits, whatever the batch


def test_the_cache_has_keys_and_values_of_every_row_and_token():
    big = read_config("Qwen/Qwen2.5-7B-Instruct")
    parts = generation_memory(LEFT_OUT, big, Lengths(768, 1000, 512), 64, "h100")
    assert parts["keys and values"] == 64 * 1000 * 57_344  # 2 · 28 layers · 4 heads · 128 · 2 bytes


@pytest.mark.parametrize(
    ("change", "sentence"),
    [({"num_experts": 8}, "mixture of experts"), ({"model_type": "gpt2"}, "has no intermediate_size")],
)
def test_a_model_that_is_not_a_dense_decoder_has_no_formula(tmp_path, change, sentence):
    config = json.loads((EMBEDDED_MODELS["tiny"] / "config.json").read_text(encoding="utf-8"))
    (tmp_path / "config.json").write_text(json.dumps(config | change), encoding="utf-8")
    if "num_experts" not in change:
        (tmp_path / "config.json").write_text(json.dumps(change), encoding="utf-8")
    with pytest.raises(InputError, match=sentence):
        read_config(str(tmp_path))
    unfitted = batch_sizes(replace(LEFT_OUT, model=str(tmp_path)), {}, share=1.0)
    assert unfitted == BatchSizes(512, 8)


def fitted(free: float, *, device: str = "h100", **changes) -> BatchSizes:
    return fitting(replace(LEFT_OUT, **changes), SMOLLM2, LENGTHS, device=device, memory=free * GB)


@pytest.mark.parametrize("free", [3, 6, 15])
def test_the_sizes_are_the_largest_that_fit(free):
    sizes, room = fitted(free), memory.USED_SHARE * free * GB - memory.LIBRARY_BYTES

    def needs(count: int, formula: Any) -> float:
        return sum(formula(LEFT_OUT, SMOLLM2, LENGTHS, count, "h100").values())

    for size, largest, formula in (
        (sizes.completions, 512, generation_memory),
        (sizes.sequences, 8, training_memory),
    ):
        assert needs(size, formula) <= room
        assert size == largest or needs(2 * size, formula) > room


def test_a_batch_on_a_cpu_ends_within_a_minute(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    sizes = fitted(400, device="cpu")
    assert sizes.completions == 32
    seconds = 512 * 2 * weights(SMOLLM2) * 32 / (2 * memory.THREAD_FLOPS["bfloat16"])
    assert seconds < 60 < 2 * seconds


def test_what_a_recipe_sets_stays():
    set_here = {"training": Training(micro_batch_size=16), "decoding": Decoding(batch_size=300)}
    assert fitted(1, **set_here) == BatchSizes(300, 16)
    assert fitted(1, training=Training(micro_batch_size=16)).sequences == 16
    assert fitted(1, decoding=Decoding(batch_size=300)).completions == 300


def test_sequences_share_a_batch_equally():
    assert fitted(400, training=Training(batch_size=12)).sequences == 6
    assert fitted(6, training=Training(batch_size=12)).sequences == 4


@pytest.mark.parametrize("model", EMBEDDED_MODELS)
def test_an_embedded_model_has_the_same_batches_on_every_machine(model, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 0.0)
    assert batch_sizes(replace(LEFT_OUT, model=model), {}, share=1.0) == BatchSizes(512, 8)


@pytest.mark.parametrize(("gpus", "part"), [(0, 1 / 8), (0.5, 0.5), (1, 1)])
def test_eight_jobs_with_a_device_each_do_not_share_one(gpus, part, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (8 * GB, 80 * GB))
    model = str(EMBEDDED_MODELS["tiny"])  # a folder counts as the user's own
    recipe = replace(LEFT_OUT, model=model, resources=Resources(gpus=gpus))
    sizes = batch_sizes(recipe, {recipe.task: cell_splits(recipe, recipe.task)}, share=1 / 8)
    assert sizes.free == 8 * GB * part


def test_a_container_s_limit_counts(tmp_path):
    assert free_memory(tmp_path) > 0
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("2000\n")
    assert free_memory(tmp_path) == 3000.0
    (tmp_path / "memory.max").write_text("max\n")
    assert free_memory(tmp_path) > 3000.0


def test_a_study_takes_the_sizes_says_them_once_and_has_the_same_texts(tmp_path, monkeypatch, capsys):
    """The embedded model as a folder, so that it counts as one of the user's own."""
    small = tiny_recipe(
        model=str(EMBEDDED_MODELS["tiny"]),
        lams=(0.0,),
        n_validation=2,
        n_test=6,
        training=Training(epochs=1.0, batch_size=4),
        decoding=Decoding(samples=2, max_new_tokens=8),
    )
    taken = []
    completed = Journal.completed

    def noted(self, *args, **settings):
        taken.append(settings["batch_size"])
        return completed(self, *args, **settings)

    monkeypatch.setattr(Journal, "completed", noted)
    monkeypatch.setattr(memory, "free_memory", lambda: 1.265 * GB)
    sizes = batch_sizes(small, {small.task: cell_splits(small, small.task)}, share=1.0)
    assert 1 < sizes.completions < 512
    run(small, out=tmp_path / "fitted")
    assert set(taken) == {sizes.completions}
    said = f"{sizes.completions} completions at a time, {sizes.sequences} sequences a forward pass"
    assert capsys.readouterr().err.count(f"{said}, in 1.3 GB of free memory") == 1
