"""A matplotlib figure → SVG for the middle of a page, the same byte for byte, in the page's own colours."""

import io
import re
from html import escape
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

PALETTE = {
    "ink": "#26231f",
    "muted": "#7d756a",
    "rule": "#e2dcd1",
    "panel": "#fffefb",
    "red": "#b3441e",
    "blue": "#1f5c88",
    "green": "#2c6b48",
    "gold": "#b58a1b",
    "plum": "#74558c",
}
DASHED, DOTTED = (0, (5, 3)), (0, (1, 2))
SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "erce.theory",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.edgecolor": PALETTE["muted"],
    "axes.labelcolor": PALETTE["ink"],
    "axes.titlesize": 10.5,
    "axes.titlecolor": PALETTE["ink"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": PALETTE["panel"],
    "figure.facecolor": PALETTE["panel"],
    "savefig.facecolor": PALETTE["panel"],
    "grid.color": PALETTE["rule"],
    "text.color": PALETTE["ink"],
    "xtick.color": PALETTE["muted"],
    "ytick.color": PALETTE["muted"],
    "xtick.labelcolor": PALETTE["ink"],
    "ytick.labelcolor": PALETTE["ink"],
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.7,
}


def panels(number: int, *, width: float = 4.8, height: float = 3.5) -> tuple[Figure, list[Axes]]:
    """A figure with that many panels side by side, each of that size in inches."""
    figure = Figure(figsize=(width * number, height), layout="constrained")
    found = list(figure.subplots(1, number, squeeze=False)[0])
    for axes in found:
        axes.grid(axis="y", linewidth=0.6)
        axes.set_axisbelow(True)
    return figure, found


def inline(figure: Figure, description: str) -> str:
    """The figure as SVG whose colours the page's style sheet sets, and which is read out as described."""
    file = io.StringIO()
    with matplotlib.rc_context(SETTINGS):
        FigureCanvasSVG(figure).print_svg(file, metadata={"Date": None})
    text = re.sub(r"^.*?(?=<svg)|<metadata>.*?</metadata>", "", file.getvalue(), flags=re.DOTALL)
    text = re.sub(r' (?:width|height)="[\d.]+pt"', "", text, count=2)
    text = text.replace("<svg ", f'<svg role="img" aria-label="{escape(description)}" ', 1)
    for name, colour in PALETTE.items():
        text = text.replace(colour, f"var(--{name})")
    return text
