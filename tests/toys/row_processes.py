"""What `test_distributed` runs under `accelerate launch`: epochs and evaluations of all kinds of batches."""

import json
import sys
from pathlib import Path
from typing import Any

from accelerate import PartialState
from datasets import Dataset

from toys import training as toy

ROWS = toy.rows([(4, 6), (4, 7), (4, 8), (4, 9), (4, 10)])
SCORED = sum(label != toy.IGNORED for row in ROWS for label in row["labels"][1:])
CASES: dict[str, dict[str, Any]] = {
    "padded": {},
    "by sequence": {"normalize": "sequence", "padding_free": True, "max_length": None},
    "padding-free": {"padding_free": True, "max_length": None},
    "packing": {"packing": True, "max_length": 24, "dataset_kwargs": {}, "max_steps": 1},
    "split batches": {"accelerator_config": {"split_batches": True}, "max_steps": 3},
    "uneven": {"accelerator_config": {"even_batches": False}},
    "a stream": {"stream": 1},
    "a stream in files": {"stream": 3},
    "TRL's head": {"head": "trl", "padding_free": True, "max_length": None},
}


def train(folder: Path, case: dict[str, Any]) -> dict[str, Any]:
    """Train one epoch in steps of two rows per process, with a learning rate of 0, and evaluate."""
    settings = {
        "entropy_penalty": 2.0,
        "learning_rate": 0.0,
        "max_steps": 2,
        "gradient_accumulation_steps": 1,
    }
    settings |= {"per_device_eval_batch_size": 2} | case
    files = settings.pop("stream", 0)
    data: Any = Dataset.from_list(ROWS)
    data = data.to_iterable_dataset(num_shards=files) if files else data
    trainer = toy.trainer(folder, data, settings, eval_dataset=data)
    trainer.train()
    evaluated = trainer.evaluate()
    log = [entry["scored_tokens"] for entry in trainer.state.log_history if "loss" in entry]
    return {"scored": sum(log), **{name: evaluated[f"eval_{name}"] for name in ("loss", "scored_tokens")}}


def main() -> None:
    folder = Path(sys.argv[1])
    read = {name: train(folder, case) for name, case in CASES.items()}
    (folder / f"rows-{PartialState().process_index}.json").write_text(json.dumps(read))
    PartialState().destroy_process_group()


if __name__ == "__main__":
    main()
