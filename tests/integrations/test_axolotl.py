"""Axolotl's plugin hooks with our plugin: the loss that its trainer would take."""

import importlib
import types
from typing import Any

import pytest
import torch
from peft import get_peft_model
from toys import frameworks as stubs
from toys import training as toy
from transformers import Trainer, TrainingArguments

import erce
from erce.loss import Renyi

PLUGIN = "erce.integrations.axolotl.ERCEPlugin"
BATCH = toy.batch(toy.UNEQUAL[:4])


@pytest.fixture
def manager(tmp_path, monkeypatch):
    """Axolotl's plugin manager, with our plugin registered by its name."""
    stubs.install(tmp_path, monkeypatch, "axolotl")
    base: Any = importlib.import_module("axolotl.integrations.base")
    base.PluginManager._instance = None
    plugins = base.PluginManager.get_instance()
    plugins.register(PLUGIN)
    assert list(plugins.plugins) == [PLUGIN]
    assert isinstance(plugins.plugins[PLUGIN], base.BasePlugin)
    yield plugins
    stubs.forget("axolotl")


def config(manager, **written) -> dict[str, Any]:
    """Return what Axolotl makes of a config: our fields checked, with defaults for those left out."""
    [named] = manager.get_input_args()
    module, name = named.rsplit(".", 1)
    ours = getattr(importlib.import_module(module), name)(**written)
    return {"base_model": "somewhere"} | ours.model_dump()


@pytest.mark.parametrize("adapter", [False, True])
def test_the_loss_of_a_loaded_model_is_ours(manager, adapter):
    made = toy.family("qwen2")
    base: Any = get_peft_model(made, toy.lora(), autocast_adapter_dtype=False).double() if adapter else made
    logits = base(**{name: x for name, x in BATCH.items() if name != "labels"}).logits[:, :-1]
    wanted = erce.entropy_regularized_cross_entropy(
        logits, BATCH["labels"][:, 1:], lam=4.0, penalty=Renyi(0.5)
    )
    cfg = config(manager, entropy_penalty=4.0, entropy_type="renyi", entropy_order=0.5)
    manager.post_model_load(cfg, base)
    torch.testing.assert_close(base.train()(**BATCH).loss, wanted.objective, rtol=1e-9, atol=0)


def test_another_objective_is_attached_by_its_name(manager):
    model: Any = toy.family("qwen2")
    manager.post_model_load(config(manager, entropy_penalty=4.0, objective="dft"), model)
    wanted = erce.attach(toy.family("qwen2"), 4.0, objective="dft").train()(**BATCH).loss
    assert not torch.equal(wanted, erce.attach(toy.family("qwen2"), 4.0).train()(**BATCH).loss)
    torch.testing.assert_close(model.train()(**BATCH).loss, wanted, rtol=1e-9, atol=0)


def test_shannon_is_the_default_and_the_penalty_has_none(manager):
    assert config(manager, entropy_penalty=2.0)["entropy_type"] == "shannon"
    with pytest.raises(ValueError, match="entropy_penalty"):
        config(manager)


class AxolotlTrainer(Trainer):
    """A trainer that, like Axolotl's, finds no `num_items_in_batch` among a forward's named parameters."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.model_accepts_loss_kwargs = False


def test_accumulated_micro_batches_are_one_batch(manager, tmp_path):
    attached = erce.attach(toy.family("qwen2"), 4.0)
    whole = toy.plain_training(tmp_path / "whole", attached, micro=4, steps=1)
    cfg, model = config(manager, entropy_penalty=4.0), toy.family("qwen2")
    manager.post_model_load(cfg, model)
    args = TrainingArguments(
        output_dir=str(tmp_path / "parts"),
        use_cpu=True,
        max_steps=2,
        learning_rate=0.1,
        optim="sgd",
        lr_scheduler_type="constant",
        max_grad_norm=1e9,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        remove_unused_columns=False,
        train_sampling_strategy="sequential",
        per_device_train_batch_size=1,
        gradient_accumulation_steps=4,
    )
    trainer = AxolotlTrainer(model, args, train_dataset=toy.SCORED, data_collator=toy.batch)
    manager.post_trainer_create(cfg, trainer)
    trainer.train()
    for mine, theirs in zip(model.parameters(), whole.model.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["compute_loss_func", "label_smoother"])
def test_a_trainer_with_a_loss_of_its_own_is_refused(manager, name):
    trainer = types.SimpleNamespace(**{name: print})
    with pytest.raises(ValueError, match=f"{name}, which would replace"):
        manager.post_trainer_create({}, trainer)


def test_preference_training_is_refused(manager):
    with pytest.raises(ValueError, match="rl: dpo has a loss of its own"):
        manager.post_model_load({"rl": "dpo", "entropy_penalty": 1.0}, toy.family("qwen2"))


def test_a_training_forward_without_labels_would_bypass_it_and_is_refused(manager):
    model = toy.family("qwen2")
    manager.post_model_load(config(manager, entropy_penalty=4.0), model)
    with pytest.raises(ValueError, match="bypass"):
        model.train()(input_ids=BATCH["input_ids"])
