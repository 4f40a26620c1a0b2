"""A recipe → a finished study folder: everything is checked first, then every missing cell runs."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from erce.errors import CellsFailedError
from erce.generate.policy import check_server
from erce.recipe import Recipe, load_recipe
from erce.recipe.searching import no_validation
from erce.study.cell import base_policy, cell_splits, run_cell
from erce.study.engines import FAILURE, LOG, Done, Work, name_of, open_engine, study_lock
from erce.study.engines.devices import devices_of, visible_devices
from erce.study.engines.progress import progress
from erce.study.engines.retries import sweep
from erce.study.folder import Study, cell_folder, check_folder, is_done, open_study, read_study
from erce.study.search.rounds import asked, is_lost, rounds
from erce.tasks import check_demonstrations, load_task
from erce.types import Splits


def run(
    recipe: Recipe | str | Path,
    *,
    out: str | Path | None = None,
    jobs: int | None = None,
    engine: str = "auto",
    retries: int = 0,
    **overrides: Any,
) -> Study:
    """The study of a recipe, its missing cells run; called again, it goes on where it was stopped.

    `recipe` is a Recipe or the path of its TOML file, `out` the study's folder (runs/<name of the file>),
    `engine` what runs the cells: "here", "processes", "ray", "ray://HOST:10001", "ray@HOST:6379", or "auto",
    which is "processes" where there are several `jobs`. That is the number of processes (1), and on Ray the
    most cells at a time (64). `retries` is how often a failed cell is tried again,
    and `overrides` are settings that win over the file's (`model`, …). A recipe that cannot run raises
    ValueError before anything is trained or written. A cell that fails does not stop the others: at the end
    `CellsFailedError` names those that have no result, and `read_study(out)` has the others.
    """
    recipe, root = _given(recipe, out, overrides)
    _refuse(recipe, engine=engine, jobs=jobs, retries=retries)
    check_folder(root)
    problems = {task: cell_splits(recipe, task) for task in recipe.tasks}
    resources = recipe.resources
    needs = {"threads": resources.threads, "gpus": resources.gpus, "processes": resources.training_processes}
    work = Work(root, recipe, partial(run_cell, problems=problems), **needs)
    opened = open_engine(work, engine=engine, jobs=jobs)
    if recipe.search is not None and not problems[recipe.task].validation:
        raise ValueError(no_validation(recipe.n_validation))
    if any(not is_done(root, recipe, cell) for cell in asked(root, recipe).cells):
        _check(recipe, problems, here=name_of(engine, jobs) == "here")
    with opened as engine_run, study_lock(root):
        open_study(root, recipe, _rows(problems))
        for now in rounds(root, recipe):
            missing = [cell for cell in now.cells if not is_done(root, recipe, cell)]
            ended: dict[Any, Done] = {}
            with progress(len(now.cells), len(missing), said=now.said) as advance:
                before = len(now.cells) - len(missing)
                for done in sweep(engine_run, missing, retries=retries, succeeded=before):
                    ended[done.cell] = done
                    advance(done)
            failed = [
                done for done in ended.values() if done.failure and not is_lost(root, recipe, done.cell)
            ]
            _refuse_failures(root, recipe, failed, of=len(now.cells), begun=before + len(ended))
    return read_study(root)


def _refuse(recipe: Recipe, *, engine: str, jobs: int | None, retries: int) -> None:
    """A ValueError for what no engine can do."""
    if retries < 0:
        raise ValueError(f"retries = {retries}: 0 is none")
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs = {jobs}: at least one is needed")
    if recipe.server is not None and engine.startswith("ray"):
        raise ValueError(
            "a recipe with [server] cannot run on engine 'ray', whose nodes keep adapters where the server "
            "does not see them; use --jobs"
        )


def _given(
    recipe: Recipe | str | Path, out: str | Path | None, overrides: dict[str, Any]
) -> tuple[Recipe, Path]:
    """The recipe and the study's folder."""
    if not isinstance(recipe, Recipe):
        return load_recipe(recipe, **overrides), Path(out or Path("runs") / Path(recipe).stem)
    if overrides or out is None:
        raise ValueError("a Recipe object needs out=FOLDER and takes no overrides; use dataclasses.replace")
    return recipe, Path(out)


def _check(recipe: Recipe, problems: Mapping[str, Splits], *, here: bool) -> None:
    """Tries what every cell will need, so that a wrong name or path is said now and not after hours."""
    if recipe.own_losses:
        from erce.loss import check_names

        check_names(recipe.penalty, recipe.order, recipe.objectives)
    for task, given in problems.items():
        check_demonstrations(load_task(task), (each for part in vars(given).values() for each in part))
    if here:
        devices_of(1, gpus=recipe.resources.gpus, visible=visible_devices())
        base_policy(recipe.model, recipe.dtype)  # the one that the cells of this process use
    elif not _is_here(recipe.model):
        from erce.hf.models import load_tokenizer

        load_tokenizer(recipe.model)
    check_server(recipe)


def _is_here(model: str) -> bool:
    """Whether a model needs no look at the hub; its workers load it, and the driver need not."""
    return model == "tiny" or all(
        (Path(model) / name).is_file() for name in ("config.json", "tokenizer.json")
    )


def _rows(given: Mapping[str, Splits]) -> list[dict[str, Any]]:
    """What problems.jsonl holds: a row for each problem of each task's splits."""
    return [
        {"task": task, "split": split, "problem": problem.id, "prompt": problem.prompt}
        | {"demonstration": problem.demonstration, "answer": problem.answer, "tests": list(problem.tests)}
        for task in given
        for split, problems in vars(given[task]).items()
        for problem in problems
    ]


def _refuse_failures(root: Path, recipe: Recipe, failed: list[Done], *, of: int, begun: int) -> None:
    """A CellsFailedError where cells failed; those that a sweep has given up were not begun, or stopped."""
    if not failed:
        return
    listed = "".join(f"\n  {done.cell.name}: {done.failure}" for done in failed[:10])
    more = f"\n  and {len(failed) - 10} more" if len(failed) > 10 else ""
    others = f", and {of - begun} more were given up" if begun < of else ""
    first = cell_folder(root, recipe, failed[0].cell)
    raise CellsFailedError(
        f"{len(failed)} of {of} cells failed and have no result{others}; the same command tries "
        f"them again, and what is done is kept (why: {FAILURE} or {LOG} in {first.parent}/…):{listed}{more}"
    )
