"""Time what one cell computes with a model's real shape: tokens a second in training and in generation.

    python benchmarks/step_times.py --layers 2 --width 128 --vocabulary 512 --prompt 16 --response 16
    python benchmarks/step_times.py
    python benchmarks/step_times.py --shape qwen2.5-1.5b --dtype bfloat16
    python benchmarks/step_times.py --shape qwen2.5-7b --dtype bfloat16 --samples 2

The model has random weights in the shape of a public model, because time does not depend on their values;
rows have --prompt and --response tokens. `erce.train.fine_tune` takes --steps optimizer steps with the
paper's LoRA and λ = 1, then `erce.generate` draws --samples completions for each of --batch problems; both
run once to warm up and once timed, on the GPU if there is one. The last line printed is an option for
`erce run RECIPE --dry-run`.
"""

import argparse
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}  # before huggingface_hub is loaded

import torch
from transformers import AutoModelForCausalLM, Qwen2Config

from erce.generate.decoding import GenerationSettings
from erce.generate.transformers import generate
from erce.hf.models import DTYPES, BasePolicy, load_tokenizer
from erce.hf.prompt import prompt_ids
from erce.recipe import Objective, Training
from erce.study.memory import PUBLIC, read_config
from erce.train.fine_tune import fine_tune
from erce.types import Problem

SHAPES = {name.split("/")[1].removesuffix("-Instruct").lower(): name for name in PUBLIC}


def random_model(options: argparse.Namespace) -> Any:
    """Build the shape, or a smaller shape of its kind, with random weights."""
    shape = read_config(SHAPES[options.shape])
    width = options.width or shape.hidden_size
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=options.vocabulary or shape.vocab_size,
        hidden_size=width,
        intermediate_size=shape.intermediate_size * width // shape.hidden_size,
        num_hidden_layers=options.layers or shape.num_hidden_layers,
        num_attention_heads=width * shape.num_attention_heads // shape.hidden_size or 1,
        num_key_value_heads=width * shape.num_key_value_heads // shape.hidden_size or 1,
        max_position_embeddings=options.prompt + options.response + 64,
        tie_word_embeddings=shape.tie_word_embeddings,
    )
    device = "cuda" if torch.cuda.is_available() else "cpu"
    with torch.device(device):
        model = AutoModelForCausalLM.from_config(
            config, dtype=DTYPES[options.dtype], attn_implementation="sdpa"
        )
    return model.eval()


def problems(options: argparse.Namespace, tokenizer: Any, count: int) -> list[Problem]:
    """Make rows of about --prompt and --response tokens."""
    template_tokens = len(prompt_ids(tokenizer, ""))
    return [
        Problem(
            id=str(number),
            prompt="7 " * max(1, (options.prompt - template_tokens) // 2),
            demonstration="3 " * (options.response // 2),
        )
        for number in range(count)
    ]


def time_training(model: Any, tokenizer: Any, options: argparse.Namespace) -> tuple[float, float]:
    """Return the seconds of an optimizer step, and the tokens read in it."""
    rows = problems(options, tokenizer, options.batch * options.steps)
    tokens = sum(len(prompt_ids(tokenizer, row.prompt)) + options.response for row in rows)
    training = Training(
        epochs=1.0,
        batch_size=options.batch,
        micro_batch_size=min(options.batch, options.micro_batch),
        max_length=4 * (options.prompt + options.response) + 64,
        gradient_checkpointing=options.shape.endswith("7b"),
    )
    seconds = 0.0
    for problems_read in (rows[: options.batch], rows):  # warm up, then time
        with tempfile.TemporaryDirectory() as folder:
            log = fine_tune(
                BasePolicy(model, tokenizer),
                problems_read,
                objective=Objective(lam=1.0),
                training=training,
                seed=0,
                folder=Path(folder) / "adapter",
            )
            seconds = log["seconds"]
    return seconds / options.steps, tokens / options.steps


def time_generation(model: Any, tokenizer: Any, options: argparse.Namespace) -> tuple[float, int]:
    """Return the seconds of drawing, and the tokens drawn."""
    decoding = GenerationSettings(
        temperature=0.8,
        samples=options.samples,
        max_new_tokens=4,
        batch_size=options.batch * options.samples,
    )
    rows = problems(options, tokenizer, options.batch)
    generate(model, tokenizer, rows, decoding=decoding, seed=0)
    started = time.perf_counter()
    completions = generate(
        model, tokenizer, rows, decoding=replace(decoding, max_new_tokens=options.response), seed=1
    )
    return time.perf_counter() - started, sum(completion.tokens or 0 for completion in completions)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shape", choices=SHAPES, default="qwen2.5-1.5b")
    parser.add_argument("--dtype", choices=DTYPES, default="float32")
    for name, default in (("prompt", 100), ("response", 120), ("batch", 16), ("micro-batch", 8)):
        parser.add_argument(f"--{name}", type=int, default=default)
    for name, default in (("steps", 2), ("samples", 4), ("layers", 0), ("width", 0), ("vocabulary", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    model, tokenizer = random_model(options), load_tokenizer("tiny")
    weights = sum(weight.numel() for weight in model.parameters())
    print(f"{weights:,} weights in {options.dtype} on {model.device}, {torch.get_num_threads()} threads")
    step, read = time_training(model, tokenizer, options)
    print(f"training    {step:8.2f} s a step of {read:.0f} tokens    {read / step:8.1f} tokens a second")
    seconds, tokens = time_generation(model, tokenizer, options)
    print(
        f"generation  {seconds:8.2f} s for {tokens} tokens          {tokens / seconds:8.1f} tokens a second"
    )


if __name__ == "__main__":
    main()
