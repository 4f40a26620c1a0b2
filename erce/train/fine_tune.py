"""One cell's fine-tuning: problems and settings → a trained adapter in a folder."""

import copy
import errno
import hashlib
import math
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict

import torch
from datasets import Dataset
from peft import LoraConfig, PeftModel, get_peft_model_state_dict
from safetensors import SafetensorError
from safetensors.torch import save_file
from transformers import TrainerCallback
from transformers.trainer_callback import PrinterCallback

from erce import events
from erce.errors import DivergedError, InputError
from erce.files import new_folder
from erce.hf.head import IGNORED
from erce.hf.models import BasePolicy, kept_random_states, known_warning_silenced, shadow
from erce.hf.prompt import TrainingRow, training_rows
from erce.recipe import Objective, Training
from erce.recipe.rules import check_training
from erce.train.config import ERCEConfig
from erce.train.trainer import ERCETrainer
from erce.types import Problem


class TrainingSummary(TypedDict):
    """How a training went; means are in nats a token, over the last epoch."""

    steps: int
    seconds: float
    tokens: int  # scored, over all epochs
    truncated: int  # demonstrations that lost their end
    ce: float
    entropy: float
    objective: float
    log: list[dict[str, float]]  # an entry a step


def fine_tune(
    base: BasePolicy,
    problems: Iterable[Problem],
    *,
    objective: Objective,
    training: Training,
    seed: int,
    folder: Path,
) -> TrainingSummary:
    """Train a LoRA adapter on the problems' demonstrations, write it to `folder` and return its summary.

    The seed decides the adapter's first values, the order of the demonstrations and the dropout: whatever ran
    before in this process, the same call on the same machine with as many threads gives the same bits.
    The base model and the global random generators are left as they were.

    A checkpoint is kept beside the folder, every `checkpoint_minutes`. The same call goes on from what a
    killed one left, with the same bits.

    Args:
        base: The model, which stays frozen, and its tokenizer.
        problems: What is trained on: each has a prompt and a demonstration.
        objective: The base loss, and λ times which penalty is added to it.
        training: LoRA's and the optimizer's settings; `max_length` None sets no limit.
        seed: Of everything that is random.
        folder: The adapter's, which must not exist; it appears when all is done.

    Returns:
        Steps, scored tokens and the log, with the losses in nats per token.

    Raises:
        InputError: A folder that exists, no problems, a batch that is not a multiple of a micro-batch, a
            prompt that fills `max_length`.
        DivergedError: The training diverged.
    """
    if folder.exists():
        raise InputError(f"{str(folder)!r} exists; delete it to train again, or name another folder")
    check_training(training)
    rows = training_rows(base.tokenizer, problems, training.max_length)
    if not rows:
        raise InputError("there is no problem to train on; give at least one")
    checkpoints = Checkpoints(folder, _key(base.model, rows, objective, training, seed))
    if last := checkpoints.last():  # as it began, for the same bits, unless there is less memory now
        micro = min(training.sequences(), checkpoints.sequences(last))
        training = replace(training, micro_batch_size=micro)
    arguments = _arguments(objective, training, seed=seed, folder=folder)
    with kept_random_states(), known_warning_silenced():
        trainer = _CellTrainer(
            shadow(base.model),
            arguments,
            train_dataset=_dataset(rows),
            processing_class=base.tokenizer,
            peft_config=lora_config(training),
        )
        trainer.remove_callback(PrinterCallback)
        trainer.add_callback(_Watch(training.checkpoint_minutes))
        assert isinstance(trainer.model, PeftModel)
        trainer.checkpoints = checkpoints
        seconds = _train(trainer)
    log = [entry for entry in trainer.state.log_history if "objective" in entry]
    _refuse_divergence(log)
    with new_folder(folder) as half:
        _save(trainer.model, half)
        trainer.name_objective(half)
    trainer.checkpoints.clear()
    return _summary(log, rows, steps=trainer.state.global_step, seconds=seconds)


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoints beside an adapter's folder; `key` tells those of another training apart.

    Their names end in the sequences of a forward pass, which fit the memory that is free, and in the step.
    """

    folder: Path
    key: str

    def path(self, sequences: int, step: int) -> Path:
        return self.folder.with_name(f"{self.folder.name}.checkpoint-{self.key}-{sequences}-{step}")

    def last(self) -> Path | None:
        """Return the checkpoint to go on from; None if there is none of this training."""
        kept = self.folder.parent.glob(f"{self.folder.name}.checkpoint-{self.key}-*")
        return max(kept, key=lambda path: int(path.name.rpartition("-")[2]), default=None)

    def sequences(self, path: Path) -> int:
        """Return the sequences of a forward pass in the training that left this checkpoint."""
        return int(path.name.split("-")[-2])

    def clear(self, *, but: Path | None = None) -> None:
        for path in self.folder.parent.glob(f"{self.folder.name}.checkpoint-*"):
            if path != but:
                shutil.rmtree(path)


class _CellTrainer(ERCETrainer):
    """The trainer of one cell, which keeps its last checkpoint, whole or not at all."""

    checkpoints: Checkpoints

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        """Write what `Trainer` goes on from, without TRL's model card and what PEFT asks the hub."""
        assert isinstance(self.model, PeftModel)
        path = self.checkpoints.path(self.args.per_device_train_batch_size, self.state.global_step)
        with new_folder(path) as half:
            _save(self.model, half)
            self._save_optimizer_and_scheduler(str(half))
            self._save_rng_state(str(half))
            self.state.save_to_json(str(half / "trainer_state.json"))
        self.checkpoints.clear(but=path)


def _train(trainer: _CellTrainer) -> float:
    """Train and return the seconds that it took; an error names its step."""
    start, last = time.perf_counter(), trainer.checkpoints.last()
    try:
        trainer.train(resume_from_checkpoint=None if last is None else str(last))
    except DivergedError as error:
        step = trainer.state.global_step + 1
        raise DivergedError(
            f"the training diverged at step {step}: {error}; lower the learning rate or λ"
        ) from error
    except InputError as error:
        raise InputError(f"the training stopped at step {trainer.state.global_step + 1}: {error}") from error
    return time.perf_counter() - start


def _arguments(objective: Objective, training: Training, *, seed: int, folder: Path) -> ERCEConfig:
    return ERCEConfig(
        entropy_penalty=objective.lam,
        entropy_type=objective.penalty,
        entropy_order=objective.order,
        entropy_schedule=training.lam_schedule,
        entropy_warmup=training.lam_warmup,
        base_loss=objective.base_loss,
        seed=seed,
        output_dir=str(folder.parent),
        normalize=training.normalize,
        head=training.head,
        num_train_epochs=training.epochs,
        learning_rate=training.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=training.warmup,
        weight_decay=0.0,
        max_grad_norm=training.max_grad_norm,
        gradient_checkpointing=training.gradient_checkpointing,
        dataset_kwargs={"skip_prepare_dataset": True},
        logging_steps=1,
        logging_nan_inf_filter=False,
        save_strategy="no",
        report_to=training.report_to,
        run_name=folder.parent.name,  # of the cell
        project="erce",
        disable_tqdm=True,
        per_device_train_batch_size=training.sequences(),
        gradient_accumulation_steps=training.batch_size // training.sequences(),
    )


def _key(
    model: torch.nn.Module, rows: list[TrainingRow], objective: Objective, training: Training, seed: int
) -> str:
    """Return 8 hex digits of all that decides a training's bits, but for the sequences of a forward pass."""
    same = replace(training, micro_batch_size=None, checkpoint_minutes=0, report_to="")
    work = repr((objective, same, model.dtype, _sums_of_bits(model), seed, rows))
    return hashlib.sha256(work.encode()).hexdigest()[:8]


def _sums_of_bits(model: torch.nn.Module) -> list[int]:
    """Return a number for each weight, by which models differ: the exact sum of its bits read as integers."""
    integers = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return [int(w.detach().view(integers[w.element_size()]).sum()) for w in model.parameters()]


def lora_config(training: Training) -> LoraConfig:
    """Return LoRA settings for every linear layer but the output head: q, k, v, o, gate, up and down."""
    return LoraConfig(
        task_type="CAUSAL_LM",
        target_modules="all-linear",
        r=training.rank,
        lora_alpha=training.lora_alpha,
        lora_dropout=training.dropout,
    )


def _dataset(rows: list[TrainingRow]) -> Dataset:
    def labels(row: TrainingRow) -> list[int]:
        tokens = zip(row["input_ids"], row["completion_mask"], strict=True)
        return [token if is_scored else IGNORED for token, is_scored in tokens]

    columns: dict[str, list[Any]] = {
        "input_ids": [row["input_ids"] for row in rows],
        "labels": [labels(row) for row in rows],
    }
    if any("weight" in row for row in rows):
        columns["weight"] = [row.get("weight", 1.0) for row in rows]
    return Dataset.from_dict(columns)


class _Watch(TrainerCallback):
    """Tells of each step, asks for checkpoints, and stops a training at the first step that is not finite.

    On CUDA the loss does not wait to see that. `minutes` lie between two checkpoints; with 0 there are none.
    """

    def __init__(self, minutes: float) -> None:
        self.seconds, self.saved = 60 * minutes, time.monotonic()

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        now = time.monotonic()
        if self.seconds and now - self.saved >= self.seconds and state.global_step < state.max_steps:
            control.should_save, self.saved = True, now

    def on_train_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        events.begin("training", state.max_steps, done=state.global_step)
        self.tokens = max((entry.get("num_tokens", 0) for entry in state.log_history), default=0)

    def on_log(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        entry = state.log_history[-1]
        control.should_training_stop |= _has_diverged(entry)
        if "objective" in entry:
            before, self.tokens = self.tokens, entry["num_tokens"]
            events.advance(1, tokens=self.tokens - before, loss=entry["objective"])


def _refuse_divergence(log: list[dict[str, Any]]) -> None:
    for entry in filter(_has_diverged, log):
        raise DivergedError(
            f"the training diverged at step {entry['step']}: objective {entry['objective']}, gradient norm "
            f"{entry['grad_norm']}; lower the learning rate or λ"
        )


def _has_diverged(entry: dict[str, Any]) -> bool:
    return not all(math.isfinite(entry.get(name, 0.0)) for name in ("objective", "grad_norm"))


def _summary(
    log: list[dict[str, Any]], rows: list[TrainingRow], *, steps: int, seconds: float
) -> TrainingSummary:
    last = [entry for entry in log if entry["epoch"] > log[-1]["epoch"] - 1 + 1e-9]  # a whole pass, or all
    return TrainingSummary(
        steps=steps,
        seconds=seconds,
        tokens=int(sum(entry["scored_tokens"] for entry in log)),
        truncated=sum(row["truncated"] for row in rows),
        ce=_mean("ce", last),
        entropy=_mean("entropy", last),
        objective=_mean("objective", last),
        log=log,
    )


def _save(model: PeftModel, folder: Path) -> None:
    """Write the two files that `PeftModel.from_pretrained` reads."""
    state: dict[str, Any] = get_peft_model_state_dict(model, save_embedding_layers=False)
    weights = {name: weight.contiguous() for name, weight in state.items()}
    configuration = copy.copy(model.peft_config["default"])
    configuration.inference_mode = True
    assert isinstance(configuration, LoraConfig)
    # A set, whose order is another in every process.
    configuration.target_modules = sorted(configuration.target_modules or ())
    try:
        save_file(weights, folder / "adapter_model.safetensors", {"format": "pt"})
    except SafetensorError as error:  # raised for a full disk, too
        is_full = f"os error {errno.ENOSPC}" in str(error)
        raise OSError(errno.ENOSPC if is_full else errno.EIO, str(error), str(folder)) from error
    configuration.save_pretrained(str(folder))


def _mean(name: str, log: list[dict[str, float]]) -> float:
    """Return the mean over the scored tokens."""
    tokens = sum(entry["scored_tokens"] for entry in log)
    return sum(entry[name] * entry["scored_tokens"] for entry in log) / tokens
