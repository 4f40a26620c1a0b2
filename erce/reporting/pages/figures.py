"""Numbers → figures, and SVG that is the same byte for byte.

Every colour but those of `curves` is one of `PALETTE`, so that the document can put its own light and dark
colours in their place; lines and markers differ in form as well, for readers and printers without colour.
"""

import io
import re
from collections.abc import Mapping
from html import escape
from typing import Any

import matplotlib
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from erce.reporting.format import visible
from erce.reporting.numbers.gains import DECODINGS, Summary
from erce.reporting.numbers.temperatures import TemperatureSweep
from erce.reporting.numbers.verdict import preferred
from erce.types import BASE_MODEL, Arm

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
PALETTE = NEUTRAL | {"sampled": "#b3441e", "greedy": "#1f5c88"}
MARKERS: Any = {
    "sampled": {"marker": "o", "markersize": 5.5},
    "greedy": {"marker": "s", "markersize": 5.5, "markerfacecolor": PALETTE["panel"]},
}
STAR: Any = {"marker": "*", "markersize": 15, "markeredgecolor": PALETTE["panel"]}
ASIDE = 0.16  # of an arm's line in the figure of all arms, between its middle and a marker
PANEL_INCHES, ROW_INCHES = (4.6, 3.6), 0.36  # a panel, and the height of an arm's line


@matplotlib.rc_context(SETTINGS)
def accuracy(summary: Summary, task: str) -> Figure:
    """Draw every arm's greedy and sampled accuracy on a task, with 95 % intervals, one line per arm.

    Dotted: the base model, the level to beat; star: the arm that validation prefers under that decoding.
    """
    arms = summary.arms(task)
    figure, axes = _figure("", rows=len(arms))
    for decoding, above in (("greedy", -ASIDE), ("sampled", ASIDE)):
        color, star = PALETTE[decoding], preferred(summary, decoding)
        for at, arm in enumerate(arms):
            row = summary.row(task, arm, decoding)
            if row is None:
                continue
            low, high = row.ci or (row.mean, row.mean)
            reach = [[100 * (row.mean - low)], [100 * (high - row.mean)]]
            place = 100 * row.mean, at + above
            look = MARKERS[decoding] | {"color": color, "linewidth": 1.6, "capsize": 3}
            axes.errorbar(*place, xerr=reach, zorder=3, **look)
            if arm == star:
                axes.plot(*place, color=color, zorder=4, **STAR)
            if arm.is_base:
                axes.axvline(place[0], color=color, linewidth=1.0, linestyle=DOTTED, zorder=1)
    labels = [visible(summary.name(arm)) for arm in arms]
    axes.set_yticks(range(len(arms)), labels, parse_math=False)
    axes.set_ylim(len(arms) - 0.5, -0.5)
    axes.set_xlabel("right on test, in %")
    axes.grid(axis="x", linewidth=0.6)
    axes.set_axisbelow(True)
    handles = [
        Line2D([], [], color=PALETTE[name], linestyle="", label=name, **MARKERS[name])
        for name in reversed(DECODINGS)
    ]
    grey = PALETTE["muted"]
    handles.append(Line2D([], [], color=grey, linestyle=DOTTED, linewidth=1.0, label=BASE_MODEL.name()))
    handles.append(Line2D([], [], color=grey, linestyle="", label="preferred", **STAR))
    figure.legend(handles=handles, loc="outside lower center", ncols=4, handlelength=1.6)
    return figure


@matplotlib.rc_context(SETTINGS)
def curves(logs: dict[str, list[tuple[int, float]]]) -> Figure:
    """Draw the cross-entropy of what is trained on against the optimizer step, a line for each arm."""
    figure, axes = _figure("cross-entropy, nats per token")
    for at, (name, log) in enumerate(logs.items()):
        style = ("-", DASHED, DOTTED)[at % 3]  # with ten colours no two of thirty lines look the same
        axes.plot(
            *zip(*log, strict=True), label=visible(name), color=f"C{at}", linestyle=style, linewidth=1.5
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
            if arm in (BASE_MODEL, sweep.baseline, sweep.arm) and sweep.best.get(arm) == point.temperature:
                axes.plot(point.temperature, 100 * point.accuracy, color=look["color"], zorder=6, **STAR)
    axes.set_xlabel("temperature")
    axes.grid(linewidth=0.6)
    axes.set_axisbelow(True)
    axes.margins(x=0.09, y=0.1)
    figure.legend(loc="outside lower center", ncols=2, handlelength=2.6)
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
    return Markup(svg_in_page(svg(figure), visible(description), PALETTE))


def _figure(label: str, *, rows: int = 0) -> tuple[Figure, Axes]:
    """Return an empty figure and its axes, whose vertical one has the label; higher with more rows."""
    width, height = PANEL_INCHES
    figure = Figure(figsize=(width, ROW_INCHES * rows + 1.1 if rows else height), layout="constrained")
    axes = figure.subplots()
    axes.set_ylabel(label)
    return figure, axes


def _line_style(arm: Arm, sweep: TemperatureSweep) -> Any:
    """Return the style of an arm's line, which differs in form as well as colour; minor arms are faint."""
    if arm.is_base:
        return {"color": PALETTE["ink"], "linestyle": DOTTED, "marker": "^", "markersize": 5, "zorder": 3}
    if arm == sweep.baseline:
        look: Any = {"color": PALETTE["greedy"], "linestyle": DASHED, "linewidth": 1.7, "zorder": 4}
        return look | {"marker": "v", "markersize": 5.5}
    if arm == sweep.arm:
        look = {"color": PALETTE["sampled"], "linewidth": 2.4, "zorder": 5}
        return look | {"marker": "D", "markersize": 5}
    look = {"color": PALETTE["muted"], "linewidth": 0.9, "alpha": 0.5, "zorder": 2}
    return look | {"marker": ".", "markersize": 4}


def _line_labels(sweep: TemperatureSweep) -> dict[Arm, str]:
    """Name the base model, the baseline and the arm in question; the faint lines share one label."""
    grid = sweep.baseline.method
    labels = {arm: arm.name(grid) for arm in (BASE_MODEL, sweep.baseline)}
    if sweep.arm is not None:
        labels[sweep.arm] = sweep.arm.name(grid)
    others = [arm for arm in sweep.lines if arm not in labels]
    beside = any(arm.method != sweep.baseline.method for arm in others)
    return labels | dict.fromkeys(others[:1], "other arms" if beside else "other λ")
