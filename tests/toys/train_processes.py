"""What `test_distributed` runs under `accelerate launch` and in its own process: small trainings."""

import os
import sys
from pathlib import Path
from typing import Any

import torch
from accelerate import DistributedType, PartialState
from torch.distributed.tensor import DTensor

from erce.train.trainer import ERCETrainer
from toys import training as toy

CASES: dict[str, dict[str, Any]] = {
    "LoRA, a frozen tied head": {"model": "lora"},
    "by sequence": {"model": "lora", "normalize": "sequence"},
    "a schedule": {"model": "lora", "entropy_schedule": "linear", "entropy_warmup": 0.5},
    "TRL's head": {"model": "lora", "head": "trl"},
    "tied": {"model": "tied"},
    "tied, by sequence": {"model": "tied", "normalize": "sequence"},
    "untied": {"model": "untied"},
    "untied, another base loss by sequence": {
        "model": "untied",
        "normalize": "sequence",
        "base_loss": "focal:2",
    },
}
BATCH = 4  # of 11 rows: the last step has 3, and two processes are given one of them twice


def train(folder: Path, case: dict[str, Any], *, sharded: bool) -> dict[str, Any]:
    """Train two epochs on rows of unequal length; return the log and the trained weights, gathered."""
    settings = {"learning_rate": 1e-2, "num_train_epochs": 2, "entropy_penalty": 2.0, "optim": "sgd"}
    settings |= {"lr_scheduler_type": "constant", "train_sampling_strategy": "random"} | case
    model = settings.pop("model")
    accumulated = BATCH // int(os.environ.get("WORLD_SIZE", "1"))
    settings |= {"per_device_train_batch_size": 1, "gradient_accumulation_steps": accumulated}
    args = toy.config(folder, **settings)
    if sharded:  # accelerate shards nothing on a CPU, and says nothing: it is told that this is none
        PartialState._shared_state["distributed_type"] = DistributedType.MULTI_GPU
    trainer = ERCETrainer(
        toy.model(tied=model != "untied"),
        args,
        train_dataset=toy.dataset(toy.UNEQUAL),
        processing_class=toy.tokenizer(),
        peft_config=toy.lora(init_lora_weights=False) if model == "lora" else None,
    )
    trainer.train()
    learned = {name: w for name, w in trainer.model.named_parameters() if w.requires_grad}
    return {
        "kind": trainer.accelerator.distributed_type.value,
        "log": [entry for entry in trainer.state.log_history if "objective" in entry],
        "sharded": sorted(name for name, w in learned.items() if isinstance(w, DTensor)),
        "weights": {
            name: (w.full_tensor() if isinstance(w, DTensor) else w).detach().clone()
            for name, w in learned.items()
        },
    }


def main() -> None:
    folder, sharded = Path(sys.argv[1]), os.environ.get("ACCELERATE_USE_FSDP") == "true"
    trained = {name: train(folder, case, sharded=sharded) for name, case in CASES.items()}
    torch.save(trained, folder / f"trained-{PartialState().process_index}.pt")
    PartialState().destroy_process_group()


if __name__ == "__main__":
    main()
