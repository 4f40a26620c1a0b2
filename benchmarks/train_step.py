"""The same batches through two trainers: an `ERCETrainer` step at λ = 8 over TRL's cross-entropy step.

    python benchmarks/train_step.py --length 64 --width 64 --rounds 2
    python benchmarks/train_step.py
    python benchmarks/train_step.py --dtype bfloat16
    python benchmarks/train_step.py --width 256 --length 512
    python benchmarks/train_step.py --prompt 0

A random Qwen2 of four layers with a vocabulary of 16,000 and LoRA on every linear layer but the head; rows of
--length tokens, the second half of each its completion. Both trainers get the same start, rows and settings.
They take turns, a few optimizer steps each; a step is timed from its forward to its update, in processor
seconds, and the first of each turn is not counted. The ratio is that of the medians; beside it stands the
ratio of the best. On a CPU TRL's trainer sends the positions of the prompt through the head as well, which
ours never does: --prompt 0 compares the two without that. CPU, one thread.
"""

import argparse
import os
import random
import tempfile
import time
import warnings
from statistics import median
from typing import Any

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}  # before huggingface_hub is loaded

import torch
from datasets import Dataset
from peft import LoraConfig
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM, TrainerCallback
from transformers.trainer_callback import PrinterCallback
from trl.trainer.sft_config import SFTConfig
from trl.trainer.sft_trainer import SFTTrainer

from erce.train.config import ERCEConfig
from erce.train.trainer import ERCETrainer

VOCAB, LAYERS, IGNORED = 16_000, 4, -100
STEPS = 4  # of a turn; the first is not counted


def main() -> None:
    options = _arguments()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        trainers = {"TRL, cross-entropy": stock(folder, options), "ours, λ = 8": ours(folder, options)}
        clocks = {name: Clock() for name in trainers}
        for name, trainer in trainers.items():
            trainer.add_callback(clocks[name])
            trainer.remove_callback(PrinterCallback)
        for _ in range(options.rounds):
            for trainer in trainers.values():
                trainer.train()
    print(
        f"{options.batch} rows of {options.length} tokens, {options.prompt:.0%} of them prompt; "
        f"{LAYERS} layers of width {options.width}, vocabulary {VOCAB}, {options.dtype}; "
        f"torch {torch.__version__}, one thread\n"
    )
    print("| step | median seconds | best seconds | steps |\n|---|---:|---:|---:|")
    for name, clock in clocks.items():
        print(f"| {name} | {median(clock.taken):.3f} | {min(clock.taken):.3f} | {len(clock.taken)} |")
    theirs, mine = (clock.taken for clock in clocks.values())
    print(f"\nratio {median(mine) / median(theirs):.2f} (of the best: {min(mine) / min(theirs):.2f})")


class Clock(TrainerCallback):
    """Takes the processor seconds of each optimizer step but the first of a training."""

    def __init__(self) -> None:
        self.taken: list[float] = []
        self.started = 0.0

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.started = time.process_time()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.global_step > 1:
            self.taken.append(time.process_time() - self.started)


def ours(folder: str, options: argparse.Namespace) -> SFTTrainer:
    return built(ERCETrainer, ERCEConfig(**settings(folder, options), entropy_penalty=8.0), options)


def stock(folder: str, options: argparse.Namespace) -> SFTTrainer:
    # TRL's own defaults want a GPU.
    for_cpu: dict[str, Any] = {"use_cpu": True, "bf16": False, "activation_checkpointing": False}
    return built(SFTTrainer, SFTConfig(**settings(folder, options) | for_cpu), options)


def settings(folder: str, options: argparse.Namespace) -> dict[str, Any]:
    return {
        "output_dir": folder,
        "dataset_kwargs": {"skip_prepare_dataset": True},
        "train_sampling_strategy": "sequential",
        "per_device_train_batch_size": options.batch,
        "gradient_accumulation_steps": 1,
        "max_steps": STEPS,
        "logging_steps": 1,
        "save_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
    }


def built(trainer: type[SFTTrainer], config: SFTConfig, options: argparse.Namespace) -> SFTTrainer:
    adapter = LoraConfig(task_type="CAUSAL_LM", target_modules="all-linear", r=16, lora_alpha=32)
    return trainer(
        model(options),
        config,
        train_dataset=Dataset.from_list(rows(options)),
        processing_class=tokenizer(),
        peft_config=adapter,
    )


def model(options: argparse.Namespace) -> Qwen2ForCausalLM:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = Qwen2Config(
            vocab_size=VOCAB,
            hidden_size=options.width,
            intermediate_size=round(options.width * 8 / 3),
            num_hidden_layers=LAYERS,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=options.length,
            tie_word_embeddings=True,
            pad_token_id=0,
            eos_token_id=1,
        )
        return Qwen2ForCausalLM(config).to(getattr(torch, options.dtype))


def tokenizer() -> PreTrainedTokenizerFast:
    words = {"<pad>": 0, "<end>": 1} | {f"w{i}": i for i in range(2, VOCAB)}
    whole = Tokenizer(models.WordLevel(words, unk_token="<end>"))
    whole.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=whole, pad_token="<pad>", eos_token="<end>")


def rows(options: argparse.Namespace) -> list[dict[str, list[int]]]:
    draw, examples = random.Random(0), []
    prompt = round(options.prompt * options.length)
    for _ in range(STEPS * options.batch):
        ids = [draw.randrange(2, VOCAB) for _ in range(options.length)]
        examples.append({"input_ids": ids, "labels": [IGNORED] * prompt + ids[prompt:]})
    return examples


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--length", type=int, default=256, help="tokens of a row")
    parser.add_argument("--prompt", type=float, default=0.5, help="the share of a row that is not scored")
    parser.add_argument("--batch", type=int, default=4, help="rows of a step")
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


if __name__ == "__main__":
    main()
