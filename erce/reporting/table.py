"""Rows → the terminal's table: the base model first, then every λ, with the gain that its samples show."""

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from erce.reporting.format import NOTHING, fixed, interval, percent, points, spread, strength
from erce.reporting.gains import Summary

STAR = "★"
NOTE = (
    f"± sample standard deviation over seeds · {STAR} chosen on validation · gain over λ = 0 and all on its "
    "right: of samples · none, cut: % without an answer and cut off · tokens, nats: mean length and entropy"
)
COMFORTABLE = 92  # columns of a terminal


def print_tables(summary: Summary, console: Console) -> None:
    """One table a task that has a finished cell; percentages, and gains in points."""
    for task in summary.study.recipe.tasks:
        if summary.lams(task):
            console.print(_table(summary, task, wide=console.width >= COMFORTABLE))
    console.print(NOTE, style="dim")


def _table(summary: Summary, task: str, *, wide: bool) -> Table:
    role = ", the control" if task == summary.study.recipe.control else ""
    table = Table(
        title=Text(f"{task}{role}: right on the test problems, in %"),
        box=box.SIMPLE_HEAD,
        title_style="bold",
        title_justify="left",
        padding=(0, 1 if wide else 0),
    )
    table.add_column("λ", no_wrap=True)
    for heading in ("greedy", "sampled", "gain", "95 % interval", "none", "cut", "tokens", "nats"):
        table.add_column(heading, justify="right", no_wrap=True)
    for lam in summary.lams(task):
        chosen = lam is not None and lam == summary.lam
        table.add_row(*_cells(summary, task, lam, STAR if chosen else ""), style="bold" if chosen else None)
    return table


def _cells(summary: Summary, task: str, lam: float | None, mark: str) -> list[str]:
    greedy, sampled = (summary.row(task, lam, decoding) for decoding in ("greedy", "sampled"))
    assert greedy is not None
    assert sampled is not None
    gain = summary.gain(task, lam, "sampled")
    compared = gain is not None and gain["gain"] is not None and lam != 0
    return [
        f"{'base' if lam is None else strength(lam)} {mark}".rstrip(),
        spread(greedy.mean, greedy.sd),
        spread(sampled.mean, sampled.sd),
        points(gain["gain"]) if gain and compared else NOTHING,
        interval(gain["ci"]) if gain and compared else NOTHING,
        percent(sampled.reasons.get("no answer", 0.0)),
        percent(sampled.reasons.get("truncated", 0.0)),
        fixed(sampled.tokens, 1),
        fixed(sampled.entropy, 3),
    ]
