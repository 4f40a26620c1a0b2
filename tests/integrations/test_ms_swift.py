"""ms-swift's loss registry with our loss: what its trainer would take of the outputs of a micro-batch."""

import importlib
import importlib.util
import sys
import types
from pathlib import Path
from typing import Any

import pytest
import torch
from toys import frameworks as stubs
from toys import training as toy

import erce
from erce.loss import Focal, Renyi
from erce.loss.from_logits import reference_from_logits

FILE = Path(__file__).parents[2] / "examples" / "ms_swift_loss.py"
BATCH = toy.batch(toy.UNEQUAL[:4])
INPUTS = {name: x for name, x in BATCH.items() if name != "labels"}
LABELS = BATCH["labels"].clone()
LABELS[:, 0] = -100  # as ms-swift's templates have it
ARGS = types.SimpleNamespace(enable_dft_loss=False, label_smoothing_factor=0.0, enable_channel_loss=False)
ARGS.use_liger_kernel, ARGS.average_tokens_across_devices, ARGS.tuner_backend = False, False, "unsloth"


class SwiftTrainer:
    template = types.SimpleNamespace(sequence_parallel_size=1, padding_free=False)


@pytest.fixture
def losses(tmp_path, monkeypatch):
    """ms-swift's registry, after it imported our file by its path, as `--external_plugins` does."""
    monkeypatch.setenv("ERCE_ENTROPY_PENALTY", "4.0")
    stubs.install(tmp_path, monkeypatch, "swift")
    monkeypatch.syspath_prepend(str(FILE.parent))
    spec = importlib.util.spec_from_file_location("_swift_external_erce", FILE)
    assert spec is not None
    assert spec.loader is not None
    plugin = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plugin)
    importlib.invalidate_caches()
    yield importlib.import_module("swift.loss").loss_map
    stubs.forget("swift")


def made(losses, **settings) -> Any:
    args = types.SimpleNamespace(**vars(ARGS) | settings)
    return losses["er_ce"](args, SwiftTrainer())


@pytest.mark.parametrize("items", [None, 100, torch.tensor(100)], ids=str)
@pytest.mark.parametrize("weighed", [False, True])
def test_the_loss_is_the_objective_of_the_models_logits(losses, items, weighed):
    logits, targets = toy.family("qwen2")(**INPUTS).logits, LABELS[:, 1:]
    scale = torch.linspace(0, 2, LABELS.numel(), dtype=torch.float64).view(LABELS.shape)
    given = {"loss_scale": scale.roll(-1, -1).view(-1)} if weighed else {}  # as its trainer hands it on
    loss = made(losses)(types.SimpleNamespace(logits=logits), LABELS, num_items_in_batch=items, **given)
    scored = targets != -100
    rows = reference_from_logits(logits[:, :-1][scored], targets[scored], 4.0)
    reference = (rows * (scale[:, 1:][scored] if weighed else 1.0)).sum() / (items or scored.sum())
    torch.testing.assert_close(loss, reference, rtol=1e-9, atol=0)
    torch.testing.assert_close(
        *(torch.autograd.grad(x, logits, retain_graph=True) for x in (loss, reference))
    )


@pytest.mark.parametrize(
    ("variables", "settings"),
    [
        ({"ERCE_ENTROPY_TYPE": "renyi", "ERCE_ENTROPY_ORDER": "0.5"}, {"penalty": Renyi(0.5)}),
        ({"ERCE_BASE_LOSS": "focal:2"}, {"base_loss": Focal(2.0)}),
    ],
    ids=str,
)
def test_the_other_settings_come_from_the_environment_too(losses, variables, settings, monkeypatch):
    for name, text in variables.items():
        monkeypatch.setenv(name, text)
    logits, targets = toy.family("qwen2")(**INPUTS).logits, LABELS[:, 1:]
    reference = erce.entropy_regularized_cross_entropy(logits[:, :-1], targets, lam=4.0, **settings)
    loss = made(losses)(types.SimpleNamespace(logits=logits), LABELS)
    torch.testing.assert_close(loss, reference.objective, rtol=1e-9, atol=0)


def test_without_a_penalty_in_the_environment_nothing_starts(losses, monkeypatch):
    monkeypatch.delenv("ERCE_ENTROPY_PENALTY")
    with pytest.raises(ValueError, match="ERCE_ENTROPY_PENALTY is not set"):
        made(losses)
    monkeypatch.setenv("ERCE_ENTROPY_PENALTY", "four")
    with pytest.raises(ValueError, match="'four' is not a number"):
        made(losses)


def test_what_would_replace_it_is_refused(losses):
    for name, value in {"enable_dft_loss": True, "label_smoothing_factor": 0.1}.items():
        with pytest.raises(ValueError, match=f"{name} would be left out"):
            made(losses, **{name: value})
    split = SwiftTrainer()
    split.template = types.SimpleNamespace(sequence_parallel_size=2)
    with pytest.raises(ValueError, match="sequence_parallel_size"):
        losses["er_ce"](ARGS, split)
    megatron = type("BaseMegatronTrainer", (), {})()
    with pytest.raises(ValueError, match="Megatron"):
        losses["er_ce"](ARGS, megatron)


def test_the_folder_of_the_plugin_hides_no_package_of_ms_swift(losses):
    assert str(FILE.parent) in sys.path
    assert not {"swift", "transformers", "torch", "peft"} & {path.stem for path in FILE.parent.iterdir()}
