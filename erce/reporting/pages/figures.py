"""Numbers → figures, and SVG that is the same byte for byte.

Every colour is one of `PALETTE`, so that the document can put its own light and dark colours in their place;
lines and markers differ in form as well, for readers and printers without colour.
"""

import io
import re
from collections.abc import Mapping
from html import escape
from itertools import accumulate, groupby
from typing import Any

import matplotlib
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from erce.reporting.format import MINUS, row_label, strength, visible
from erce.reporting.numbers.completions import Changes
from erce.reporting.numbers.gains import DECODINGS, Summary, TableRow
from erce.reporting.numbers.temperatures import TemperatureSweep
from erce.types import BASE_MODEL, CROSS_ENTROPY, Arm

NEUTRAL = {"ink": "#26231f", "muted": "#7d756a", "rule": "#e2dcd1", "panel": "#fffefb"}
DASHED, DOTTED = (0, (5, 3)), (0, (1, 2))
SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "erce",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.edgecolor": NEUTRAL["muted"],
    "axes.labelcolor": NEUTRAL["ink"],
    "axes.titlesize": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": NEUTRAL["panel"],
    "figure.facecolor": NEUTRAL["panel"],
    "savefig.facecolor": NEUTRAL["panel"],
    "grid.color": NEUTRAL["rule"],
    "text.color": NEUTRAL["ink"],
    "xtick.color": NEUTRAL["muted"],
    "ytick.color": NEUTRAL["muted"],
    "xtick.labelcolor": NEUTRAL["ink"],
    "ytick.labelcolor": NEUTRAL["ink"],
    "legend.frameon": False,
    "legend.fontsize": 9,
}
PALETTE = NEUTRAL | {
    "sampled": "#b3441e",
    "greedy": "#1f5c88",
    "good": "#2c6b48",
    "bad": "#a33327",
}
MARKERS: Any = {
    "sampled": {"marker": "o", "markersize": 5.5},
    "greedy": {"marker": "s", "markersize": 5.5, "markerfacecolor": PALETTE["panel"]},
}
STAR: Any = {"marker": "*", "markersize": 15, "markeredgecolor": PALETTE["panel"]}
GAP = 0.5  # between the λ and the other objectives
PANEL_INCHES, ARM_INCHES = (4.6, 3.6), 0.3  # a panel, and the width that it has at least for each arm
MOST_LEVEL_CHARACTERS = 32  # of the labels of an axis; more would touch each other unless they slope
SHORT_AXIS_POINTS = 1.0  # points; a shorter axis shows no difference between arms
CHANGES_HEIGHT = 0.75  # of the other figures' height


@matplotlib.rc_context(SETTINGS)
def accuracy(summary: Summary, task: str) -> Figure:
    """Draw a task's greedy and sampled accuracy against λ; ±1 standard deviation over seeds.

    Dashed: λ = 0, the level to beat; dotted: the base model; star: the λ chosen on validation. The λ
    of a grid are far apart, so they stand at equal distances, each under its own label; other objectives
    stand to the right of the λ, without a line.
    """
    recipe, arms = summary.study.recipe, [arm for arm in summary.arms(task) if not arm.is_base]
    places = {arm: at + (GAP if recipe.is_other(arm) else 0.0) for at, arm in enumerate(arms)}
    figure, axes = _figure("right on test, in %", arms=len(arms), others=len(recipe.objectives))
    for decoding in DECODINGS:
        rows = {arm: row for arm in arms if (row := summary.row(task, arm, decoding))}
        _mark(axes, rows, places, summary, decoding)
        for arm, line in ((summary.baseline, DASHED), (BASE_MODEL, DOTTED)):
            if row := summary.row(task, arm, decoding):
                axes.axhline(100 * row.mean, color=PALETTE[decoding], linewidth=1.0, linestyle=line, zorder=1)
    _finish(axes, places, summary)
    low, high = axes.get_ylim()
    if high - low < SHORT_AXIS_POINTS:  # all arms are alike
        axes.set_ylim(-2, 102)
    _legend(figure, summary)
    return figure


@matplotlib.rc_context(SETTINGS)
def curves(logs: dict[float, list[tuple[int, float]]], label: str) -> Figure:
    """Draw a logged quantity against the training step, one line per λ; the line of λ = 0 is dashed."""
    figure, axes = _figure(label)
    for at, (lam, log) in enumerate(sorted(logs.items())):
        axes.plot(
            [step for step, _ in log],
            [value for _, value in log],
            label=f"λ = {strength(lam)}",
            color=f"C{at}",
            linestyle=DASHED if lam == 0 else "-",
            linewidth=1.5,
        )
    axes.set_xlabel("optimizer step")
    axes.grid(axis="y", linewidth=0.6)
    figure.legend(loc="outside lower center", ncols=min(4, len(logs)))
    return figure


@matplotlib.rc_context(SETTINGS)
def accuracy_over_temperature(sweep: TemperatureSweep) -> Figure:
    """Draw accuracy against temperature; a star is the temperature that validation prefers."""
    figure, axes = _figure("right on test, in %")
    labels = _line_labels(sweep)
    for arm, line in sweep.lines.items():
        look = _line_style(arm, sweep) | {"label": labels.get(arm)}
        axes.plot([point.temperature for point in line], [100 * point.accuracy for point in line], **look)
        for point in line:
            if arm in (sweep.baseline, sweep.chosen) and sweep.best.get(arm) == point.temperature:
                axes.plot(point.temperature, 100 * point.accuracy, color=look["color"], zorder=6, **STAR)
    axes.set_xlabel("temperature")
    axes.grid(linewidth=0.6)
    axes.set_axisbelow(True)
    axes.margins(x=0.09, y=0.1)
    figure.legend(loc="outside lower center", ncols=2, handlelength=2.6)
    return figure


@matplotlib.rc_context(SETTINGS)
def every_problem(changes: Changes) -> Figure:
    """Draw a bar per problem, sorted: losses below 0 on the left, gains above 0 on the right.

    All bars of a side are one path with a corner wherever the gain changes, so the file does not grow with
    the number of problems.
    """
    figure, axes = _figure("gain, in points")
    figure.set_figheight(CHANGES_HEIGHT * figure.get_figheight())
    runs = [(gain, len(list(equal))) for gain, equal in groupby(changes.gains)]
    edges = [0, *accumulate(length for _, length in runs)]
    for name, side in (("bad", min), ("good", max)):
        heights = [100 * side(gain, 0.0) for gain, _ in runs]
        axes.stairs(heights, edges, fill=True, color=PALETTE[name], linewidth=0, zorder=3)
    axes.axhline(0, color=PALETTE["ink"], linewidth=0.8, zorder=4)
    axes.set_xlim(0, len(changes.gains))
    axes.margins(y=0.08)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:+g}".replace("-", MINUS) if value else "0")
    axes.set_xlabel("test problems, from most lost to most gained")
    axes.grid(axis="y", linewidth=0.6)
    axes.set_axisbelow(True)
    return figure


def svg(figure: Figure) -> str:
    """Return the figure as the text of an SVG file; equal figures give equal bytes."""
    file = io.StringIO()
    with matplotlib.rc_context(SETTINGS):
        FigureCanvasSVG(figure).print_svg(file, metadata={"Date": None})
    return file.getvalue()


def svg_in_page(text: str, description: str, palette: Mapping[str, str]) -> str:
    """Prepare an SVG for an HTML page: `description` is read out, and the page sets the colours.

    A colour of the palette becomes the page's variable of that name.
    """
    text = re.sub(r"^.*?(?=<svg)|<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r' (?:width|height)="[\d.]+pt"', "", text, count=2)
    text = text.replace("<svg ", f'<svg role="img" aria-label="{escape(description)}" ', 1)
    for name, colour in palette.items():
        text = text.replace(colour, f"var(--{name})")
    return text


def inline(figure: Figure, description: str) -> Markup:
    """Return the figure as SVG for an HTML page, which sets the colours; `description` is read out."""
    return Markup(svg_in_page(svg(figure), f"{visible(description)}; the tables have the numbers", PALETTE))


def _figure(label: str, *, arms: int = 0, others: int = 0) -> tuple[Figure, Axes]:
    """Return an empty figure and its axes, whose vertical one has the label; wider with more arms."""
    width = max(PANEL_INCHES[0], ARM_INCHES * arms) + 0.25 * others
    height = PANEL_INCHES[1] + (0.5 if others else 0.0)
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.set_ylabel(label)
    return figure, axes


def _mark(
    axes: Axes, rows: dict[Arm, TableRow], places: dict[Arm, float], summary: Summary, decoding: str
) -> None:
    """Draw means with error bars, sampled filled and greedy open; λ are joined, the chosen λ is a star."""
    color = PALETTE[decoding]
    for others, line in ((False, "-"), (True, "")):
        arms = [arm for arm in rows if summary.study.recipe.is_other(arm) == others]
        spreads = [100 * (rows[arm].sd or 0.0) for arm in arms]
        if arms:
            axes.errorbar(
                [places[arm] for arm in arms],
                [100 * rows[arm].mean for arm in arms],
                yerr=spreads if any(spreads) else None,
                color=color,
                linestyle=line,
                linewidth=1.6,
                capsize=3,
                zorder=3,
                **MARKERS[decoding],
            )
    if summary.chosen in rows:
        axes.plot(places[summary.chosen], 100 * rows[summary.chosen].mean, color=color, zorder=4, **STAR)


def _finish(axes: Axes, places: dict[Arm, float], summary: Summary) -> None:
    recipe = summary.study.recipe
    others = [recipe.is_other(arm) for arm in places]
    labels = [
        row_label(arm, summary.baseline) if other else strength(arm.lam)
        for arm, other in zip(places, others, strict=True)
    ]
    axes.set_xticks(list(places.values()), labels)
    axes.set_xlim(-0.4, max(places.values(), default=0) + 0.4)
    crowded = sum(len(label) + 1 for label in labels) > MOST_LEVEL_CHARACTERS
    for tick, other in zip(axes.get_xticklabels(), others, strict=True):
        if other or crowded:
            tick.set(rotation=30, ha="right", rotation_mode="anchor")
    label = "penalty strength λ" + ("" if recipe.objective == CROSS_ENTROPY else f" on {recipe.objective}")
    if any(others):
        label += ", then other objectives"
    axes.set_xlabel(visible(label), parse_math=False)
    axes.grid(axis="y", linewidth=0.6)
    axes.set_axisbelow(True)


def _legend(figure: Figure, summary: Summary) -> None:
    grey = PALETTE["muted"]
    handles = [
        Line2D([], [], color=PALETTE[decoding], linewidth=1.6, label=decoding, **MARKERS[decoding])
        for decoding in DECODINGS
    ]
    handles.append(
        Line2D([], [], color=grey, linestyle=DASHED, linewidth=1.0, label=summary.baseline.objective)
    )
    if any(row.arm.is_base for row in summary.rows):
        handles.append(Line2D([], [], color=grey, linestyle=DOTTED, linewidth=1.0, label="base model"))
    if summary.lam is not None:
        handles.append(Line2D([], [], color=grey, linestyle="", label="chosen λ", **STAR))
    figure.legend(handles=handles, loc="outside lower center", ncols=3, handlelength=2.2)


def _line_style(arm: Arm, sweep: TemperatureSweep) -> Any:
    """Return the style of an arm's line, which differs in form as well as colour; minor arms are faint."""
    if arm.is_base:
        return {"color": PALETTE["ink"], "linestyle": DOTTED, "marker": "^", "markersize": 5, "zorder": 3}
    if arm == sweep.baseline:
        look: Any = {"color": PALETTE["greedy"], "linestyle": DASHED, "linewidth": 1.7}
        return look | {"zorder": 4} | MARKERS["greedy"]
    if arm == sweep.chosen:
        return {"color": PALETTE["sampled"], "linewidth": 2.4, "zorder": 5} | MARKERS["sampled"]
    return {"color": PALETTE["muted"], "linewidth": 0.9, "alpha": 0.5, "zorder": 2}


def _line_labels(sweep: TemperatureSweep) -> dict[Arm, str]:
    """Name the base model, the baseline and the chosen λ; the faint lines share the first one's label."""
    labels = {BASE_MODEL: "base model", sweep.baseline: sweep.baseline.objective}
    if sweep.chosen is not None:
        labels[sweep.chosen] = f"{sweep.chosen.label}, chosen"
    others = [arm for arm in sweep.lines if arm not in labels]
    beside = any(arm.objective != sweep.baseline.objective for arm in others)
    return labels | dict.fromkeys(others[:1], "other λ" + (" and objectives" if beside else ""))
