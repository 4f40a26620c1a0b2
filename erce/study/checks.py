"""A call of `run` → its recipe and folder, and an error for whatever would stop the run later."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from erce.catalog import model_folder
from erce.errors import InputError
from erce.recipe import Recipe, load_recipe
from erce.recipe.rules import no_validation
from erce.study.engines.devices import devices_of, visible_devices
from erce.study.training import base_policy
from erce.tasks import check_demonstrations, load_task
from erce.types import Splits


def recipe_and_folder(
    recipe: Recipe | str | Path, out: str | Path | None, overrides: dict[str, Any]
) -> tuple[Recipe, Path]:
    """Return the recipe and the study's folder."""
    if not isinstance(recipe, Recipe):
        return load_recipe(recipe, **overrides), Path(out or Path("runs") / Path(recipe).stem)
    if overrides or out is None:
        raise InputError("a Recipe object needs out=FOLDER and takes no overrides; use dataclasses.replace")
    return recipe, Path(out)


def check_call(recipe: Recipe, *, engine: str, jobs: int | None, retries: int) -> None:
    """Refuse retries and jobs that make no sense, and a [server] on Ray."""
    if retries < 0:
        raise InputError(f"retries = {retries} must be 0 or more; 0 runs a failed cell once")
    if jobs is not None and jobs < 1:
        raise InputError(f"jobs = {jobs} must be 1 or more")
    if recipe.server is not None and engine.startswith("ray"):
        raise InputError(
            "a recipe with [server] cannot run on engine 'ray', whose nodes keep adapters where the server "
            "does not see them; use --jobs"
        )


def check_needs(recipe: Recipe, problems: Mapping[str, Splits], *, here: bool) -> None:
    """Try what every cell will need, so that a wrong name or path stops the run now and not after hours.

    `here`: whether this process runs the cells, so that it has their devices and base model.
    """
    if recipe.search is not None and not problems[recipe.task].validation:
        raise no_validation(recipe.n_validation)
    if recipe.own_losses:
        from erce.loss import check_names

        check_names(recipe.penalty, recipe.order, recipe.objective_names)
    for task, splits in problems.items():
        every = (problem for part in vars(splits).values() for problem in part)
        check_demonstrations(load_task(task), every, refuse_unproven=recipe.refuses_unproven)
    if here:
        devices_of(1, gpus=recipe.resources.gpus, visible=visible_devices())
        base_policy(recipe.model, recipe.dtype)  # kept for the cells of this process
    elif not _is_local(recipe.model):
        from erce.hf.models import load_tokenizer

        load_tokenizer(recipe.model)
    tracker = recipe.training.report_to
    packages = ("tensorboard", "tensorboardX") if tracker == "tensorboard" else (tracker,)
    if tracker != "none" and not any(map(find_spec, packages)):
        raise InputError(f"report_to = {tracker!r} needs the package {tracker}; run: pip install {tracker}")


def _is_local(model: str) -> bool:
    """Return True if the model is on this machine, so that the driver need not contact the hub."""
    return all((model_folder(model) / name).is_file() for name in ("config.json", "tokenizer.json"))
