"""A grid of adapters is evaluated on one loaded base, and none of them leaves a trace in it."""

import gc
import warnings

import pytest
import torch
from peft import LoraConfig, PeftModel, get_peft_model

import erce.hf.models
from erce.generate.decoding import GenerationSettings
from erce.generate.transformers import generate
from erce.hf.models import adapted, load_model, load_tokenizer, shadow
from erce.types import Problem

GRID = 3


DECODING = GenerationSettings(temperature=1.0, samples=2, max_new_tokens=6, batch_size=64)
PROBLEMS = [
    Problem(id=f"p{number}", prompt=f"Work out {number}+7-2 step by step.", demonstration="")
    for number in range(2)
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Adapters of random weights, large enough that each writes something else."""
    root, base = tmp_path_factory.mktemp("grid"), load_model("tiny")
    for number in range(GRID):
        torch.manual_seed(number)
        how = LoraConfig(task_type="CAUSAL_LM", r=4, target_modules=["q_proj", "down_proj"])
        policy = get_peft_model(shadow(base), how)
        for name, weight in policy.named_parameters():
            if "lora_" in name:
                torch.nn.init.normal_(weight, std=0.1)
        policy.save_pretrained(str(root / str(number)), save_embedding_layers=False)
    return [root / str(number) for number in range(GRID)]


def living() -> tuple[int, int]:
    """Modules and parameters' numbers in this process, with the garbage that waits for its collection."""
    alive = [
        each for each in gc.get_objects() if issubclass(type(each), torch.nn.Module | torch.nn.Parameter)
    ]
    weights = {each.data_ptr(): each.numel() for each in alive if type(each) is torch.nn.Parameter}
    return sum(issubclass(type(each), torch.nn.Module) for each in alive), sum(weights.values())


def alone(folder, tokenizer):
    """The completions of a model that never saw another adapter, by PEFT's own hand."""
    fresh = PeftModel.from_pretrained(load_model("tiny"), str(folder)).merge_and_unload()
    for weight in fresh.parameters():
        weight.data = weight.data.clone()  # those in a file's memory lie askew, which changes the rounding
    return generate(fresh, tokenizer, PROBLEMS, decoding=DECODING, seed=0)


def test_a_grid_of_adapters_is_evaluated_on_one_loaded_base(folders, monkeypatch):
    loads, load = [], erce.hf.models.AutoModelForCausalLM.from_pretrained
    monkeypatch.setattr(
        erce.hf.models.AutoModelForCausalLM,
        "from_pretrained",
        lambda *args, **settings: loads.append(args) or load(*args, **settings),
    )
    base, tokenizer = load_model("tiny"), load_tokenizer("tiny")
    before = generate(base, tokenizer, PROBLEMS, decoding=DECODING, seed=0)
    gc.collect()
    gc.disable()
    completions, alive = [], {living()}
    try:
        for turn, folder in enumerate(folders):
            with adapted(base, folder) as policy:
                completions.append(generate(policy, tokenizer, PROBLEMS, decoding=DECODING, seed=0))
            del policy
            assert generate(base, tokenizer, PROBLEMS, decoding=DECODING, seed=0) == before
            if turn in (0, GRID - 1):
                alive.add(living())
    finally:
        gc.enable()
    assert len(loads) == 1
    assert len(alive) == 1
    assert len({tuple(each.text for each in done) for done in [before, *completions]}) == GRID + 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        assert completions == [alone(folder, tokenizer) for folder in folders]
