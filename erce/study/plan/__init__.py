"""A recipe → the cells, steps, tokens, memory and GPU-hours that running it would take; nothing is run."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from erce.catalog import is_here, is_hub_name
from erce.errors import InputError
from erce.recipe import Recipe, load_recipe
from erce.study.demonstrations import cell_splits
from erce.study.plan.architecture import Architecture, FoundArchitecture, find_architecture
from erce.study.plan.counts import TaskPlan, task_plan
from erce.study.plan.fit import BatchSizes, Lengths, fitting
from erce.study.plan.needs import (
    DEVICES,
    Hours,
    Memory,
    Speed,
    assumed_speed,
    bytes_a_weight,
    drawing_flops,
    drawing_memory,
    hours_at,
    reading_flops,
    training_flops,
    training_memory,
)
from erce.tasks import load_task

__all__ = ["Speed", "StudyPlan", "limits", "plan"]

SIZES = ("n_train", "n_validation", "n_test")


@dataclass(frozen=True, kw_only=True)
class StudyPlan:
    """A recipe and the work that it asks for; each of `notes` is a line on what was assumed, not counted."""

    recipe: Recipe
    tasks: tuple[TaskPlan, ...]
    model: FoundArchitecture
    device: str  # one of `DEVICES`, or "cpu"
    speed: Speed | None  # measured; None: assumed from the device's peak
    notes: tuple[str, ...]
    sizes: BatchSizes | None  # None if the model's architecture is unknown

    @property
    def cells(self) -> int:
        return sum(task.cells for task in self.tasks)

    @property
    def training_memory(self) -> Memory | None:
        """Return the memory of the task that needs most; None if the model's architecture is unknown."""
        architecture, width = self.model.architecture, bytes_a_weight(self.recipe, self.device)
        if architecture is None or self.sizes is None:
            return None
        longest, sequences = max(task.training.longest for task in self.tasks), self.sizes.sequences
        return training_memory(architecture, self.recipe, longest=longest, width=width, sequences=sequences)

    @property
    def drawing_memory(self) -> Memory | None:
        """Return the memory of the task that needs most, with every completion at its limit.

        None if the architecture is unknown, or if a server draws.
        """
        architecture, width = self.model.architecture, bytes_a_weight(self.recipe, self.device)
        if architecture is None or self.sizes is None or self.recipe.server is not None:
            return None
        most = self.sizes.completions
        memories = (
            drawing_memory(
                architecture, self.recipe, longest=work.longest, rows=min(most, work.rows), width=width
            )
            for task in self.tasks
            for _, work in task.drawings
        )
        return max(memories, key=lambda memory: memory.total)

    @property
    def hours(self) -> Hours | None:
        """Return one device's hours for all cells; None without a speed, or an architecture and a peak."""
        architecture, recipe = self.model.architecture, self.recipe
        drawn = () if recipe.server is not None else self.tasks
        cells_and_work = [pair for task in drawn for pair in task.drawings]
        if self.speed is not None:
            trained = sum(task.trained * task.training.read for task in self.tasks)
            expected = sum(cells * work.expected for cells, work in cells_and_work)
            most = sum(cells * work.most for cells, work in cells_and_work)
            return hours_at(self.speed, trained=trained, read=0, expected=expected, most=most)
        if architecture is None or self.device not in DEVICES:
            return None
        return hours_at(
            assumed_speed(self.device),
            trained=sum(
                task.trained * training_flops(architecture, recipe, task.training) for task in self.tasks
            ),
            read=sum(n * reading_flops(architecture, recipe, work) for n, work in cells_and_work),
            expected=sum(
                n * drawing_flops(architecture, recipe, work, tokens=work.expected)
                for n, work in cells_and_work
            ),
            most=sum(
                n * drawing_flops(architecture, recipe, work, tokens=work.most) for n, work in cells_and_work
            ),
        )


def plan(recipe: Recipe, *, device: str = "h100", speed: Speed | None = None) -> StudyPlan:
    """Count what the recipe's study takes, from the problems and the tokenizer that are on this machine.

    With HF_HUB_OFFLINE set, as `erce run --dry-run` does, a tokenizer, a config.json or a data set of the hub
    is read from the cache alone; if it is missing, `notes` say what is assumed. All else that a run would
    refuse, and a device that is not in `DEVICES`, are InputErrors.
    """
    if device not in (*DEVICES, "cpu"):
        raise InputError(f"no device {device!r}; there are {', '.join(DEVICES)} and cpu")
    if recipe.own_losses:
        from erce.loss import check_names

        check_names(recipe.penalty, recipe.order, recipe.objective_names)
    _check_model(recipe.model)
    tokenizer, found_architecture = _tokenizer(recipe.model), find_architecture(recipe.model)
    tasks = tuple(task_plan(recipe, name, tokenizer) for name in recipe.tasks)
    notes = [note for task in tasks for note in task.notes]
    if found_architecture.architecture is None:
        notes.append(f"memory and hours are not computed: {found_architecture.where}")
    if recipe.server is not None:
        notes.append("the server draws the completions; its memory and hours are not counted")
    if recipe.training.epochs % 1:
        notes.append(f"epochs = {recipe.training.epochs:g} is not whole, so trained tokens are a mean")
    if recipe.search is not None:
        notes.append("counts are of the whole grid; a search trains fewer of its cells and may add λ")
    return StudyPlan(
        recipe=recipe,
        tasks=tasks,
        model=found_architecture,
        device=device,
        speed=speed,
        notes=tuple(dict.fromkeys(notes)),
        sizes=_sizes(recipe, found_architecture.architecture, tasks, device),
    )


def _sizes(
    recipe: Recipe, architecture: Architecture | None, tasks: tuple[TaskPlan, ...], device: str
) -> BatchSizes | None:
    """Return the batch sizes that cells take on a device; "cpu" means in this machine's free memory."""
    if architecture is None:
        return None
    drawings = [work for task in tasks for _, work in task.drawings]
    lengths = Lengths(
        trained=max(task.training.longest for task in tasks),
        drawn=max(work.longest for work in drawings),
        new=max(work.most // work.completions for work in drawings),
    )
    gpus = recipe.resources.gpus
    share = gpus if device in DEVICES and 0 < gpus < 1 else 1.0
    return fitting(recipe, architecture, lengths, device=device, share=share)


def limits(recipe: str | Path, limit: int, **overrides: Any) -> dict[str, int]:
    """Return the three sizes, as settings, that leave every task of a recipe at most `limit` problems each.

    `overrides` are what `load_recipe` takes. Sizes below `limit` stay. A user's own task has the sizes of its
    file, which is read for them.
    """
    if limit < 1:
        raise InputError(f"limit = {limit} leaves no problems; it is at least 1")
    whole = load_recipe(recipe, **overrides)
    return {name: min(limit, *(_size(whole, task, name) for task in whole.tasks)) for name in SIZES}


def _size(recipe: Recipe, task: str, name: str) -> int:
    size: int | None = getattr(recipe, name)
    if size is None:
        size = getattr(load_task(task), name)
    return size or len(getattr(cell_splits(recipe, task), name.removeprefix("n_")))


def _check_model(model: str) -> None:
    """Raise an InputError for a model that is neither a folder here nor a possible name on the hub."""
    if not is_here(model) and not is_hub_name(model):
        raise InputError(
            f"no model {model!r}: no such folder, and not a name on the hub; give 'tiny', a folder with a "
            "config.json, or a Hugging Face id such as 'Qwen/Qwen2.5-1.5B-Instruct'"
        )


def _tokenizer(model: str) -> Any:
    """Return the tokenizer; None for a model of the hub whose tokenizer is not in the cache."""
    if is_here(model):
        from erce.hf.models import load_tokenizer

        return load_tokenizer(model)
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(model, local_files_only=True)
    except OSError:
        return None
