"""Rows → the terminal's table: the base model, every λ, other objectives, with the gain of their samples."""

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from erce.reporting.format import (
    NOTHING,
    fixed,
    interval,
    p_value,
    percent,
    points,
    spread,
    visible,
)
from erce.reporting.gains import Summary
from erce.reporting.searched import seeds_note
from erce.types import Arm

STAR = "★"
NOTE = (
    f"± sample standard deviation over seeds · {STAR} chosen on validation · gain over λ = 0 and all on its "
    "right: of samples · p: of no gain, Holm's for all rows of the table · none, cut: % without an answer "
    "and cut off · tokens, nats: mean length and entropy"
)
HEADINGS = ("greedy", "sampled", "gain", "95 % interval", "p", "none", "cut", "tokens", "nats")
COMFORTABLE = 99  # columns of a terminal


def print_tables(summary: Summary, console: Console) -> None:
    """One table a task that has a finished cell; percentages, and gains in points."""
    for task in summary.study.recipe.tasks:
        if summary.arms(task):
            console.print(_table(summary, task, wide=console.width >= COMFORTABLE))
    recipe = summary.study.recipe
    negative = " · λ < 0: confidence penalty" if min(recipe.lams) < 0 else ""
    named = " · by name: other objectives, at λ = 0" if recipe.objectives else ""
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
    for heading in HEADINGS if wide else [each for each in HEADINGS if each != "p"]:
        table.add_column(heading, justify="right", no_wrap=True)
    for arm in summary.arms(task):
        chosen = arm == summary.chosen
        name = "base" if arm.is_base else arm.short_label
        if note := seeds_note(summary, task, arm):
            name = f"{name} ({note})"
        if not wide and "-" in name:
            name = name.replace("-", "-\n").replace(":", ": ")
        table.add_row(
            f"{name} {STAR}" if chosen else name,
            *_cells(summary, task, arm, wide=wide),
            style="bold" if chosen else None,
        )
    return table


def _cells(summary: Summary, task: str, arm: Arm, *, wide: bool) -> list[str]:
    greedy, sampled = (summary.row(task, arm, decoding) for decoding in ("greedy", "sampled"))
    drawn = summary.row(task, arm, summary.decoding)
    gain = summary.gain(task, arm, summary.decoding)
    unknown = None if summary.study.recipe.imported else 0.0  # a log may not tell these apart
    compared = gain is not None and gain["gain"] is not None and not arm.is_baseline
    return [
        spread(greedy.mean, greedy.sd) if greedy else NOTHING,
        spread(sampled.mean, sampled.sd) if sampled else NOTHING,
        points(gain["gain"]) if gain and compared else NOTHING,
        interval(gain["ci"]) if gain and compared else NOTHING,
        *([p_value(gain["p_holm"]) if gain and compared else NOTHING] if wide else []),
        percent(drawn.reasons.get("no answer", unknown) if drawn else None),
        percent(drawn.reasons.get("truncated", unknown) if drawn else None),
        fixed(drawn.tokens if drawn else None, 1),
        fixed(drawn.entropy if drawn else None, 3),
    ]
