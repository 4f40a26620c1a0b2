"""What copies, unwraps, pickles, compiles or shares a model: the loss is right, or there is a sentence.

The table of docs/attach.md. DDP and FSDP 2 are in tests/hf/test_attach.py and test_distributed.py, resuming
is in test_trainer.py.
"""

import copy
import functools
import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from peft import PeftModel, get_peft_model
from torch.func import functional_call
from toys import training as toy
from transformers import TrainerCallback

import erce
from erce.train.trainer import ERCETrainer

BATCH = toy.batch(toy.UNEQUAL[:4])
INPUTS = {name: x for name, x in BATCH.items() if name != "labels"}
IDS = toy.UNEQUAL[0]["input_ids"]
LAM = 2.0


def saved(model: Any) -> Any:
    torch.save(model, file := io.BytesIO())
    return torch.load(io.BytesIO(file.getvalue()), weights_only=False)


def unwrapped(model: Any, **flags: bool) -> Any:
    AcceleratorState._reset_state(reset_partial_state=True)
    accelerator = Accelerator(cpu=True, mixed_precision="bf16")  # which wraps the forward
    return accelerator.unwrap_model(accelerator.prepare_model(model), **flags)


def merged(model: Any) -> Any:
    return model.merge_and_unload() if isinstance(model, PeftModel) else model


CHANGES: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda model: model,
    "deepcopy": copy.deepcopy,
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "torch.save": saved,
    "unwrap_model": unwrapped,
    "unwrap_model without fp32 wrapper": functools.partial(unwrapped, keep_fp32_wrapper=False),
    "unwrap_model without compile": functools.partial(unwrapped, keep_torch_compile=False),
    "merge_and_unload": merged,
    "torch.compile": functools.partial(torch.compile, backend="eager"),
    "functional_call": lambda model: functools.partial(_functionally, model),
}
EACH = [pytest.param(name, marks=pytest.mark.slow) if name == "torch.compile" else name for name in CHANGES]
COPIES = ("deepcopy", "pickle", "torch.save")


def _functionally(model: Any, **inputs: Any) -> Any:
    return functional_call(model, dict(model.named_parameters()), (), inputs)


def tolerance(change: str) -> float:
    return 1e-2 if "unwrap" in change else 1e-5  # bfloat16


def made(*, adapter: bool) -> Any:
    with torch.random.fork_rng():
        torch.manual_seed(1)
        base = toy.model()
        return get_peft_model(base, toy.lora(init_lora_weights=False)).eval() if adapter else base


def wanted(model: Any, lam: float = LAM) -> float:
    """Return the objective of the logits that the model gives, in float64."""
    with torch.no_grad():
        logits = model(**INPUTS).logits[:, :-1].double()
    return erce.entropy_regularized_cross_entropy(logits, BATCH["labels"][:, 1:], lam=lam).objective.item()


@pytest.mark.parametrize("adapter", [False, True], ids=["plain", "adapter"])
@pytest.mark.parametrize("change", EACH)
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")  # at a graph break
def test_an_attached_model_has_its_loss_or_says_that_it_is_gone(change, adapter):
    model = made(adapter=adapter)
    right = wanted(model)
    changed = CHANGES[change](erce.attach(model, LAM))
    if change in ("pickle", "torch.save"):
        for training in (False, True):
            with pytest.raises(ValueError, match=r"is gone, as after pickling .* call erce.attach\(model"):
                changed.train(training)(**BATCH)
        erce.attach(changed, LAM)
    assert changed(**BATCH).loss.item() == pytest.approx(right, rel=tolerance(change))
    if change in COPIES:
        assert "erce" not in vars(merged(erce.detach(changed)))
        assert changed(**BATCH).loss.item() == pytest.approx(wanted(changed, 0.0), rel=1e-5)


@pytest.mark.parametrize("adapter", [False, True], ids=["plain", "adapter"])
@pytest.mark.parametrize("change", EACH)
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")  # at a graph break
def test_a_trainer_has_its_loss_and_a_copy_of_its_model_the_copys_own(change, adapter, tmp_path):
    model = made(adapter=adapter)
    right, plain = wanted(model), wanted(model, 0.0)
    settings = {"entropy_penalty": LAM}
    trainer = toy.trainer(tmp_path, toy.SCORED, settings, eval_dataset=toy.UNEQUAL[:4], policy=model)
    changed = CHANGES[change](trainer.model)
    assert trainer.evaluate()["eval_loss"] == pytest.approx(right, rel=tolerance(change))
    if change in COPIES:
        with torch.no_grad():
            for weight in model.parameters():
                weight.zero_()
    assert changed(**BATCH).loss.item() == pytest.approx(plain, rel=tolerance(change))


def another_trainer(trainer: ERCETrainer, folder: Path) -> None:
    settings = {"entropy_penalty": 0.0, "base_loss": "dft", "normalize": "sequence"}
    base = trainer._base_model()
    other = toy.trainer(folder, toy.SCORED, settings, eval_dataset=toy.UNEQUAL[:4], policy=base)
    other.evaluate()


def generation(trainer: Any, _: Path) -> None:
    trainer.model.generate(input_ids=torch.tensor([IDS]), max_new_tokens=2)


MEANWHILE: dict[str, Callable[[ERCETrainer, Path], Any]] = {
    "evaluate": lambda trainer, _: trainer.evaluate(),
    "generate": generation,
    "deepcopy": lambda trainer, _: copy.deepcopy(trainer.model),
    "another trainer": another_trainer,
}


class Meanwhile(TrainerCallback):
    """Does something inside every window of micro-batches, as a user's callback may."""

    def __init__(self, act: Callable[[], Any]) -> None:
        self.act = act

    def on_substep_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self.act()
        others["model"].train()


@pytest.mark.parametrize("act", MEANWHILE)
def test_what_a_callback_does_inside_a_window_changes_no_bit_of_the_training(act, tmp_path):
    rising = {"entropy_penalty": LAM, "entropy_schedule": "linear", "entropy_warmup": 1.0, "max_steps": 3}
    runs = []
    for interrupted in (False, True):
        adapter = toy.lora()
        trainer = toy.trainer(
            tmp_path,
            toy.SCORED,
            rising,
            eval_dataset=toy.UNEQUAL[:4],
            policy=toy.model(),
            peft_config=adapter,
        )
        if interrupted:
            trainer.add_callback(Meanwhile(functools.partial(MEANWHILE[act], trainer, tmp_path / "other")))
        trainer.train()
        log = [entry for entry in trainer.state.log_history if "loss" in entry]
        runs.append([[entry[name] for name in ("loss", "objective", "ce", "lam")] for entry in log])
    assert runs[0] == runs[1]
    assert [entry[3] for entry in runs[0]] == [0.0, pytest.approx(2 / 3), pytest.approx(4 / 3)]


def test_a_forward_that_was_replaced_after_the_trainer_is_one_sentence(tmp_path):
    trainer = toy.trainer(tmp_path, toy.SCORED)
    base: Any = trainer.model
    base.forward = type(base).forward.__get__(base)
    with pytest.raises(ValueError, match="has replaced the forward that ERCETrainer gave the model"):
        trainer.train()
