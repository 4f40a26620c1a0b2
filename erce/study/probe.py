"""A recipe's model and problems → the speeds of this machine's processor, measured for a few seconds.

Real steps are taken: of the trainer, and of generation with as many completions at a time as a cell has.
"""

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from erce import events
from erce.generate.backend import backend_of
from erce.hf.prompt import prompt_ids
from erce.recipe import Cell, Objective, Recipe
from erce.study.schedule import decodings
from erce.study.stages import base_policy
from erce.tasks import load_task
from erce.types import Problem

if TYPE_CHECKING:
    from erce.hf.models import BasePolicy

MEASURED_SECONDS = 2.0  # of training, and of sampling, after which no step begins
ENOUGH_STEPS = 16  # after which no further one begins either
PROBLEMS = 64  # that are trained on


class Speed(NamedTuple):
    """The tokens per second of a device: read in training, written in sampling, read in prompts before it."""

    training: float
    generation: float
    prompts: float = math.inf  # inf: their time is in that of generation
    basis: str = ""  # where these numbers come from, in words


class _EnoughError(Exception):
    """The end of a measurement."""


def measured_speed(
    recipe: Recipe,
    problems: Sequence[Problem],
    lengths: Sequence[int],
    *,
    sequences: int,
    prompts: int,
    rows: int,
) -> Speed:
    """Return the speeds of one process with as many threads as this one has; nothing stays on the disk.

    Each training step has so many `sequences`. Then `rows` completions of so many `prompts` are written at a
    time; `lengths` are the tokens that completions will have: rows that have ended wait for the others.
    """
    events.begin("measuring the speed of this machine", cell="")
    base = base_policy(recipe.model, recipe.dtype)
    training = _training_speed(recipe, base, problems[:: max(1, len(problems) // PROBLEMS)], sequences)
    words = f"measured here for some seconds: {training:,.0f} tokens per second read in training"
    if not backend_of(recipe).in_cell_process:
        return Speed(training, math.inf, basis=words)
    reading, writing = _sampling_speeds(recipe, base, problems[:prompts], rows)
    writing *= share_of_writing(lengths)
    return Speed(
        training, writing, reading, f"{words}, {writing:,.0f} generated, {reading:,.0f} read in prompts"
    )


def share_of_writing(lengths: Sequence[int]) -> float:
    """Return the share of a batch's rows · steps that write a token.

    A batch ends once fewer than 1/TAIL of its rows still write; the others go on without those that ended.

    >>> share_of_writing([10, 10]), share_of_writing([5, 15])  # a row waits for ten steps
    (1.0, 0.6666666666666666)
    """
    from erce.generate.transformers import TAIL

    rest, written, places = sorted(lengths), 0, 0
    while rest:
        end = rest[len(rest) - math.ceil(len(rest) / TAIL)]
        places += len(rest) * (end - written)
        rest, written = [length for length in rest if length > end], end
    return sum(lengths) / max(1, places)


@contextmanager
def _timed_events(least: int) -> Iterator[list[tuple[float, int]]]:
    """Yield a list of each event's time and of the tokens so far; the block ends once there are enough."""
    heard: list[tuple[float, int]] = []

    def hear(event: events.Event) -> None:
        heard.append((time.perf_counter(), event.tokens))
        is_late = heard[-1][0] - heard[0][0] >= MEASURED_SECONDS
        if len(heard) >= least and (is_late or len(heard) > ENOUGH_STEPS):
            raise _EnoughError

    with suppress(_EnoughError), events.listening(hear):
        yield heard


def _training_speed(recipe: Recipe, base: "BasePolicy", problems: Sequence[Problem], sequences: int) -> float:
    """Return the tokens per second of optimizer steps; the first step is left out if there are others."""
    from erce.train.fine_tune import fine_tune

    training = replace(
        recipe.training,
        batch_size=sequences,
        micro_batch_size=sequences,
        epochs=1.0 + ENOUGH_STEPS * sequences / len(problems),
        max_length=recipe.training.max_length or load_task(recipe.task).max_length,
        report_to="none",
        checkpoint_minutes=0,
    )
    objective = Objective(
        lam=recipe.lams[-1], penalty=recipe.penalty, order=recipe.order, base_loss=recipe.base_loss
    )
    with TemporaryDirectory() as root, _timed_events(least=2) as heard:
        folder = Path(root) / "adapter"
        fine_tune(base, problems, objective=objective, training=training, seed=0, folder=folder)
    (start, before), (end, tokens) = heard[min(1, len(heard) - 2)], heard[-1]
    return (tokens - before) / (end - start)


def _sampling_speeds(
    recipe: Recipe, base: "BasePolicy", problems: Sequence[Problem], rows: int
) -> tuple[float, float]:
    """Return the tokens of prompts that are read per second, and the rows of a batch per second of a step."""
    import torch
    from peft import get_peft_model

    from erce.generate.transformers import generate
    from erce.hf.models import known_warning_silenced, shadow
    from erce.train.fine_tune import lora_config

    model: Any = base.model
    if base.model.dtype != torch.float32:  # as in a cell, where an adapter is merged in float32 alone
        with known_warning_silenced():
            model = get_peft_model(shadow(base.model), lora_config(recipe.training)).eval()
    [*_, settings] = decodings(recipe, Cell(recipe.task, 0.0, 0)).values()
    samples = math.ceil(rows / len(problems))
    settings = replace(settings, samples=samples, batch_size=samples * len(problems))
    first = replace(settings, samples=1, max_new_tokens=2)
    with events.listening(lambda event: None):
        generate(model, base.tokenizer, problems[:1], decoding=first, seed=0)  # what only a first call costs
    with _timed_events(least=3) as heard:
        events.begin("generation")
        generate(model, base.tokenizer, problems, decoding=settings, seed=0)
    times = [seconds for seconds, _ in heard]
    reading = times[1] - times[0]
    step = (times[-1] - times[1]) / (len(times) - 2) if len(times) > 2 else reading
    tokens = sum(len(prompt_ids(base.tokenizer, problem.prompt)) for problem in problems)
    return tokens / reading, settings.batch_size / step
