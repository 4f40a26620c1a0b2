"""A study → how much every problem gained or lost under the chosen λ, and one figure of all of them."""

from dataclasses import asdict, dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from erce.reporting.figure import PALETTE, panels
from erce.reporting.format import MINUS, counted, strength
from erce.reporting.gains import Summary
from erce.reporting.plotting import SETTINGS
from erce.stats.outcomes import problem_gains
from erce.types import BASELINE, Arm

HEIGHT = 0.75  # of the other figures' height


@dataclass(frozen=True)
class Changes:
    """λ beside cross-entropy in samples: `gains` are D_i, a problem's share right under λ less that under 0.

    Over all seeds and samples, on the test problems of the study's own task, from the largest loss to the
    largest gain. `lam` is the chosen λ, or the runner-up where cross-entropy was chosen.
    """

    lam: float
    gains: list[float]

    @property
    def gained(self) -> int:
        return sum(gain > 0 for gain in self.gains)

    @property
    def lost(self) -> int:
        return sum(gain < 0 for gain in self.gains)

    def as_json(self) -> dict[str, Any]:
        """Plain values, with the counts."""
        unchanged = len(self.gains) - self.gained - self.lost
        return asdict(self) | {"gained": self.gained, "lost": self.lost, "unchanged": unchanged}


def compared_arm(summary: Summary) -> Arm | None:
    """The arm to set beside cross-entropy, problem by problem; None where either has no finished cell."""
    arm, choice = summary.chosen, summary.choice
    if choice is not None and arm == BASELINE:
        arm = None if choice.runner_up is None else Arm(choice.runner_up)
    return arm if arm is not None and summary.has_gain(summary.study.recipe.task, arm) else None


def problem_changes(summary: Summary) -> Changes | None:
    """None where there is no second arm."""
    compared = compared_arm(summary)
    if compared is None or compared.lam is None:
        return None
    study, task = summary.study, summary.study.recipe.task
    arms = (
        study.outcomes(task, arm, split="test", decoding=summary.decoding) for arm in (compared, BASELINE)
    )
    return Changes(compared.lam, np.sort(problem_gains(*arms)).tolist())


@matplotlib.rc_context(SETTINGS)
def drawn(found: Changes) -> Figure:
    """Every problem a bar, sorted: what was lost on the left below 0, what was gained on the right above.

    The outline of all bars is one path a side, whose corners are the different gains and not the problems.
    """
    figure, (axes,) = panels(1, "gain, in points")
    figure.set_figheight(HEIGHT * figure.get_figheight())
    for name, sign in (("bad", -1), ("good", 1)):
        left, bars = (0, [gain for gain in found.gains if gain < 0])
        if sign > 0:
            left, bars = len(found.gains) - found.gained, found.gains[len(found.gains) - found.gained :]
        if bars:
            axes.fill(*outline(left, bars), color=PALETTE[name], linewidth=0, zorder=3)
    axes.axhline(0, color=PALETTE["ink"], linewidth=0.8, zorder=4)
    axes.set_xlim(0, len(found.gains))
    axes.margins(y=0.08)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:+g}".replace("-", MINUS) if value else "0")
    axes.set_xlabel("test problems, from most lost to most gained")
    axes.grid(axis="y", linewidth=0.6)
    axes.set_axisbelow(True)
    return figure


def outline(left: int, bars: list[float]) -> tuple[list[float], list[float]]:
    """Corners of the one polygon of neighbouring bars of width 1 from `left` on, heights in points.

    >>> outline(2, [0.25, 0.25, 0.5])
    ([2, 2, 4, 4, 5, 5], [0.0, 25.0, 25.0, 50.0, 50.0, 0.0])
    """
    steps = [at for at, bar in enumerate(bars) if at == 0 or bar != bars[at - 1]]
    across, heights = [left], [0.0]
    for at, end in zip(steps, [*steps[1:], len(bars)], strict=True):
        across += [left + at, left + end]
        heights += [100 * bars[at]] * 2
    return [*across, left + len(bars)], [*heights, 0.0]


def caption(found: Changes) -> str:
    """How many problems went which way."""
    unchanged = len(found.gains) - found.gained - found.lost
    return (
        f"λ = {strength(found.lam)} minus cross-entropy in samples, all seeds: of "
        f"{counted(len(found.gains), 'problem')}, {found.gained} gained (right), {found.lost} lost (left), "
        f"{unchanged} unchanged. Small bars come by chance alone."
    )
