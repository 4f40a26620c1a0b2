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
from erce.loss import Focal, Renyi, Shannon

FILE = Path(erce.__file__).parent / "integrations" / "ms_swift.py"
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


def wanted(model: Any, **how: Any) -> torch.Tensor:
    """Return the objective worked out by hand, in float64."""
    logits = model(**INPUTS).logits[:, :-1]
    log_p = logits.log_softmax(-1)
    targets = LABELS[:, 1:]
    nll = -log_p.gather(-1, targets.clamp(min=0)[..., None])[..., 0]
    entropy = how.get("penalty", Shannon())(log_p)
    rows = (nll + 4.0 * entropy) * how.get("weights", 1.0)
    return rows[targets != -100].sum() / how.get("items", (targets != -100).sum())


@pytest.mark.parametrize("items", [None, 100, torch.tensor(100)], ids=str)
@pytest.mark.parametrize("weighed", [False, True])
def test_the_loss_is_the_objective_of_the_models_logits(losses, items, weighed):
    model = toy.family("qwen2")
    scale = torch.linspace(0, 2, LABELS.numel(), dtype=torch.float64).view(LABELS.shape)
    how: dict[str, Any] = {"items": items} if items is not None else {}
    given = {}
    if weighed:
        how["weights"] = scale[:, 1:]
        given["loss_scale"] = scale.roll(-1, -1).view(-1)  # as its trainer hands it on
    loss, reference = made(losses), wanted(model, **how)
    objective = loss(model(**INPUTS), LABELS, num_items_in_batch=items, trainer=None, **given)
    torch.testing.assert_close(objective, reference, rtol=1e-9, atol=0)
    for mine, theirs in zip(gradients(model, objective), gradients(model, reference), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-7, atol=1e-10)


def gradients(model: Any, loss: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return torch.autograd.grad(loss, list(model.parameters()), retain_graph=True)


def test_type_and_order_come_from_the_environment_too(losses, monkeypatch):
    monkeypatch.setenv("ERCE_ENTROPY_TYPE", "renyi")
    monkeypatch.setenv("ERCE_ENTROPY_ORDER", "0.5")
    model = toy.family("qwen2")
    objective = made(losses)(model(**INPUTS), LABELS)
    torch.testing.assert_close(objective, wanted(model, penalty=Renyi(0.5)), rtol=1e-9, atol=0)


def test_the_objective_comes_from_the_environment_too(losses, monkeypatch):
    monkeypatch.setenv("ERCE_OBJECTIVE", "focal:2")
    model = toy.family("qwen2")
    logits, targets = model(**INPUTS).logits[:, :-1], LABELS[:, 1:]
    reference = erce.entropy_regularized_cross_entropy(logits, targets, lam=4.0, objective=Focal(2.0))
    torch.testing.assert_close(made(losses)(model(**INPUTS), LABELS), reference.objective, rtol=1e-9, atol=0)
    monkeypatch.setenv("ERCE_OBJECTIVE", "focla")
    with pytest.raises(ValueError, match="did you mean 'focal'"):
        made(losses)


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
