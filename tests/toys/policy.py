"""What the tests of generation draw from: a byte-level tokenizer and a random two-layer Qwen2."""

from collections.abc import Iterator
from typing import Any

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM, Qwen2Tokenizer

from erce.types import Problem

END = "<|im_end|>"
PROBLEMS = [  # with prompts of four lengths
    Problem(id=f"p{number}", prompt="Add " + "7 and " * (number % 4) + str(number), demonstration="")
    for number in range(12)
]


def tokenizer_of_problems() -> Any:
    return train_tokenizer(f"Add {number} and {number} in words, then {number * 7}" for number in range(200))


def train_tokenizer(texts: Iterator[str]) -> Any:
    blank = Qwen2Tokenizer(eos_token=END)
    return blank.train_new_from_iterator(texts, 300, show_progress=False, new_special_tokens=[END])


def random_model(tokenizer: Any, *, seed: int, end: float, **settings: Any) -> Qwen2ForCausalLM:
    """Weights large enough for distributions far from flat; `end` times as large for the end of a text."""
    torch.manual_seed(seed)
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=128,
        tie_word_embeddings=False,
        initializer_range=0.3,
        **settings,
    )
    model = Qwen2ForCausalLM(config).eval()
    with torch.no_grad():
        model.lm_head.weight[tokenizer.eos_token_id] *= end
    return model
