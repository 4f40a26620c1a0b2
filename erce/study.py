"""A recipe → a finished study folder: everything is checked first, then every missing cell runs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from erce.engines import FAILURE, Done, Work, open_engine, study_lock
from erce.experiment import base_policy, cell_splits, run_cell
from erce.models import load_tokenizer
from erce.policies import check_server
from erce.recipe import Recipe, load_recipe
from erce.results import Study, cell_folder, check_folder, is_done, open_study, read_study
from erce.sweep import CellsFailedError, sweep
from erce.tasks import check_demonstrations, load_task


def run(
    recipe: Recipe | str | Path,
    *,
    out: str | Path | None = None,
    jobs: int = 1,
    engine: str = "auto",
    retries: int = 0,
    **overrides: Any,
) -> Study:
    """The study of a recipe, its missing cells run; called again, it goes on where it was stopped.

    `recipe` is a Recipe or the path of its TOML file, `out` the study's folder (runs/<name of the file>),
    `jobs` the number of processes, `engine` what runs the cells (`erce.engines.open_engine`), `retries` how
    often a failed cell is tried again, and `overrides` settings that win over the file's (`model`, …).
    A recipe that cannot run raises ValueError before anything is trained or written. A cell that fails does
    not stop the others: at the end `CellsFailedError`, a ValueError, names those that have no result.
    """
    if not isinstance(recipe, Recipe):
        out = out or Path("runs") / Path(recipe).stem
        recipe = load_recipe(recipe, **overrides)
    elif overrides or out is None:
        raise ValueError("a Recipe object needs out=FOLDER and takes no overrides; use dataclasses.replace")
    if jobs < 1:
        raise ValueError(f"jobs = {jobs}: at least one process is needed")
    root, here = Path(out), engine == "here" or (engine == "auto" and jobs == 1)
    check_folder(root)
    _check(recipe, here=here)
    if any(not is_done(root, recipe, cell) for cell in recipe.cells()):
        check_server(recipe)
    with study_lock(root), open_engine(Work(root, recipe, run_cell), engine=engine, jobs=jobs) as engine_run:
        open_study(root, recipe, _problems(recipe))
        cells = recipe.cells()
        missing = [cell for cell in cells if not is_done(root, recipe, cell)]
        ended: dict[Any, Done] = {}
        with _progress(len(cells), len(missing)) as advance:
            for done in sweep(engine_run, missing, retries=retries):
                ended[done.cell] = done
                advance(done)
    _refuse_failures(root, recipe, [done for done in ended.values() if done.failure])
    return read_study(root)


def _check(recipe: Recipe, *, here: bool) -> None:
    """Loads what every cell will need, so that a wrong name or path is said now and not after hours."""
    for task in recipe.tasks:
        problems = cell_splits(recipe, task)
        check_demonstrations(load_task(task), (each for part in vars(problems).values() for each in part))
    if here:
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
def _progress(total: int, missing: int) -> Iterator[Callable[[Done], None]]:
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

        def advance(done: Done) -> None:
            if done.failure:
                console.print(f"failed: {done.cell.name}: {done.failure}", markup=False, highlight=False)
                return
            bars.update(bar, advance=1, description=done.cell.name)
            if not console.is_terminal:
                left = bars.tasks[bar].time_remaining
                soon = "" if left is None else f", about {max(1, round(left / 60))} min left"
                count = f"{bars.tasks[bar].completed:g} of {total}"
                text = f"done: {done.cell.name} in {done.seconds:.1f} s, {count}{soon}"
                console.print(text, markup=False, highlight=False)

        yield advance


def _refuse_failures(root: Path, recipe: Recipe, failed: list[Done]) -> None:
    if not failed:
        return
    listed = "".join(f"\n  {done.cell.name}: {done.failure}" for done in failed[:10])
    more = f"\n  and {len(failed) - 10} more" if len(failed) > 10 else ""
    first = cell_folder(root, recipe, failed[0].cell)
    raise CellsFailedError(
        f"{len(failed)} of {len(recipe.cells())} cells failed and have no result; the same command tries "
        f"them again, and what is done is kept (tracebacks: {first}/{FAILURE} and so on):{listed}{more}"
    )
