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
from transformers import TrainerCallback

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


def test_the_model_that_is_trained_has_the_loss(factory):
    reference = toy.family("qwen2")
    logits = reference(**{name: x for name, x in BATCH.items() if name != "labels"}).logits[:, :-1]
    wanted = erce.entropy_regularized_cross_entropy(logits, BATCH["labels"][:, 1:], lam=4.0).objective
    run()
    [model] = factory.workflow.TRAINED
    torch.testing.assert_close(model.train()(**BATCH).loss, wanted, rtol=1e-9, atol=0)
    with pytest.raises(ValueError, match="bypass"):  # as a compute_loss_func would call it
        model(input_ids=BATCH["input_ids"])


def test_the_objective_comes_from_the_environment_too(factory, monkeypatch):
    monkeypatch.setenv("ERCE_OBJECTIVE", "dft")
    run()
    wanted = erce.attach(toy.family("qwen2"), 4.0, objective="dft").train()(**BATCH).loss
    torch.testing.assert_close(factory.workflow.TRAINED[0].train()(**BATCH).loss, wanted, rtol=1e-9, atol=0)


@pytest.mark.parametrize(
    ("finetuning", "message"),
    [
        ({"stage": "dpo"}, "stage 'dpo' has a loss of its own"),
        ({"use_dft_loss": True}, "use_dft_loss and the penalty exclude each other"),
        ({"use_eaft_loss": True}, "use_eaft_loss"),
        ({"use_asft_loss": True}, "use_asft_loss"),
        ({"use_mca": True}, "use_mca"),
        ({"use_hyper_parallel": True}, "use_hyper_parallel"),
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
    monkeypatch.delenv("ERCE_ENTROPY_PENALTY")
    with pytest.raises(ValueError, match="ERCE_ENTROPY_PENALTY is not set"):
        run()


def test_the_trainer_of_llama_factory_trains_on_it(tmp_path, monkeypatch):
    """LLaMA-Factory's tuner, workflow and trainer reach the weights of transformers' trainer."""
    root = stubs.real_sources()
    monkeypatch.setenv("ERCE_ENTROPY_PENALTY", "4.0")
    monkeypatch.setattr("sys.argv", ["llama_factory.py"])
    plain = toy.plain_training(tmp_path / "plain", erce.attach(toy.family("qwen2"), 4.0), micro=2, steps=2)
    with monkeypatch.context() as patch:
        model = toy.family("qwen2")
        llama_factory(patch, root / "llamafactory", model, plain.args)
        run()
        stubs.forget("llamafactory")
    assert type(model.erce).__module__ == "erce.hf.attach"
    for mine, theirs in zip(model.parameters(), plain.model.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-12, atol=0)


def llama_factory(monkeypatch: Any, root: Path, model: Any, training: Any) -> None:
    """Install LLaMA-Factory's files for training, which get a toy model and toy rows."""
    stubs.forget("llamafactory")
    stubs.package(monkeypatch, "llamafactory", root)
    stubs.package(monkeypatch, "llamafactory.train", root / "train")
    parts = ("fp8_utils", "dpo", "kto", "ppo", "pt", "rm", "sft.metric")
    stubs.stand_in(monkeypatch, *(f"llamafactory.train.{part}" for part in parts))
    nothing = {f"create_custom_{each}": lambda *args: None for each in ("optimizer", "scheduler")}
    nothing["create_modelcard_and_push"] = lambda *args: None
    stubs.stand_in(monkeypatch, "llamafactory.train.trainer_utils", **nothing)
    watchers = {f"{each}Callback": lambda *args: TrainerCallback() for each in ("Log", "Reporter")}
    stubs.stand_in(monkeypatch, "llamafactory.train.callbacks", **watchers)
    stubs.stand_in(
        monkeypatch, "llamafactory.extras.constants", "llamafactory.extras.ploting", IGNORE_INDEX=-100
    )
    stubs.stand_in(monkeypatch, "llamafactory.extras.misc", calculate_tps=None)
    logger = types.SimpleNamespace(get_logger=lambda name: None)
    stubs.stand_in(monkeypatch, "llamafactory.extras", logging=logger)
    stubs.stand_in(monkeypatch, "llamafactory.extras.logging", get_logger=lambda name: None)
    names = ("hyper_parallel_available", "mcore_adapter_available", "ray_available")
    stubs.stand_in(
        monkeypatch,
        "llamafactory.extras.packages",
        is_transformers_version_greater_than=lambda version: True,
        **{f"is_{name}": bool for name in names},
    )
    stand_in_what_it_reads(monkeypatch, model, training)


def stand_in_what_it_reads(monkeypatch: Any, model: Any, training: Any) -> None:
    training.predict_with_generate, training.generation_config, training.fp8 = False, None, False
    training.do_train = True
    stubs.stand_in(
        monkeypatch,
        "llamafactory.model",
        load_tokenizer=lambda given: {"tokenizer": toy.tokenizer(), "processor": None},
        load_model=lambda tokenizer, model_args, finetuning_args, is_trainable=False, add_valuehead=False: (
            model
        ),
    )
    stubs.stand_in(
        monkeypatch,
        "llamafactory.data",
        get_template_and_fix_tokenizer=print,
        get_dataset=lambda *args, **kwargs: {"train_dataset": toy.SCORED},
        SFTDataCollatorWith4DAttentionMask=lambda **kwargs: toy.batch,
    )
    off = ("use_badam", "use_dft_loss", "use_eaft_loss", "use_asft_loss", "use_mca", "use_hyper_parallel")
    off += ("compute_accuracy", "pissa_convert", "use_swanlab", "early_stopping_steps", "disable_shuffling")
    off += ("include_effective_tokens_per_second", "plot_loss")
    finetuning = types.SimpleNamespace(stage="sft", **dict.fromkeys(off, False))
    finetuning.early_stopping_steps = None
    loading = types.SimpleNamespace(use_kt=False, block_diag_attn=False, compute_dtype=None)
    reading = types.SimpleNamespace(ignore_pad_token_for_loss=True, neat_packing=False)
    generating = types.SimpleNamespace(to_dict=lambda **kwargs: {}, skip_special_tokens=True)
    stubs.stand_in(
        monkeypatch,
        "llamafactory.hparams",
        read_args=lambda args: [],
        get_ray_args=lambda args: types.SimpleNamespace(use_ray=False),
        get_train_args=lambda args: (loading, reading, training, finetuning, generating),
    )
