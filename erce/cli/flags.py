"""The flags of a command, added to its parser, and which of them go together; `erce.cli.main` reads them."""

import argparse
import re
import tomllib
from pathlib import Path
from typing import Any

from erce.errors import InputError, did_you_mean


def add_import(added: argparse.ArgumentParser) -> None:
    added.add_argument("out", type=Path, help="the study's folder, which is made")
    text = "what gains are measured from: per seed a file of rows, or what lm-eval wrote"
    added.add_argument("--baseline", nargs="+", metavar="LOG", required=True, help=text)
    text = "an arm and its logs, one per seed; lam=2 is the λ 2, base the untrained model, else any name"
    several: dict[str, Any] = {"action": "append", "nargs": "+", "default": [], "metavar": ("NAME", "LOG")}
    added.add_argument("--arm", **several, help=text)
    text = "an arm's logs of validation problems, in the order of its seeds; also for the arm baseline"
    added.add_argument("--validation", **several, help=text)
    added.add_argument("--task", help="lm-eval: the task to read of several; else the name to give it")
    added.add_argument("--metric", help="lm-eval: the metric that is the verdict")
    added.add_argument("--filter", help="lm-eval: the filter whose answers count")
    text = "sampling temperature of rows that do not state it; 0 is greedy"
    added.add_argument("--temperature", type=float, metavar="T", help=text)


def add_verify(added: argparse.ArgumentParser) -> None:
    text = "rows of answer and completion, or of program and tests (JSON Lines)"
    added.add_argument("file", type=Path, nargs="?", help=text)
    added.add_argument("--answer", help="the reference answer")
    added.add_argument("--completion", help="the model's completion")
    added.add_argument("--program", type=Path, metavar="FILE", help="a program, verified by every --test")
    added.add_argument("--test", action="append", default=[], metavar="ASSERT", help="one assert")
    kinds = ("math", "answer", "number", "program")
    text = "how to read it: math (box in a completion), answer (bare), number (GSM8K), program"
    added.add_argument("--as", dest="kind", choices=kinds, help=text)
    added.add_argument("--explain", action="store_true", help="say also what was read, and why")
    text = "processes that share a FILE (one per core)"
    added.add_argument("--workers", type=int, metavar="N", help=text)
    text = "rows of a FILE to print that are not accepted (20)"
    added.add_argument("--limit", type=int, metavar="N", default=20, help=text)
    added.add_argument("--json", type=Path, metavar="FILE", help="write every verdict to FILE (JSON Lines)")
    add_sandbox(added)


def check_verify(options: argparse.Namespace) -> None:
    """Raise an InputError unless the flags of `verify` give one thing to verify and a way to do it."""
    is_whole = bool(options.test) if options.program is not None else options.completion is not None
    subjects = [each for each in (options.file, options.answer, options.program) if each is not None]
    if len(subjects) != 1 or not (is_whole or options.file):
        raise InputError(
            "nothing to verify, or two things: give a FILE, or --answer and --completion, or --program and "
            "--test 'assert f(3) == 9'"
        )
    if options.kind == "program" and options.answer is not None:
        raise InputError("--as program: an --answer is not a program; leave it out, or give --program")
    if options.limit < 0:
        raise InputError(f"--limit {options.limit} must be 0 or more; 0 prints none of the rows")


def check_json(path: Path) -> None:
    """Raise an InputError for a path at which no file can be, before anything is computed for it."""
    if path.is_dir():
        raise InputError(f"--json {str(path)!r} is a folder; name a file in it")
    nearest = next(folder for folder in path.absolute().parents if folder.exists())
    if not nearest.is_dir():
        raise InputError(
            f"--json {str(path)!r}: {str(nearest)!r} is a file, not a folder; choose another path"
        )


def add_recipe(added: argparse.ArgumentParser) -> None:
    """Add the recipe, and the settings that win over it."""
    added.add_argument("recipe", help="a TOML file, or the name of a recipe that comes with erce")
    added.add_argument("--task", help="one that comes with erce, or your own: package.module:NAME")
    added.add_argument("--model", help="tiny, a folder, or a model's name on the hub")
    text = "the folder with the task's original files; of a task of your own a file, or a data set on the hub"
    added.add_argument("--data", help=text)
    added.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="any setting of the recipe"
    )


def add_run(added: argparse.ArgumentParser) -> None:
    """Add the recipe, where and how far its study runs, and a dry run."""
    add_recipe(added)
    added.add_argument("--out", type=Path, help="the study's folder (runs/NAME)")
    text = "go on even if nothing is right, or everything, in the base model and one seed of every λ"
    added.add_argument("--go-on", action="store_true", help=text)
    add_limit(added, "runs/NAME-limitN")
    text = "say what would run, how many steps and tokens, how much memory and for how long; write nothing"
    added.add_argument("--dry-run", action="store_true", help=text)
    text = "for --dry-run: a100, a100-40, h100, h200, l40s, l4, rtx4090 or cpu (what this machine has)"
    added.add_argument("--device", metavar="NAME", help=text)


def add_sample(added: argparse.ArgumentParser) -> None:
    add_recipe(added)
    added.add_argument("file", type=Path, help="the rows to write; a name that ends in .jsonl")
    added.add_argument("--out", type=Path, help="the folder of the study that keeps the samples (runs/NAME)")
    added.add_argument("--samples", type=int, metavar="N", help="samples of a problem (8)")
    added.add_argument("--temperature", type=float, metavar="T", help="of the samples (0.8)")
    added.add_argument(
        "--keep", type=int, metavar="N", help="right answers of a problem to keep, at most (4)"
    )
    added.add_argument("--adapter", metavar="FOLDER", help="of the base model, under which it samples")
    text = "the given demonstrations are rows, too"
    added.add_argument("--with-demonstrations", action="store_true", help=text)
    added.add_argument("--jobs", type=int, metavar="N", help="as for run (1)")


def add_limit(added: argparse.ArgumentParser, folder: str) -> None:
    text = f"at most N problems each to train on, validate on and test on: a quick look ({folder})"
    added.add_argument("--limit", type=int, metavar="N", help=text)


def limited(recipe: Path, limit: int | None, **overrides: Any) -> dict[str, int]:
    """Return the sizes that --limit leaves of a recipe's, as settings; {} without it."""
    if limit is None:
        return {}
    from erce.study.budget import limits

    return limits(recipe, limit, **overrides)


def usual_folder(name: str, limit: int | None) -> Path:
    """Return the folder of a study that names none.

    >>> usual_folder("mini", None).as_posix(), usual_folder("mini", 16).as_posix()
    ('runs/mini', 'runs/mini-limit16')
    """
    return Path("runs") / (name if limit is None else f"{name}-limit{limit}")


def lam_hint(words: list[str]) -> str:
    """Return how to set λ for somebody who wrote `--lam 2`, and nothing for other words.

    >>> lam_hint(["--lams", "0,2"]), lam_hint(["--sed", "1"])
    ("; λ is a list in the recipe: --set 'lams=[0, 2]'", '')
    """
    name, _, value = words[0].partition("=")
    if name not in ("--lam", "--lams", "--lambda", "--entropy-penalty", "--entropy_penalty"):
        return ""
    numbers = re.findall(r"[^][\s,]+", " ".join((value, *words[1:])))
    values = [number for number in numbers if number != "0"] or ["2"]
    return f"; λ is a list in the recipe: --set 'lams=[0, {', '.join(values)}]'"


def add_sft(added: argparse.ArgumentParser) -> None:
    added.usage = "erce sft [--config FILE] [--FIELD VALUE ...]"
    text = "YAML as `trl sft` reads it; fields of erce.ERCEConfig are welcome in it"
    added.add_argument("--config", type=Path, metavar="FILE", help=text)


def add_card(added: argparse.ArgumentParser) -> None:
    added.add_argument("runs", type=Path, help="a study's folder")
    text = "a trained cell's name; best is the first seed of the arm to use (best)"
    added.add_argument("--cell", default="best", metavar="NAME", help=text)
    added.add_argument("--out", type=Path, required=True, help="the folder, which is made")
    added.add_argument("--base-model", metavar="ID", help="the base model's name on the hub, if not its own")


def add_verbose(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--verbose", action="store_true", help="print every sentence of the report")


def add_engine(parser: argparse.ArgumentParser, usual: str) -> None:
    text = f"processes that share the cells, and a CPU's cores ({usual}); on Ray, the most cells at a time"
    parser.add_argument("--jobs", type=int, metavar="N", help=text)
    text = "what runs the cells: here, processes, ray, ray@HOST:6379; auto goes by --jobs"
    parser.add_argument("--engine", default="auto", metavar="NAME", help=text)


def add_sandbox(parser: argparse.ArgumentParser) -> None:
    text = "the protection that programs run in; seccomp and none only when named"
    parser.add_argument("--sandbox", choices=("auto", "namespaces", "landlock", "seccomp", "none"), help=text)


# No number: begins with a letter, or as a path does.
_WORD = re.compile(r"(?:[A-Za-z_]|\.{0,2}/)[\w./:@-]*")


def settings(pairs: list[str]) -> dict[str, Any]:
    """Return what TOML reads in `--set 'lams=[0, 1]' --set training.epochs=1`; a bare word is text."""
    from erce.recipe.read import check_names, merge
    from erce.recipe.recipe import Recipe

    merged: dict[str, Any] = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        is_word = _WORD.fullmatch(value.strip()) and value.strip() not in ("true", "false", "inf", "nan")
        try:
            merge(merged, tomllib.loads(f'{key}="{value.strip()}"' if is_word else pair))
        except tomllib.TOMLDecodeError as error:
            raise InputError(
                f"--set {pair}: not KEY=VALUE as in TOML, where text stands in quotes: {error}"
            ) from None
    check_names(Recipe, merged, "--set: ")
    return merged


def recipe_path(name: str) -> Path:
    """Return the file of a recipe: `name` is a path, perhaps without .toml, or that of one of erce's own."""
    path = Path(name)
    for file in (path, _shipped_recipes() / f"{name}.toml", Path(f"{name}.toml")):
        if file.is_file():
            return file
    names = recipe_names()
    beside = [str(each.with_suffix("")) for each in path.parent.glob("*.toml")]
    way_out = did_you_mean(name, [*beside, *names], otherwise=f"there are {', '.join(names)}")
    raise InputError(f"no recipe {name!r}: neither a file nor one of those that come with erce; {way_out}")


def recipe_names() -> list[str]:
    """Return the names of the recipes that come with erce."""
    return sorted(path.stem for path in _shipped_recipes().glob("*.toml"))


def _shipped_recipes() -> Path:
    package = Path(__file__).parents[1]  # a wheel has the recipes in the package, a checkout beside it
    return package / "recipes" if (package / "recipes").is_dir() else package.parent / "recipes"
