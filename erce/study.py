"""A recipe → a finished study folder: everything is checked first, then every missing cell runs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from erce.experiment import base_policy, cell_splits, run_cell
from erce.models import load_tokenizer
from erce.recipe import Cell, Recipe, load_recipe
from erce.results import Study, is_done, open_study, read_study
from erce.sweep import sweep
from erce.tasks import check_demonstrations, load_task


def run(
    recipe: Recipe | str | Path, *, out: str | Path | None = None, jobs: int = 1, **overrides: Any
) -> Study:
    """The study of a recipe, its missing cells run; called again, it goes on where it was stopped.

    `recipe` is a Recipe or the path of its TOML file, `out` the study's folder (runs/<name of the file>),
    `jobs` the number of processes, and `overrides` settings that win over the file's (`model`, `data`, …).
    A recipe that cannot run raises ValueError before anything is trained or written.
    """
    if not isinstance(recipe, Recipe):
        out = out or Path("runs") / Path(recipe).stem
        recipe = load_recipe(recipe, **overrides)
    elif overrides or out is None:
        raise ValueError("a Recipe object needs out=FOLDER and takes no overrides; use dataclasses.replace")
    if jobs < 1:
        raise ValueError(f"jobs = {jobs}: at least one process is needed")
    root = Path(out)
    _check(recipe, jobs)
    missing = [cell for cell in recipe.cells() if not is_done(root, recipe, cell)]
    open_study(root, recipe, _problems(recipe))
    with _progress(len(recipe.cells()), len(missing)) as advance:
        for cell in sweep(missing, partial(run_cell, root, recipe), jobs=jobs):
            advance(cell)
    return read_study(root)


def _check(recipe: Recipe, jobs: int) -> None:
    """Loads what every cell will need, so that a wrong name or path is said now and not after hours."""
    for task in recipe.tasks:
        problems = cell_splits(recipe, task)
        check_demonstrations(load_task(task), (each for part in vars(problems).values() for each in part))
    if jobs == 1:
        base_policy(recipe.model, recipe.dtype)  # the one that the cells of this process use
    else:
        load_tokenizer(recipe.model)


def _problems(recipe: Recipe) -> list[dict[str, Any]]:
    """What problems.jsonl holds: a row for each problem of each task's splits."""
    return [
        {"task": task, "split": split, "problem": problem.id, "prompt": problem.prompt}
        | {"demonstration": problem.demonstration, "answer": problem.answer, "tests": list(problem.tests)}
        for task in recipe.tasks
        for split, problems in vars(cell_splits(recipe, task)).items()
        for problem in problems
    ]


@contextmanager
def _progress(total: int, missing: int) -> Iterator[Callable[[Cell], None]]:
    """A bar over the grid in a terminal; a line a cell where output goes to a file."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("left"), TimeRemainingColumn(), console=console) as bars:
        bar = bars.add_task("cells", total=total, completed=total - missing)

        def advance(cell: Cell) -> None:
            bars.update(bar, advance=1, description=cell.name)
            if not console.is_terminal:
                console.print(f"done: {cell.name}")

        yield advance
