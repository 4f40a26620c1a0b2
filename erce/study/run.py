"""A recipe → a finished study folder: everything is checked first, then every missing cell runs."""

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from erce.errors import DamagedError, counted
from erce.recipe import Cell, Recipe
from erce.study.base_model import checked_base_model, keep_base_model, kept_base_model
from erce.study.cell import run_cell
from erce.study.checks import check_call, check_needs, recipe_and_folder
from erce.study.digests import make_again
from erce.study.engines import Done, Work, name_of, open_engine, study_lock
from erce.study.first_round import FirstRound
from erce.study.folder import Study, check_folder, is_done, open_study, read_study
from erce.study.judging import judge_again
from erce.study.local_server import running_server
from erce.study.memory import batch_sizes
from erce.study.one_round import cells_failed, run_round
from erce.study.own_answers import refuse_none
from erce.study.problems import cell_splits, problem_rows
from erce.study.rounds import asked, rounds


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
    `engine` runs the cells: "here", "processes", "ray", "ray@HOST:6379", or "auto", which
    is "processes" for several `jobs` and "here" otherwise. `jobs` is the number of processes (1), on Ray the
    most cells at a time (64). A failed cell is tried again `retries` times. `overrides` are settings that win
    over the file's (`model`, …).

    A recipe that cannot run raises an InputError before anything is trained or written. A failed cell does
    not stop the others, except that a run gives up after 3 failures without a success, or on a full disk: at
    the end a `CellsFailedError` names those that failed, and `read_study(out)` has the rest. A study in which
    nothing is right, or everything, in the base model and one seed of every λ stops there with an
    `AllAlikeError`, unless it has fewer than 40 test problems, or with `go_on`.
    """
    started = time.monotonic()
    recipe, root = recipe_and_folder(recipe, out, overrides)
    check_call(recipe, engine=engine, jobs=jobs, retries=retries)
    check_folder(root, recipe)
    problems = {task: cell_splits(recipe, task) for task in recipe.tasks}
    name, sizes = name_of(engine, jobs), None
    base: dict[str, str] = {}
    is_finished = _is_finished(root, recipe)
    if not is_finished:
        check_needs(recipe, problems, here=name == "here")
        # The driver of a cluster does not know the machines; there each cell fits its own.
        sizes = None if name == "ray" else batch_sizes(recipe, problems, share=1 / (jobs or 1))
    if not is_finished or not kept_base_model(root):
        base = checked_base_model(root, recipe, cells_run_here=not is_finished and name != "ray")
    work = Work(
        root,
        recipe,
        partial(run_cell, problems=problems, sizes=sizes),
        threads=recipe.resources.threads,
        gpus=recipe.resources.gpus,
        processes=recipe.resources.training_processes,
    )
    opened = open_engine(work, engine=engine, jobs=jobs)
    server: AbstractContextManager[None] = nullcontext()
    if not is_finished:
        server = running_server(recipe, log=root.with_name(f"{root.name}.server.log"))
    first_round = FirstRound(root, recipe, settled=go_on)
    with server, opened as run_cells, study_lock(root):
        open_study(root, recipe, problem_rows(problems))
        keep_base_model(root, base)
        notes = [f"{sizes}, in {sizes.free / 1e9:.1f} GB of free memory"] if sizes and sizes.free else []
        notes += make_again(sorted((root / "cells").glob("*")))
        notes += _judged_again(judge_again(root, recipe, asked(root, recipe).cells))
        failed: list[Done] = []
        for this_round in rounds(root, recipe, notes=notes):
            refuse_none(root, recipe)
            failed += run_round(
                first_round, this_round, run_cells, retries=retries, failed_before=failed, started=started
            )
            if not all(done.diverged for done in failed):
                break
    if failed:
        raise cells_failed(root, recipe, failed)
    return read_study(root)


def _is_finished(root: Path, recipe: Recipe) -> bool:
    """Return whether every cell is done; a study with a torn file, which is made again, is not."""
    try:
        return all(is_done(root, recipe, cell) for cell in asked(root, recipe).cells)
    except DamagedError:
        return False


def _judged_again(cells: Sequence[Cell]) -> list[str]:
    """Return the sentence on cells whose completions are judged again; none without such cells."""
    if not cells:
        return []
    names = ", ".join(cell.name for cell in cells[:3]) + (", …" if len(cells) > 3 else "")
    return [f"The verifier has changed: {counted(len(cells), 'cell')} ({names}) judged again."]
