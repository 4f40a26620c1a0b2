"""A recipe → a finished study folder: everything is checked first, then every missing cell runs."""

import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from erce.catalog import EMBEDDED_MODELS, is_user_defined
from erce.errors import DamagedError, InputError
from erce.generate.backend import Backend, backend_of
from erce.generate.vllm import end_leftover
from erce.recipe import Recipe, load_recipe
from erce.study.cell import run_cell, train_cell
from erce.study.demonstrations import cell_splits, problem_rows
from erce.study.engines import Engine, RunCells, Work, engine_named, open_engine
from erce.study.engines.locks import study_lock
from erce.study.engines.processes import devices_of, visible_devices
from erce.study.folder import LOCKS, Study, cell_folder, check_folder, open_study
from erce.study.freshness import (
    TRAIN_AGAIN,
    Reason,
    checked_base_model,
    drop_stale,
    refuse_other_adapter,
    refuse_other_limit,
    stale_parts,
    trained_on_others,
)
from erce.study.memory import BatchSizes, batch_sizes
from erce.study.provenance import keep_base_model, kept_base_model
from erce.study.rounds import cells_failed, run_rounds, trainings_first
from erce.study.schedule import CellSampling, cell_sampling, planned_cells
from erce.study.stages import base_policy
from erce.tasks import check_demonstrations, load_task
from erce.types import Splits


def run(
    recipe: Recipe | str | Path,
    *,
    out: str | Path | None = None,
    jobs: int | None = None,
    engine: str = "auto",
    go_on: bool = False,
    own_only: bool = False,
    **overrides: Any,
) -> Study:
    """Run the missing cells of a recipe's study and return the study; call it again to resume.

    A failed cell does not stop the others, except that a run gives up after 3 failures without a success, or
    on a full disk.

    Args:
        recipe: A Recipe, or the path of its TOML file.
        out: The study's folder; left out, runs/NAME of NAME.toml.
        jobs: The number of processes, 1 if left out; on Ray the most cells at a time, 64 if left out.
        engine: What runs the cells: "here", "processes", "ray", "ray@HOST:6379", or "auto", which is
            "processes" for several jobs and "here" otherwise.
        go_on: Whether a study goes on in which nothing is right, or everything.
        own_only: Whether to stop once the own samples are there, which "rft" and "self" train on.
        **overrides: Settings that win over the file's (`model`, …).

    Returns:
        The study, with every cell that is done.

    Raises:
        InputError: The recipe cannot run; nothing was trained or written.
        CellsFailedError: Some cells failed, which it names; `read_study(out)` has the rest.
        AllAlikeError: Nothing was right, or everything, in the base model and one seed of every λ, and there
            are 40 test problems or more.
    """
    for cached in (cell_splits, base_policy):  # a process may run several studies, and files change between
        cached.cache_clear()
    # First what costs nothing and writes nothing, then what the cells need, then the folder, which is claimed
    # under its lock: whatever cannot run stops before it has changed anything.
    recipe, root = _recipe_and_folder(recipe, out, overrides)
    runner = _checked_engine(recipe, engine=engine, jobs=jobs)
    check_folder(root, recipe)
    problems = {task: cell_splits(recipe, task) for task in recipe.tasks}
    refuse_other_adapter(root, recipe)
    others = map(recipe.source, recipe.own_cells) if own_only else recipe.cells()
    samplings = {
        cell_folder(root, recipe, cell): cell_sampling(recipe, cell, problems[cell.task])
        for cell in [*recipe.own_cells, *filter(None, others)]
    }
    refuse_other_limit(samplings)
    parts = partial(_parts_to_make, samplings=samplings)
    opened = partial(open_engine, engine=engine, jobs=jobs)
    study = Study(root, recipe)
    while True:
        needs = _checked_needs(recipe, problems, parts(study), root, runner, jobs=jobs or 1)
        is_prepared = partial(_is_prepared, needs, parts)
        claim = partial(open_study, root, recipe, problem_rows(problems), keeps_grid=own_only)
        with _set_up(needs, root, problems, samplings, opened, claim) as (work, run_cells):
            failed = run_rounds(work, run_cells, go_on=go_on, own_only=own_only, is_prepared=is_prepared)
        study = Study(root, recipe)
        if failed or is_prepared(study):
            break
    if others := trained_on_others(study):
        _say(f"{others} {TRAIN_AGAIN}")
    if failed:
        raise cells_failed(study, failed)
    if not study.missing and study.n_done < len(planned_cells(recipe)):  # no λ other than 0 was chosen
        _say(f"Validation chose λ = 0, so the study has {study.n_done} cells.")
    return study


@contextmanager
def _set_up(
    needs: "_Needs",
    root: Path,
    problems: Mapping[str, Splits],
    samplings: Mapping[Path, CellSampling],
    opened: Callable[[Work], AbstractContextManager[RunCells]],
    claim: Callable[[], None],
) -> Iterator[tuple[Work, RunCells]]:
    """`claim` the folder, drop what is stale there, and yield what runs its cells while the backend is up."""
    work = Work(root, needs.backend.recipe, partial(run_cell, problems=problems, sizes=needs.sizes))
    trainings = replace(work, run=partial(train_cell, problems=problems, sizes=needs.sizes))
    served = partial(_served, work, backend=needs.backend, training=partial(opened, trainings))
    with (
        opened(work) as cells,
        study_lock(root),
        served(cells) if needs.samples else nullcontext(cells) as run_cells,
    ):
        claim()
        keep_base_model(root, needs.base)
        _say(*needs.notes, *drop_stale(samplings))
        yield work, run_cells


@contextmanager
def _served(
    work: Work,
    run_cells: RunCells,
    *,
    backend: Backend,
    training: Callable[[], AbstractContextManager[RunCells]],
) -> Iterator[RunCells]:
    """Yield the function that runs cells, with the backend up; all train first if it needs their devices."""
    serving = partial(backend.running, work.root / LOCKS)
    if backend.after_training:
        end_leftover(work.root / LOCKS)
        yield trainings_first(work, run_cells, training=training, serving=serving)
    else:
        with serving():
            yield run_cells


def _say(*sentences: str) -> None:
    for sentence in sentences:
        print(sentence, file=sys.stderr)


def _recipe_and_folder(
    recipe: Recipe | str | Path, out: str | Path | None, overrides: dict[str, Any]
) -> tuple[Recipe, Path]:
    """Return the recipe and the study's folder."""
    if not isinstance(recipe, Recipe):
        return load_recipe(recipe, **overrides), Path(out or Path("runs") / Path(recipe).stem)
    if overrides or out is None:
        raise InputError("a Recipe object needs out=FOLDER and takes no overrides; use dataclasses.replace")
    return recipe, Path(out)


def _checked_engine(recipe: Recipe, *, engine: str, jobs: int | None) -> Engine:
    """Return the engine; refuse jobs and engines that make no sense, or no use of [server]."""
    runner = engine_named(engine, jobs)
    if not backend_of(recipe).in_cell_process and not runner.shares_folder:
        raise InputError(
            f"a recipe with [server] cannot run on engine {engine!r}, which keeps adapters where the server "
            "does not see them; use --jobs"
        )
    return runner


class _Needs(NamedTuple):
    """What a run's stale cells need, found out before anything is written."""

    samples: bool  # some cell is sampled, and perhaps trained first
    backend: Backend
    sizes: BatchSizes | None  # None where every cell fits its batches to its own machine
    base: dict[str, str]  # what the base model is, to be kept
    notes: list[str]  # on sizes that were fitted to this machine


def _checked_needs(
    recipe: Recipe,
    problems: Mapping[str, Splits],
    parts: Collection[str],
    root: Path,
    runner: Engine,
    *,
    jobs: int,
) -> _Needs:
    """Return what a run needs to make the `parts`; InputError or ServerError: something of it is missing."""
    backend, sizes, base, samples = backend_of(recipe), None, dict[str, str](), "completions" in parts
    if parts:
        for task, splits in problems.items():
            every = (problem for part in vars(splits).values() for problem in part)
            check_demonstrations(load_task(task), every, refuse_unproven=recipe.refuses_unproven)
    if samples:
        _check_training_and_model(recipe, runner)  # after the demonstrations: it may fetch a model
        sizes = batch_sizes(recipe, problems, share=1 / jobs) if runner.on_this_machine else None
        backend.check()
    if samples or not kept_base_model(root):
        sampled_here = samples and runner.on_this_machine and backend.in_cell_process
        base = checked_base_model(root, recipe, sampled_here=sampled_here)
    notes = [f"{sizes}, in {sizes.free / 1e9:.1f} GB of free memory"] if sizes and sizes.free else []
    if samples and recipe.model in EMBEDDED_MODELS and is_user_defined(recipe.task):
        notes.append(f"The model is {recipe.model!r}, a toy that was taught the generated tasks; name yours.")
    return _Needs(samples, backend, sizes, base, notes)


def _is_prepared(needs: _Needs, parts: Callable[[Study], Collection[str]], study: Study) -> bool:
    """Return whether the next round can run as set up: verifying cells may ask for others to be sampled."""
    return needs.samples or "completions" not in parts(study)


def _parts_to_make(study: Study, samplings: Mapping[Path, CellSampling]) -> set[str]:
    """Return the parts that a round makes: those that are stale in a cell that it runs."""
    stale = {sampling.cell: stale_parts(folder, sampling) for folder, sampling in samplings.items()}
    spoiled = [cell for cell in stale if Reason.SPOILED in stale[cell].values()]
    try:
        wanted = {*study.recipe.own_cells, *study.next_cells, *spoiled} & stale.keys()
    except DamagedError:  # a result is torn, so which cells are asked for is known once it is made again
        wanted = stale.keys()
    return {part for cell in wanted for part in stale[cell]}


def _check_training_and_model(recipe: Recipe, runner: Engine) -> None:
    """Try what every cell will need, so that a wrong name or path stops the run now and not after hours."""
    if recipe.has_user_defined_losses:
        from erce.loss import check_names

        check_names(recipe.penalty, recipe.order, recipe.base_loss_names)
    if runner.in_this_process:
        devices_of(1, gpus=recipe.resources.gpus, visible=visible_devices())
        base_policy(recipe.model, recipe.dtype)  # kept for the cells of this process
    elif recipe.model not in EMBEDDED_MODELS:
        from erce.hf.models import load_tokenizer

        load_tokenizer(recipe.model)
    tracker = recipe.training.report_to
    packages = ("tensorboard", "tensorboardX") if tracker == "tensorboard" else (tracker,)
    if tracker != "none" and not any(map(find_spec, packages)):
        raise InputError(f"report_to = {tracker!r} needs the package {tracker}; run: pip install {tracker}")
