"""A recipe → what `erce run --dry-run` prints: cells, steps, tokens, memory and time; no cell is run."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from erce.errors import InputError, counted
from erce.generate.backend import backend_of
from erce.recipe import Cell, Recipe
from erce.study.budget import StudyCost, Texts, cached_tokenizer, read_texts, steps
from erce.study.demonstrations import cell_splits
from erce.study.folder import Study, check_folder
from erce.study.forecast import Device, device_named, time_lines
from erce.study.memory import (
    BatchSizes,
    Lengths,
    adapter_weights,
    dtype_on,
    fitting,
    generation_memory,
    read_config,
    training_memory,
    weights,
)
from erce.tasks import load_task
from erce.tasks.source import NotOnThisMachineError
from erce.types import CROSS_ENTROPY


def dry_run(recipe: Recipe, root: Path, *, device: str | None = None, jobs: int = 1) -> list[str]:
    """Return lines on what the recipe's study takes if its folder is `root`; assumptions come last.

    `device` is what `device_named` takes. `jobs` cells run at a time, each on the share of a device
    that [resources] gpus sets, or all on one.

    With HF_HUB_OFFLINE set, as `erce run --dry-run` does, a tokenizer, a config.json or a data set of the hub
    is read from the cache alone; if it is missing, notes say what is assumed. All else that a run would
    refuse is an InputError.
    """
    there = device_named(device)
    check_folder(root, recipe)
    if recipe.has_user_defined_losses:
        from erce.loss import check_names

        check_names(recipe.penalty, recipe.order, recipe.base_loss_names)
    for name in recipe.tasks:  # before the tokenizer, which takes seconds: a file may be missing
        with suppress(NotOnThisMachineError):
            cell_splits(recipe, name)
    tokenizer = cached_tokenizer(recipe.model)
    texts = {name: read_texts(recipe, load_task(name), tokenizer) for name in recipe.tasks}
    cost = StudyCost(study := Study(root, recipe), texts)
    done = f", {study.n_done} of them done" if study.n_done else ""
    lines = [f"{root}: {counted(len(study.planned), 'cell')}{done}; a dry run, nothing is written"]
    lines += [line for name in recipe.tasks for line in _task_lines(cost, name)]
    notes = [note for name in recipe.tasks for note in texts[name].notes]
    if len(study.own_results) < len(recipe.own_cells):
        most = f"{cost.most_own} accepted samples, the most"
        notes.append(f"rft and self: counted as if every problem had {most}")
    config = None  # without one the rest holds all the same, with a note
    try:
        config = read_config(recipe.model)
    except InputError as error:
        notes.append(f"memory is not computed: {error}")
    if config is not None:
        of_tasks = (texts[name].lengths(samples_train=bool(recipe.own_cells)) for name in recipe.tasks)
        lengths = Lengths(*map(max, zip(*of_tasks, strict=True)))
        sizes = fitting(recipe, config, lengths, device=there.kind, memory=there.memory, share=1 / jobs)
        lines += _memory_lines(recipe, config, lengths, sizes, there)
    lines += time_lines(cost, config=config, device=there, jobs=jobs)
    if not backend_of(recipe).in_cell_process:
        notes.append("the server generates the completions; its memory and hours are not counted")
    return [*lines, *(f"note     {note}" for note in dict.fromkeys(notes))]


def _task_lines(cost: StudyCost, name: str) -> list[str]:
    """Return the lines on the sizes, cells, training and sampling of one task."""
    recipe, texts = cost.recipe, cost.texts[name]
    cells = [cell for cell in cost.study.planned if cell.task == name]
    grid = [cell for cell in cells if not cell.is_own]
    swept = [cell for cell in grid if cell.all_temperatures and recipe.decoding.temperatures]
    groups = {
        "": [cell for cell in grid if cell not in swept],
        " with the temperature sweep": swept,
        " of training problems": [cell for cell in cells if cell.is_own],
    }
    takes = {cell: cost.whole(cell) for cell in cells}
    of_all = (sum(cell.steps for cell in takes.values()), sum(cell.read for cell in takes.values()))
    sizes = f"{len(texts.train)} train, {len(texts.validation)} validation, {len(texts.test)} test problems"
    lines = [
        f"{name}: {sizes}",
        f"  cells     {len(cells)}: {_arms(recipe, cells)}",
        _training_line(recipe, texts),
    ]
    for when, alike in groups.items():
        if alike:
            each = takes[alike[0]]
            tokens = f"{each.expected:,} tokens if as long as the demonstrations, {each.most:,} at most"
            what = f"each: {each.completions:,} completions, {tokens}"
            lines.append(f"  sampling  {counted(len(alike), 'cell')}{when}, {what}")
    completions = sum(cell.completions for cell in takes.values())
    lines.append(f"  in all    {of_all[0]:,} steps, {of_all[1]:,} tokens read, {completions:,} completions")
    return lines


def _training_line(recipe: Recipe, texts: Texts) -> str:
    """Return the line on a training with one demonstration per problem."""
    epochs, trained = recipe.training.epochs, texts.trained
    trained_on, read = (
        round(epochs * tokens)
        for tokens in (sum(text.demonstration for text in trained), sum(map(sum, trained)))
    )
    truncated = sum(text != whole for text, whole in zip(trained, texts.train, strict=True))
    cut = f", {counted(truncated, 'sequence')} cut off there" if truncated else ""
    tokens = f"{trained_on:,} tokens trained on of {read:,} read; the longest has {texts.longest}{cut}"
    return f"  training  per cell: {steps(recipe, len(trained))} steps, {tokens}"


def _arms(recipe: Recipe, cells: Sequence[Cell]) -> str:
    arms = list(dict.fromkeys(cell.arm for cell in cells if not cell.is_own))
    own = "own samples, " if any(cell.is_own for cell in cells) else ""
    grid = [arm for arm in arms if not arm.is_base and not recipe.is_other(arm)]
    lams = [f"{arm.lam:g}".replace("-", "−") for arm in grid]
    on = "" if recipe.base_loss == CROSS_ENTROPY else f" on {recipe.base_loss}"
    others = "".join(f" and {arm.name(recipe.base_loss)}" for arm in arms if recipe.is_other(arm))
    trained = f"λ = {', '.join(lams)}{on}{others}"
    if len(lams) < len(recipe.lams):
        trained = f"λ = 0 and the λ that validation chooses{on}"
    return f"{own}the base model, and {trained} with {counted(len(recipe.seeds), 'seed')}"


def _memory_lines(
    recipe: Recipe, config: Any, lengths: Lengths, sizes: BatchSizes, device: Device
) -> list[str]:
    needs = {"training": training_memory(recipe, config, lengths, sizes.sequences, device.kind)}
    if backend_of(recipe).in_cell_process:
        needs["generation"] = generation_memory(recipe, config, lengths, sizes.completions, device.kind)
    of_base, of_adapter = weights(config), adapter_weights(config, recipe.training.rank)
    of_model = f"{of_base / 1e6:,.1f} M weights, {of_adapter / 1e6:,.1f} M of the adapter"
    lines = [f"model {recipe.model} in {dtype_on(recipe, device.kind)}: {of_model}"]
    for name, parts in needs.items():
        total, of_parts = sum(parts.values()), " + ".join(f"{part} {_size(parts[part])}" for part in parts)
        has = "" if device.kind == "cpu" else f"; {device.name} has {_size(device.memory)}"
        if has and total >= device.memory:
            way_out = "lower micro_batch_size or [decoding] batch_size"
            has = f"; MORE than {device.name}'s {_size(device.memory)}: {way_out}"
        lines.append(f"  memory    {name}: {_size(total)} = {of_parts}{has}")
    lines.append(f"  batches   {sizes}" + (f" (fitted to {_size(sizes.free)})" if sizes.free else ""))
    return lines


def _size(count: float) -> str:
    """Return bytes in words, such as 3.1 GB or 21.5 MB."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"
