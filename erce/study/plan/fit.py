"""A recipe, its longest texts and the memory that is free → the batch sizes that it leaves out.

They change speed alone, but for rounding and for which numbers dropout sets to zero. The embedded models fit
anywhere: they have the largest sizes, and so their bits on every machine.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from erce.catalog import EMBEDDED_MODELS
from erce.hf.prompt import demonstration_ids, prompt_ids
from erce.recipe import Recipe
from erce.recipe.sections import MOST_COMPLETIONS, MOST_SEQUENCES
from erce.study.plan.architecture import Architecture, find_architecture
from erce.study.plan.needs import DEVICES, bytes_a_weight, drawing_memory, dtype_on, training_memory
from erce.tasks import load_task
from erce.types import Problem, Splits

USED_SHARE = 0.8  # of the free memory
LIBRARY_BYTES = 1e9  # that torch and its libraries take beside what is computed
BATCH_SECONDS = 60.0  # of a batch of completions on a CPU: what a killed run loses
# Operations a second of a CPU's thread that writes 64 completions: measured once with SmolLM2-135M on a busy
# server with AMX (47e9, and 31e9 in float32), and only to choose a size.
THREAD_FLOPS = {"bfloat16": 50e9, "float16": 30e9, "float32": 30e9}
LONGEST_TEXTS = 8  # by characters, of which the longest by tokens is looked for


class BatchSizes(NamedTuple):
    """How many completions are written at a time, and how many sequences are in a forward pass."""

    completions: int
    sequences: int
    free: float = 0.0  # bytes that they were fitted to; 0: to none

    def __str__(self) -> str:
        return f"{self.completions} completions at a time, {self.sequences} sequences a forward pass"


class Lengths(NamedTuple):
    """The most tokens of a sequence in training, of a prompt with its completion, and of a completion."""

    trained: int
    drawn: int
    new: int


def batch_sizes(recipe: Recipe, problems: Mapping[str, Splits], *, share: float) -> BatchSizes:
    """Return the batch sizes for cells on this machine, if each cell has a `share` of it (1: all)."""
    architecture = find_architecture(recipe.model).architecture if _left_out(recipe) else None
    if architecture is None:
        return fitting(recipe, None, Lengths(0, 0, 0))
    import torch

    from erce.hf.models import load_tokenizer

    tokenizer, lengths = load_tokenizer(recipe.model), []
    for name, splits in problems.items():
        task = load_task(name)
        new = recipe.decoding.max_new_tokens or task.max_new_tokens
        trained = _longest(tokenizer, splits.train, answered=True)
        sampled = [*splits.validation, *splits.test, *(splits.train if recipe.own_cell else ())]
        read = _longest(tokenizer, sampled, answered=False)
        lengths.append((min(recipe.training.max_length or task.max_length, trained), read + new, new))
    longest = Lengths(*map(max, zip(*lengths, strict=True)))
    if torch.cuda.is_available():
        return fitting(
            recipe, architecture, longest, device="cuda", free=share * torch.cuda.mem_get_info()[0]
        )
    return fitting(recipe, architecture, longest, share=share)


def fitting(
    recipe: Recipe,
    architecture: Architecture | None,
    lengths: Lengths,
    *,
    device: str = "cpu",
    share: float = 1.0,
    free: float | None = None,
) -> BatchSizes:
    """Return the recipe's sizes; those left out are the largest that fit, completions a power of two.

    On a CPU a batch also ends within `BATCH_SECONDS` if every completion is as long as it may be. `free` None
    is a `share` of the device's memory, on "cpu" of what is free here.
    """
    processes = recipe.resources.training_processes
    rows, micro = recipe.decoding.batch_size or MOST_COMPLETIONS, recipe.training.sequences(processes)
    if architecture is None or not _left_out(recipe):
        return BatchSizes(rows, micro)
    if free is None:
        free = share * (DEVICES[device].memory if device in DEVICES else free_memory())
    room, width, flops = USED_SHARE * free - LIBRARY_BYTES, bytes_a_weight(recipe, device), float("inf")
    if device == "cpu":
        flops = max(1.0, share * (os.cpu_count() or 1)) * THREAD_FLOPS[dtype_on(recipe, device)]
    while recipe.decoding.batch_size is None and rows > 1:
        memory = drawing_memory(architecture, recipe, longest=lengths.drawn, rows=rows, width=width)
        if memory.total <= room and lengths.new * 2 * architecture.weights * rows / flops <= BATCH_SECONDS:
            break
        rows //= 2
    for most in range(MOST_SEQUENCES, 0, -1):
        micro = recipe.training.sequences(processes, most=most)
        memory = training_memory(architecture, recipe, longest=lengths.trained, width=width, sequences=micro)
        if memory.total <= room:
            break
    return BatchSizes(rows, micro, free)


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


def _longest(tokenizer: Any, problems: Sequence[Problem], *, answered: bool) -> int:
    texts = [(problem.prompt, problem.demonstration if answered else "") for problem in problems]
    longest = sorted(texts, key=lambda text: len("".join(text)))[-LONGEST_TEXTS:]
    return max(
        len(prompt_ids(tokenizer, prompt)) + (len(demonstration_ids(tokenizer, answer)) if answered else 0)
        for prompt, answer in longest
    )
