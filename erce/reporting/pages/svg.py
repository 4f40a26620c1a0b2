"""matplotlib's settings for every figure, and a figure → SVG: the same figure, the same bytes."""

import io
import re
from collections.abc import Mapping
from html import escape
from typing import Any

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

NEUTRAL = {"ink": "#26231f", "muted": "#7d756a", "rule": "#e2dcd1", "panel": "#fffefb"}
DASHED, DOTTED = (0, (5, 3)), (0, (1, 2))
SETTINGS: Any = {
    "svg.fonttype": "none",
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


def svg(figure: Figure, *, salt: str = "erce") -> str:
    """Return the text of an SVG file; equal figures and equal salts (of the ids) give equal bytes."""
    file = io.StringIO()
    with matplotlib.rc_context(SETTINGS | {"svg.hashsalt": salt}):
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
