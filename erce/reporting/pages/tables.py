"""Rows → tables: the terminal's, and files in the paper's form as Markdown, LaTeX (booktabs) and CSV.

± is the sample standard deviation over seeds, with n − 1 in its denominator; the paper's own ± divides by n.
In the files bold is the highest mean on the test problems, ★ the arm that validation prefers under that
decoding, which need not be the same.
"""

import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from erce.errors import counted
from erce.files import write_text
from erce.reporting.format import (
    MINUS,
    NOTHING,
    file_name,
    fixed,
    grouped,
    interval,
    one_line,
    spread,
    visible,
)
from erce.reporting.numbers.gains import DECODINGS, Summary, TableRow
from erce.reporting.numbers.verdict import gains, preferred
from erce.types import Arm

STAR = "★"
NOTES = (  # of at most six words each
    "±: standard deviation over seeds",
    f"{STAR}: preferred on validation",
    "over: the gain's interval, {completions}",
    "before: tokens sampled before training",
)
HEADINGS = ("greedy", "sampled", "over base", "over {baseline}", "steps", "before")
LATEX = {character: rf"\{character}" for character in "_&%#${}"} | {  # what LaTeX would not print as it is
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "λ": r"$\lambda$",
    "±": r"$\pm$",
    STAR: r"$^{\star}$",
    MINUS: "$-$",
    NOTHING: "--",
}


def print_tables(summary: Summary, console: Console) -> None:
    """Print a table for each task that has a finished cell: percentages, and gains in points."""
    for task in summary.study.recipe.tasks:
        if summary.arms(task):
            console.print(_terminal_table(summary, task))
    completions = "samples" if summary.decoding == "sampled" else "greedy completions"
    notes = [note.format(completions=completions) for note in NOTES]
    if summary.own:
        notes += ["self: own right answers", "rft: those and the demonstrations"]
    console.print(" · ".join(notes), style="dim")


def headings(summary: Summary) -> list[str]:
    """Return the headings of `arm_cells`."""
    return [heading.format(baseline=summary.name(summary.baseline)) for heading in HEADINGS]


def arm_cells(summary: Summary, task: str, arm: Arm) -> list[str]:
    """Return an arm's accuracies in %, with a star or a space, the intervals of its gains, and its cost."""
    cells = []
    for decoding in ("greedy", "sampled"):
        row = summary.row(task, arm, decoding)
        star = STAR if arm == preferred(summary, decoding) else " "
        cells.append((spread(row.mean, row.sd) if row else NOTHING) + star)
    row = summary.row(task, arm, summary.decoding)
    if row is None:
        return [*cells, *[NOTHING] * (len(HEADINGS) - 2)]
    over_base, over_zero = gains(summary, row)
    return [*cells, interval(over_base), interval(over_zero), grouped(row.steps), grouped(row.sampled_before)]


@dataclass(frozen=True)
class Sheet:
    """A table of one task and decoding, to be written to a file; `seeds` are its columns of single seeds."""

    rows: list[TableRow]
    seeds: list[int]  # none in the short form
    chosen: Arm | None
    grid: str  # the objective of the study's λ

    @property
    def note(self) -> str:
        row = max(self.rows, key=lambda row: row.n_seeds)
        samples = "" if row.decoding == "greedy" else f", {row.n_samples} per problem"
        problems = counted(row.n_problems, "test problem")
        return (
            f"{one_line(row.task)}, {row.decoding}{samples}: Pass@1 on {problems}. "
            f"± is the sample standard deviation (n − 1) over {counted(row.n_seeds, 'seed')}. "
            "Bold: highest mean on test. ★: preferred on validation."
        )

    @property
    def headings(self) -> list[str]:
        return [*(f"Seed {seed}" for seed in self.seeds), "Mean", "Std. Dev."] if self.seeds else ["Pass@1"]

    def label(self, row: TableRow) -> str:
        """Return the name of a row's arm on one line, with a star if validation prefers it."""
        star = f" {STAR}" if row.arm == self.chosen else ""
        return one_line(row.arm.name(self.grid)) + star

    def cells(self, row: TableRow) -> list[str]:
        """Return a row's cells after the label, the best mean in Markdown's bold, ties as well.

        The base model is not trained: it has no seeds and is never the best.
        """
        best = max((each.mean for each in self.rows if not each.arm.is_base), default=None)
        mean = fixed(row.mean, 4)
        if row.mean == best and not row.arm.is_base:
            mean = f"**{mean}**"
        sd = "" if row.sd is None else f"± {fixed(row.sd, 4)}"
        if not self.seeds:
            return [f"{mean} {sd}".rstrip()]
        return [*(fixed(score, 4) for score in self.scores(row)), mean, sd or NOTHING]

    def scores(self, row: TableRow) -> list[float | None]:
        """Return the score of each seed; None for an unfinished seed, and throughout for the base model."""
        return [None if row.arm.is_base else row.seeds.get(seed) for seed in self.seeds]


def write_tables(summary: Summary, folder: Path) -> None:
    """Write TASK-DECODING-summary and TASK-DECODING-seeds, each as .md, .tex and .csv."""
    for task in summary.study.recipe.tasks:
        for decoding in DECODINGS:
            rows = [row for row in summary.rows if (row.task, row.decoding) == (task, decoding)]
            if not rows:
                continue
            for kind, seeds in (("summary", []), ("seeds", list(summary.study.recipe.seeds))):
                sheet = Sheet(rows, seeds, preferred(summary, decoding), summary.study.recipe.objective)
                for suffix, write in FORMATS.items():
                    write_text(folder / f"{file_name(task)}-{decoding}-{kind}.{suffix}", write(sheet))


def markdown(sheet: Sheet) -> str:
    """Write a pipe table and its note; the pipes of names are escaped."""
    lines = [["arm", *sheet.headings], ["---", *["---:"] * len(sheet.headings)]]
    lines += [[sheet.label(row).replace("|", r"\|"), *sheet.cells(row)] for row in sheet.rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + f"\n\n{sheet.note}\n"


def latex(sheet: Sheet) -> str:
    """Write a tabular for booktabs, to be \\input; the note is a comment above it, and names are escaped."""
    headings = ["arm", *(rf"\textbf{{{heading}}}" for heading in sheet.headings)]
    lines = [
        f"% {sheet.note}",
        rf"\begin{{tabular}}{{l{'c' * len(sheet.headings)}}}",
        r"\toprule",
        " & ".join(headings) + r" \\",
        r"\midrule",
    ]
    for row in sheet.rows:
        cells = [re.sub(r"\*\*(.*)\*\*", r"\\textbf{\1}", _escaped(cell)) for cell in sheet.cells(row)]
        lines.append(" & ".join([_escaped(sheet.label(row)), *cells]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def comma_separated(sheet: Sheet) -> str:
    """Write CSV in full precision; an empty field is an unfinished seed, or the spread of a single seed."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    seeds = [f"seed_{seed}" for seed in sheet.seeds]
    writer.writerow(["arm", "lam", "objective", *seeds, "mean", "sd_sample", "n_seeds", "chosen", "flexible"])
    for row in sheet.rows:
        arm = row.arm.as_json(sheet.grid) | {"lam": "base" if row.arm.is_base else f"{row.arm.lam:g}"}
        means = [row.mean, row.sd, row.n_seeds, int(row.arm == sheet.chosen), row.flexible]
        writer.writerow([*arm.values(), *sheet.scores(row), *means])
    return text.getvalue()


FORMATS = {"md": markdown, "tex": latex, "csv": comma_separated}


def _escaped(text: str) -> str:
    """Escape a text, so that LaTeX prints it and does not run it."""
    return "".join(LATEX.get(character, character) for character in text.replace(f" {STAR}", STAR))


def _terminal_table(summary: Summary, task: str) -> Table:
    role = ", the control" if task == summary.study.recipe.control else ""
    table = Table(
        title=Text(f"{visible(task)}{role}: right on the test problems, in %"),
        box=box.SIMPLE_HEAD,
        title_style="bold",
        title_justify="left",
        padding=0,
    )
    table.add_column("arm", overflow="fold")
    for heading in headings(summary):
        table.add_column(visible(heading), justify="right", no_wrap=True)
    for arm in summary.arms(task):
        name = summary.name(arm)  # folded where it can be: 80 columns are few
        name = name.replace("-", "-\n").replace(":", ": ") if "-" in name else name
        is_preferred = arm in (preferred(summary, "greedy"), preferred(summary, "sampled"))
        table.add_row(name, *arm_cells(summary, task, arm), style="bold" if is_preferred else None)
    return table
