"""LLaMA-Factory's training as our wrapper runs it: the model that comes to its trainer."""

import importlib
import runpy
import types
from pathlib import Path
from typing import Any

import pytest
import torch
from toys import frameworks as stubs
from toys import training as toy

import erce

WRAPPER = Path(__file__).parents[2] / "examples" / "llama_factory.py"
BATCH = toy.batch(toy.UNEQUAL[:4])


@pytest.fixture
def factory(tmp_path, monkeypatch):
    """The modules that the wrapper changes; `tuner.ARGS` are what its YAML file would say."""
    monkeypatch.setenv("ERCE_ENTROPY_PENALTY", "4.0")
    stubs.install(tmp_path, monkeypatch, "llamafactory")
    tuner: Any = importlib.import_module("llamafactory.train.tuner")
    tuner.RAY, tuner.ARGS = types.SimpleNamespace(use_ray=False), arguments()
    tuner.workflow.MADE = toy.family("qwen2")
    yield tuner
    stubs.forget("llamafactory")


def arguments(**finetuning) -> tuple[Any, ...]:
    """(model, data, training, finetuning, generating), of which the wrapper reads one."""
    return (None, None, None, types.SimpleNamespace(**{"stage": "sft"} | finetuning), None)


def run() -> None:
    runpy.run_path(str(WRAPPER), run_name="__main__")


@pytest.mark.parametrize("base_loss", ["cross-entropy", "dft"])
def test_the_model_that_is_trained_has_the_loss_of_the_environment(factory, base_loss, monkeypatch):
    monkeypatch.setenv("ERCE_BASE_LOSS", base_loss)
    run()
    [model] = factory.workflow.TRAINED
    wanted = erce.attach(toy.family("qwen2"), 4.0, base_loss=base_loss).train()(**BATCH).loss
    assert torch.equal(model.train()(**BATCH).loss, wanted)


@pytest.mark.parametrize(
    ("finetuning", "message"),
    [
        ({"stage": "dpo"}, "stage 'dpo' has a loss of its own"),
        ({"use_dft_loss": True}, "use_dft_loss and the penalty exclude each other"),
        ({"use_eaft_loss": True}, "use_eaft_loss"),
        ({"compute_accuracy": True}, "compute_accuracy"),
    ],
    ids=str,
)
def test_what_would_train_on_something_else_is_refused_before_it_loads(factory, finetuning, message):
    factory.ARGS = arguments(**finetuning)
    with pytest.raises(ValueError, match=message):
        run()
    assert factory.workflow.TRAINED == []


def test_rays_workers_are_refused_and_a_penalty_is_needed(factory, monkeypatch):
    factory.RAY = types.SimpleNamespace(use_ray=True)
    with pytest.raises(ValueError, match="use_ray: false"):
        run()
    monkeypatch.setenv("ERCE_ENTROPY_ORDR", "0.5")
    with pytest.raises(ValueError, match="ERCE_ENTROPY_ORDR is read; did you mean 'ERCE_ENTROPY_ORDER'"):
        run()
    monkeypatch.delenv("ERCE_ENTROPY_ORDR")
    monkeypatch.delenv("ERCE_ENTROPY_PENALTY")
    with pytest.raises(ValueError, match="ERCE_ENTROPY_PENALTY is not set"):
        run()
