"""The last stages of a cell: completions → verdicts → scores; and the version of what verified them.

A verifier's version changes with erce's, with its own file and with the files of `erce.verify` that it
imports, not with other modules of a user or with packages. Finished cells of another version are verified
again; their completions stay.
"""

import ast
import hashlib
import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import erce.verify
from erce import events
from erce.catalog import is_own
from erce.files import write_json
from erce.recipe import Cell, Recipe
from erce.score import summarize
from erce.study.folder import CELL, RESULT, cell_folder, is_done, verifiers_of
from erce.study.provenance import digest_of, read_origin
from erce.study.samples import VERDICTS, SampleSet, VerifiedSample, read_completions, write_verdicts
from erce.study.sampling import sampled_problems
from erce.tasks import load_task
from erce.tasks.verdicts import verdict
from erce.types import Splits

TASK_FILE = "task_file"  # in cell.json
VERIFIERS = "erce.verify"
Equal = Callable[[str, str], bool]  # whether two extracted answers are one vote


def verify_completions(folder: Path, cell: Cell, problems: Splits) -> None:
    """Write a verdict for every completion, and into cell.json the verifier's version."""
    task = load_task(cell.task)
    write_verifier(folder, task.verify, task=cell.task)
    by_id = {problem.id: problem for some in sampled_problems(cell, problems).values() for problem in some}
    completions = [
        (place, completion) for place, some in read_completions(folder).items() for completion in some
    ]
    verified = []
    events.begin("verification", len(completions))
    for sample_set, completion in completions:
        by_task = verdict(task, by_id[completion.problem], completion)
        verified.append(VerifiedSample(sample_set, completion, by_task))
        events.advance(1)
    write_verdicts(folder, verified)


def drop_outdated(root: Path, recipe: Recipe, cells: Sequence[Cell]) -> list[Cell]:
    """Delete verdicts and result of finished cells with another verifier's version; return these cells."""
    done = [cell for cell in cells if is_done(root, recipe, cell)]
    versions = verifiers_of(root, recipe, done)
    present = {task: verifier_version(load_task(task).verify) for task in {cell.task for cell in versions}}
    outdated = [cell for cell, verifier in versions.items() if verifier != present[cell.task]]
    for cell in outdated:
        for name in (VERDICTS, RESULT):  # killed in between, the missing verdicts show
            (cell_folder(root, recipe, cell) / name).unlink(missing_ok=True)
    return outdated


def score(samples: Iterable[VerifiedSample], *, equal: Equal | None) -> dict[str, dict[str, Any]]:
    """Return split → decoding → what `erce.score.summarize` returns; `equal` joins the votes of maj@k."""
    by_set: dict[SampleSet, list[VerifiedSample]] = {}
    for sample in samples:
        by_set.setdefault(sample.sample_set, []).append(sample)
    scored: dict[str, dict[str, Any]] = {}
    for (split, decoding), verified in by_set.items():
        completions = [sample.completion for sample in verified]
        verdicts = [sample.verdict for sample in verified]
        scored.setdefault(split, {})[decoding] = summarize(completions, verdicts, equal=equal)
    return scored


def write_verifier(folder: Path, verify: Callable[..., Any], *, task: str) -> None:
    """Add to cell.json the verifier's version and, of a user's task, the digest of its file."""
    verifier = {"verifier": verifier_version(verify), TASK_FILE: task_file_digest(task)}
    write_json(folder / CELL, read_origin(folder) | verifier)


def task_file_digest(name: str) -> str | None:
    """Return 16 hex digits of the file in which a user's task "module:NAME" is; None if it is not there.

    The file is looked for where Python would, and not imported, so that a report runs nobody's code.
    """
    relative = Path(*name.partition(":")[0].split(".")).with_suffix(".py")
    paths = (Path(folder) / relative for folder in ("", *sys.path)) if is_own(name) else ()
    file = next((path for path in paths if path.is_file()), None)
    return None if file is None else hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def verifier_version(verify: Callable[..., Any]) -> str:
    """Return erce's version and 16 hex digits of the sources that `verify` runs.

    Two versions are equal where the same code verifies; the packages beneath have theirs in result.json.
    """
    files = _all_files(_files_of(verify), Path(erce.verify.__path__[0]))
    sources = sorted(hashlib.sha256(path.read_bytes()).hexdigest() for path in files)
    return f"{version('erce')}+{digest_of(sources)}"


def _files_of(function: Callable[..., Any]) -> frozenset[Path]:
    """Return the file that a function is in; of a partial, that of every function it is made of."""
    if isinstance(function, partial):
        parts = (function.func, *filter(callable, (*function.args, *function.keywords.values())))
        return frozenset().union(*map(_files_of, parts))
    path = inspect.getsourcefile(function if inspect.isroutine(function) else type(function))
    return frozenset({Path(path)} if path else ())


@lru_cache(maxsize=32)
def _all_files(files: frozenset[Path], root: Path) -> set[Path]:
    """Return the files and those of `erce.verify`, which is in `root`, that they import, directly or not."""
    known: set[Path] = set()
    waiting = set(files)
    while waiting:
        known |= waiting
        waiting = set().union(*(_imported_verifiers(file, root) for file in waiting)) - known
    return known


def _imported_verifiers(file: Path, root: Path) -> set[Path]:
    """Return the files of the modules of `erce.verify` that a file imports; a package counts whole.

    An import of `erce` or `erce.verify` itself may reach every verifier.
    """
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    imported: set[Path] = set()
    for name in names:
        if name in ("erce", VERIFIERS):
            imported |= {*root.rglob("*.py")}
        elif name.startswith(f"{VERIFIERS}."):
            path = root.joinpath(*name.split(".")[2:])
            imported |= {*path.rglob("*.py")} if path.is_dir() else {path.with_suffix(".py")}
    return imported
