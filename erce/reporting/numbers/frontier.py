"""A study → accuracy over temperature, and whether the chosen λ beats λ = 0 at any of them."""

from dataclasses import asdict, dataclass
from enum import Enum
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from erce.recipe import temperatures
from erce.reporting.numbers.gains import Summary, gain_as_json, known_mean
from erce.stats import Gain, paired_gain
from erce.types import BASELINE, Arm


@dataclass(frozen=True)
class Point:
    """One arm at one temperature, means over its seeds; accuracies are fractions of 1.

    `entropy`, nats a token, is of the distributions that the completions of the test problems were drawn
    from, at this temperature: 0 for greedy. It is None where a completion has none; `validation` is None
    without validation problems.
    """

    temperature: float
    decoding: str
    accuracy: float
    entropy: float | None
    validation: float | None


class ContestResult(Enum):
    """The side of 0 on which the interval of a gain lies: above, below, or both."""

    BETTER = "better"
    WORSE = "worse"
    UNCLEAR = "unclear"


class Contest(NamedTuple):
    """The chosen λ against the baseline on test, each at the temperature that is best for it on validation.

    `hindsight` is the gain over the baseline at `hindsight_temperature`, the best for it on the test
    problems themselves. That temperature favours the baseline, so a gain there does not come from an unlucky
    choice on validation.
    """

    lam: float
    temperature: float
    baseline_temperature: float
    mean: float
    baseline: float
    gain: Gain
    hindsight_temperature: float
    hindsight: Gain

    @property
    def finding(self) -> ContestResult:
        if self.gain.low > 0:
            return ContestResult.BETTER
        return ContestResult.WORSE if self.gain.high < 0 else ContestResult.UNCLEAR

    def as_json(self) -> dict[str, Any]:
        hindsight = gain_as_json(self.hindsight)
        return self._asdict() | {
            **gain_as_json(self.gain),
            "finding": self.finding.value,
            "hindsight": hindsight["gain"],
            "hindsight_ci": hindsight["ci"],
        }


@dataclass(frozen=True)
class Frontier:
    """Every arm's points at rising temperature; `best` is the temperature that validation prefers.

    A run draws the frontier for the base model, cross-entropy and the chosen λ; the other arms have fewer
    temperatures.
    """

    chosen: Arm | None  # None also where λ = 0 was chosen
    lines: dict[Arm, list[Point]]
    best: dict[Arm, float]
    contest: Contest | None
    baseline: Arm = BASELINE

    def as_json(self) -> dict[str, Any]:
        """Return plain values, one entry an arm."""
        arms = [
            {
                **arm.as_json(),
                "best_temperature": self.best.get(arm),
                "points": [asdict(point) for point in line],
            }
            for arm, line in self.lines.items()
        ]
        return {"arms": arms, "contest": self.contest and self.contest.as_json()}


def temperature_frontier(summary: Summary) -> Frontier | None:
    """Return the frontier of the study's own task; None without one in the recipe or two temperatures.

    A temperature counts for an arm where all its finished seeds have it.
    """
    recipe = summary.study.recipe
    if not recipe.decoding.temperatures:
        return None
    lines = {arm: _line(summary, arm) for arm in summary.arms(recipe.task)}
    lines = {arm: line for arm, line in lines.items() if len(line) > 1}
    if not lines:
        return None
    best = {arm: at for arm, line in lines.items() if (at := _best(line)) is not None}
    return Frontier(summary.chosen_penalty, lines, best, _contest(summary, lines, best), summary.baseline)


def _line(summary: Summary, arm: Arm) -> list[Point]:
    study, task = summary.study, summary.study.recipe.task
    scores = [study.results[cell]["scores"] for cell in study.cells(task, arm)]
    points = []
    for temperature, decoding in temperatures(study.recipe).items():
        test = [split["test"][decoding] for split in scores if decoding in split["test"]]
        if not test or len(test) < len(scores):
            continue
        validation = [split.get("validation", {}).get(decoding) for split in scores]
        points.append(
            Point(
                temperature,
                decoding,
                fmean(seed_scores["pass@1"] for seed_scores in test),
                known_mean([seed_scores.get("drawn_entropy") for seed_scores in test]),
                # Rounded, so that equal means of different seeds are a tie and not a matter of the last bit.
                round(fmean(seed_scores["pass@1"] for seed_scores in validation), 12)
                if all(validation)
                else None,
            )
        )
    return points


def _best(line: list[Point]) -> float | None:
    """Return the temperature with the best validation, the lowest of equals; None if one is not validated."""
    scores = {point.temperature: point.validation for point in line}
    known = {temperature: score for temperature, score in scores.items() if score is not None}
    return min(known, key=lambda at: (-known[at], at)) if len(known) == len(scores) else None


def _contest(summary: Summary, lines: dict[Arm, list[Point]], best: dict[Arm, float]) -> Contest | None:
    chosen, zero = summary.chosen_penalty, summary.baseline
    if chosen is None or chosen.lam is None or chosen not in best or zero not in best:
        return None
    study = summary.study
    if any(cell.task == study.recipe.task and cell.arm in (chosen, zero) for cell in study.missing):
        return None  # they are not yet drawn at every temperature
    most = max(lines[zero], key=lambda point: (point.accuracy, -point.temperature)).temperature
    treated, baseline, in_hindsight = (
        _outcomes(summary, arm, at) for arm, at in ((chosen, best[chosen]), (zero, best[zero]), (zero, most))
    )
    gain, hindsight = (paired_gain(treated, untreated) for untreated in (baseline, in_hindsight))
    return Contest(
        lam=chosen.lam,
        temperature=best[chosen],
        baseline_temperature=best[zero],
        mean=float(treated.mean()),
        baseline=float(baseline.mean()),
        gain=gain,
        hindsight_temperature=most,
        hindsight=hindsight,
    )


def _outcomes(summary: Summary, arm: Arm, temperature: float) -> np.ndarray:
    study = summary.study
    decoding = temperatures(study.recipe)[temperature]
    return study.outcomes(study.recipe.task, arm, split="test", decoding=decoding)
