"""Rows → tables as files, in the paper's form: mean ± spread for every arm, and every seed of every arm.

Each is written as Markdown, LaTeX (booktabs) and CSV. ± is the sample standard deviation over seeds, with
n − 1 in its denominator; the paper's own ± divides by n. Bold is the highest mean on the test problems, ★ the
λ that was chosen on validation, which need not be the same.
"""

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from erce.errors import counted
from erce.files import write_text
from erce.reporting.format import MINUS, NOTHING, file_name, fixed, known_as, one_line, row_label
from erce.reporting.numbers.gains import DECODINGS, Summary, TableRow
from erce.types import BASELINE, Arm


@dataclass(frozen=True)
class Sheet:
    """The rows of one table; `seeds` are its columns of single seeds, none in the short form."""

    rows: list[TableRow]
    seeds: list[int]
    chosen: Arm | None
    baseline: Arm = BASELINE

    @property
    def best(self) -> float:
        """The highest mean of a trained arm; ties are all bold."""
        return max((row.mean for row in self.rows if not row.arm.is_base), default=float("nan"))

    @property
    def note(self) -> str:
        row = max(self.rows, key=lambda row: row.n_seeds)
        drawn = "" if row.decoding == "greedy" else f", {row.n_samples} a problem"
        problems = counted(row.n_problems, "test problem")
        return (
            f"{one_line(row.task)}, {row.decoding}{drawn}: Pass@1 on {problems}. "
            f"± is the sample standard deviation (n − 1) over {counted(row.n_seeds, 'seed')}. "
            "Bold: highest mean on test. ★: chosen on validation."
        )


def write_tables(summary: Summary, folder: Path) -> None:
    """Write TASK-DECODING-summary and TASK-DECODING-seeds, each as .md, .tex and .csv."""
    for task in summary.study.recipe.tasks:
        for decoding in DECODINGS:
            rows = [row for row in summary.rows if (row.task, row.decoding) == (task, decoding)]
            if not rows:
                continue
            for kind, seeds in (("summary", []), ("seeds", list(summary.study.recipe.seeds))):
                sheet = Sheet(rows, seeds, summary.chosen, summary.baseline)
                for suffix, write in FORMATS.items():
                    write_text(folder / f"{file_name(task)}-{decoding}-{kind}.{suffix}", write(sheet))


def markdown(sheet: Sheet) -> str:
    """Write a pipe table and its note; names stay on one line, and their pipes are escaped."""
    headings = ["λ", *_headings(sheet)]
    lines = [_pipes(headings), _pipes(["---"] + ["---:"] * (len(headings) - 1))]
    for row in sheet.rows:
        label = one_line(row_label(row.arm, sheet.baseline)).replace("|", r"\|") + _other_name(sheet, row)
        mean = fixed(row.mean, 4)
        cells = _cells(sheet, row, mean=f"**{mean}**" if _is_best(sheet, row) else mean, pm="±")
        lines.append(_pipes([label + (" ★" if _is_chosen(sheet, row) else ""), *cells]))
    return "\n".join([*lines, "", sheet.note, ""])


def latex(sheet: Sheet) -> str:
    """Write a tabular for booktabs, to be \\input; the note is a comment above it."""
    headings = [r"$\lambda$", *(rf"\textbf{{{heading}}}" for heading in _headings(sheet))]
    lines = [
        f"% {sheet.note}",
        rf"\begin{{tabular}}{{l{'c' * (len(headings) - 1)}}}",
        r"\toprule",
        " & ".join(headings) + r" \\",
        r"\midrule",
    ]
    for row in sheet.rows:
        mean = fixed(row.mean, 4)
        cells = _cells(sheet, row, mean=rf"\textbf{{{mean}}}" if _is_best(sheet, row) else mean, pm=r"$\pm$")
        lines.append(" & ".join([_latex_label(sheet, row), *cells]) + r" \\")
    return (
        "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""]).replace(MINUS, "$-$").replace(NOTHING, "--")
    )


def comma_separated(sheet: Sheet) -> str:
    """Write CSV in full precision; an empty field is an unfinished seed, or the spread of a single seed."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    seeds = [f"seed_{seed}" for seed in sheet.seeds]
    writer.writerow(["lam", "objective", *seeds, "mean", "sd_sample", "n_seeds", "chosen", "flexible"])
    for row in sheet.rows:
        scores = [row.seeds.get(seed) if not row.arm.is_base else None for seed in sheet.seeds]
        lam = "base" if row.arm.is_base else f"{row.arm.lam:g}"
        counts = [row.n_seeds, int(_is_chosen(sheet, row))]
        means = [row.mean, row.sd, *counts, row.flexible]
        writer.writerow([lam, row.arm.as_json()["objective"], *scores, *means])
    return text.getvalue()


SPECIAL = {character: rf"\{character}" for character in "_&%#${}"} | {  # what LaTeX reads as a command
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "λ": r"$\lambda$",
}
FORMATS = {"md": markdown, "tex": latex, "csv": comma_separated}


def _headings(sheet: Sheet) -> list[str]:
    if not sheet.seeds:
        return ["Pass@1"]
    return [*(f"Seed {seed}" for seed in sheet.seeds), "Mean", "Std. Dev."]


def _cells(sheet: Sheet, row: TableRow, *, mean: str, pm: str) -> list[str]:
    """Return a row's cells after the label; the base model is not trained and has no seeds."""
    sd = "" if row.sd is None else f"{pm} {fixed(row.sd, 4)}"
    if not sheet.seeds:
        return [f"{mean} {sd}".rstrip()]
    scores = [row.seeds.get(seed) if not row.arm.is_base else None for seed in sheet.seeds]
    return [*(NOTHING if score is None else fixed(score, 4) for score in scores), mean, sd or NOTHING]


def _is_best(sheet: Sheet, row: TableRow) -> bool:
    return not row.arm.is_base and row.mean == sheet.best


def _is_chosen(sheet: Sheet, row: TableRow) -> bool:
    return row.arm == sheet.chosen


def _latex_label(sheet: Sheet, row: TableRow) -> str:
    if row.arm.is_base:
        return "Base model"
    star = r"$^{\star}$" if _is_chosen(sheet, row) else ""
    if row.arm.has_other_objective or sheet.baseline.has_other_objective:
        return _escaped(one_line(row_label(row.arm, sheet.baseline))) + star
    return f"${row.arm.lam:g}${star}{_other_name(sheet, row)}"


def _other_name(sheet: Sheet, row: TableRow) -> str:
    name = known_as(row.arm, sheet.baseline)
    return f" ({name})" if name else ""


def _escaped(name: str) -> str:
    """Escape a name, so that LaTeX prints it and does not run it."""
    return "".join(SPECIAL.get(character, character) for character in name)


def _pipes(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
