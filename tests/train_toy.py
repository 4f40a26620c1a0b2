"""What the trainer's tests share: a random two-layer Qwen2, a byte tokenizer, rows of unequal length."""

import gc
import random
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from peft import LoraConfig
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from torch import nn
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

from erce.train import ERCEConfig

CHAT = (
    "{% for message in messages %}<|start|>{{ message['role'] }}\n{{ message['content'] }}<|end|>\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)
IGNORED = -100

torch.set_num_threads(1)  # these models are so small that more threads only wait for each other
gc.freeze()  # every training collects garbage, and would spend most of its time on what was only imported


def tokenizer(*, chat: bool = True) -> PreTrainedTokenizerFast:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    specials = ["<|pad|>", "<|start|>", "<|end|>"]
    bpe = Tokenizer(models.BPE({letter: i for i, letter in enumerate(letters)}, []))
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    bpe.add_special_tokens(specials)
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe, pad_token="<|pad|>", eos_token="<|end|>", chat_template=CHAT if chat else None
    )


def model(*, tied: bool = True, bias: bool = False) -> Qwen2ForCausalLM:
    tokens = tokenizer()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = Qwen2Config(
            vocab_size=len(tokens),
            hidden_size=32,
            intermediate_size=48,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=128,
            tie_word_embeddings=tied,
            initializer_range=0.25,  # logits far from uniform, so that the entropy has a gradient to speak of
            eos_token_id=tokens.eos_token_id,
            pad_token_id=tokens.pad_token_id,
        )
        made = Qwen2ForCausalLM(config).eval()
        if bias:
            made.lm_head.bias = nn.Parameter(torch.randn(len(tokens)))
        return made


def rows(lengths: list[tuple[int, int]], seed: int = 0) -> list[dict[str, list[int]]]:
    """One row for each (prompt tokens, response tokens)."""
    draw = random.Random(seed)
    found = []
    for prompt, response in lengths:
        ids = [draw.randrange(256) for _ in range(prompt + response)]
        found.append({"input_ids": ids, "labels": [IGNORED] * prompt + ids[prompt:]})
    return found


UNEQUAL = rows([(5, 3), (2, 17), (9, 1), (4, 8), (11, 5), (3, 0), (0, 12), (6, 2), (1, 6), (7, 10), (2, 4)])


def dataset(some: list[dict[str, list[int]]]) -> Dataset:
    return Dataset.from_list(some)


def lora(**settings: Any) -> LoraConfig:
    """`init_lora_weights=False` draws B as well, so that A has a gradient from the first step."""
    shape = {"task_type": "CAUSAL_LM", "target_modules": "all-linear", "r": 4, "lora_alpha": 8}
    return LoraConfig(**shape | settings)


def common(folder: Path, **settings: Any) -> dict[str, Any]:
    """Settings that keep a training short, silent, in the order of its rows and without files."""
    quiet = {
        "output_dir": str(folder),
        "dataset_kwargs": {"skip_prepare_dataset": True},
        "train_sampling_strategy": "sequential",
        "per_device_train_batch_size": 2,
        "gradient_accumulation_steps": 2,
        "num_train_epochs": 1,
        "logging_steps": 1,
        "save_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
    }
    return quiet | settings


def config(folder: Path, **settings: Any) -> ERCEConfig:
    return ERCEConfig(**common(folder, **settings))
