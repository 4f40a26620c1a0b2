"""Rows → tables: the terminal's, and files in the paper's form as Markdown, LaTeX (booktabs) and CSV.

± is the sample standard deviation over seeds, with n − 1 in its denominator; the paper's own ± divides by n.
In the files bold is the highest mean on the test problems, ★ the arm that validation prefers under that
decoding, which need not be the same.
"""

import csv
import io
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
HEADINGS = ("greedy", "sampled", "over base", "over λ = 0", "steps", "before")  # of `arm_cells`
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
    if (baseline := summary.name(summary.baseline)) != "λ = 0":  # as a grid on another base loss calls it
        notes.append(f"λ = 0: {visible(baseline)}")
    if summary.own:
        notes += ["self: own right answers", "rft: those and the demonstrations"]
    console.print(" · ".join(notes), style="dim")


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
    """A table, written to a file, of one task and decoding; its CSV has a column for each of `seeds`."""

    rows: list[TableRow]
    seeds: list[int]
    chosen: Arm | None
    grid: str  # the base loss of the study's λ

    @property
    def note(self) -> str:
        row = self.rows[0]
        samples = "" if row.decoding == "greedy" else f", {row.n_samples} per problem"
        problems = counted(row.n_problems, "test problem")
        n_seeds = {row.n_seeds for row in self.rows if not row.arm.is_base} or {1}
        fewest = "" if len(n_seeds) == 1 else f"{min(n_seeds)} to "
        return (
            f"{one_line(row.task)}, {row.decoding}{samples}: Pass@1 on {problems}. "
            f"± is the sample standard deviation (n − 1) over {fewest}{counted(max(n_seeds), 'seed')}. "
            "Bold: highest mean on test. ★: preferred on validation."
        )

    def label(self, row: TableRow) -> str:
        """Return the name of a row's arm on one line, with a star if validation prefers it."""
        star = f" {STAR}" if row.arm == self.chosen else ""
        return one_line(row.arm.name(self.grid)) + star

    def is_best(self, row: TableRow) -> bool:
        """Return whether a row has the highest mean, ties included; the base model, not trained, never is."""
        means = [each.mean for each in self.rows if not each.arm.is_base]
        return not row.arm.is_base and row.mean > max(means) - 1e-9


def write_tables(summary: Summary, folder: Path) -> None:
    """Write the table of each task and decoding, as TASK-DECODING.md, .tex and .csv."""
    for task in summary.study.recipe.tasks:
        for decoding in DECODINGS:
            rows = [row for row in summary.rows if (row.task, row.decoding) == (task, decoding)]
            seeds, grid = list(summary.study.recipe.seeds), summary.study.recipe.base_loss
            sheet = Sheet(rows, seeds, preferred(summary, decoding), grid)
            for suffix, write in FORMATS.items() if rows else ():
                write_text(folder / f"{file_name(task)}-{decoding}.{suffix}", write(sheet))


def markdown(sheet: Sheet) -> str:
    """Write a pipe table and its note; the pipes of names are escaped."""
    lines = ["| arm | Pass@1 |", "| --- | ---: |"]
    for row in sheet.rows:
        bold = "**" if sheet.is_best(row) else ""
        name = sheet.label(row).replace("|", r"\|")
        lines.append(f"| {name} | {bold}{fixed(row.mean, 4)}{bold}{_with_sign(row.sd)} |")
    return "\n".join([*lines, "", sheet.note, ""])


def latex(sheet: Sheet) -> str:
    """Write a tabular for booktabs, to be \\input; the note is a comment above it, and names are escaped."""
    lines = [f"% {sheet.note}", r"\begin{tabular}{lc}", r"\toprule", r"arm & \textbf{Pass@1} \\", r"\midrule"]
    for row in sheet.rows:
        mean = fixed(row.mean, 4)
        mean = rf"\textbf{{{mean}}}" if sheet.is_best(row) else mean
        lines.append(rf"{_escaped(sheet.label(row))} & {mean}{_escaped(_with_sign(row.sd))} \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def comma_separated(sheet: Sheet) -> str:
    """Write CSV in full precision; an empty field is an unfinished seed, or the spread of a single seed."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    seeds = [f"seed_{seed}" for seed in sheet.seeds]
    writer.writerow(["arm", "lam", "method", *seeds, "mean", "sd_sample", "n_seeds", "chosen", "flexible"])
    for row in sheet.rows:
        arm = row.arm.as_json(sheet.grid) | {"lam": "base" if row.arm.is_base else f"{row.arm.lam:g}"}
        means = [row.mean, row.sd, row.n_seeds, int(row.arm == sheet.chosen), row.flexible]
        scores = [None if row.arm.is_base else row.seeds.get(seed) for seed in sheet.seeds]
        writer.writerow([*arm.values(), *scores, *means])
    return text.getvalue()


def _with_sign(sd: float | None) -> str:
    return "" if sd is None else f" ± {fixed(sd, 4)}"


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
    for heading in HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for arm in summary.arms(task):
        name = summary.name(arm)  # folded where it can be: 80 columns are few
        name = name.replace("-", "-\n").replace(":", ": ") if "-" in name else name
        is_preferred = arm in (preferred(summary, "greedy"), preferred(summary, "sampled"))
        table.add_row(name, *arm_cells(summary, task, arm), style="bold" if is_preferred else None)
    return table
