"""A recipe → what running it would take, with nothing run: cells, steps, tokens, memory and GPU-hours."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from erce.recipe import Recipe, load_recipe
from erce.study.plan.architecture import Found, find_architecture
from erce.study.plan.cost import (
    DEVICES,
    Hours,
    Speed,
    assumed_speed,
    drawing_flops,
    hours_at,
    reading_flops,
    training_flops,
)
from erce.study.plan.memory import Memory, bytes_a_weight, drawing_memory, training_memory
from erce.study.plan.work import TaskPlan, task_plan
from erce.study.problems import cell_splits
from erce.tasks import load_task

__all__ = ["Plan", "Speed", "limits", "plan"]

SIZES = ("n_train", "n_validation", "n_test")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A recipe, resolved as far as this machine can; `notes` say what was assumed instead, a line each."""

    recipe: Recipe
    tasks: tuple[TaskPlan, ...]
    found: Found  # the model's architecture
    device: str  # one of `DEVICES`, or "cpu"
    speed: Speed | None  # measured; None: assumed from the device's peak
    notes: tuple[str, ...]

    @property
    def cells(self) -> int:
        return sum(task.cells for task in self.tasks)

    @property
    def training_memory(self) -> Memory | None:
        """Of the task that needs most; None where the model's architecture is not known."""
        of, width = self.found.architecture, bytes_a_weight(self.recipe, self.device)
        return of and training_memory(
            of, self.recipe, longest=max(task.training.longest for task in self.tasks), width=width
        )

    @property
    def drawing_memory(self) -> Memory | None:
        """Of the task that needs most, with every completion at its limit; None also where a server draws."""
        of, width = self.found.architecture, bytes_a_weight(self.recipe, self.device)
        if of is None or self.recipe.server is not None:
            return None
        each = (
            drawing_memory(of, self.recipe, longest=task.drawing.longest, rows=task.drawing.rows, width=width)
            for task in self.tasks
        )
        return max(each, key=lambda memory: memory.total)

    @property
    def hours(self) -> Hours | None:
        """Of one device, all cells; None where neither a speed nor an architecture and a peak are known."""
        of, recipe = self.found.architecture, self.recipe
        drawn = () if recipe.server is not None else self.tasks
        if self.speed is not None:
            trained = sum(task.trained * task.training.read for task in self.tasks)
            expected = sum(task.cells * task.drawing.expected for task in drawn)
            most = sum(task.cells * task.drawing.most for task in drawn)
            return hours_at(self.speed, trained=trained, read=0, expected=expected, most=most)
        if of is None or self.device not in DEVICES:
            return None
        each = [(task.cells, task.drawing) for task in drawn]
        return hours_at(
            assumed_speed(self.device),
            trained=sum(task.trained * training_flops(of, recipe, task.training) for task in self.tasks),
            read=sum(n * reading_flops(of, recipe, work) for n, work in each),
            expected=sum(n * drawing_flops(of, recipe, work, tokens=work.expected) for n, work in each),
            most=sum(n * drawing_flops(of, recipe, work, tokens=work.most) for n, work in each),
        )


def plan(recipe: Recipe, *, device: str = "h100", speed: Speed | None = None) -> Plan:
    """What the recipe's study takes: counted from the problems and the tokenizer that are on this machine.

    A tokenizer, a config.json or a data set of the hub is read from its cache alone where HF_HUB_OFFLINE is
    set, as `erce run --dry-run` does; where it is missing, `notes` say what is assumed. What a run would
    refuse otherwise, and a device that is not in `DEVICES`, are ValueErrors.
    """
    if device not in (*DEVICES, "cpu"):
        raise ValueError(f"no device {device!r}; there are {', '.join(DEVICES)} and cpu")
    if recipe.own_losses:
        from erce.loss import check_names

        check_names(recipe.penalty, recipe.order, recipe.objectives)
    tokenizer, found = _tokenizer(recipe.model), find_architecture(recipe.model)
    tasks = tuple(task_plan(recipe, name, tokenizer) for name in recipe.tasks)
    notes = [note for task in tasks for note in task.notes]
    if found.architecture is None:
        notes.append(f"nothing of memory and hours: {found.where}")
    if recipe.server is not None:
        notes.append("nothing of the server's memory and hours, which draws the completions")
    if recipe.training.epochs % 1:
        notes.append(f"trained tokens are a mean, for {recipe.training.epochs:g} epochs are no whole number")
    if recipe.search is not None:
        notes.append("every λ of the grid with every seed, which a search thins out and may extend")
    return Plan(
        recipe=recipe, tasks=tasks, found=found, device=device, speed=speed, notes=tuple(dict.fromkeys(notes))
    )


def limits(recipe: str | Path, limit: int, **overrides: Any) -> dict[str, int]:
    """The three sizes that leave every task of a recipe at most `limit` problems each, as settings.

    `overrides` are what `load_recipe` takes. Sizes below `limit` stay. The file of a task of one's own, whose
    sizes are that file's, is read for them.
    """
    if limit < 1:
        raise ValueError(f"limit = {limit} leaves no problems; it is at least 1")
    asked = load_recipe(recipe, **overrides)
    return {name: min(limit, *(_size(asked, task, name) for task in asked.tasks)) for name in SIZES}


def _size(recipe: Recipe, task: str, name: str) -> int:
    asked: int | None = getattr(recipe, name)
    if asked is None:
        asked = getattr(load_task(task), name)
    return asked or len(getattr(cell_splits(recipe, task), name.removeprefix("n_")))


def _tokenizer(model: str) -> Any:
    """None for a model of the hub whose tokenizer is not in the cache."""
    if model == "tiny" or Path(model).exists():
        from erce.hf.models import load_tokenizer

        return load_tokenizer(model)
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(model, local_files_only=True)
    except OSError:
        return None
