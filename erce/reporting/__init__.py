"""A study's folder, finished or not → the terminal's table, the files in RUNS/report/, and JSON."""

from pathlib import Path
from typing import Any, Protocol

from rich.console import Console

from erce.files import write_json, write_text
from erce.recipe import as_settings
from erce.reporting.format import visible
from erce.reporting.numbers.changes import problem_changes
from erce.reporting.numbers.frontier import temperature_frontier
from erce.reporting.numbers.gains import Summary, gain_as_json, summary
from erce.reporting.numbers.inference import inference
from erce.reporting.numbers.k_samples import all_samples, sample_coverage
from erce.reporting.pages.figures import accuracy, save
from erce.reporting.pages.html import document
from erce.reporting.pages.latex import write_tables
from erce.reporting.pages.terminal import print_tables
from erce.reporting.words.cautions import cautions
from erce.reporting.words.sentences import sentences
from erce.reporting.words.whole_grid import grid_sentences
from erce.study.folder import read_study

__all__ = ["report"]


def report(root: str | Path, *, json: str | Path | None = None, out: str | Path | None = None) -> Path:
    """Report the study in `root`; return the path of the page, RUNS/report/index.html.

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
    """Return every number of the report as plain values; None where there is none."""
    choice = found.choice
    return {
        "study": as_settings(found.study.recipe),
        "gains": found.gains_as_json(),
        "chosen": None if choice is None else choice._asdict() | {"scores": _by_lam(choice.scores)},
        "search": found.study.search,
        "interaction": [
            {"lam": found.lam, "decoding": decoding, **gain_as_json(gain)}
            for decoding, gain in found.interaction.items()
        ],
        "inference": _as_json(inference(found)),
        "several": _as_json(all_samples(found)),
        "frontier": _as_json(temperature_frontier(found)),
        "coverage": _as_json(sample_coverage(found)),
        "changes": _as_json(problem_changes(found)),
        "base": [row.as_json() for row in found.rows if row.arm.is_base],
        "rows": [row.as_json() for row in found.rows if not row.arm.is_base],
        "sentences": list(sentences(found).values()),
        "cautions": cautions(found),
        "missing": [cell.name for cell in found.study.missing],
    }


def _by_lam(scores: dict[float, float]) -> dict[str, float]:
    """Write each λ as tables do, and in full where six digits would make it another number."""
    return {f"{lam:g}" if float(f"{lam:g}") == lam else repr(lam): score for lam, score in scores.items()}


class _Part(Protocol):
    def as_json(self) -> dict[str, Any]: ...


def _as_json(part: _Part | None) -> dict[str, Any] | None:
    return None if part is None else part.as_json()


def _print(found: Summary) -> None:
    """Print the tables, then sentences: what was found first, what could be wrong last."""
    console = Console()
    print_tables(found, console)
    for text in (*sentences(found).values(), *grid_sentences(inference(found))):
        console.print(f"\n{visible(text)}", markup=False, highlight=False)
    if warned := cautions(found):
        console.print("\nWhat could be wrong:", style="bold")
        for text in warned:
            console.print(f"  · {visible(text)}", markup=False, highlight=False)
    console.print()
