"""The theory's figures: their colours, their panels, and a figure → SVG for the middle of the page."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from erce.reporting.plotting import NEUTRAL, svg, svg_in_page
from erce.reporting.plotting import SETTINGS as SHARED

PALETTE = NEUTRAL | {
    "red": "#b3441e",
    "blue": "#1f5c88",
    "green": "#2c6b48",
    "gold": "#b58a1b",
    "plum": "#74558c",
}
SETTINGS = SHARED | {"lines.linewidth": 1.7}


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
    return svg_in_page(svg(figure, salt="erce.theory"), description, PALETTE)
