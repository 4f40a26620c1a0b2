"""A stage of a cell: demonstrations → an adapter, and training.json, its log."""

import gc
import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from erce import events
from erce.files import write_json
from erce.hf.collector import uncollected
from erce.recipe import Cell, Recipe, RegularizedObjective
from erce.tasks import load_task
from erce.types import Problem

if TYPE_CHECKING:
    from erce.hf.models import BasePolicy

ADAPTER, TRAINING = "adapter", "training.json"


@lru_cache(maxsize=1)
def base_policy(model: str, dtype: str) -> "BasePolicy":
    """Load the base model and tokenizer, once per process; a caller that adds an adapter must remove it."""
    with uncollected():
        from erce.hf.models import BasePolicy, load_model, load_tokenizer

        tokenizer = load_tokenizer(model)
        return BasePolicy(load_model(model, dtype=dtype), tokenizer)


def train(folder: Path, recipe: Recipe, cell: Cell, problems: Sequence[Problem]) -> None:
    """Write the cell's adapter, then its log; an adapter that a kill left without a log is made again.

    `fine_tune` goes on from a checkpoint, which lies beside the adapter.
    """
    assert cell.lam is not None, "the base model is not trained"
    training = recipe.training
    if training.max_length is None:
        training = replace(training, max_length=load_task(cell.task).max_length)
    objective = RegularizedObjective(
        lam=cell.lam,
        penalty=recipe.penalty,
        order=recipe.order,
        objective=recipe.objective if cell.learns_own else cell.objective,
    )
    # The old adapter goes first and the log comes last: an adapter without a log is not whole.
    adapter = folder / ADAPTER
    shutil.rmtree(adapter, ignore_errors=True)
    if recipe.resources.training_processes > 1:
        from erce.train.launch import FineTuning, launch

        events.begin("training")  # whose steps the processes keep to themselves
        _free_the_devices()
        work = FineTuning(
            model=recipe.model,
            dtype=recipe.dtype,
            problems=tuple(problems),
            objective=objective,
            training=training,
            seed=cell.seed,
            folder=str(adapter),
        )
        log = launch(work, resources=recipe.resources)
        for leftover in folder.glob(f"{ADAPTER}.launch.*"):  # of use only after a failure
            leftover.unlink()
    else:
        _load_trainer()
        from erce.train.fine_tune import fine_tune

        base = base_policy(recipe.model, recipe.dtype)
        log = fine_tune(
            base, problems, objective=objective, training=training, seed=cell.seed, folder=adapter
        )
    # Seconds are in timing.json: a log with times in it would differ between two equal runs.
    write_json(folder / TRAINING, {name: value for name, value in log.items() if name != "seconds"})


@lru_cache(maxsize=1)
def _load_trainer() -> None:
    """Import the trainer once per process; a process that only samples does without TRL."""
    with uncollected():
        import_module("erce.train.fine_tune")


def _free_the_devices() -> None:
    """Drop this process's base model, so that the launched processes have the GPUs to themselves."""
    import torch

    if torch.cuda.is_available():
        base_policy.cache_clear()
        gc.unfreeze()
        gc.collect()
        torch.cuda.empty_cache()
