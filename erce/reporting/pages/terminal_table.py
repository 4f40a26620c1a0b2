"""Rows → the terminal's table: the base model, every λ, other objectives, each with its gain."""

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from erce.catalog import is_own
from erce.reporting.format import (
    NOTHING,
    fixed,
    grouped,
    interval,
    p_value,
    percent,
    points,
    row_label,
    spread,
    visible,
)
from erce.reporting.numbers.gains import Summary
from erce.reporting.words.searched import seeds_note
from erce.types import Arm

STAR = "★"
NOTE = (
    f"±: sample standard deviation over seeds · {STAR}: chosen on validation · gain: over λ = 0; it and the "
    "columns to its right are of samples · p: test of no gain, corrected for all rows (Holm) · any form: % "
    "right if the form of the answer is ignored · none, cut: % without an answer and cut off · tokens, nats: "
    "mean length and entropy"
)
ANY_FORM = "any form"
BEFORE = "before"
HEADINGS = ("greedy", "sampled", "gain", "95 % interval", "p")
HEADINGS += (ANY_FORM, "none", "cut", "tokens", "nats", BEFORE)
WIDE_COLUMNS = 109  # of a terminal; narrower ones have no column for p


def print_tables(summary: Summary, console: Console) -> None:
    """Print a table for each task that has a finished cell: percentages, and gains in points."""
    for task in summary.study.recipe.tasks:
        if summary.arms(task):
            console.print(_table(summary, task, wide=console.width >= WIDE_COLUMNS))
    recipe = summary.study.recipe
    negative = " · λ < 0: confidence penalty" if min(recipe.lams) < 0 else ""
    named = " · by name: other objectives" if recipe.objectives else ""
    if named and not any(arm.lam for arm in recipe.other_arms):
        named += ", at λ = 0"
    if summary.own:
        named += " · rft, self: trained on own right answers, beside the given ones and alone"
        named += f" · {BEFORE}: tokens sampled before training" if console.width >= WIDE_COLUMNS else ""
    note = NOTE if summary.decoding == "sampled" else NOTE.replace("of samples", "of greedy completions")
    console.print(note + negative + named, style="dim")


def _table(summary: Summary, task: str, *, wide: bool) -> Table:
    role = ", the control" if task == summary.study.recipe.control else ""
    table = Table(
        title=Text(f"{visible(task)}{role}: right on the test problems, in %"),
        box=box.SIMPLE_HEAD,
        title_style="bold",
        title_justify="left",
        padding=(0, 1 if wide else 0),
    )
    table.add_column("λ", overflow="fold")
    headings = _headings(summary, task, wide=wide)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for arm in summary.arms(task):
        chosen = arm == summary.chosen
        name = "base" if arm.is_base else row_label(arm, summary.baseline)
        if note := seeds_note(summary, task, arm):
            name = f"{name} ({note})"
        if not wide:
            name = name.replace(", λ = ", " +\N{NO-BREAK SPACE}")
            name = name.replace("-", "-\n").replace(":", ": ") if "-" in name else name
        table.add_row(
            f"{name} {STAR}" if chosen else name,
            *(cell for name, cell in _cells(summary, task, arm).items() if name in headings),
            style="bold" if chosen else None,
        )
    return table


def score_cells(summary: Summary, task: str, arm: Arm) -> list[str]:
    """Return an arm's accuracies, greedy and sampled, then its gain, the gain's interval and p after Holm."""
    greedy, sampled = (summary.row(task, arm, decoding) for decoding in ("greedy", "sampled"))
    accuracies = [spread(row.mean, row.sd) if row else NOTHING for row in (greedy, sampled)]
    arm_gain = summary.gain(task, arm, summary.decoding)
    if arm_gain is None or arm == summary.baseline:
        return [*accuracies, NOTHING, NOTHING, NOTHING]
    return [*accuracies, points(arm_gain.gain.gain), interval(arm_gain.gain), p_value(arm_gain.p_holm)]


def _headings(summary: Summary, task: str, *, wide: bool) -> list[str]:
    """Return the columns: p and "before" in a wide terminal, "any form" where the task's verifier tells."""
    left_out = set() if wide else {"p", BEFORE}
    if not summary.own:
        left_out.add(BEFORE)
    if all(row.flexible is None for row in summary.rows if row.task == task):
        left_out.add(ANY_FORM)
    return [heading for heading in HEADINGS if heading not in left_out]


def _cells(summary: Summary, task: str, arm: Arm) -> dict[str, str]:
    """Return heading → cell of an arm's row."""
    row = summary.row(task, arm, summary.decoding)
    unknown = 0.0 if summary.study.verifiers else None  # only our verifiers say each of these reasons
    none = None if is_own(task) else unknown  # a user's function may not tell
    further = (
        percent(row.flexible if row else None),
        percent(row.reasons.get("no answer", none) if row else None),
        percent(row.reasons.get("truncated", unknown) if row else None),
        fixed(row.tokens if row else None, 1),
        fixed(row.entropy if row else None, 3),
        grouped(row.sampled_before if row else None),
    )
    return dict(zip(HEADINGS, (*score_cells(summary, task, arm), *further), strict=True))
