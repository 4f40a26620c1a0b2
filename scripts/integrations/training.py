"""Frameworks that train, with our loss in them → whether they minimise what erce says.

Each framework trains the embedded model five times for eight steps of LoRA on the same sums: with its own
loss, with λ = 0 and λ = 2, with λ = 2 in micro-batches of one, and with λ = 2 resumed after four steps.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging

from erce.tasks import load_task, splits
from scripts.integrations.claims import Claim
from scripts.integrations.environments import ROOT, Environment

MODEL = ROOT / "erce" / "tiny"
DEMONSTRATIONS = splits(load_task("mini-sums"), data=None, n_train=32, n_validation=1, n_test=1).train
STEPS, HALF, ROWS = 8, 4, 4  # ROWS: of a step
LEARNING_RATE = 5e-3
SAME_LOSS = 1e-6  # in nats, at the first step; float32 sums in another order
SAME_LOSSES = 1e-4  # in nats, over the steps, since AdamW's divide by such differences
PENALTY = "ERCE_ENTROPY_PENALTY"


@dataclass(frozen=True)
class Training:
    """One training; `penalty` None is the framework's own loss."""

    name: str
    penalty: float | None
    batch: int = ROWS
    resume: Path | None = None

    @property
    def accumulation(self) -> int:
        return ROWS // self.batch

    @property
    def steps(self) -> dict[str, Any]:
        """Settings under the names of transformers' TrainingArguments, which two frameworks share."""
        return {
            "learning_rate": LEARNING_RATE,
            "per_device_train_batch_size": self.batch,
            "gradient_accumulation_steps": self.accumulation,
            "max_steps": STEPS,
            "save_steps": HALF,
            "logging_steps": 1,
            "report_to": "none",
        }

    @property
    def variables(self) -> dict[str, str]:
        return {} if self.penalty is None else {PENALTY: str(self.penalty)}


Train = Callable[[Environment, Training, Path], None]  # writes its checkpoints into the folder


def _check(environment: Environment, train: Train) -> Iterator[Claim]:
    logging.disable_progress_bar()
    runs = environment.runs
    write_demonstrations(runs / "train.jsonl")

    def trained(training: Training) -> Path:
        folder = runs / training.name
        shutil.rmtree(folder, ignore_errors=True)
        train(environment, training, folder)
        return folder

    own, plain = trained(Training("own", None)), trained(Training("plain", 0.0))
    yield _equal("λ = 0 equals its own loss", own, plain)
    sharp = trained(Training("sharp", 2.0))
    before, after = (_entropy(folder / f"checkpoint-{STEPS}") for folder in (plain, sharp))
    yield Claim(f"λ = 2 lowers the entropy from {before:.3f} to {after:.3f} nats", after < 0.9 * before)
    accumulated = trained(Training("accumulated", 2.0, batch=1))
    yield _equal(f"{ROWS} accumulated micro-batches equal one batch", sharp, accumulated)
    resumed = trained(Training("resumed", 2.0, resume=sharp / f"checkpoint-{HALF}"))
    yield _equal(f"resumed after step {HALF} equals not stopping", sharp, resumed, since=HALF)


def check_ms_swift(environment: Environment) -> Iterator[Claim]:
    yield from _check(environment, _ms_swift)


def check_llama_factory(environment: Environment) -> Iterator[Claim]:
    yield from _check(environment, _llama_factory)


def check_axolotl(environment: Environment) -> Iterator[Claim]:
    yield from _check(environment, _axolotl)


def _ms_swift(environment: Environment, training: Training, folder: Path) -> None:
    settings: dict[str, Any] = {
        "model": MODEL,
        "model_type": "qwen2",
        "template": "qwen2_5",
        "system": "",
        "dataset": environment.runs / "train.jsonl",
        "split_dataset_ratio": 0,
        "tuner_type": "lora",
        "target_modules": "all-linear",
        "lora_dropout": 0,
        "torch_dtype": "float32",
        **training.steps,
        "dataloader_num_workers": 0,
        "use_hf": "true",
        "add_version": "false",
        "output_dir": folder,
    }
    if training.penalty is not None:
        plugin = ROOT / "examples" / "ms_swift_loss.py"
        settings |= {"external_plugins": plugin, "loss_type": "er_ce"}
    if training.resume:
        settings["resume_from_checkpoint"] = training.resume
    flags = [str(word) for name, value in settings.items() for word in (f"--{name}", value)]
    environment.run(training.name, "swift", "sft", *flags, **training.variables)


def _llama_factory(environment: Environment, training: Training, folder: Path) -> None:
    tags = {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant"}
    columns = {"formatting": "sharegpt", "columns": {"messages": "messages"}, "tags": tags}
    listed = {"sums": {"file_name": "train.jsonl", **columns}}
    (environment.runs / "dataset_info.json").write_text(json.dumps(listed), encoding="utf-8")
    settings: dict[str, Any] = {
        "stage": "sft",
        "do_train": True,
        "model_name_or_path": str(MODEL),
        "template": "qwen",
        "default_system": "",
        "dataset": "sums",
        "dataset_dir": str(environment.runs),
        "finetuning_type": "lora",
        "lora_target": "all",
        "lora_alpha": 32,
        "lora_dropout": 0.0,
        **training.steps,
        "output_dir": str(folder),
    }
    if training.resume:
        settings["resume_from_checkpoint"] = str(training.resume)
    path = _written(environment, training, settings)
    if training.penalty is None:
        environment.run(training.name, "llamafactory-cli", "train", path)
    else:
        script = ROOT / "examples" / "llama_factory.py"
        environment.run(training.name, "python", script, path, **training.variables)


def _axolotl(environment: Environment, training: Training, folder: Path) -> None:
    data = environment.runs / "train.jsonl"
    settings: dict[str, Any] = {
        "base_model": str(MODEL),
        "datasets": [{"path": str(data), "ds_type": "json", "type": "chat_template"}],
        "dataset_prepared_path": str(environment.runs / "prepared"),
        "sequence_len": 256,
        "adapter": "lora",
        "lora_model_dir": str(_first_adapter(environment)),
        "lora_r": 8,
        "lora_alpha": 32,
        "lora_dropout": 0.0,
        "lora_target_linear": True,
        "lora_mlp_kernel": False,
        "lora_qkv_kernel": False,
        "lora_o_kernel": False,
        "learning_rate": LEARNING_RATE,
        "optimizer": "adamw_torch",
        "lr_scheduler": "cosine",
        "micro_batch_size": training.batch,
        "gradient_accumulation_steps": training.accumulation,
        "num_epochs": 1,
        "max_steps": STEPS,
        "save_steps": HALF,
        "logging_steps": 1,
        "attn_implementation": "sdpa",
        "bf16": False,
        "output_dir": str(folder),
    }
    if training.penalty is not None:
        plugins = ["erce.integrations.axolotl.ERCEPlugin"]
        settings |= {"plugins": plugins, "entropy_penalty": training.penalty}
    if training.resume:
        settings["resume_from_checkpoint"] = str(training.resume)
    path = _written(environment, training, settings)
    environment.run(training.name, "axolotl", "train", path, "--launcher", "python")


def _first_adapter(environment: Environment) -> Path:
    """Return the adapter that each training begins with; Axolotl would draw one without a seed."""
    folder = environment.runs / "first"
    if not folder.is_dir():
        torch.manual_seed(0)
        settings = LoraConfig(r=8, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM")
        get_peft_model(_model(), settings).save_pretrained(str(folder))
    return folder


def _written(environment: Environment, training: Training, settings: dict[str, Any]) -> Path:
    """Write the settings as YAML, of which JSON is a part, and return the file's path."""
    path = environment.runs / f"{training.name}.yaml"
    path.write_text(json.dumps(settings, indent=2), encoding="utf-8")
    return path


def write_demonstrations(path: Path) -> None:
    """Write one conversation a line, as all three frameworks read them."""
    turns = [
        [{"role": "user", "content": problem.prompt}, {"role": "assistant", "content": problem.demonstration}]
        for problem in DEMONSTRATIONS
    ]
    text = "".join(json.dumps({"messages": messages}) + "\n" for messages in turns)
    path.write_text(text, encoding="utf-8")


def _losses(folder: Path) -> list[float]:
    """Return the loss of each step, as the framework's trainer logged it."""
    state = json.loads((folder / f"checkpoint-{STEPS}" / "trainer_state.json").read_bytes())
    return [float(entry["loss"]) for entry in state["log_history"] if "loss" in entry]


def _equal(claim: str, first: Path, second: Path, *, since: int = 0) -> Claim:
    """Compare two trainings' losses after `since` steps: at the next one, and where they differ most."""
    apart = [abs(a - b) for a, b in zip(_losses(first), _losses(second), strict=True)][since:]
    assert len(apart) == STEPS - since, f"{len(apart)} losses logged"
    at_once, later = (f"{value:.0e}" if value else "0" for value in (apart[0], max(apart)))
    text = f"{claim}: {at_once} apart at step {since + 1}, {later} at most"
    return Claim(text, apart[0] < SAME_LOSS and max(apart) < SAME_LOSSES)


def _model() -> Any:
    return AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32)


@torch.no_grad()
def _entropy(adapter: Path) -> float:
    """Return the mean entropy of the embedded model under an adapter, in nats a demonstrated token."""
    tokenizer, policy = (
        AutoTokenizer.from_pretrained(MODEL),
        PeftModel.from_pretrained(_model(), adapter).eval(),
    )
    entropies = []
    for problem in DEMONSTRATIONS:
        question = [{"role": "user", "content": problem.prompt}]
        text = tokenizer.apply_chat_template(question, add_generation_prompt=True, tokenize=False)
        start, end = (
            tokenizer.encode(part, add_special_tokens=False) for part in (text, problem.demonstration)
        )
        logits = policy(torch.tensor([[*start, *end, tokenizer.eos_token_id]])).logits[0, len(start) - 1 : -1]
        entropies.append(torch.distributions.Categorical(logits=logits).entropy())
    return float(torch.cat(entropies).mean())
