"""A recipe → a finished study folder: everything is checked first, then every missing cell runs."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from erce.catalog import model_folder
from erce.errors import CellsFailedError, DamagedError, InputError, RunError, counted
from erce.recipe import Cell, Recipe, load_recipe
from erce.recipe.rules import no_validation
from erce.study.cell import run_cell
from erce.study.compared import planned_cells
from erce.study.digests import make_again
from erce.study.engines import FAILURE, LOG, Done, RunCells, Work, name_of, open_engine, study_lock
from erce.study.engines.devices import devices_of, visible_devices
from erce.study.engines.progress import progress
from erce.study.engines.retries import sweep
from erce.study.first_round import FirstRound
from erce.study.folder import STUDY, Study, cell_folder, check_folder, is_done, open_study, read_study
from erce.study.judging import judge_again
from erce.study.local_server import running_server
from erce.study.problems import cell_splits, problem_rows
from erce.study.search import Run
from erce.study.search.rounds import Asked, asked, is_lost, rounds
from erce.study.training import base_policy
from erce.tasks import check_demonstrations, load_task
from erce.types import Splits

FAILURES_SHOWN = 10

Show = Callable[..., AbstractContextManager[Callable[[Done], None]]]  # `progress`, with the start of the run


def run(
    recipe: Recipe | str | Path,
    *,
    out: str | Path | None = None,
    jobs: int | None = None,
    engine: str = "auto",
    retries: int = 0,
    go_on: bool = False,
    **overrides: Any,
) -> Study:
    """Run the missing cells of a recipe's study and return the study; call it again to resume.

    `recipe` is a Recipe or the path of its TOML file, `out` the study's folder (runs/<name of the file>).
    `engine` runs the cells: "here", "processes", "ray", "ray://HOST:10001", "ray@HOST:6379", or "auto", which
    is "processes" for several `jobs` and "here" otherwise. `jobs` is the number of processes (1), on Ray the
    most cells at a time (64). A failed cell is tried again `retries` times. `overrides` are settings that win
    over the file's (`model`, …).

    A recipe that cannot run raises an InputError before anything is trained or written. A failed cell does
    not stop the others, except that a run gives up after 3 failures without a success, or on a full disk: at
    the end a `CellsFailedError` names those that failed, and `read_study(out)` has the rest. A study in which
    nothing is right, or everything, in the base model and one seed of every λ stops there with an
    `AllAlikeError`, unless it has fewer than 40 test problems, or with `go_on`.
    """
    show = partial(progress, started=time.monotonic())
    recipe, root = _resolve(recipe, out, overrides)
    _check_call(recipe, engine=engine, jobs=jobs, retries=retries)
    check_folder(root, recipe)
    problems = {task: cell_splits(recipe, task) for task in recipe.tasks}
    work = Work(
        root,
        recipe,
        partial(run_cell, problems=problems),
        threads=recipe.resources.threads,
        gpus=recipe.resources.gpus,
        processes=recipe.resources.training_processes,
    )
    opened = open_engine(work, engine=engine, jobs=jobs)
    if recipe.search is not None and not problems[recipe.task].validation:
        raise no_validation(recipe.n_validation)
    server: AbstractContextManager[None] = nullcontext()
    if not _is_finished(root, recipe):
        _check_needs(recipe, problems, here=name_of(engine, jobs) == "here")
        server = running_server(recipe, log=root.with_name(f"{root.name}.server.log"))
    first_round = FirstRound(root, recipe, settled=go_on)
    with server, opened as run_cells, study_lock(root):
        open_study(root, recipe, problem_rows(problems))
        notes = make_again(sorted((root / "cells").glob("*")))
        notes += _judged_again(judge_again(root, recipe, asked(root, recipe).cells))
        failed: list[Done] = []
        for now in rounds(root, recipe, notes=notes):
            failed += _run_round(first_round, now, run_cells, retries=retries, without=failed, show=show)
            if not all(done.diverged for done in failed):
                break
    if failed:
        raise _cells_failed(root, recipe, failed)
    return read_study(root)


def _is_finished(root: Path, recipe: Recipe) -> bool:
    """Return whether every cell is done; a study with a torn file, which is made again, is not."""
    try:
        return all(is_done(root, recipe, cell) for cell in asked(root, recipe).cells)
    except DamagedError:
        return False


def _judged_again(cells: Sequence[Cell]) -> list[str]:
    """Return the sentence on cells whose completions are judged again; none without such cells."""
    names = ", ".join(cell.name for cell in cells[:3]) + (", …" if len(cells) > 3 else "")
    sentence = f"The verifier has changed: {counted(len(cells), 'cell')} ({names}) judged again."
    return [sentence] * bool(cells)


def _run_round(
    first_round: FirstRound,
    now: Asked,
    run_cells: RunCells,
    *,
    retries: int,
    without: Sequence[Done],
    show: Show,
) -> list[Done]:
    """Run the cells of a round that have no result, but not those in `without`; return those that failed.

    While cells are left to run, the first round is checked.
    """
    root, recipe, earlier = first_round.root, first_round.recipe, {done.cell for done in without}
    missing = [cell for cell in now.cells if cell not in earlier and not is_done(root, recipe, cell)]
    finished = len(now.cells) - len(missing)
    later = max(0, len(planned_cells(recipe)) - len(now.cells)) if missing and now.step is None else 0
    last: dict[Cell, Done] = {}  # how each cell ended, in its last attempt
    if missing:
        first_round.check()
    with (
        show(len(now.cells) + later, len(missing) + later, messages=now.messages) as advance,
        closing(sweep(run_cells, missing, retries=retries, succeeded=finished)) as ends,
    ):
        for done in ends:
            if not (root / STUDY).is_file():
                raise RunError(
                    f"{root} was moved or deleted while its study ran; go on where it is with --out, or "
                    "begin anew with the same command"
                )
            last[done.cell] = done
            advance(done)
            if len(last) < len(missing) or isinstance(now.step, Run):
                first_round.check()
    return [done for done in last.values() if done.failure and not is_lost(root, recipe, done.cell)]


def _cells_failed(root: Path, recipe: Recipe, failed: Sequence[Done]) -> CellsFailedError:
    """Return the error that names the failed cells and counts those that were not begun."""
    names = {done.cell for done in failed}
    cells = asked(root, recipe).cells
    left = sum(cell not in names and not is_done(root, recipe, cell) for cell in cells)
    given_up = f", and {left} more were given up" if left else ""
    listed = "".join(f"\n  {done.cell.name}: {done.failure}" for done in failed[:FAILURES_SHOWN])
    if len(failed) > FAILURES_SHOWN:
        listed += f"\n  and {len(failed) - FAILURES_SHOWN} more"
    folders = cell_folder(root, recipe, failed[0].cell).parent
    return CellsFailedError(
        f"{len(failed)} of {len(cells)} cells failed and have no result{given_up}; the same command "
        f"tries them again, and what is done is kept (why: {FAILURE} or {LOG} in {folders}/…):{listed}"
    )


def _resolve(
    recipe: Recipe | str | Path, out: str | Path | None, overrides: dict[str, Any]
) -> tuple[Recipe, Path]:
    """Return the recipe and the study's folder."""
    if not isinstance(recipe, Recipe):
        return load_recipe(recipe, **overrides), Path(out or Path("runs") / Path(recipe).stem)
    if overrides or out is None:
        raise InputError("a Recipe object needs out=FOLDER and takes no overrides; use dataclasses.replace")
    return recipe, Path(out)


def _check_call(recipe: Recipe, *, engine: str, jobs: int | None, retries: int) -> None:
    """Refuse retries and jobs that make no sense, and a [server] on Ray."""
    if retries < 0:
        raise InputError(f"retries = {retries}: 0 is none")
    if jobs is not None and jobs < 1:
        raise InputError(f"jobs = {jobs}: at least one is needed")
    if recipe.server is not None and engine.startswith("ray"):
        raise InputError(
            "a recipe with [server] cannot run on engine 'ray', whose nodes keep adapters where the server "
            "does not see them; use --jobs"
        )


def _check_needs(recipe: Recipe, problems: Mapping[str, Splits], *, here: bool) -> None:
    """Try what every cell will need, so that a wrong name or path stops the run now and not after hours."""
    if recipe.own_losses:
        from erce.loss import check_names

        check_names(recipe.penalty, recipe.order, recipe.objective_names)
    for task, splits in problems.items():
        check_demonstrations(load_task(task), (problem for part in vars(splits).values() for problem in part))
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
