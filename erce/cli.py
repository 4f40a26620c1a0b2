"""The command line: words and flags → one call of the library; heavy imports wait until they are needed."""

import argparse
import importlib.util
import os
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from erce import __version__

NEEDS_STUDY = (
    "trl",
    "transformers",
    "peft",
    "accelerate",
    "datasets",
    "jinja2",
    "matplotlib",
    "rich",
    "scipy",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0, 2 for input that cannot run (one sentence says why), 130 when interrupted."""
    options = _parser().parse_args(arguments)
    try:
        if options.command in (run, demo, report):
            _require_study_extra()
        options.command(options)
    except ValueError as error:
        print(f"erce: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("erce: interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    return 0


def run(options: argparse.Namespace) -> None:
    """Every unfinished cell of a recipe, then the report."""
    import erce.study

    recipe = recipe_path(options.recipe)
    out = options.out or Path("runs") / recipe.stem
    overrides = {"model": options.model, "data": options.data} | _settings(options.set)
    study = erce.study.run(recipe, out=out, jobs=options.jobs, **overrides)
    _report(study.root, None)


def demo(options: argparse.Namespace) -> None:
    """The embedded study: a tiny model on generated sums, on a CPU, in minutes."""
    import erce.study

    study = erce.study.run(recipe_path("mini"), out=options.out, jobs=options.jobs)
    _report(study.root, None)


def report(options: argparse.Namespace) -> None:
    """Tables, figure and one HTML file from a study's folder."""
    _report(options.runs, options.json)


def tasks(options: argparse.Namespace) -> None:
    """The tasks that come with erce."""
    from erce.tasks import TASKS, load_task

    for name in TASKS:
        task = load_task(name)
        print(f"{name:24} {task.n_train} train, {task.n_validation} validation, {task.n_test} test problems")


def _report(root: Path, json: Path | None) -> None:
    from erce.reporting import report as write_report

    print(f"report: {write_report(root, json=json).resolve().as_uri()}")


def recipe_path(name: str) -> Path:
    """A recipe's file: a path, or the name of one that comes with erce."""
    path = Path(name)
    if path.is_file():
        return path
    here = Path(__file__).parent
    shipped = here / "recipes" if (here / "recipes").is_dir() else here.parent / "recipes"
    if (shipped / f"{name}.toml").is_file():
        return shipped / f"{name}.toml"
    names = ", ".join(sorted(each.stem for each in shipped.glob("*.toml")))
    raise ValueError(f"no recipe {name!r}: neither a file nor one of those that come with erce ({names})")


def _settings(pairs: list[str]) -> dict[str, Any]:
    """`--set 'lams=[0, 1]' --set training.epochs=1` as TOML would read them."""
    from erce.recipe import merge

    settings: dict[str, Any] = {}
    for pair in pairs:
        try:
            merge(settings, tomllib.loads(pair))
        except tomllib.TOMLDecodeError as error:
            raise ValueError(
                f"--set {pair}: not KEY=VALUE as in TOML, where text stands in quotes: {error}"
            ) from None
    return settings


def _require_study_extra() -> None:
    missing = [name for name in NEEDS_STUDY if importlib.util.find_spec(name) is None]
    if missing:
        raise ValueError(f"this command needs {', '.join(missing)}; run: pip install 'erce[study]'")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="erce", description="Entropy-regularised cross-entropy for verified demonstrations."
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(function: Callable[[argparse.Namespace], None]) -> argparse.ArgumentParser:
        summary = (function.__doc__ or "").strip()
        added = commands.add_parser(function.__name__, help=summary, description=summary)
        added.set_defaults(command=function)
        return added

    added = command(demo)
    added.add_argument("--out", type=Path, default=Path("runs/demo"), help="the study's folder (runs/demo)")
    _add_jobs(added, default=os.cpu_count() or 1)
    added = command(run)
    added.add_argument("recipe", help="a TOML file, or the name of a recipe that comes with erce")
    added.add_argument("--out", type=Path, help="the study's folder (runs/NAME)")
    added.add_argument("--model", help="tiny, a folder, or a model's name on the hub")
    added.add_argument("--data", help="the folder with the task's original files")
    added.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="any setting of the recipe"
    )
    _add_jobs(added)
    added = command(report)
    added.add_argument("runs", type=Path, help="a study's folder")
    added.add_argument("--json", type=Path, metavar="FILE", help="write every number to FILE as well")
    command(tasks)
    return parser


def _add_jobs(parser: argparse.ArgumentParser, *, default: int = 1) -> None:
    text = f"processes that share the cells, and a CPU's cores ({default})"
    parser.add_argument("--jobs", type=int, default=default, help=text)


if __name__ == "__main__":
    sys.exit(main())
