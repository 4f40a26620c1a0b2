"""Axolotl's plugin hooks with our plugin: the loss that its trainer would take."""

import importlib
import types
from typing import Any

import pytest
import torch
from toys import frameworks as stubs
from toys import training as toy

import erce

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


@pytest.mark.parametrize(
    "settings", [{"entropy_type": "renyi", "entropy_order": 0.5}, {"base_loss": "dft"}], ids=str
)
@pytest.mark.parametrize("adapter", [False, True])
def test_the_loss_of_a_loaded_model_is_ours(manager, adapter, settings):
    def made() -> Any:
        base = toy.family("qwen2")
        return toy.adapter_on(base, init_lora_weights=True) if adapter else base

    model, wanted = made(), erce.attach(made(), 4.0, **settings)
    manager.post_model_load(config(manager, entropy_penalty=4.0, **settings), model)
    assert torch.equal(model.train()(**BATCH).loss, wanted.train()(**BATCH).loss)
    assert not torch.equal(model(**BATCH).loss, erce.attach(made(), 4.0).train()(**BATCH).loss)


def test_shannon_is_the_default_and_the_penalty_has_none(manager):
    assert config(manager, entropy_penalty=2.0)["entropy_type"] == "shannon"
    with pytest.raises(ValueError, match="entropy_penalty"):
        config(manager)


def test_a_trainer_that_finds_no_num_items_in_batch_is_told_that_the_loss_takes_it(manager):
    trainer = types.SimpleNamespace(model_accepts_loss_kwargs=False)  # as Axolotl's
    manager.post_trainer_create({}, trainer)
    assert trainer.model_accepts_loss_kwargs


@pytest.mark.parametrize("name", ["compute_loss_func", "label_smoother"])
def test_a_trainer_with_a_loss_of_its_own_is_refused(manager, name):
    trainer = types.SimpleNamespace(**{name: print})
    with pytest.raises(ValueError, match=f"{name}, which would replace"):
        manager.post_trainer_create({}, trainer)


def test_preference_training_is_refused(manager):
    with pytest.raises(ValueError, match="rl: dpo has a loss of its own"):
        manager.post_model_load({"rl": "dpo", "entropy_penalty": 1.0}, toy.family("qwen2"))
