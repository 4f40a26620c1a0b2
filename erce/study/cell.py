"""ONE CELL, from demonstrations to scores: the file to read first.

    problems → fine-tuned adapter → completions → verdicts → scores

Training, sampling and verifying leave their files in the cell's folder; `CellState` says how far a cell has
come, and what is done is skipped. Scores are computed each time. A stopped training goes on from its last
checkpoint (`erce.train.fine_tune`), stopped sampling after the completions in its journal, and a recipe that
asks for more temperatures samples only those. A changed verifier, or deleting verdicts.jsonl and result.json,
has the same completions verified again.
"""

import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from enum import IntEnum
from importlib.metadata import version
from pathlib import Path
from typing import Any

from erce.files import read_json, write_json
from erce.recipe import Cell, Recipe
from erce.study.demonstrations import COUNTS, cell_splits, counts, demonstrations
from erce.study.folder import CELL, JOURNAL, RESULT, TRAINING, cell_folder, is_done, timed
from erce.study.manifest import DIGESTS, POLICY, digests
from erce.study.memory import BatchSizes, batch_sizes
from erce.study.samples import VERDICTS, read_samples
from erce.study.stages import missing_completions, sample, score, train, verify_completions
from erce.tasks import load_task
from erce.types import Splits


class CellState(IntEnum):
    """How far a cell has come; each state includes those before it."""

    NEW = 0
    TRAINED = 1  # the adapter and its log are there, or it is the base model
    SAMPLED = 2  # every completion that the recipe asks for
    VERIFIED = 3  # a verdict on each of them
    DONE = 4  # the scores


def cell_state(root: Path, recipe: Recipe, cell: Cell, problems: Splits) -> CellState:
    """Return how far the cell has come. DONE is what result.json says alone, see `is_done`."""
    folder = cell_folder(root, recipe, cell)
    is_logged = cell.lam is None or (folder / TRAINING).is_file()
    # From the end backwards: an adapter may be deleted once all its completions are there.
    if is_done(root, recipe, cell):
        return CellState.DONE
    if is_logged and (folder / CELL).is_file() and not missing_completions(folder, recipe, cell, problems):
        return CellState.VERIFIED if (folder / VERDICTS).is_file() else CellState.SAMPLED
    has_policy = cell.lam is None or (is_logged and (folder / POLICY).is_file())
    return CellState.TRAINED if has_policy else CellState.NEW


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
    `sizes` are the batches that the recipe leaves out; None fits them to this machine, of whose memory the
    cell takes as large a share as of its cores.
    """
    folder = cell_folder(root, recipe, cell)
    splits = problems[cell.task] if problems else cell_splits(recipe, cell.task)
    state = cell_state(root, recipe, cell, splits)
    if state < CellState.SAMPLED:
        sizes = sizes or _sizes(recipe, cell, splits)
        with _cpu_threads(recipe.resources.threads):
            if state < CellState.TRAINED:
                with timed(folder, "training"):
                    micro = replace(recipe.training, micro_batch_size=sizes.sequences)
                    learned = demonstrations(root, recipe, cell, splits)
                    train(folder, replace(recipe, training=micro), cell, learned)
            with timed(folder, "generation"):
                sample(folder, recipe, cell, splits, batch_size=sizes.completions)
    # The journal goes once the completions are whole, and result.json comes last: it says that all is done.
    (folder / JOURNAL).unlink(missing_ok=True)
    if state < CellState.VERIFIED:
        with timed(folder, "verification"):
            verify_completions(folder, cell, splits)
    result = _result(folder, cell)
    if cell.is_own:
        result[COUNTS] = counts(folder, splits)
    write_json(folder / RESULT, result)


def _sizes(recipe: Recipe, cell: Cell, splits: Splits) -> BatchSizes:
    share = min(1.0, (recipe.resources.threads or 1) / (os.cpu_count() or 1))
    return batch_sizes(recipe, {cell.task: splits}, share=share)


def _result(folder: Path, cell: Cell) -> dict[str, Any]:
    """Return what result.json holds: cell, scores, training, warnings and versions."""
    samples = read_samples(folder)
    scores = score(samples, equal=load_task(cell.task).equal)
    coordinates = {name: value for name, value in asdict(cell).items() if name != "all_temperatures"}
    result: dict[str, Any] = {"cell": coordinates, "scores": scores}
    if cell.lam is not None:
        log = read_json(folder / TRAINING)
        result["training"] = {name: value for name, value in log.items() if name != "log"}
    warnings = {sample.verdict.warning for sample in samples} - {""}
    if warnings:
        result["warnings"] = sorted(warnings)
    packages = ("erce", "torch", "transformers", "trl", "peft")
    versions = {"python": platform.python_version()} | {name: version(name) for name in packages}
    return result | {"versions": versions, DIGESTS: digests(folder)}


@contextmanager
def _cpu_threads(wanted: int | None) -> Iterator[None]:
    """Run the block with `wanted` CPU threads, then restore the old count; None changes nothing."""
    if wanted is None:
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(wanted)
    try:
        yield
    finally:
        torch.set_num_threads(before)
