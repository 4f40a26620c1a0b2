"""A real model on a CPU: training, reading prompts and decoding, over the time of their bare matmuls.

    python benchmarks/real_model.py --layers 2 --rounds 1 --prompts 4 --tokens 4
    python benchmarks/real_model.py
    python benchmarks/real_model.py --dtype float32

SmolLM2-135M's shape with random weights, so that anybody can run it. The contestants take turns; times are
processor seconds of one thread, ratios those of the medians. `matmuls` multiplies operands of the same shapes
and dtype as often as the model does: in training forward and input gradients of every linear layer, for the
head of the scored positions alone; LoRA's own are not in it. A decoding step is the time of a generation less
that of its first token, over the steps.
"""

import argparse
import os
import random
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import lru_cache
from statistics import median
from typing import Any

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}  # before huggingface_hub is loaded

import torch
import transformers
from datasets import Dataset
from peft import LoraConfig
from tokenizers import Tokenizer, models, pre_tokenizers
from torch.nn.functional import linear
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from transformers.utils import logging

from erce.generate.decoding import GenerationSettings
from erce.generate.transformers import generate
from erce.train.config import ERCEConfig
from erce.train.trainer import ERCETrainer
from erce.types import Problem

VOCAB, WIDTH, INNER, HEADS, KV_HEADS, LAYERS = 49_152, 576, 1536, 9, 3, 30
LINEAR = [  # of a layer: out, in
    *((WIDTH, WIDTH), (KV_HEADS * WIDTH // HEADS, WIDTH), (KV_HEADS * WIDTH // HEADS, WIDTH), (WIDTH, WIDTH)),
    *((INNER, WIDTH), (INNER, WIDTH), (WIDTH, INNER)),
]
IGNORED = -100


def main() -> None:
    options = _arguments()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    logging.set_verbosity_error()
    warnings.simplefilter("ignore")
    dtype = getattr(torch, options.dtype)
    entries: dict[str, dict[str, Callable[[], None]]] = {
        "a training step": training(options, dtype),
        "reading prompts": reading(options, dtype),
        "a decoding step": {},
    }
    seconds: dict[str, dict[str, list[float]]] = {
        "a training step": {},
        "reading prompts": {},
        "a decoding step": {},
    }
    for _ in range(options.rounds):
        for part, contestants in entries.items():
            for name, work in contestants.items():
                seconds[part].setdefault(name, []).append(timed(work))
        for name, taken in decoding(options, dtype).items():
            seconds["a decoding step"].setdefault(name, []).append(taken)
    print(
        f"SmolLM2-135M's shape, {options.layers} layers, {options.dtype}; training {options.batch} rows of "
        f"{options.length} tokens, half of each scored; {options.prompts} prompts of up to {options.prompt}, "
        f"{options.samples} rows each, {options.tokens} tokens; transformers {transformers.__version__}, "
        f"torch {torch.__version__}, one thread\n"
    )
    print("| | seconds | over the matmuls |\n|---|---:|---:|")
    for part, taken in seconds.items():
        bare = median(taken["matmuls"])
        for name, times in taken.items():
            print(f"| {part}: {name} | {median(times):.3f} | {median(times) / bare:.2f} |")


def timed(work: Callable[[], None]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def matmuls(rows: int, scored: int, layers: int, dtype: torch.dtype, *, backward: bool) -> Callable[[], None]:
    """Return what multiplies as a model does that reads `rows` positions and scores some of them."""
    weights = [torch.randn(shape, dtype=dtype) for shape in LINEAR]
    head = torch.randn(VOCAB, WIDTH, dtype=dtype)
    inputs = {width: torch.randn(rows, width, dtype=dtype) for _, width in LINEAR}
    hidden = torch.randn(scored, WIDTH, dtype=dtype)

    def work() -> None:
        for _ in range(layers):
            for weight in weights:
                y = linear(inputs[weight.shape[1]], weight)
                if backward:
                    torch.matmul(y, weight)
        z = linear(hidden, head)
        if backward:
            torch.matmul(z, head)

    return work


def training(options: argparse.Namespace, dtype: torch.dtype) -> dict[str, Callable[[], None]]:
    draw, rows = random.Random(0), []
    half = options.length // 2
    for _ in range(options.batch):
        ids = [draw.randrange(2, VOCAB) for _ in range(options.length)]
        rows.append({"input_ids": ids, "labels": [IGNORED] * half + ids[half:]})
    config = ERCEConfig(
        output_dir=tempfile.mkdtemp(),
        entropy_penalty=1.0,
        dataset_kwargs={"skip_prepare_dataset": True},
        per_device_train_batch_size=options.batch,
        max_steps=1,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    trainer = ERCETrainer(
        model(options, dtype),
        config,
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer(),
        peft_config=LoraConfig(task_type="CAUSAL_LM", target_modules="all-linear", r=16, lora_alpha=32),
    )
    batch = next(iter(trainer.get_train_dataloader()))
    trainer.current_gradient_accumulation_steps = 1
    policy = trainer.model
    assert policy is not None

    def step() -> None:
        trainer.training_step(policy, dict(batch), num_items_in_batch=None)
        policy.zero_grad()

    bare = matmuls(options.batch * options.length, options.batch * half, options.layers, dtype, backward=True)
    return {"matmuls": bare, "ours": step}


def reading(options: argparse.Namespace, dtype: torch.dtype) -> dict[str, Callable[[], None]]:
    policy, asked = model(options, dtype), problems(options)
    return {
        "matmuls": matmuls(
            options.prompts * options.prompt, options.prompts, options.layers, dtype, backward=False
        ),
        "ours": lambda: written(policy, asked, options, tokens=1),
        "transformers": lambda: written_by_transformers(policy, asked, options, tokens=1, rows=1),
    }


def decoding(options: argparse.Namespace, dtype: torch.dtype) -> dict[str, float]:
    policy, asked = model(options, dtype), problems(options)
    rows, steps = options.prompts * options.samples, options.tokens - 1
    bare = matmuls(rows, rows, options.layers, dtype, backward=False)

    def step_of(work: Callable[..., None]) -> float:
        return (timed(lambda: work(options.tokens)) - timed(lambda: work(1))) / steps

    return {
        "matmuls": timed(bare),
        "ours": step_of(lambda tokens: written(policy, asked, options, tokens=tokens)),
        "transformers": step_of(
            lambda tokens: written_by_transformers(
                policy, asked, options, tokens=tokens, rows=options.samples
            )
        ),
    }


def written(policy: Any, asked: list[Problem], options: argparse.Namespace, *, tokens: int) -> None:
    settings = GenerationSettings(
        temperature=0.8,
        samples=options.samples,
        max_new_tokens=tokens,
        batch_size=len(asked) * options.samples,
    )
    generate(policy, tokenizer(), asked, decoding=settings, seed=0)


def written_by_transformers(
    policy: Any, asked: list[Problem], options: argparse.Namespace, *, tokens: int, rows: int
) -> None:
    prompts = [problem.prompt for problem in asked]
    encoded = tokenizer()(prompts, return_tensors="pt", padding=True, padding_side="left")
    config = GenerationConfig(
        do_sample=True, temperature=0.8, top_k=0, max_new_tokens=tokens, min_new_tokens=tokens,
        num_return_sequences=rows, pad_token_id=0, eos_token_id=1,
    )  # fmt: skip
    policy.generate(
        input_ids=encoded["input_ids"], attention_mask=encoded["attention_mask"], generation_config=config
    )


def problems(options: argparse.Namespace) -> list[Problem]:
    draw = random.Random(1)
    lengths = [options.prompt - 2 * (n % 8) for n in range(options.prompts)]
    texts = [" ".join(f"w{draw.randrange(2, VOCAB)}" for _ in range(length)) for length in lengths]
    return [Problem(id=str(n), prompt=text, demonstration="") for n, text in enumerate(texts)]


def model(options: argparse.Namespace, dtype: torch.dtype) -> LlamaForCausalLM:
    config = LlamaConfig(
        vocab_size=VOCAB,
        hidden_size=WIDTH,
        intermediate_size=INNER,
        num_hidden_layers=options.layers,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        tie_word_embeddings=True,
        pad_token_id=0,
        eos_token_id=1,
    )
    made: Any = LlamaForCausalLM(config)
    return made.to(dtype).eval()


@lru_cache(maxsize=1)
def tokenizer() -> PreTrainedTokenizerFast:
    words = {"<pad>": 0, "<end>": 1} | {f"w{i}": i for i in range(2, VOCAB)}
    whole = Tokenizer(models.WordLevel(words, unk_token="<end>"))
    whole.pre_tokenizer = pre_tokenizers.Whitespace()
    made = PreTrainedTokenizerFast(tokenizer_object=whole, pad_token="<pad>", eos_token="<end>")
    made.chat_template = "{{ messages[0]['content'] }}"
    return made


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    for name, default in (
        ("layers", LAYERS), ("rounds", 3), ("batch", 4), ("length", 256), ("prompts", 16), ("prompt", 150),
        ("samples", 4), ("tokens", 33),
    ):  # fmt: skip
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--dtype", choices=("bfloat16", "float32"), default="bfloat16")
    return parser.parse_args()


if __name__ == "__main__":
    main()
