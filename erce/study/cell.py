"""ONE CELL, from demonstrations to scores: the file to read first.

    problems → fine-tuned adapter → completions → verdicts → scores

Training, sampling and verifying leave their files in the cell's folder. `erce.study.freshness` says which of
these are stale; the others are skipped. Scores are computed each time. A stopped training goes on from its
last checkpoint (`erce.train.fine_tune`), stopped sampling after the completions in its journal, and a recipe
that asks for more temperatures samples only those. A changed verifier, or deleting verdicts.jsonl and
result.json, has the same completions verified again.
"""

import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from erce.files import read_json, write_json
from erce.recipe import Cell, Recipe
from erce.study.demonstrations import COUNTS, cell_splits, counts, demonstrations
from erce.study.folder import JOURNAL, RESULT, TRAINING, cell_folder, timed
from erce.study.freshness import missing_parts
from erce.study.memory import BatchSizes, batch_sizes
from erce.study.provenance import DIGESTS, digests, verifier_version
from erce.study.samples import read_samples
from erce.study.schedule import cell_sampling
from erce.study.stages import (
    adapter_of,
    cpu_threads,
    release_memory,
    sample,
    scores_of,
    train,
    verify_completions,
)
from erce.tasks import load_task
from erce.types import Splits


def run_cell(
    root: Path,
    recipe: Recipe,
    cell: Cell,
    *,
    problems: Mapping[str, Splits] | None = None,
    sizes: BatchSizes | None = None,
) -> None:
    """Do everything that one cell of the grid needs, and skip what its folder already holds.

    `problems` are each task's splits, for a process that cannot reach the task's source; None loads them.
    `sizes` are the batches that the recipe leaves out; None fits them to this machine: a cell takes the
    same share of its memory as of its cores.
    """
    folder = cell_folder(root, recipe, cell)
    splits = problems[cell.task] if problems else cell_splits(recipe, cell.task)
    sampling = cell_sampling(recipe, cell, splits)
    verifier_version(load_task(cell.task).verify, task=cell.task)  # before its file can be edited
    missing = missing_parts(folder, sampling)
    if "completions" in missing:
        sizes = sizes or _sizes(recipe, cell, splits)
        if "adapter" in missing:
            _train(root, recipe, cell, splits, sizes)
        with cpu_threads(recipe.resources.threads), timed(folder, "generation"):
            adapter = adapter_of(root, recipe, cell)
            sample(folder, recipe, sampling, adapter=adapter, batch_size=sizes.completions)
    # The journal goes once the completions are whole, and result.json comes last: it says that all is done.
    (folder / JOURNAL).unlink(missing_ok=True)
    if "verdicts" in missing:
        with timed(folder, "verification"):
            verify_completions(folder, sampling)
    result = _result(folder, cell)
    if cell.is_own:
        result[COUNTS] = counts(folder, splits)
    write_json(folder / RESULT, result)


def train_cell(
    root: Path, recipe: Recipe, cell: Cell, *, problems: Mapping[str, Splits], sizes: BatchSizes | None = None
) -> None:
    """Do only the training of a cell, then give the device's memory to the server that samples."""
    splits = problems[cell.task]
    if "adapter" in missing_parts(cell_folder(root, recipe, cell), cell_sampling(recipe, cell, splits)):
        _train(root, recipe, cell, splits, sizes or _sizes(recipe, cell, splits))
        release_memory()


def _train(root: Path, recipe: Recipe, cell: Cell, splits: Splits, sizes: BatchSizes) -> None:
    folder = cell_folder(root, recipe, cell)
    training = replace(recipe.training, micro_batch_size=sizes.sequences)
    with cpu_threads(recipe.resources.threads), timed(folder, "training"):
        train(folder, replace(recipe, training=training), cell, demonstrations(root, recipe, cell, splits))


def _sizes(recipe: Recipe, cell: Cell, splits: Splits) -> BatchSizes:
    share = min(1.0, (recipe.resources.threads or 1) / (os.cpu_count() or 1))
    return batch_sizes(recipe, {cell.task: splits}, share=share)


def _result(folder: Path, cell: Cell) -> dict[str, Any]:
    """Return what result.json holds: cell, scores, training, warnings and versions."""
    samples = read_samples(folder)
    scores = scores_of(samples, equal=load_task(cell.task).equal)
    coordinates = {name: value for name, value in asdict(cell).items() if name != "all_temperatures"}
    result: dict[str, Any] = {"cell": coordinates, "scores": scores}
    if cell.is_trained:
        log = read_json(folder / TRAINING)
        result["training"] = {name: value for name, value in log.items() if name != "log"}
    warnings = {sample.verdict.warning for sample in samples} - {""}
    if warnings:
        result["warnings"] = sorted(warnings)
    packages = ("erce", "torch", "transformers", "trl", "peft")
    versions = {"python": platform.python_version()} | {name: version(name) for name in packages}
    return result | {"versions": versions, DIGESTS: digests(folder)}
