"""Several samples a problem from one policy: our `generate` beside transformers' own, in the same run.

    python benchmarks/generation.py --problems 32 --rounds 2
    python benchmarks/generation.py
    python benchmarks/generation.py --samples 1
    python benchmarks/generation.py --shots 4
    python benchmarks/generation.py --continuous

The tiny model and problems of mini-sums, sampled from the whole softmax at temperature 1 in batches of
--batch completions. Transformers' `generate` gets each problem once with `num_return_sequences`; ours also
records log p and entropies. They take turns. The adapter is a LoRA on every linear layer whose B is zero, so
that all rows of the table write like the base model: as PEFT serves it, beside the weights, and as a study
does, through `erce.hf.models.adapted`, whose loading is counted. --continuous adds transformers'
`generate_batch`. Processor seconds; CPU, one thread.
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
from erce.tasks import load_task, splits
from erce.types import Problem


@dataclass(frozen=True)
class Way:
    """One way of drawing all completions, and which it is compared with."""

    name: str
    draw: Callable[[], int]  # the number of completions
    against: str | None = None


def main() -> None:
    asked = _arguments()
    torch.set_num_threads(1)
    logging.set_verbosity_error()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        ways = list(contestants(Path(folder), asked))
        taken: dict[str, list[float]] = {way.name: [] for way in ways}
        for _ in range(asked.rounds):
            for way in ways:
                started = time.process_time()
                drawn = way.draw()
                taken[way.name].append(time.process_time() - started)
                if drawn != asked.problems * asked.samples:
                    raise SystemExit(f"{way.name}: {drawn} completions of {asked.problems * asked.samples}")
    print(
        f"{asked.problems} problems × {asked.samples} completions of at most {asked.limit} tokens, "
        f"{asked.batch} at a time; transformers {transformers.__version__}, torch {torch.__version__}, "
        f"one thread\n\n| | median seconds | best | times as fast |\n|---|---:|---:|---:|"
    )
    for way in ways:
        mine = taken[way.name]
        other = taken[way.against] if way.against else mine
        ratio = f"{median(b / a for a, b in zip(mine, other, strict=True)):.2f}"
        print(f"| {way.name} | {median(mine):.2f} | {min(mine):.2f} | {ratio} |")


def contestants(folder: Path, asked: argparse.Namespace) -> Iterator[Way]:
    model, tokenizer = load_model("tiny"), load_tokenizer("tiny")
    task = load_task("mini-sums")
    drawn = GenerationSettings(
        temperature=1.0, samples=asked.samples, max_new_tokens=asked.limit, batch_size=asked.batch
    )
    pools = splits(
        task, data=None, n_train=task.n_train, n_validation=task.n_validation, n_test=task.n_test, seed=0
    )
    shots = [f"{each.prompt}\n{each.demonstration}" for each in pools.train[: asked.shots]]
    problems = tuple(
        replace(problem, prompt="\n\n".join([*shots, problem.prompt]))
        for problem in pools.test[: asked.problems]
    )
    if len(problems) < asked.problems:
        raise SystemExit(f"--problems {asked.problems}: mini-sums has {len(problems)}")
    ids = [prompt_ids(tokenizer, problem.prompt) for problem in problems]
    beside: Any = get_peft_model(
        shadow(model), LoraConfig(task_type="CAUSAL_LM", target_modules="all-linear", r=16, lora_alpha=32)
    )
    beside.save_pretrained(str(folder))

    def through_a_study(problems: tuple[Problem, ...]) -> int:
        with adapted(model, folder) as policy:
            return len(generate(policy, tokenizer, problems, decoding=drawn, seed=0))

    stock, peft = "transformers' generate", "transformers' generate, LoRA"
    yield Way(stock, lambda: theirs(model, tokenizer, ids, asked))
    yield Way("ours", lambda: len(generate(model, tokenizer, problems, decoding=drawn, seed=0)), stock)
    yield Way(peft, lambda: theirs(beside, tokenizer, ids, asked))
    yield Way(
        "ours, LoRA beside the weights",
        lambda: len(generate(beside, tokenizer, problems, decoding=drawn, seed=0)),
        peft,
    )
    yield Way("ours, LoRA as in a study", lambda: through_a_study(problems), peft)
    if asked.continuous:
        yield Way("transformers' generate_batch", lambda: continuous(model, tokenizer, ids, asked), stock)


def theirs(model: Any, tokenizer: Any, ids: list[list[int]], asked: argparse.Namespace) -> int:
    """Their sampling, a batch of problems at a time, left-padded; how many completions came."""
    count, step = 0, max(asked.batch // asked.samples, 1)
    for start in range(0, len(ids), step):
        batch = ids[start : start + step]
        padded = tokenizer.pad({"input_ids": batch}, padding_side="left", return_tensors="pt")
        written = model.generate(
            input_ids=padded["input_ids"],
            attention_mask=padded["attention_mask"],
            generation_config=sampling(tokenizer, asked),
        )
        texts = tokenizer.batch_decode(written[:, padded["input_ids"].shape[1] :], skip_special_tokens=True)
        count += len(texts)
    return count


def continuous(model: Any, tokenizer: Any, ids: list[list[int]], asked: argparse.Namespace) -> int:
    """Their continuous batching with the settings that were best here; it is slower with its defaults."""
    pages = -(-(max(map(len, ids)) + asked.limit) // 16)
    outputs = model.generate_batch(
        inputs=ids,
        generation_config=sampling(tokenizer, asked),
        continuous_batching_config=ContinuousBatchingConfig(
            seed=0,
            page_size=16,
            num_blocks=2 * asked.batch * pages,
            max_requests_per_batch=16,
            max_batch_tokens=64,
            return_logprobs=True,
        ),
    )
    return sum(output.error is None for output in outputs.values())


def sampling(tokenizer: Any, asked: argparse.Namespace) -> GenerationConfig:
    return GenerationConfig(
        do_sample=True,
        temperature=1.0,
        top_k=0,
        top_p=1.0,
        repetition_penalty=1.0,
        num_return_sequences=asked.samples,
        max_new_tokens=asked.limit,
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
    return parser.parse_args()


if __name__ == "__main__":
    main()
