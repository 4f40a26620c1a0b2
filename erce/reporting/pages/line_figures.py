"""The temperature frontier, pass@k and the gain of every problem → figures."""

import matplotlib
from matplotlib.figure import Figure

from erce.reporting.format import MINUS
from erce.reporting.numbers.changes import Changes
from erce.reporting.numbers.frontier import Frontier
from erce.reporting.numbers.k_samples import Coverage
from erce.reporting.pages.figures import PALETTE, STAR, line_key, line_of, panels
from erce.reporting.pages.svg import DASHED, SETTINGS

MAX_PLAIN_K = 4  # with more samples a problem, the axis of k is logarithmic
FARTHEST_TICK = 0.8  # of the last k: a tick nearer to it would have its label in the last label
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
def pass_at_k(coverage: Coverage) -> Figure:
    """Draw pass@k against k, one line an arm; a dashed line is where the chosen λ and λ = 0 cross."""
    figure, (axes,) = panels(1, "pass@k on test, in %")
    n, crossed = max(coverage.ks), coverage.crossing
    if crossed is not None:
        axes.axvline(crossed.k, color=PALETTE["muted"], linewidth=1.0, linestyle=DASHED, zorder=1)
    for arm, curve in coverage.curves.items():
        values = [100 * value for value in curve]
        (line,) = axes.plot(range(1, n + 1), values, **line_of(arm, coverage.chosen, coverage.baseline))
        line.set_markevery([k - 1 for k in coverage.ks])
    if n > MAX_PLAIN_K:
        axes.set_xscale("log", base=2)
    ticks = [k for k in coverage.ks if k == n or k <= FARTHEST_TICK * n]
    axes.set_xticks(ticks, [str(k) for k in ticks])
    axes.minorticks_off()
    axes.set_xlabel("samples k of a problem")
    axes.grid(axis="y", linewidth=0.6)
    line_key(figure, list(coverage.curves), coverage.chosen, coverage.baseline)
    return figure


@matplotlib.rc_context(SETTINGS)
def every_problem(changes: Changes) -> Figure:
    """Draw every problem as a bar, sorted: losses on the left below 0, gains on the right above.

    All bars of a side are one path with a corner wherever the gain changes, so the file does not grow with
    the number of problems.
    """
    figure, (axes,) = panels(1, "gain, in points")
    figure.set_figheight(CHANGES_HEIGHT * figure.get_figheight())
    for name, sign in (("bad", -1), ("good", 1)):
        left, bars = (0, [gain for gain in changes.gains if gain < 0])
        if sign > 0:
            left, bars = (
                len(changes.gains) - changes.gained,
                changes.gains[len(changes.gains) - changes.gained :],
            )
        if bars:
            axes.fill(*outline(left, bars), color=PALETTE[name], linewidth=0, zorder=3)
    axes.axhline(0, color=PALETTE["ink"], linewidth=0.8, zorder=4)
    axes.set_xlim(0, len(changes.gains))
    axes.margins(y=0.08)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:+g}".replace("-", MINUS) if value else "0")
    axes.set_xlabel("test problems, from most lost to most gained")
    axes.grid(axis="y", linewidth=0.6)
    axes.set_axisbelow(True)
    return figure


def outline(left: int, bars: list[float]) -> tuple[list[float], list[float]]:
    """Return the corners of one polygon: neighbouring bars of width 1 from `left` on, heights in points.

    >>> outline(2, [0.25, 0.25, 0.5])
    ([2, 2, 4, 4, 5, 5], [0.0, 25.0, 25.0, 50.0, 50.0, 0.0])
    """
    steps = [at for at, bar in enumerate(bars) if at == 0 or bar != bars[at - 1]]
    across, heights = [left], [0.0]
    for at, end in zip(steps, [*steps[1:], len(bars)], strict=True):
        across += [left + at, left + end]
        heights += [100 * bars[at]] * 2
    return [*across, left + len(bars)], [*heights, 0.0]
