"""A study → pass@k of every arm, where two of them cross over, and what vote and likelihood pick of k."""

from dataclasses import dataclass
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from erce.reporting.figure import PALETTE, line_key, line_of, panels
from erce.reporting.gains import Summary
from erce.reporting.plotting import DASHED, SETTINGS
from erce.reporting.several import WAYS, crossing, joined
from erce.score import Crossover, coverage
from erce.types import BASELINE, Arm

WORDED = {"pass": "pass@k: one of k", "maj": "maj@k: the vote", "best": "best@k: the likeliest"}
FEW = 4  # up to as many samples, k is drawn on a plain axis


@dataclass(frozen=True)
class Coverage:
    """What k samples of a problem of the study's own task do together, for every arm, in fractions of 1.

    `curves` are pass@1 … pass@n; `together` is way → arm → one value for each of `ks_of` it, None where a
    seed's scores lack it, and has no way that every arm lacks. `crossing` is where the chosen λ and
    cross-entropy change places in pass@k, None where they do not.
    """

    chosen: Arm | None  # None also where cross-entropy was chosen
    curves: dict[Arm, list[float]]
    ks: list[int]
    together: dict[str, dict[Arm, list[float | None]]]
    crossing: Crossover | None

    def words(self, way: str) -> str:
        """What a heading calls it."""
        return WORDED[way]

    def ks_of(self, way: str) -> list[int]:
        """The k that `together` has of it; of one sample, vote and likeliest are the sample itself."""
        return self.ks if way == WAYS[0] else self.ks[1:]

    def as_json(self) -> dict[str, Any]:
        """Plain values, one entry an arm."""
        arms = [
            {
                **arm.as_json(),
                "curve": curve,
                **{way: values[arm] for way, values in self.together.items()},
            }
            for arm, curve in self.curves.items()
        ]
        crossed = None if self.crossing is None else self.crossing._asdict()
        return {"k": self.ks, "arms": arms, "crossover": crossed}


def sample_coverage(summary: Summary) -> Coverage | None:
    """From the samples on the test problems; None where there is one a problem, or no finished cell."""
    study, task = summary.study, summary.study.recipe.task
    arms = [arm for arm in summary.arms(task) if summary.row(task, arm, "sampled")]
    outcomes = {arm: study.outcomes(task, arm, split="test", decoding="sampled") for arm in arms}
    n = min((each.shape[2] for each in outcomes.values()), default=1)
    if n < 2:
        return None
    curves = {arm: coverage(each)[:n].tolist() for arm, each in outcomes.items()}
    ks = sorted({*(2**power for power in range(n.bit_length())), n})
    together = {
        way: {arm: [joined(summary, arm, way, k) for k in ks[1:]] for arm in curves} for way in WAYS[1:]
    }
    together = {"pass": {arm: [curve[k - 1] for k in ks] for arm, curve in curves.items()}} | {
        way: values
        for way, values in together.items()
        if any(value is not None for row in values.values() for value in row)
    }
    return Coverage(summary.chosen_penalty, curves, ks, together, crossing(summary))


@matplotlib.rc_context(SETTINGS)
def drawn(found: Coverage) -> Figure:
    """pass@k against k; the crossover is a line, its interval over problems a band."""
    figure, (axes,) = panels(1, "pass@k on test, in %")
    n, crossed = max(found.ks), found.crossing
    if crossed is not None:
        ends = (crossed.low or n, crossed.high or n)
        axes.axvspan(*ends, color=PALETTE["rule"], alpha=0.6, linewidth=0, zorder=0)
        axes.axvline(crossed.k, color=PALETTE["muted"], linewidth=1.0, linestyle=DASHED, zorder=1)
    for arm, curve in found.curves.items():
        values = [100 * value for value in curve]
        (line,) = axes.plot(range(1, n + 1), values, **line_of(arm, found.chosen))
        line.set_markevery([k - 1 for k in found.ks])
    if n > FEW:
        axes.set_xscale("log", base=2)
    axes.set_xticks(found.ks, [str(k) for k in found.ks])
    axes.minorticks_off()
    axes.set_xlabel("samples k of a problem")
    axes.grid(axis="y", linewidth=0.6)
    line_key(figure, list(found.curves), found.chosen)
    return figure


def caption(found: Coverage) -> str:
    """What the figure shows, and where the lines cross."""
    text = "The chance that one of k samples of a problem is right, the mean over problems and seeds."
    crossed, n = found.crossing, max(found.ks)
    if found.chosen is None or BASELINE not in found.curves:
        return text
    if crossed is None:
        return f"{text} Up to {n} samples the chosen λ and cross-entropy do not change places."
    ahead = "cross-entropy" if crossed.leader == "treated" else "the chosen λ"
    bounds = [f"beyond {n}" if end is None else str(end) for end in (crossed.low, crossed.high)]
    return (
        f"{text} From k = {crossed.k} on {ahead} covers more (dashed); band: its 95 % interval over "
        f"problems, {bounds[0]} to {bounds[1]}."
    )
