"""A recipe, the lengths of its texts and the memory that is free → the batch sizes that it leaves out.

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
from erce.study.plan.needs import WIDTHS, drawing_memory, training_memory
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
    """The longest sequence of training, the longest prompt and completion together, and the latter alone."""

    trained: int
    drawn: int
    new: int


class CellShare(NamedTuple):
    """A cell's share of the free bytes, and operations a second where that is a CPU's (None: a GPU)."""

    free: float
    flops: float | None


def batch_sizes(recipe: Recipe, problems: Mapping[str, Splits], *, share: float) -> BatchSizes:
    """Return the batch sizes of every cell on this machine, a `share` of which each has."""
    if not left_out(recipe):
        return _usual(recipe)
    architecture = find_architecture(recipe.model).architecture
    if architecture is None:
        return _usual(recipe)
    from erce.hf.models import dtype_here, load_tokenizer

    dtype = dtype_here(recipe.dtype, recipe.model)
    lengths = _lengths(recipe, problems, load_tokenizer(recipe.model))
    return fitting(recipe, architecture, lengths, share_here(dtype, share=share), width=WIDTHS[dtype])


def left_out(recipe: Recipe) -> bool:
    """Return whether the recipe leaves a size out that depends on the memory."""
    sizes = (recipe.training.micro_batch_size, recipe.decoding.batch_size)
    return None in sizes and recipe.model not in EMBEDDED_MODELS


def fitting(
    recipe: Recipe, architecture: Architecture, lengths: Lengths, place: CellShare, *, width: int
) -> BatchSizes:
    """Return the recipe's sizes; those left out are the largest that fit, completions a power of two.

    On a CPU a batch also ends within `BATCH_SECONDS` if every completion is as long as it may be.
    """
    if not left_out(recipe):
        return _usual(recipe)
    usual, room = _usual(recipe), USED_SHARE * place.free - LIBRARY_BYTES
    rows, micro = usual.completions, usual.sequences
    while recipe.decoding.batch_size is None and rows > 1:
        memory = drawing_memory(architecture, recipe, longest=lengths.drawn, rows=rows, width=width)
        seconds = lengths.new * 2 * architecture.weights * rows / place.flops if place.flops else 0.0
        if memory.total <= room and seconds <= BATCH_SECONDS:
            break
        rows //= 2
    processes = recipe.resources.training_processes
    for most in range(MOST_SEQUENCES, 0, -1):
        micro = recipe.training.sequences(processes, most=most)
        memory = training_memory(architecture, recipe, longest=lengths.trained, width=width, sequences=micro)
        if memory.total <= room:
            break
    return BatchSizes(rows, micro, place.free)


def share_here(dtype: str, *, share: float) -> CellShare:
    """Return what a cell has on this machine: on the GPU if there is one, else on the CPU."""
    import torch

    if torch.cuda.is_available():
        return CellShare(share * torch.cuda.mem_get_info()[0], None)
    return cpu_share(dtype, share=share)


def cpu_share(dtype: str, *, share: float) -> CellShare:
    threads = max(1.0, share * (os.cpu_count() or 1))
    return CellShare(share * free_memory(), threads * THREAD_FLOPS[dtype])


def free_memory(cgroup: Path = Path("/sys/fs/cgroup")) -> float:
    """Return the bytes of main memory that are free, or what a container's limit leaves of them."""
    import psutil

    free = float(psutil.virtual_memory().available)
    try:
        limit, used = (int((cgroup / f"memory.{name}").read_text()) for name in ("max", "current"))
    except (OSError, ValueError):  # no such group, or "max": no limit
        return free
    return min(free, float(limit - used))


def _usual(recipe: Recipe) -> BatchSizes:
    sequences = recipe.training.sequences(recipe.resources.training_processes)
    return BatchSizes(recipe.decoding.batch_size or MOST_COMPLETIONS, sequences)


def _lengths(recipe: Recipe, problems: Mapping[str, Splits], tokenizer: Any) -> Lengths:
    of_tasks = []
    for name, splits in problems.items():
        task = load_task(name)
        limit = task.max_length if recipe.training.max_length is None else recipe.training.max_length
        new = recipe.decoding.max_new_tokens or task.max_new_tokens
        trained = _longest(tokenizer, splits.train, with_demonstration=True)
        read = _longest(tokenizer, [*splits.validation, *splits.test], with_demonstration=False)
        of_tasks.append(Lengths(min(limit, trained), read + new, new))
    return Lengths(*map(max, zip(*of_tasks, strict=True)))


def _longest(tokenizer: Any, problems: Sequence[Problem], *, with_demonstration: bool) -> int:
    def text(problem: Problem) -> int:
        return len(problem.prompt) + with_demonstration * len(problem.demonstration)

    def tokens(problem: Problem) -> int:
        answer = demonstration_ids(tokenizer, problem.demonstration) if with_demonstration else []
        return len(prompt_ids(tokenizer, problem.prompt)) + len(answer)

    return max(map(tokens, sorted(problems, key=text)[-LONGEST_TEXTS:]), default=1)
