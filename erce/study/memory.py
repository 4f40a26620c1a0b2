"""A model's config → the bytes of its training and generation, and the batch sizes that fit the free memory.

Batch sizes change speed alone, but for rounding and for which numbers dropout sets to zero. The embedded
models fit anywhere: they have the largest sizes, and so their bits on every machine.

Bytes are rules of thumb. The allocator's share, CUDA's context and the libraries take 1 to 2 GB more.
"""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from heapq import nlargest
from pathlib import Path
from typing import Any, NamedTuple

from erce.catalog import EMBEDDED_MODELS, nearest_model
from erce.errors import InputError, counted, first_line
from erce.hf.prompt import demonstration_ids, prompt_ids
from erce.recipe import Recipe
from erce.recipe.sections import MOST_COMPLETIONS, MOST_SEQUENCES
from erce.tasks import load_task
from erce.types import Splits

WIDTHS = {"float32": 4, "bfloat16": 2, "float16": 2}  # bytes per weight
OPTIMIZER_BYTES = 16  # per adapter weight: itself, its gradient and AdamW's two moments, in float32
HEAD_BYTES = 512 * 2**20  # of logits that the loss holds at a time (erce.loss.chunked)
# Bytes that autograd keeps per token and layer, in bfloat16 with LoRA's dropout, for each unit of the hidden
# state and of the feed-forward; keys and LoRA's rank add some 3 % (tests/study/test_memory.py).
KEPT_HIDDEN, KEPT_INTERMEDIATE = 48, 12
STEP_BYTES = 40  # per token of the vocabulary in a step of sampling: float32 and float64 at once

USED_SHARE = 0.8  # of the free memory
LIBRARY_BYTES = 1e9  # that torch and its libraries take beside what is computed
BATCH_SECONDS = 60.0  # of a batch of completions on a CPU: what a killed run loses
# Operations per second of a CPU's thread that writes 64 completions: measured once with SmolLM2-135M on a
# busy server with AMX (47e9, and 31e9 in float32), and only to choose a size.
THREAD_FLOPS = {"bfloat16": 50e9, "float16": 30e9, "float32": 30e9}
LONGEST_TEXTS = 8  # by characters, among which the longest by tokens is looked for

FIELDS = (
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "vocab_size",
    "tie_word_embeddings",
    "num_key_value_heads",
)
EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts")  # fields of a mixture of experts
# The paper's models, for a dry run on a machine without them; from each config.json on the hub.
PUBLIC: dict[str, tuple[Any, ...]] = {
    "Qwen/Qwen2.5-1.5B-Instruct": (1536, 8960, 28, 12, 151_936, True, 2),
    "Qwen/Qwen2.5-7B-Instruct": (3584, 18_944, 28, 28, 152_064, False, 4),
}


class Lengths(NamedTuple):
    """The most tokens of a sequence in training, of a prompt with its completion, and of a completion."""

    trained: int
    sampled: int
    new: int


class BatchSizes(NamedTuple):
    """How many completions are written at a time, and how many sequences are in a forward pass."""

    completions: int
    sequences: int
    free: float = 0.0  # bytes that they were fitted to; 0: to none

    def __str__(self) -> str:
        return (
            f"{self.completions} completions at a time, {counted(self.sequences, 'sequence')} a forward pass"
        )


def read_config(model: str) -> Any:
    """Return the transformers config of a dense decoder on this machine or in `PUBLIC`; nothing is fetched.

    An InputError says why there is none: no config.json, other fields, or a mixture of experts.
    """
    from transformers import AutoConfig, Qwen2Config

    from erce.hf.models import pretrained_name

    here = {"local_files_only": True, "trust_remote_code": False}
    try:
        config = AutoConfig.from_pretrained(pretrained_name(model), **here).get_text_config()
    except (OSError, ValueError) as error:
        if model in PUBLIC:
            return Qwen2Config(**dict(zip(FIELDS, PUBLIC[model], strict=True)))
        why, meant = first_line(error), nearest_model(model)
        raise InputError(
            f"no config.json of {model!r} that can be read on this machine ({why}); "
            f"{meant or 'name a folder that has it'}"
        ) from None
    if any(name.startswith(EXPERTS) for name in vars(config)):
        raise InputError(f"{model!r} is a mixture of experts, for which there is no formula here")
    if lacking := [name for name in FIELDS[:-1] if not hasattr(config, name)]:
        raise InputError(
            f"the config.json of {model!r} is not that of a dense decoder: it has no {lacking[0]}"
        )
    return config


def _widths(config: Any) -> tuple[int, int]:
    """Return the widths of a layer's queries, and of its keys."""
    heads = config.num_attention_heads
    width = getattr(config, "head_dim", None) or config.hidden_size // heads
    return heads * width, (getattr(config, "num_key_value_heads", None) or heads) * width


def _projections(config: Any) -> list[tuple[int, int]]:
    """Return (inputs, outputs) of q, k, v, o, gate, up and down in one layer."""
    (query, key), hidden, inner = _widths(config), config.hidden_size, config.intermediate_size
    return [(hidden, query), *[(hidden, key)] * 2, (query, hidden), *[(hidden, inner)] * 3]


def weights(config: Any) -> int:
    """Return the weights of projections, embedding and head; norms and biases, under 0.2 %, are left out.

    >>> f"{weights(read_config('Qwen/Qwen2.5-1.5B-Instruct')):,}"
    '1,543,569,408'
    """
    tables = (1 if config.tie_word_embeddings else 2) * config.vocab_size * config.hidden_size
    return config.num_hidden_layers * sum(n * m for n, m in _projections(config)) + tables


def adapter_weights(config: Any, rank: int) -> int:
    """Return the weights of LoRA on all projections: rank · (inputs + outputs) of each."""
    return config.num_hidden_layers * rank * sum(n + m for n, m in _projections(config))


def training_memory(
    recipe: Recipe, config: Any, lengths: Lengths, sequences: int, device: str
) -> dict[str, float]:
    """Return part → bytes of a forward and backward pass of `sequences`, all of the greatest length.

    The weights are frozen, so without gradients. With gradient checkpointing each layer's input is kept, and
    all of one layer; in float32 twice that, too much. The loss has the logits of one chunk.
    """
    width, layers = WIDTHS[dtype_on(recipe, device)], config.num_hidden_layers
    tokens = sequences * lengths.trained
    layer = (KEPT_HIDDEN * config.hidden_size + KEPT_INTERMEDIATE * config.intermediate_size) * width / 2
    kept = layers * layer
    if recipe.training.gradient_checkpointing:
        kept = layers * config.hidden_size * width + layer
    return {
        "weights": weights(config) * width,
        "adapter": OPTIMIZER_BYTES * adapter_weights(config, recipe.training.rank),
        "activations": tokens * kept,
        "loss": min(HEAD_BYTES, tokens * config.vocab_size * 4),
    }


def generation_memory(
    recipe: Recipe, config: Any, lengths: Lengths, rows: int, device: str
) -> dict[str, float]:
    """Return part → bytes at the last token of a batch of `rows` texts, all of the greatest length."""
    width = WIDTHS[dtype_on(recipe, device)]
    token = 2 * config.num_hidden_layers * _widths(config)[1] * width  # its key and value in each layer
    return {
        "weights": weights(config) * width,
        "adapter": 4 * adapter_weights(config, recipe.training.rank),
        "keys and values": rows * lengths.sampled * token,
        "sampling": rows * config.vocab_size * STEP_BYTES,
    }


def dtype_on(recipe: Recipe, device: str) -> str:
    """Return the dtype of the base model's weights; "auto" is what it is on this machine for "cpu"."""
    if recipe.dtype != "auto":
        return recipe.dtype
    if device != "cpu":
        return "bfloat16"
    from erce.hf.models import dtype_here

    return dtype_here("auto", recipe.model)


def batch_sizes(recipe: Recipe, problems: Mapping[str, Splits], *, share: float) -> BatchSizes:
    """Return the batch sizes for cells on this machine, of which each has a `share`."""
    config = None
    with suppress(InputError):  # of a model whose sizes are unknown: nothing can be fitted
        config = read_config(recipe.model) if _left_out(recipe) else None
    if config is None:
        return fitting(recipe, None, Lengths(0, 0, 0), device="cpu", memory=0.0)
    import torch

    from erce.hf.models import load_tokenizer

    tokenizer, lengths = load_tokenizer(recipe.model), []
    for name, splits in problems.items():
        task = load_task(name)
        new = recipe.decoding.max_new_tokens or task.max_new_tokens
        trained = _longest(tokenizer, ((each.prompt, each.demonstration) for each in splits.train))
        sampled = [*splits.validation, *splits.test, *(splits.train if recipe.own_cells else ())]
        read = _longest(tokenizer, ((each.prompt, "") for each in sampled))
        lengths.append((min(recipe.training.max_length or task.max_length, trained), read + new, new))
    longest, gpu = Lengths(*map(max, zip(*lengths, strict=True))), torch.cuda.is_available()
    memory = torch.cuda.mem_get_info()[0] if gpu else free_memory()
    return fitting(recipe, config, longest, device="cuda" if gpu else "cpu", memory=memory, share=share)


def fitting(
    recipe: Recipe, config: Any, lengths: Lengths, *, device: str, memory: float, share: float = 1.0
) -> BatchSizes:
    """Return the recipe's sizes; those left out are the largest that fit a `share` of the `memory`.

    On a GPU `[resources] gpus` replaces the share, if it is not 0.
    Completions are a power of two. On a CPU a batch also ends within `BATCH_SECONDS` if every completion is
    as long as it may be. Without a config, and for an embedded model, sizes left out are the largest of all.
    """
    rows, sequences = recipe.decoding.batch_size or MOST_COMPLETIONS, recipe.training.sequences()
    if config is None or not _left_out(recipe):
        return BatchSizes(rows, sequences)
    share = share if device == "cpu" else recipe.resources.gpus or share
    flops = float("inf")
    if device == "cpu":
        flops = max(1.0, share * (os.cpu_count() or 1)) * THREAD_FLOPS[dtype_on(recipe, device)]
    room = USED_SHARE * share * memory - LIBRARY_BYTES
    while recipe.decoding.batch_size is None and rows > 1:
        needed = sum(generation_memory(recipe, config, lengths, rows, device).values())
        if needed <= room and lengths.new * 2 * weights(config) * rows / flops <= BATCH_SECONDS:
            break
        rows //= 2
    for most in range(MOST_SEQUENCES, 0, -1):
        sequences = recipe.training.sequences(most=most)
        if sum(training_memory(recipe, config, lengths, sequences, device).values()) <= room:
            break
    return BatchSizes(rows, sequences, share * memory)


def free_memory(cgroup: Path = Path("/sys/fs/cgroup")) -> float:
    """Return the bytes of main memory that are free, or what a container's limit leaves of them."""
    import psutil

    free = float(psutil.virtual_memory().available)
    try:
        limit, used = (int((cgroup / f"memory.{name}").read_text()) for name in ("max", "current"))
    except (OSError, ValueError):  # no such group, or "max": no limit
        return free
    return min(free, float(limit - used))


def _left_out(recipe: Recipe) -> bool:
    sizes = (recipe.training.micro_batch_size, recipe.decoding.batch_size)
    return None in sizes and recipe.model not in EMBEDDED_MODELS


def _longest(tokenizer: Any, texts: Iterable[tuple[str, str]]) -> int:
    """Return the most tokens of a prompt with its answer, of those with the most characters."""
    likely = nlargest(LONGEST_TEXTS, texts, key=lambda text: sum(map(len, text)))
    return max(
        len(prompt_ids(tokenizer, prompt)) + len(demonstration_ids(tokenizer, answer))
        for prompt, answer in likely
    )
