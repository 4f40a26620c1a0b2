"""ONE CELL, from demonstrations to scores: the file to read first.

    problems → fine-tuned adapter → completions → verdicts → scores

Training, drawing and judging leave their files in the cell's folder and are skipped when the files are
there; scores are computed each time. Delete verdicts.jsonl and result.json, and the next run judges the same
completions again. A stopped run draws no completion again that it had finished (they are in the journal),
and a recipe that asks for more temperatures draws only those.
"""

import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from erce.files import read_json, write_json
from erce.recipe import Cell, Recipe
from erce.study.digests import DIGESTS, digests
from erce.study.drawing import JOURNAL, draw, missing_completions
from erce.study.folder import CELL, RESULT, TIMING, cell_folder, timed
from erce.study.judging import judge, score
from erce.study.memory import BatchSizes, batch_sizes
from erce.study.own_answers import COUNTS, counts, demonstrations
from erce.study.problems import cell_splits
from erce.study.samples import VERDICTS, read_samples
from erce.study.training import TRAINING, is_trained, train
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
    `sizes` are the batches that the recipe leaves out; None fits them to this machine, of whose memory the
    cell takes as large a share as of its cores.
    """
    folder = cell_folder(root, recipe, cell)
    splits = problems[cell.task] if problems else cell_splits(recipe, cell.task)
    (folder / f".{TIMING}.tmp").unlink(missing_ok=True)  # a killed run's; nothing else would replace it
    with _cpu_threads(recipe.resources.threads):
        is_drawn = (folder / CELL).is_file() and not missing_completions(folder, recipe, cell, splits)
        if cell.lam is not None and not is_trained(folder, is_drawn=is_drawn):
            with timed(folder, "training"):
                sizes = sizes or _sizes(recipe, cell, splits)
                micro = replace(recipe.training, micro_batch_size=sizes.sequences)
                learned = demonstrations(root, recipe, cell, splits)
                train(folder, replace(recipe, training=micro), cell, learned)
        if not is_drawn:
            with timed(folder, "generation"):
                sizes = sizes or _sizes(recipe, cell, splits)
                draw(folder, recipe, cell, splits, batch_size=sizes.completions)
    (folder / JOURNAL).unlink(missing_ok=True)
    if not (folder / VERDICTS).is_file():
        with timed(folder, "verification"):
            judge(folder, cell, splits)
    result = _result(folder, cell)
    if cell.is_own:
        result[COUNTS] = counts(folder, splits)
    write_json(folder / RESULT, result)


def _sizes(recipe: Recipe, cell: Cell, splits: Splits) -> BatchSizes:
    cores = (recipe.resources.threads or 1) * recipe.resources.training_processes
    return batch_sizes(recipe, {cell.task: splits}, share=min(1.0, cores / (os.cpu_count() or 1)))


def _result(folder: Path, cell: Cell) -> dict[str, Any]:
    """Return what result.json holds: cell, scores, training, warnings, unproven problems and versions."""
    samples = read_samples(folder)
    scores = score(samples, equal=load_task(cell.task).equal)
    coordinates = {name: value for name, value in asdict(cell).items() if name != "frontier"}
    result: dict[str, Any] = {"cell": coordinates, "scores": scores}
    if cell.lam is not None:
        log = read_json(folder / TRAINING)
        result["training"] = {name: value for name, value in log.items() if name != "log"}
    warnings = {sample.verdict.warning for sample in samples} - {""}
    if warnings:
        result["warnings"] = sorted(warnings)
    unproven = {sample.completion.problem for sample in samples if sample.verdict.reason == "unproven"}
    if unproven:
        result["unproven"] = sorted(unproven)
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
