"""Time our `generate` beside transformers' own, in one run: several samples a problem from one policy.

    python benchmarks/generation.py --problems 32 --rounds 2
    python benchmarks/generation.py
    python benchmarks/generation.py --samples 1
    python benchmarks/generation.py --shots 4
    python benchmarks/generation.py --continuous
    python benchmarks/generation.py --compile

The embedded model answers problems of mini-sums, sampled from the whole softmax at temperature 1, --batch
completions at a time. Transformers' `generate` gets each problem once with `num_return_sequences`; ours also
records log p and entropies. The contestants take turns. The adapter is a LoRA on every linear layer with
B = 0, so that all of them write like the base model: once beside the weights, as PEFT serves it, and once as
in a study, through `erce.hf.models.adapted`, with the time that loading takes. --continuous adds
transformers' `generate_batch`, --compile ours with a compiled step, once without counting the compilation.
Times are processor seconds on a CPU with one thread.
"""

import argparse
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}  # before huggingface_hub is loaded

import torch
import transformers
from peft import LoraConfig, get_peft_model
from transformers import GenerationConfig
from transformers.generation.configuration_utils import ContinuousBatchingConfig
from transformers.utils import logging

from erce.generate.decoding import GenerationSettings
from erce.generate.transformers import generate
from erce.hf.models import adapted, load_model, load_tokenizer, shadow
from erce.hf.prompt import prompt_ids
from erce.recipe import Recipe
from erce.study.demonstrations import cell_splits


@dataclass(frozen=True)
class Contestant:
    """A way to draw all completions, and the name of the contestant that it is compared with."""

    name: str
    draw: Callable[[], list[int]]  # returns the number of tokens of each completion
    compared_with: str | None = None


def main() -> None:
    options = _arguments()
    torch.set_num_threads(1)
    logging.set_verbosity_error()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        entries = list(contestants(Path(folder), options))
        seconds: dict[str, list[float]] = {entry.name: [] for entry in entries}
        tokens: dict[str, int] = {}
        for _ in range(options.rounds):
            for entry in entries:
                started = time.process_time()
                lengths = entry.draw()
                seconds[entry.name].append(time.process_time() - started)
                tokens[entry.name] = sum(lengths)
                if len(lengths) != options.problems * options.samples:
                    raise SystemExit(
                        f"{entry.name}: {len(lengths)} completions of {options.problems * options.samples}"
                    )
    print(
        f"{options.problems} problems × {options.samples} completions of at most {options.limit} tokens, "
        f"{options.batch} at a time; transformers {transformers.__version__}, torch {torch.__version__}, "
        "one thread\n\n"
        "| | median seconds | best | tokens a second | times as fast |\n|---|---:|---:|---:|---:|"
    )
    for entry in entries:
        own = seconds[entry.name]
        other = seconds[entry.compared_with or entry.name]
        ratio = median(theirs / ours for ours, theirs in zip(own, other, strict=True))
        rate = tokens[entry.name] / median(own)
        print(f"| {entry.name} | {median(own):.2f} | {min(own):.2f} | {rate:,.0f} | {ratio:.2f} |")


def contestants(folder: Path, options: argparse.Namespace) -> Iterator[Contestant]:
    model, tokenizer = load_model("tiny"), load_tokenizer("tiny")
    decoding = GenerationSettings(
        temperature=1.0, samples=options.samples, max_new_tokens=options.limit, batch_size=options.batch
    )
    pools = cell_splits(Recipe(task="mini-sums", lams=(0.0,), seeds=(0,), split_seed=0), "mini-sums")
    shots = [f"{shot.prompt}\n{shot.demonstration}" for shot in pools.train[: options.shots]]
    problems = tuple(
        replace(problem, prompt="\n\n".join([*shots, problem.prompt]))
        for problem in pools.test[: options.problems]
    )
    if len(problems) < options.problems:
        raise SystemExit(f"--problems {options.problems}: mini-sums has {len(problems)}")
    ids = [prompt_ids(tokenizer, problem.prompt) for problem in problems]
    beside: Any = get_peft_model(
        shadow(model), LoraConfig(task_type="CAUSAL_LM", target_modules="all-linear", r=16, lora_alpha=32)
    )
    beside.save_pretrained(str(folder))

    def ours(policy: Any, decoding: GenerationSettings = decoding) -> list[int]:
        return [row.tokens or 0 for row in generate(policy, tokenizer, problems, decoding=decoding, seed=0)]

    def through_a_study() -> list[int]:
        with adapted(model, folder) as policy:
            return ours(policy)

    stock, peft = "transformers' generate", "transformers' generate, LoRA"
    yield Contestant(stock, lambda: transformers_generate(model, tokenizer, ids, options))
    yield Contestant("ours", lambda: ours(model), stock)
    yield Contestant(peft, lambda: transformers_generate(beside, tokenizer, ids, options))
    yield Contestant("ours, LoRA beside the weights", lambda: ours(beside), peft)
    yield Contestant("ours, LoRA as in a study", through_a_study, peft)
    if options.compile:
        decoded = replace(decoding, compile=True)
        ours(model, decoded)
        yield Contestant("ours, compiled", lambda: ours(model, decoded), "ours")
    if options.continuous:
        yield Contestant(
            "transformers' generate_batch",
            lambda: transformers_generate_batch(model, tokenizer, ids, options),
            stock,
        )


def transformers_generate(
    model: Any, tokenizer: Any, ids: list[list[int]], options: argparse.Namespace
) -> list[int]:
    """Sample in left-padded batches of problems; return the number of tokens of each completion."""
    lengths, step = [], max(options.batch // options.samples, 1)
    for start in range(0, len(ids), step):
        batch = ids[start : start + step]
        padded = tokenizer.pad({"input_ids": batch}, padding_side="left", return_tensors="pt")
        written = model.generate(
            input_ids=padded["input_ids"],
            attention_mask=padded["attention_mask"],
            generation_config=sampling(tokenizer, options),
        )
        new = written[:, padded["input_ids"].shape[1] :]
        tokenizer.batch_decode(new, skip_special_tokens=True)
        before_end = (new == tokenizer.eos_token_id).cumsum(1) == 0
        lengths += (before_end.sum(1) + 1).clamp(max=new.shape[1]).tolist()  # the end counts, as in ours
    return lengths


def transformers_generate_batch(
    model: Any, tokenizer: Any, ids: list[list[int]], options: argparse.Namespace
) -> list[int]:
    """Sample with transformers' continuous batching, in the settings that were fastest here."""
    pages = -(-(max(map(len, ids)) + options.limit) // 16)
    outputs = model.generate_batch(
        inputs=ids,
        generation_config=sampling(tokenizer, options),
        continuous_batching_config=ContinuousBatchingConfig(
            seed=0,
            page_size=16,
            num_blocks=2 * options.batch * pages,
            max_requests_per_batch=16,
            max_batch_tokens=64,
            return_logprobs=True,
        ),
    )
    return [len(output.generated_tokens) for output in outputs.values() if output.error is None]


def sampling(tokenizer: Any, options: argparse.Namespace) -> GenerationConfig:
    return GenerationConfig(
        do_sample=True,
        temperature=1.0,
        top_k=0,
        top_p=1.0,
        repetition_penalty=1.0,
        num_return_sequences=options.samples,
        max_new_tokens=options.limit,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--problems", type=int, default=128)
    parser.add_argument("--samples", type=int, default=4, help="completions a problem")
    parser.add_argument("--shots", type=int, default=0, help="worked examples before each problem")
    parser.add_argument("--limit", type=int, default=40, help="tokens of a completion at most")
    parser.add_argument("--batch", type=int, default=64, help="completions at a time")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--continuous", action="store_true", help="measure generate_batch too")
    parser.add_argument("--compile", action="store_true", help="measure ours with a compiled step too")
    return parser.parse_args()


if __name__ == "__main__":
    main()
