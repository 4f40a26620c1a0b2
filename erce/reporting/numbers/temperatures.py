"""A study → accuracy over temperature, and whether the chosen λ beats λ = 0 at its best temperature."""

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from erce.recipe import temperatures
from erce.reporting.numbers.gains import Summary, gain_as_json, known_mean
from erce.stats import Gain, paired_gain
from erce.types import Arm


@dataclass(frozen=True)
class Point:
    """One arm at one temperature, means over its seeds, in fractions of 1.

    `validation` is None without validation problems.
    """

    temperature: float
    decoding: str
    accuracy: float
    validation: float | None


class Contest(NamedTuple):
    """The chosen λ against the baseline on test, each at its best temperature on validation."""

    lam: float
    temperature: float
    baseline_temperature: float
    mean: float
    baseline: float
    gain: Gain

    @property
    def finding(self) -> str:
        """Say on which side of 0 the interval lies: "better", "worse", or "unclear" for both sides."""
        if self.gain.low > 0:
            return "better"
        return "worse" if self.gain.high < 0 else "unclear"

    def as_json(self) -> dict[str, Any]:
        return self._asdict() | {**gain_as_json(self.gain), "finding": self.finding}


@dataclass(frozen=True)
class TemperatureSweep:
    """Every arm's points at rising temperature; `best` is the temperature that validation prefers.

    A run samples the sweep for the base model, cross-entropy and the chosen λ; the other arms have fewer
    temperatures.
    """

    chosen: Arm | None  # None also where λ = 0 was chosen
    baseline: Arm
    lines: dict[Arm, list[Point]]
    best: dict[Arm, float]
    contest: Contest | None

    def as_json(self) -> dict[str, Any]:
        """Return plain values, one entry per arm."""
        arms = [
            {
                **arm.as_json(),
                "best_temperature": self.best.get(arm),
                "points": [asdict(point) for point in line],
            }
            for arm, line in self.lines.items()
        ]
        return {"arms": arms, "contest": self.contest and self.contest.as_json()}


def temperature_sweep(summary: Summary) -> TemperatureSweep | None:
    """Return the sweep of the study's own task; None without one in the recipe or without two temperatures.

    A temperature counts for an arm where all its finished seeds have it.
    """
    if not summary.study.recipe.decoding.temperatures:
        return None
    lines = {arm: _line(summary, arm) for arm in summary.arms(summary.task)}
    lines = {arm: line for arm, line in lines.items() if len(line) > 1}
    if not lines:
        return None
    best = {arm: at for arm, line in lines.items() if (at := _best(line)) is not None}
    contest = _contest(summary, lines, best)
    return TemperatureSweep(summary.chosen_penalty, summary.baseline, lines, best, contest)


def _line(summary: Summary, arm: Arm) -> list[Point]:
    study = summary.study
    scores = [study.results[cell]["scores"] for cell in study.cells(summary.task, arm)]
    points = []
    for temperature, decoding in temperatures(study.recipe).items():
        test, validation = (
            known_mean([split.get(name, {}).get(decoding, {}).get("pass@1") for split in scores])
            for name in ("test", "validation")
        )
        if test is not None:
            points.append(Point(temperature, decoding, test, validation))
    return points


def _best(line: list[Point]) -> float | None:
    """Return the temperature with the best validation, the lowest of equals; None if one is not validated."""
    if any(point.validation is None for point in line):
        return None
    # Rounded, so that equal means of different seeds are a tie and not a matter of the last bit.
    return min(line, key=lambda point: (-round(point.validation or 0, 12), point.temperature)).temperature


def _contest(summary: Summary, lines: dict[Arm, list[Point]], best: dict[Arm, float]) -> Contest | None:
    chosen, zero, study = summary.chosen_penalty, summary.baseline, summary.study
    if chosen is None or chosen.lam is None or chosen not in best or zero not in best:
        return None
    if any(cell.task == summary.task and cell.arm in (chosen, zero) for cell in study.missing):
        return None  # they are not yet sampled at every temperature
    decodings = temperatures(study.recipe)
    treated, baseline = (summary.outcomes(arm, decodings[best[arm]]) for arm in (chosen, zero))
    return Contest(
        lam=chosen.lam,
        temperature=best[chosen],
        baseline_temperature=best[zero],
        mean=float(treated.mean()),
        baseline=float(baseline.mean()),
        gain=paired_gain(treated, baseline),
    )
