"""A study's folder, finished or not → the terminal's table, the files in RUNS/report/, and JSON."""

from pathlib import Path
from typing import Any

from rich.console import Console

from erce.files import write_json, write_text
from erce.recipe import as_settings
from erce.reporting.cautions import cautions
from erce.reporting.changes import Changes, problem_changes
from erce.reporting.coverage import Coverage, sample_coverage
from erce.reporting.document import document
from erce.reporting.figure import accuracy, save
from erce.reporting.format import visible
from erce.reporting.frontier import Frontier, temperature_frontier
from erce.reporting.gains import Summary, as_json, summary
from erce.reporting.inference import Inference, grid_sentences, inference
from erce.reporting.latex import write_tables
from erce.reporting.sentences import sentences
from erce.reporting.several import several
from erce.reporting.table import print_tables
from erce.study.folder import read_study

__all__ = ["report"]


def report(root: str | Path, *, json: str | Path | None = None, out: str | Path | None = None) -> Path:
    """The report of the study in `root`; its path, RUNS/report/index.html.

    Prints the table and what it means. Writes index.html, accuracy.svg and tables/ into `out` (RUNS/report),
    and every number into the file `json`. The same study gives the same bytes.
    """
    root = Path(root)
    found = summary(read_study(root))
    out = Path(out) if out is not None else root / "report"
    _print(found)
    tasks = [task for task in found.study.recipe.tasks if found.arms(task)]
    write_tables(found, out / "tables")
    if tasks:
        save(accuracy(found, tasks), out / "accuracy.svg")
    write_text(out / "index.html", document(found))
    if json is not None:
        write_json(Path(json), contents(found))
    return out / "index.html"


def contents(found: Summary) -> dict[str, Any]:
    """Every number of the report as plain values; None where there is none."""
    choice = found.choice
    return {
        "study": as_settings(found.study.recipe),
        "gains": found.gains,
        "chosen": None if choice is None else choice._asdict() | {"scores": _by_lam(choice.scores)},
        "search": found.study.search,
        "interaction": found.interaction,
        "inference": _plain(inference(found)),
        "several": several(found),
        "frontier": _plain(temperature_frontier(found)),
        "coverage": _plain(sample_coverage(found)),
        "changes": _plain(problem_changes(found)),
        "base": [as_json(row) for row in found.rows if row.arm.is_base],
        "rows": [as_json(row) for row in found.rows if not row.arm.is_base],
        "sentences": list(sentences(found).values()),
        "cautions": cautions(found),
        "missing": [cell.name for cell in found.study.missing],
    }


def _by_lam(scores: dict[float, float]) -> dict[str, float]:
    """Keys as tables write λ, and in full where that would be another number."""
    return {f"{lam:g}" if float(f"{lam:g}") == lam else repr(lam): score for lam, score in scores.items()}


def _plain(part: Frontier | Coverage | Changes | Inference | None) -> dict[str, Any] | None:
    return None if part is None else part.as_json()


def _print(found: Summary) -> None:
    """Tables, then sentences: what was found first, what could be wrong last."""
    console = Console()
    print_tables(found, console)
    for text in (*sentences(found).values(), *grid_sentences(inference(found))):
        console.print(f"\n{visible(text)}", markup=False, highlight=False)
    if warned := cautions(found):
        console.print("\nWhat could be wrong:", style="bold")
        for text in warned:
            console.print(f"  · {visible(text)}", markup=False, highlight=False)
    console.print()
