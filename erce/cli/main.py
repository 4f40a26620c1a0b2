"""The command line: words and flags → one call of the library. Each command imports what it needs."""

import argparse
import importlib.util
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

from erce.cli import flags, terminal
from erce.errors import InputError, RunError, UnfinishedError
from erce.types import Verdict

NEEDS_STUDY = ("trl", "peft", "matplotlib", "rich", "scipy")  # trl brings transformers and datasets
NO_BASE = (
    "the study's model has no name on the hub, so the adapter names no base model; if the hub has the model, "
    "make the card again with --base-model ID"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    0: done. 1: a study stopped early, or `verify` did not accept, or `doctor` found that programs can reach
    too much. 2: input that cannot run; one sentence says why. 130: Ctrl-C. 141: nobody reads the output. 143:
    SIGTERM.
    """
    parser = _parser()
    options, options.overrides = parser.parse_known_args(arguments)
    if options.overrides and options.command is not sft:
        hint = flags.lam_hint(options.overrides) if options.command is run else ""
        parser.error(f"unrecognized arguments: {' '.join(options.overrides)}{hint}")
    sys.path.append(str(Path.cwd()))  # where user-defined tasks lie, or beside the recipe
    warnings.formatwarning = _in_one_line
    try:
        with terminal.sigterm_as_interrupt():
            return _run_command(options)
    # A plain ValueError is how transformers, TRL and the hub report bad input.
    except (ValueError, RunError, OSError) as error:
        if isinstance(error, BrokenPipeError) and terminal.nobody_reads():
            return 141
        _print_error(error)
        return 2
    except KeyboardInterrupt as stop:
        return terminal.say_stopped(stop, kept=getattr(options, "kept", ""))


def _in_one_line(message: Any, category: type[Warning], *place: Any, **line: Any) -> str:
    """Format a warning: one of ours as a note, others with the place in the code as Python does."""
    if category.__module__.startswith("erce."):
        return f"erce: note: {message}\n"
    return f"{place[0]}:{place[1]}: {category.__name__}: {message}\n"


def _run_command(options: argparse.Namespace) -> int:
    if getattr(options, "sandbox", None):
        os.environ["ERCE_SANDBOX"] = options.sandbox  # the processes of a study inherit it
    if options.command in (run, demo, sample, report, sft, card):
        _require_study_extra()
    if getattr(options, "json", None) is not None:
        flags.check_json(options.json)
    code = options.command(options) or 0
    print(end="", flush=True)  # so that a closed pipe is noticed here, where it can be handled
    return code


def run(options: argparse.Namespace) -> int:
    """Run every unfinished cell of a recipe, then report."""
    if options.dry_run:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")  # read when the hub's packages are imported
    recipe, out, overrides = _recipe(options)
    return (_print_plan if options.dry_run else _run_study)(recipe, out, options, **overrides)


def _recipe(options: argparse.Namespace) -> tuple[Path, Path, dict[str, Any]]:
    """Return the recipe's file, the study's folder, and the settings that win over the file's.

    The recipe's modules are looked for beside it, then here, and --task the other way.
    """
    path = flags.recipe_path(options.recipe)
    sys.path.insert(len(sys.path) - (options.task is None), str(path.absolute().parent))
    overrides = {"task": options.task, "model": options.model, "data": options.data}
    overrides |= flags.settings(options.set)
    limit = getattr(options, "limit", None)
    overrides |= flags.limited(path, limit, **overrides)
    return path, options.out or flags.usual_folder(path.stem, limit), overrides


def _print_plan(recipe: Path, out: Path, options: argparse.Namespace, **overrides: Any) -> int:
    from erce.recipe import load_recipe

    plan = load_recipe(recipe, **overrides)  # before torch, which takes seconds
    from erce.study.dry_run import dry_run
    from erce.study.engines.progress import progress

    with progress():
        lines = dry_run(plan, out, device=options.device, jobs=options.jobs or 1)
    terminal.print_lines(lines)
    return 0


def demo(options: argparse.Namespace) -> int:
    """Run the embedded study: a tiny model on generated sums, on a CPU, in minutes."""
    from erce.study.engines import engine_named

    cores = os.cpu_count() or 1
    engine = engine_named(options.engine, cores)
    if options.jobs is None and engine.on_this_machine and not engine.in_this_process:
        options.jobs = cores
    recipe, out = flags.recipe_path("mini-styles"), options.out or flags.usual_folder("demo", options.limit)
    takes = "" if options.limit else "about 2 minutes on two cores"
    return _run_study(recipe, out, options, takes=takes, **flags.limited(recipe, options.limit))


def _run_study(
    recipe: Path, out: Path, options: argparse.Namespace, takes: str = "", **overrides: Any
) -> int:
    """Run and report a study; return 1 where it stopped with cells that have no result."""
    from erce.study.engines import engine_named

    engine = engine_named(options.engine, options.jobs)
    options.kept = terminal.KEPT if engine.shares_folder else terminal.KEPT_CELLS
    # Before torch, which takes seconds.
    terminal.announce(recipe, out, options.jobs or 1, takes=takes, **overrides)
    import erce.study.run

    try:
        erce.study.run.run(
            recipe,
            out=out,
            jobs=options.jobs,
            engine=options.engine,
            go_on=getattr(options, "go_on", False),
            **overrides,
        )
    except UnfinishedError as error:
        try:
            _report(out, options)
        except (OSError, InputError) as reason:  # a full disk must not hide the failed cells
            _print_error(reason, "no report: ")
        _print_error(error)
        return 1
    _report(out, options)
    return 0


def sample(options: argparse.Namespace) -> None:
    """Sample the training problems, verify, and write the right answers as rows for any trainer."""
    options.kept = terminal.KEPT
    from erce.recipe import load_recipe
    from erce.study.own_rows import sample as sample_rows

    path, out, overrides = _recipe(options)
    given = {name: getattr(options, name) for name in ("samples", "temperature", "keep", "adapter")}
    own = overrides.pop("own", {}) | {name: value for name, value in given.items() if value is not None}
    recipe = load_recipe(path, **overrides)
    if not recipe.own_cells:
        overrides["methods"] = [*recipe.methods, "self"]
    recipe = load_recipe(path, **overrides, own=own)
    written = sample_rows(
        recipe, options.file, out=out, with_demonstrations=options.with_demonstrations, jobs=options.jobs
    )
    terminal.print_lines([str(written), f"{written.rows:,} rows in {options.file}"])


def report(options: argparse.Namespace) -> None:
    """Write the tables, the figure and the HTML report of a study's folder."""
    _report(options.runs, options)


def records(options: argparse.Namespace) -> None:
    """Write every sample of a study as one row of a file that data tools read."""
    from erce.study.export import export
    from erce.study.folder import read_study

    print(f"{export(read_study(options.runs), options.file)} rows in {options.file}")


def sft(options: argparse.Namespace) -> None:
    """Fine-tune by TRL's YAML with erce's fields; a flag with a field's name wins over the file."""
    from erce.train.sft import sft as train

    train(options.config, options.overrides)


def card(options: argparse.Namespace) -> None:
    """Put a cell's adapter and a model card with the study's results into a folder for the hub."""
    from erce.reporting.pages.model_card import names_base, write_card

    path = write_card(options.runs, options.out, cell=options.cell, base=options.base_model)
    print(f"model card: {path}")
    if not names_base(path.parent):
        print(f"erce: {NO_BASE}", file=sys.stderr)


def import_(options: argparse.Namespace) -> None:
    """Turn logs of lm-eval, or rows of verdicts, into a study's folder that `erce report` reads."""
    from erce.imports import BASELINE, Reading, import_study

    # Every field of a Reading has a flag of its name.
    reading = Reading(**{field.name: getattr(options, field.name) for field in fields(Reading)})
    arms = _arms([[BASELINE, *options.baseline], *options.arm])
    study = import_study(options.out, arms, validation=_arms(options.validation), reading=reading)
    print(f"{len(study.results)} cells in {options.out}; `erce report {options.out}` compares them")


def tasks(options: argparse.Namespace) -> None:
    """List the tasks and the recipes that come with erce."""
    from erce.tasks import TASKS, load_task

    for name in TASKS:
        task = load_task(name)
        sizes = f"{task.n_train} train, {task.n_validation} validation, {task.n_test} test problems"
        terminal.print_lines([f"{name:24} {sizes}", f"  {task.about}"])
    terminal.print_lines(["", f"recipes, for `erce run`: {', '.join(flags.recipe_names())}"])


def verify(options: argparse.Namespace) -> int:
    """Verify one answer or program, or every row of a file."""
    flags.check_verify(options)
    if options.file is not None:
        _reverify(options)
        return 0
    verdicts = _verify_one(options)
    if options.json is not None:
        from erce.cli.side_by_side import Reverified, write_reverified

        reference = options.answer if options.program is None else _text(options.program)
        write_reverified(options.json, [Reverified("command line", reference, verdicts)])
    for name, verdict in verdicts.items():
        condition = " if the format is ignored" if name == "flexible" else ""
        terminal.print_lines(terminal.verdict_lines(verdict, explain=options.explain, condition=condition))
    return 0 if next(iter(verdicts.values())).accepted else 1


def doctor(options: argparse.Namespace) -> int:
    """Show the versions and devices of this machine, and which sandbox runs here and what it refuses."""
    from erce.cli.examination import examine

    terminal.print_lines([*terminal.machine_lines(), ""])
    rows = examine()
    terminal.print_lines(terminal.examination_lines(rows))
    attempts = [row.good for row in rows if row.kind == "attempt"]
    return 0 if attempts and all(attempts) else 1


def _arms(flags: list[list[str]]) -> dict[str, list[str]]:
    """Return arm → files of every `--arm NAME FILE...`."""
    arms: dict[str, list[str]] = {}
    for name, *files in flags:
        if name in arms:
            raise InputError(f"arm {name!r} is named twice; give it all its files at once")
        if not files:
            raise InputError(f"arm {name!r} has no files; write its name, then one log per seed")
        arms[name] = files
    return arms


def _verify_one(options: argparse.Namespace) -> dict[str, Verdict]:
    """Verify the answer or program that the flags give; return the verdicts, first the one that decides."""
    from erce.cli.side_by_side import readings

    kind, operands = options.kind or "math", (options.answer, options.completion)
    if options.program is not None:
        kind, operands = "program", (_text(options.program), options.test, (), None)
    return {name: verify(*operands) for name, verify in readings(kind).items()}


def _reverify(options: argparse.Namespace) -> None:
    from erce.cli.side_by_side import reverify_file, summary, write_reverified

    rows = reverify_file(options.file, kind=options.kind, workers=options.workers)
    if options.json is not None:
        write_reverified(options.json, rows)
    terminal.print_lines(terminal.reverify_lines(rows, summary(rows), limit=options.limit))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{str(path)!r} is not text in UTF-8; give a program's source") from None


def _report(root: Path, options: argparse.Namespace) -> None:
    from erce.reporting import report as write_report

    page = write_report(root, json=getattr(options, "json", None), verbose=options.verbose)
    print(f"report: {page.resolve().as_uri()}")


def _print_error(error: Exception, prefix: str = "") -> None:
    print(f"erce: {prefix}{terminal.error_text(error)}", file=sys.stderr)


def _require_study_extra() -> None:
    missing = [name for name in NEEDS_STUDY if importlib.util.find_spec(name) is None]
    if missing:
        raise InputError(f"this command needs {', '.join(missing)}; run: pip install 'erce[study]'")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="erce", description="Entropy-regularised cross-entropy for verified demonstrations."
    )
    parser.add_argument("--version", action="version", version=version("erce"))
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(function: Callable[[argparse.Namespace], int | None]) -> argparse.ArgumentParser:
        summary = (function.__doc__ or "").strip()
        added = commands.add_parser(function.__name__.rstrip("_"), help=summary, description=summary)
        added.set_defaults(command=function)
        return added

    added = command(demo)
    added.add_argument("--out", type=Path, help="the study's folder (runs/demo)")
    flags.add_limit(added, "runs/demo-limitN")
    flags.add_engine(added, "one per core")
    flags.add_verbose(added)
    added = command(run)
    flags.add_run(added)
    flags.add_verbose(added)
    flags.add_engine(added, "1")
    flags.add_sandbox(added)
    flags.add_sample(command(sample))
    added = command(report)
    added.add_argument("runs", type=Path, help="a study's folder")
    flags.add_verbose(added)
    added.add_argument("--json", type=Path, metavar="FILE", help="write every number to FILE as well")
    added = command(records)
    added.add_argument("runs", type=Path, help="a study's folder")
    added.add_argument("file", type=Path, help="a name that ends in .jsonl")
    flags.add_sft(command(sft))
    flags.add_card(command(card))
    flags.add_import(command(import_))
    command(tasks)
    flags.add_verify(command(verify))
    flags.add_sandbox(command(doctor))
    return parser


if __name__ == "__main__":
    sys.exit(main())
