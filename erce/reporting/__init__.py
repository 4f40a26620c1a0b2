"""A study's folder, finished or not → the terminal's table, the files in RUNS/report/, and JSON."""

import re
from pathlib import Path
from textwrap import TextWrapper
from typing import Any

from rich.console import Console

from erce.files import write_json, write_text
from erce.recipe import as_settings
from erce.reporting.format import visible
from erce.reporting.numbers.gains import Summary, gain_as_json, summary
from erce.reporting.numbers.k_samples import sample_coverage
from erce.reporting.numbers.temperatures import temperature_sweep
from erce.reporting.numbers.verdict import preferences, preferred, to_take
from erce.reporting.pages.figures import accuracy, svg
from erce.reporting.pages.html import completions_page, document
from erce.reporting.pages.tables import print_tables, write_tables
from erce.reporting.words.cautions import cautions, faults, next_steps
from erce.reporting.words.sentences import sentences
from erce.study.folder import read_study

__all__ = ["report"]

BRIEF = ("greedy", "sampled")  # sentences that a terminal shows unless all are asked for
MOST_FAULTS = 3  # in a terminal, likewise
COMMAND = re.compile(r"`[^`]*`")  # which stays on one line


def report(
    root: str | Path, *, json: str | Path | None = None, out: str | Path | None = None, verbose: bool = False
) -> Path:
    """Report a study, finished or not; the same study gives the same bytes.

    Args:
        root: the study's folder.
        json: a file for every number of the report; None writes none.
        out: the folder for index.html, completions.html, accuracy.svg and tables/; None: `root`/report.
        verbose: print all sentences of the page, not the verdict, table and most important ones alone.

    Returns:
        The path of the page, index.html.
    """
    root = Path(root)
    study_summary = summary(read_study(root))
    out = Path(out) if out is not None else root / "report"
    write_tables(study_summary, out / "tables")
    if study_summary.arms(study_summary.task):
        write_text(out / "accuracy.svg", svg(accuracy(study_summary, study_summary.task)))
    write_text(out / "completions.html", completions_page(study_summary))
    write_text(out / "index.html", document(study_summary))
    if json is not None:
        write_json(Path(json), contents(study_summary))
    _print(study_summary, verbose=verbose)  # last: the pipe that it goes to may be closed
    return out / "index.html"


def contents(summary: Summary) -> dict[str, Any]:
    """Return every number of the report as plain values; None where there is none."""
    choice, coverage = summary.choice, sample_coverage(summary)
    by_lam = {} if choice is None else {repr(lam).removesuffix(".0"): at for lam, at in choice.scores.items()}
    sweep, grid = temperature_sweep(summary), summary.study.recipe.base_loss
    verdict, *_ = sentences(summary).values()
    use = to_take(summary)
    return {
        "verdict": {"sentence": verdict, "use": use and use.as_json(grid), "greedy": None, "sampled": None}
        | {decoding: found.as_json(grid) for decoding, found in preferences(summary).items()},
        "study": as_settings(summary.study.recipe),
        "chosen": None if choice is None else choice._asdict() | {"scores": by_lam},
        "interaction": [
            {"lam": choice and choice.lam, "decoding": decoding, **gain_as_json(gain)}
            for decoding, gain in summary.interaction.items()
        ],
        "temperatures": sweep and sweep.as_json(),
        "coverage": coverage and coverage.as_json(grid),
        "rows": [
            row.as_json(grid) | {"is_preferred": row.arm == preferred(summary, row.decoding)}
            for row in summary.rows
        ],
        "own": summary.own,
        "sentences": list(sentences(summary).values()),
        "cautions": cautions(summary),
        "next": next_steps(summary),
        "missing": [cell.name for cell in summary.study.missing],
    }


def _print(summary: Summary, *, verbose: bool) -> None:
    """Print the verdict, the tables, what they mean, what could be wrong and what to do next."""
    console = Console()
    verdict, *others = sentences(summary).items()
    console.print(visible(verdict[1]), style="bold", markup=False, highlight=False)
    print_tables(summary, console)
    for subject, text in others:
        if verbose or subject in BRIEF:
            console.print(f"\n{visible(text)}", markup=False, highlight=False)
    wrong = [caution.fault for caution in faults(summary)]
    shown = len(wrong) if verbose else MOST_FAULTS
    more = [f"{len(wrong) - shown} more on the page and with --verbose."] if len(wrong) > shown else []
    _print_list(console, "What could be wrong:", [*wrong[:shown], *more])
    _print_list(console, "What to do next:", next_steps(summary))
    console.print()


def _print_list(console: Console, heading: str, texts: list[str]) -> None:
    if texts:
        console.print(f"\n{heading}", style="bold")
    lines = TextWrapper(
        console.width, initial_indent="  · ", subsequent_indent="    ", break_on_hyphens=False
    )
    for text in texts:
        whole = COMMAND.sub(lambda command: command[0].replace(" ", "\u00a0"), visible(text))
        console.print(lines.fill(whole).replace("\u00a0", " "), markup=False, highlight=False, soft_wrap=True)
