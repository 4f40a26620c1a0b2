"""Problems and settings become a trained adapter in a folder: one cell's fine-tuning."""

import copy
import errno
import math
import random
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from datasets import Dataset
from peft import LoraConfig, PeftModel, get_peft_model_state_dict
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch.distributed.tensor import DTensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase
from transformers.trainer_callback import PrinterCallback

from erce.errors import DivergedError
from erce.hf.head import IGNORED
from erce.hf.models import known_warning_silenced, shadow
from erce.hf.prompt import Row, training_rows
from erce.loss.chunks import NoSoftmaxError
from erce.train.trainer import ERCEConfig, ERCETrainer
from erce.types import Problem


class Settings(Protocol):
    """What every fine-tuning of a study shares: any object with these attributes."""

    @property
    def epochs(self) -> float: ...
    @property
    def learning_rate(self) -> float: ...
    @property
    def warmup(self) -> float: ...
    @property
    def batch_size(self) -> int: ...
    @property
    def micro_batch_size(self) -> int: ...
    @property
    def max_grad_norm(self) -> float: ...
    @property
    def rank(self) -> int: ...
    @property
    def lora_alpha(self) -> int: ...
    @property
    def dropout(self) -> float: ...
    @property
    def normalize(self) -> str: ...
    @property
    def head(self) -> str: ...
    @property
    def gradient_checkpointing(self) -> bool: ...
    @property
    def max_length(self) -> int | None: ...


def fine_tune(  # noqa: PLR0913 (a cell's coordinates, by name)
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    problems: Iterable[Problem],
    *,
    settings: Settings,
    lam: float,
    penalty: str,
    order: float,
    seed: int,
    folder: Path,
    objective: str = "cross-entropy",
    lam_schedule: str = "constant",
    lam_warmup: float = 0.1,
) -> dict[str, Any]:
    """Trains a LoRA adapter on the problems' demonstrations, writes it to `folder` and tells how it went.

    The seed decides the adapter's first values, the order of the demonstrations and the dropout: whatever ran
    before in this process, the same call on the same machine with as many threads gives the same bits.
    `model` and the global random generators are left as they were. The folder appears when all is done.
    `penalty` and `order` name what λ weighs, `objective` what that is added to, `lam_schedule` and
    `lam_warmup` how λ comes to its value, as in `ERCEConfig`. Under a launcher every process makes this call,
    a batch is shared between them, and the first one writes the folder.

    Returned: `steps`, `seconds`, `tokens` (scored, over all epochs), `truncated` (demonstrations that lost
    their end), `ce`, `entropy` and `objective` (nats a token, over the last epoch), `log` (an entry a step).
    ValueError: a folder that exists, no problems, a batch that is no multiple of a micro-batch in every
    process, a prompt that fills `max_length`, a training that diverges.
    """
    if folder.exists():
        raise ValueError(f"{str(folder)!r} exists; delete it to train again, or name another folder")
    arguments = _arguments(
        settings,
        folder,
        entropy_penalty=lam,
        entropy_type=penalty,
        entropy_order=order,
        entropy_schedule=lam_schedule,
        entropy_warmup=lam_warmup,
        objective=objective,
        seed=seed,
    )
    rows = training_rows(tokenizer, problems, settings.max_length)
    if not rows:
        raise ValueError("there is no problem to train on; give at least one")
    with _borrowed_randomness(), known_warning_silenced():
        trainer = ERCETrainer(
            shadow(model),
            arguments,
            train_dataset=_dataset(rows),
            processing_class=tokenizer,
            peft_config=_lora(settings),
        )
        trainer.remove_callback(PrinterCallback)
        seconds = _timed(trainer)
    log = [entry for entry in trainer.state.log_history if "objective" in entry]
    _refuse_divergence(log)
    _write(trainer, folder)
    return {
        "steps": trainer.state.global_step,
        "seconds": seconds,
        "tokens": sum(entry["scored_tokens"] for entry in log),
        "truncated": sum(row["truncated"] for row in rows),
        **_last_epoch(log),
        "log": log,
    }


def _timed(trainer: ERCETrainer) -> float:
    """Seconds that its training took."""
    start = time.perf_counter()
    try:
        trainer.train()
    except (DivergedError, NoSoftmaxError) as error:
        step = trainer.state.global_step + 1
        raise DivergedError(
            f"the training diverged at step {step}: {error}; lower the learning rate or λ"
        ) from error
    except ValueError as error:
        raise ValueError(f"the training stopped at step {trainer.state.global_step + 1}: {error}") from error
    return time.perf_counter() - start


def _write(trainer: ERCETrainer, folder: Path) -> None:
    """The adapter, by the first process; the others help to gather it, and wait."""
    policy = trainer.model
    assert isinstance(policy, PeftModel)
    weights = _whole(policy)
    if trainer.accelerator.is_main_process:
        _save(policy, weights, folder)
    trainer.accelerator.wait_for_everyone()


def _arguments(settings: Settings, folder: Path, **cell: Any) -> ERCEConfig:
    arguments = ERCEConfig(
        **cell,
        output_dir=str(folder.parent),
        normalize=settings.normalize,
        head=settings.head,
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.micro_batch_size,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=settings.warmup,
        weight_decay=0.0,
        max_grad_norm=settings.max_grad_norm,
        gradient_checkpointing=settings.gradient_checkpointing,
        dataset_kwargs={"skip_prepare_dataset": True},
        logging_steps=1,
        logging_nan_inf_filter=False,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        ddp_find_unused_parameters=False,
    )
    arguments.gradient_accumulation_steps = _accumulated(settings, arguments.world_size)
    return arguments


def _accumulated(settings: Settings, processes: int) -> int:
    """How many micro-batches of every process make a batch."""
    rows = settings.micro_batch_size * processes
    if settings.batch_size % rows:
        over = f" times {processes} processes" if processes > 1 else ""
        raise ValueError(
            f"batch_size = {settings.batch_size} must be a multiple of micro_batch_size = "
            f"{settings.micro_batch_size}{over}"
        )
    return settings.batch_size // rows


def _lora(settings: Settings) -> LoraConfig:
    """On every linear layer but the output head: the seven projections q, k, v, o, gate, up, down."""
    return LoraConfig(
        task_type="CAUSAL_LM",
        target_modules="all-linear",
        r=settings.rank,
        lora_alpha=settings.lora_alpha,
        lora_dropout=settings.dropout,
    )


def _dataset(rows: list[Row]) -> Dataset:
    labels = [
        [
            token if kept else IGNORED
            for token, kept in zip(row["input_ids"], row["completion_mask"], strict=True)
        ]
        for row in rows
    ]
    return Dataset.from_dict({"input_ids": [row["input_ids"] for row in rows], "labels": labels})


@contextmanager
def _borrowed_randomness() -> Iterator[None]:
    """Puts the global generators back afterwards: Hugging Face's trainer seeds and uses all of them."""
    pythons, numpys = random.getstate(), np.random.get_state()
    with torch.random.fork_rng():
        try:
            yield
        finally:
            random.setstate(pythons)
            np.random.set_state(numpys)


def _refuse_divergence(log: list[dict[str, Any]]) -> None:
    for entry in log:
        if not (math.isfinite(entry["objective"]) and math.isfinite(entry["grad_norm"])):
            raise DivergedError(
                f"the training diverged at step {entry['step']}: objective {entry['objective']}, gradient "
                f"norm {entry['grad_norm']}; lower the learning rate or λ"
            )


def _whole(model: PeftModel) -> dict[str, torch.Tensor]:
    """The adapter's weights; where FSDP has sharded them, every process has to ask."""
    found: dict[str, Any] = get_peft_model_state_dict(model, save_embedding_layers=False)
    whole = {name: w.full_tensor() if isinstance(w, DTensor) else w for name, w in found.items()}
    return {name: weight.contiguous() for name, weight in whole.items()}


def _save(model: PeftModel, weights: dict[str, torch.Tensor], folder: Path) -> None:
    """The two files that `PeftModel.from_pretrained` reads, in a folder that appears whole or not at all."""
    half = folder.with_name(f".{folder.name}.tmp")
    shutil.rmtree(half, ignore_errors=True)
    half.mkdir(parents=True)
    try:
        save_file(weights, half / "adapter_model.safetensors", {"format": "pt"})
    except SafetensorError as error:  # which a full disk is to it
        full = f"os error {errno.ENOSPC}" in str(error)
        raise OSError(errno.ENOSPC if full else errno.EIO, str(error), str(half)) from error
    configuration = copy.copy(model.peft_config["default"])
    configuration.inference_mode = True
    assert isinstance(configuration, LoraConfig)
    configuration.target_modules = sorted(configuration.target_modules or ())  # a set, in no process the same
    configuration.save_pretrained(str(half))
    half.replace(folder)


def _last_epoch(log: list[dict[str, Any]]) -> dict[str, float]:
    """Means a token over the last whole pass through the demonstrations, or all steps if there were fewer."""
    last = [entry for entry in log if entry["epoch"] > log[-1]["epoch"] - 1 + 1e-9]
    tokens = sum(entry["scored_tokens"] for entry in last)
    return {
        name: sum(entry[name] * entry["scored_tokens"] for entry in last) / tokens
        for name in ("ce", "entropy", "objective")
    }
