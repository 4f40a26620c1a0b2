"""Rows → figures: accuracy against λ, training curves, and SVG that is the same byte for byte.

Every colour is one of `PALETTE`, so that the document can put its own light and dark colours in their place;
lines and markers differ in form as well, for readers and printers without colour.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from erce.errors import InputError
from erce.files import write_text
from erce.reporting.format import row_label, strength, visible
from erce.reporting.numbers.gains import DECODINGS, Summary
from erce.reporting.pages.svg import DASHED, DOTTED, NEUTRAL, SETTINGS, svg, svg_in_page
from erce.types import BASE_MODEL, CROSS_ENTROPY, Arm

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
Marks = dict[Arm, tuple[float, float, float]]  # middle, and the reach of its bar below and above


@matplotlib.rc_context(SETTINGS)
def accuracy(summary: Summary, tasks: Sequence[str]) -> Figure:
    """Draw greedy and sampled accuracy against λ, one panel a task; ±1 standard deviation over seeds.

    Dashed: λ = 0, the level to beat; dotted: the base model; star: the λ chosen on validation. The λ
    of a grid are far apart, so they stand at equal distances, each under its own label; other objectives
    stand to the right of the λ, without a line.
    """
    widest = max(len(_trained(summary, task)) for task in tasks)
    figure, side_by_side = panels(
        len(tasks), "right on test, in %", arms=widest, others=len(summary.study.recipe.objectives)
    )
    for axes, task in zip(side_by_side, tasks, strict=True):
        arms = _trained(summary, task)
        for decoding in DECODINGS:
            rows = {arm: row for arm in arms if (row := summary.row(task, arm, decoding))}
            spreads = {arm: 100 * (row.sd or 0.0) for arm, row in rows.items()}
            marks = {arm: (100 * row.mean, spreads[arm], spreads[arm]) for arm, row in rows.items()}
            _mark(axes, marks, decoding, summary)
            _levels(axes, summary, task, decoding)
        _finish(axes, arms, summary, title=task if len(tasks) > 1 else "")
        shown = axes.get_ylim()
        if shown[1] - shown[0] < SHORT_AXIS_POINTS:  # all arms are alike
            axes.set_ylim(-2, 102)
    _legend(figure, summary)
    return figure


@matplotlib.rc_context(SETTINGS)
def curves(logs: dict[float, list[tuple[int, float]]], label: str) -> Figure:
    """Draw a logged quantity against the training step, one line a λ; the line of λ = 0 is dashed."""
    figure, (axes,) = panels(1, label)
    for at, (lam, log) in enumerate(sorted(logs.items())):
        axes.plot(
            [step for step, _ in log],
            [value for _, value in log],
            label=f"λ = {strength(lam)}",
            color=ramp(at, len(logs)),
            linestyle=DASHED if lam == 0 else "-",
            linewidth=1.5,
        )
    axes.set_xlabel("optimizer step")
    axes.grid(axis="y", linewidth=0.6)
    figure.legend(loc="outside lower center", ncols=min(4, len(logs)))
    return figure


def panels(number: int, label: str, *, arms: int = 0, others: int = 0) -> tuple[Figure, list[Axes]]:
    """Return an empty figure of panels side by side, the first with its label; wider with more arms.

    Draw on it under `SETTINGS`.
    """
    width, height = (
        max(PANEL_INCHES[0], ARM_INCHES * arms) + 0.25 * others,
        PANEL_INCHES[1] + (0.5 if others else 0.0),
    )
    figure = Figure(figsize=(width * number, height), layout="constrained")
    drawn = list(figure.subplots(1, number, squeeze=False, sharey=False)[0])
    drawn[0].set_ylabel(label)
    return figure, drawn


def line_of(arm: Arm, chosen: Arm | None, baseline: Arm) -> dict[str, Any]:
    """Return the style of an arm's line, which differs in form as well as colour; minor arms are faint."""
    if arm.is_base:
        return {"color": PALETTE["ink"], "linestyle": DOTTED, "marker": "^", "markersize": 5, "zorder": 3}
    if arm == baseline:
        look: dict[str, Any] = {
            "color": PALETTE["greedy"],
            "linestyle": DASHED,
            "linewidth": 1.7,
            "zorder": 4,
        }
        return look | MARKERS["greedy"]
    if arm == chosen:
        return {"color": PALETTE["sampled"], "linewidth": 2.4, "zorder": 5} | MARKERS["sampled"]
    return {"color": PALETTE["muted"], "linewidth": 0.9, "alpha": 0.5, "zorder": 2}


def line_key(figure: Figure, arms: Sequence[Arm], chosen: Arm | None, baseline: Arm) -> None:
    """Add the legend of lines drawn by `line_of`; all faint lines share one entry."""
    names = {BASE_MODEL: "base model", baseline: baseline.objective}
    if chosen is not None:
        names[chosen] = f"{chosen.label}, chosen"
    named = [arm for arm in arms if arm in names]
    handles = [Line2D([], [], label=names[arm], **line_of(arm, chosen, baseline)) for arm in named]
    others = [arm for arm in arms if arm not in names]
    if others:
        beside = any(arm.objective != baseline.objective for arm in others)
        label = "other λ" + (" and objectives" if beside else "")
        handles.append(Line2D([], [], label=label, **line_of(others[0], chosen, baseline)))
    figure.legend(handles=handles, loc="outside lower center", ncols=2, handlelength=2.6)


def ramp(at: int, number: int) -> str:
    """Return the colour of line `at` of `number`, from the greedy colour to the sampled one."""
    share = at / max(1, number - 1)
    ends = [[int(PALETTE[name][i : i + 2], 16) for i in (1, 3, 5)] for name in ("greedy", "sampled")]
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in zip(*ends, strict=True))


def inline(figure: Figure, description: str, lines: int = 0) -> str:
    """Return the figure as SVG for an HTML page, which sets the colours; `description` is read out.

    `lines` is the number of curves that are coloured by `ramp`.
    """
    text = svg_in_page(svg(figure), description, PALETTE)
    for at in range(lines):
        share = round(100 * at / max(1, lines - 1))
        text = text.replace(ramp(at, lines), f"color-mix(in srgb, var(--sampled) {share}%, var(--greedy))")
    return text


def save(figure: Figure, path: Path) -> None:
    """Write the figure as .svg, or as .png at 200 dots an inch."""
    if path.suffix == ".svg":
        write_text(path, svg(figure))
    elif path.suffix == ".png":
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.set_dpi(200)
        FigureCanvasAgg(figure).print_png(path, metadata={"Software": None})
    else:
        raise InputError(f"no figure format {path.suffix!r} ({path}); there are .svg and .png")


def _trained(summary: Summary, task: str) -> list[Arm]:
    return [arm for arm in summary.arms(task) if not arm.is_base]


def _places(arms: Iterable[Arm], summary: Summary) -> dict[Arm, float]:
    """Return each arm's place on the horizontal axis: λ first, then a gap, then the other objectives."""
    recipe = summary.study.recipe
    return {arm: at + (GAP if recipe.is_other(arm) else 0.0) for at, arm in enumerate(arms)}


def _mark(axes: Axes, marks: Marks, decoding: str, summary: Summary) -> None:
    """Draw points with error bars, sampled filled and greedy open; λ are joined, the chosen λ is a star."""
    color, places, chosen = PALETTE[decoding], _places(marks, summary), summary.chosen
    for others, line in ((False, "-"), (True, "")):
        arms = [arm for arm in marks if summary.study.recipe.is_other(arm) == others]
        if not arms:
            continue
        middles, *reach = zip(*(marks[arm] for arm in arms), strict=True)
        axes.errorbar(
            [places[arm] for arm in arms],
            middles,
            yerr=reach if any(map(any, reach)) else None,
            color=color,
            linestyle=line,
            linewidth=1.6,
            capsize=3,
            zorder=3,
            **MARKERS[decoding],
        )
    if chosen in marks:
        axes.plot(places[chosen], marks[chosen][0], color=color, zorder=4, **STAR)


def _levels(axes: Axes, summary: Summary, task: str, decoding: str) -> None:
    for arm, line in ((summary.baseline, DASHED), (BASE_MODEL, DOTTED)):
        row = summary.row(task, arm, decoding)
        if row is not None:
            axes.axhline(100 * row.mean, color=PALETTE[decoding], linewidth=1.0, linestyle=line, zorder=1)


def _finish(axes: Axes, arms: list[Arm], summary: Summary, *, title: str) -> None:
    recipe, places = summary.study.recipe, _places(arms, summary)
    labels = [row_label(arm, summary.baseline) if recipe.is_other(arm) else strength(arm.lam) for arm in arms]
    axes.set_xticks(list(places.values()), labels)
    axes.set_xlim(-0.4, max(places.values(), default=0) + 0.4)
    others = [recipe.is_other(arm) for arm in arms]
    crowded = sum(len(label) + 1 for label in labels) > MOST_LEVEL_CHARACTERS
    for tick, other in zip(axes.get_xticklabels(), others, strict=True):
        if other or crowded:
            tick.set(rotation=30, ha="right", rotation_mode="anchor")
    label = "penalty strength λ" + ("" if recipe.objective == CROSS_ENTROPY else f" on {recipe.objective}")
    if any(others):
        mixed = any(arm.lam for arm in recipe.other_arms)
        label += ", then other objectives" + ("" if mixed else " at λ = 0")
    axes.set_xlabel(visible(label), parse_math=False)
    axes.grid(axis="y", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_title(visible(title), parse_math=False)


def _legend(figure: Figure, summary: Summary) -> None:
    grey = PALETTE["muted"]
    handles = [
        Line2D([], [], color=PALETTE[decoding], linewidth=1.6, label=decoding, **MARKERS[decoding])
        for decoding in DECODINGS
    ]
    handles.append(Line2D([], [], color=grey, linestyle=DASHED, linewidth=1.0, label=summary.baseline_name))
    if any(row.arm.is_base for row in summary.rows):
        handles.append(Line2D([], [], color=grey, linestyle=DOTTED, linewidth=1.0, label="base model"))
    if summary.lam is not None:
        handles.append(Line2D([], [], color=grey, linestyle="", label="chosen λ", **STAR))
    wide = len(figure.axes) > 1
    figure.legend(handles=handles, loc="outside lower center", ncols=5 if wide else 3, handlelength=2.2)
