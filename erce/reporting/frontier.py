"""A study → accuracy over temperature, and whether the chosen λ beats cross-entropy at any of them."""

import math
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from erce.recipe import temperatures
from erce.reporting.figure import PALETTE, STAR, line_key, line_of, panels
from erce.reporting.format import interval, percent, points, strength, with_interval
from erce.reporting.gains import Summary, known_mean
from erce.reporting.plotting import SETTINGS
from erce.stats import paired_gain
from erce.types import BASE_MODEL, BASELINE, Arm

Best = dict[Arm, float]
CLOSE = 0.09  # of the axes' width and height: two labels nearer than this would overlap


@dataclass(frozen=True)
class Point:
    """One arm at one temperature, means over its seeds; accuracies are fractions of 1.

    `entropy`, nats a token, is of the distributions that the completions of the test problems were drawn
    from, at this temperature: 0 for greedy. It is None where a completion came without; `validation` is None
    without validation problems.
    """

    temperature: float
    decoding: str
    accuracy: float
    entropy: float | None
    validation: float | None


class Contest(NamedTuple):
    """The chosen λ against cross-entropy on test, each at the temperature that is best for it on validation.

    `gain` and its 95 % interval `ci` as in `paired_gain`; `finding` is "better" or "worse" where the interval
    lies on one side of 0, else "unclear". `hindsight` and `hindsight_ci` are the gain over cross-entropy at
    `hindsight_temperature`, the best for it on the test problems themselves: picked in its favour, so that
    what is above 0 there does not hang on validation's choice.
    """

    lam: float
    temperature: float
    baseline_temperature: float
    mean: float
    baseline: float
    gain: float
    ci: list[float]
    p: float
    covers: str
    finding: str
    hindsight_temperature: float
    hindsight: float
    hindsight_ci: list[float]


@dataclass(frozen=True)
class Frontier:
    """Every arm's points at rising temperature; `best` is each one's temperature with the best validation."""

    chosen: Arm | None  # None also where cross-entropy was chosen
    lines: dict[Arm, list[Point]]
    best: Best
    contest: Contest | None

    def as_json(self) -> dict[str, Any]:
        """Plain values, one entry an arm."""
        arms = [
            {
                **arm.as_json(),
                "best_temperature": self.best.get(arm),
                "points": [asdict(point) for point in line],
            }
            for arm, line in self.lines.items()
        ]
        return {"arms": arms, "contest": None if self.contest is None else self.contest._asdict()}


def temperature_frontier(summary: Summary) -> Frontier | None:
    """Of the study's own task; None where the recipe names no frontier, or no arm has two temperatures.

    A temperature counts for an arm where all its finished seeds have it.
    """
    recipe = summary.study.recipe
    if not recipe.decoding.frontier:
        return None
    lines = {arm: _line(summary, arm) for arm in summary.arms(recipe.task)}
    lines = {arm: line for arm, line in lines.items() if len(line) > 1}
    if not lines:
        return None
    best = {arm: at for arm, line in lines.items() if (at := _best(line)) is not None}
    return Frontier(summary.chosen_penalty, lines, best, _contest(summary, lines, best))


def sentence(found: Frontier | None) -> str:
    """What the contest says; empty where there is none."""
    if found is None or found.contest is None:
        return ""
    each = found.contest
    tried = [point.temperature for point in found.lines[BASELINE]]
    name = f"λ = {strength(each.lam)}"
    return (
        f"Is it only temperature? Of the {len(tried)} temperatures from {tried[0]:g} to {tried[-1]:g}, "
        f"validation prefers {each.baseline_temperature:g} for cross-entropy and {each.temperature:g} for "
        f"{name}. There {name} was right in {percent(each.mean)} % of completions of the test problems "
        f"against {percent(each.baseline)} %: {with_interval(each.gain, each.ci, each.covers)}. "
        f"{_VERDICTS[each.finding]}{_in_hindsight(each)}"
    )


_VERDICTS = {
    "better": "So the penalty beats cross-entropy beyond temperature: the one that validation prefers for "
    "cross-entropy does not make up for it.",
    "worse": "So the penalty does not beat cross-entropy beyond temperature: at its own best temperature "
    "cross-entropy is better.",
    "unclear": "That includes 0, so nothing shows that the penalty beats cross-entropy beyond temperature: a "
    "gain at one temperature may be temperature alone.",
}


def _in_hindsight(each: Contest) -> str:
    """Whether a gain is one of validation's choice; empty where there is none, or where it is not."""
    if each.finding != "better" or each.hindsight_ci[0] > 0:
        return ""
    return (
        " But that hangs on the temperature which validation chose for cross-entropy: at "
        f"{each.hindsight_temperature:g}, its best on the test problems, the gain is "
        f"{points(each.hindsight)} points, {interval(each.hindsight_ci)}; more validation problems, or more "
        "samples at each temperature, would settle it."
    )


@matplotlib.rc_context(SETTINGS)
def drawn(found: Frontier) -> Figure:
    """Accuracy against entropy, one line an arm through its temperatures, whose ends are labelled.

    Arms whose entropy is not known everywhere are left out.
    """
    figure, (axes,) = panels(1, "right on test, in %")
    places = {arm: known for arm, line in found.lines.items() if (known := _places(line))}
    for arm, place in places.items():
        axes.plot(*zip(*place, strict=True), **line_of(arm, found.chosen))
    axes.autoscale_view()
    labelled: list[tuple[float, float]] = []
    for arm in dict.fromkeys((found.chosen, BASELINE, BASE_MODEL)):
        if arm in places:
            line = found.lines[arm]
            _label_end(axes, f"T {line[0].temperature:g}", places[arm][:2], labelled)
            _label_end(axes, f"T {line[-1].temperature:g}", places[arm][:-3:-1], labelled)
    axes.set_xlabel("entropy a token, as drawn, in nats")
    return _finished(figure, found)


@matplotlib.rc_context(SETTINGS)
def drawn_by_temperature(found: Frontier) -> Figure:
    """Accuracy against temperature; a star is the temperature that validation prefers."""
    figure, (axes,) = panels(1, "right on test, in %")
    for arm, line in found.lines.items():
        look = line_of(arm, found.chosen)
        axes.plot([point.temperature for point in line], [100 * point.accuracy for point in line], **look)
        for point in line:
            if arm in (BASELINE, found.chosen) and found.best.get(arm) == point.temperature:
                axes.plot(point.temperature, 100 * point.accuracy, color=look["color"], zorder=6, **STAR)
    axes.set_xlabel("temperature T")
    return _finished(figure, found)


OVER_ENTROPY = (
    "A line an arm, a point a temperature from T 0 (greedy) up. Entropy: mean over the tokens, of the "
    "distributions at that temperature. Where one line lies above another, it is right more often at "
    "the same diversity: more than a temperature."
)
OVER_TEMPERATURE = (
    "The same points over the temperature. Star: the one that validation prefers for cross-entropy and for "
    "the chosen λ; the lower of equals."
)


def _places(line: list[Point]) -> list[tuple[float, float]]:
    """(entropy, accuracy in %) of every point; empty where an entropy is not known."""
    found = [(point.entropy, 100 * point.accuracy) for point in line if point.entropy is not None]
    return found if len(found) == len(line) else []


def _label_end(
    axes: Axes, label: str, places: list[tuple[float, float]], labelled: list[tuple[float, float]]
) -> None:
    """At the first of the two places, on the side of it that the line to the second does not take.

    Nothing where a label stands close by already; `labelled` says where, as shares of the axes.
    """
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    across = (places[0][0] - places[1][0]) / (right - left)
    up = (places[0][1] - places[1][1]) / (high - low)
    here = (places[0][0] - left) / (right - left), (places[0][1] - low) / (high - low)
    if any(abs(here[0] - x) < CLOSE and abs(here[1] - y) < CLOSE for x, y in labelled):
        return
    labelled.append(here)
    length = math.hypot(across, up)
    away = (15 * across / length, 11 * up / length) if length else (0, 11)
    look: Any = {"ha": "center", "va": "center", "fontsize": 8.5, "color": PALETTE["ink"], "zorder": 6}
    axes.annotate(label, places[0], xytext=away, textcoords="offset points", **look)


def _finished(figure: Figure, found: Frontier) -> Figure:
    axes = figure.axes[0]
    axes.grid(linewidth=0.6)
    axes.set_axisbelow(True)
    axes.margins(x=0.09, y=0.1)
    line_key(figure, list(found.lines), found.chosen)
    return figure


def _line(summary: Summary, arm: Arm) -> list[Point]:
    study, task = summary.study, summary.study.recipe.task
    scores = [study.results[cell]["scores"] for cell in study.cells(task, arm)]
    found = []
    for temperature, decoding in temperatures(study.recipe).items():
        test = [split["test"][decoding] for split in scores if decoding in split["test"]]
        if not test or len(test) < len(scores):
            continue
        validation = [split.get("validation", {}).get(decoding) for split in scores]
        found.append(
            Point(
                temperature,
                decoding,
                fmean(each["pass@1"] for each in test),
                known_mean([each.get("drawn_entropy") for each in test]),
                # Rounded, so that equal means of different seeds are a tie and not a matter of the last bit.
                round(fmean(each["pass@1"] for each in validation), 12) if all(validation) else None,
            )
        )
    return found


def _best(line: list[Point]) -> float | None:
    """The temperature with the best validation, the lowest of equals; None where one was not validated."""
    scores = {point.temperature: point.validation for point in line}
    known = {temperature: score for temperature, score in scores.items() if score is not None}
    return min(known, key=lambda at: (-known[at], at)) if len(known) == len(scores) else None


def _contest(summary: Summary, lines: dict[Arm, list[Point]], best: Best) -> Contest | None:
    chosen = summary.chosen_penalty
    if chosen is None or chosen.lam is None or chosen not in best or BASELINE not in best:
        return None
    most = max(lines[BASELINE], key=lambda point: (point.accuracy, -point.temperature)).temperature
    treated, baseline, in_hindsight = (
        _outcomes(summary, arm, at)
        for arm, at in ((chosen, best[chosen]), (BASELINE, best[BASELINE]), (BASELINE, most))
    )
    gain, hindsight = (paired_gain(treated, each) for each in (baseline, in_hindsight))
    return Contest(
        lam=chosen.lam,
        temperature=best[chosen],
        baseline_temperature=best[BASELINE],
        mean=float(treated.mean()),
        baseline=float(baseline.mean()),
        gain=gain.gain,
        ci=[gain.low, gain.high],
        p=gain.p,
        covers=gain.covers,
        finding="better" if gain.low > 0 else "worse" if gain.high < 0 else "unclear",
        hindsight_temperature=most,
        hindsight=hindsight.gain,
        hindsight_ci=[hindsight.low, hindsight.high],
    )


def _outcomes(summary: Summary, arm: Arm, temperature: float) -> np.ndarray:
    study = summary.study
    decoding = temperatures(study.recipe)[temperature]
    return study.outcomes(study.recipe.task, arm, split="test", decoding=decoding)
