"""Draw two figures: accuracy over the temperature, and the gain of every problem."""

from itertools import accumulate, groupby

import matplotlib
from matplotlib.figure import Figure

from erce.reporting.format import MINUS
from erce.reporting.numbers.changes import Changes
from erce.reporting.numbers.frontier import Frontier
from erce.reporting.pages.figures import PALETTE, STAR, line_key, line_of, panels
from erce.reporting.pages.svg import SETTINGS

CHANGES_HEIGHT = 0.75  # of the other figures' height


@matplotlib.rc_context(SETTINGS)
def accuracy_over_temperature(frontier: Frontier) -> Figure:
    """Draw accuracy against temperature; a star is the temperature that validation prefers."""
    figure, (axes,) = panels(1, "right on test, in %")
    for arm, line in frontier.lines.items():
        look = line_of(arm, frontier.chosen, frontier.baseline)
        axes.plot([point.temperature for point in line], [100 * point.accuracy for point in line], **look)
        for point in line:
            if arm in (frontier.baseline, frontier.chosen) and frontier.best.get(arm) == point.temperature:
                axes.plot(point.temperature, 100 * point.accuracy, color=look["color"], zorder=6, **STAR)
    axes.set_xlabel("temperature")
    axes.grid(linewidth=0.6)
    axes.set_axisbelow(True)
    axes.margins(x=0.09, y=0.1)
    line_key(figure, list(frontier.lines), frontier.chosen, frontier.baseline)
    return figure


@matplotlib.rc_context(SETTINGS)
def every_problem(changes: Changes) -> Figure:
    """Draw every problem as a bar, sorted: losses on the left below 0, gains on the right above.

    All bars of a side are one path with a corner wherever the gain changes, so the file does not grow with
    the number of problems.
    """
    figure, (axes,) = panels(1, "gain, in points")
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
