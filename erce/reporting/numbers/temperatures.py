"""A study → accuracy over temperature, and whether an arm beats others at their best temperature."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from erce.recipe import temperatures
from erce.reporting.numbers.gains import Summary, gain_as_json, known_mean
from erce.reporting.numbers.verdict import preferences
from erce.stats import Gain, paired_gain
from erce.types import BASE_MODEL, Arm


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
    """The arm in question against another one on test, each at its best temperature on validation."""

    arm: Arm
    rival: Arm
    temperature: float
    rival_temperature: float
    mean: float
    rival_mean: float
    gain: Gain

    @property
    def finding(self) -> str:
        """Say on which side of 0 the interval lies: "better", "worse", or "unclear" for both sides."""
        if self.gain.low > 0:
            return "better"
        return "worse" if self.gain.high < 0 else "unclear"

    def as_json(self, grid: str) -> dict[str, Any]:
        arms = {"arm": self.arm.as_json(grid), "rival": self.rival.as_json(grid)}
        return self._asdict() | arms | {**gain_as_json(self.gain), "finding": self.finding}


@dataclass(frozen=True)
class TemperatureSweep:
    """Every arm's points at rising temperature; `best` is the temperature that validation prefers.

    `arm` is the one whose gain may be of temperature: the arm to use for samples, or the chosen λ where that
    is the base model or λ = 0. A run samples the sweep for the base model, λ = 0, the chosen λ and the arm
    that validation prefers; the others have fewer temperatures.
    """

    arm: Arm | None  # None also where λ = 0 was chosen
    baseline: Arm
    lines: dict[Arm, list[Point]]
    best: dict[Arm, float]
    contests: list[Contest]

    def as_json(self) -> dict[str, Any]:
        """Return plain values, one entry per arm."""
        grid = self.baseline.method
        arms = [
            {
                **arm.as_json(grid),
                "best_temperature": self.best.get(arm),
                "points": [asdict(point) for point in line],
            }
            for arm, line in self.lines.items()
        ]
        return {"arms": arms, "contests": [contest.as_json(grid) for contest in self.contests]}


def arm_in_question(summary: Summary) -> Arm | None:
    """Return the arm whose gain may be of temperature alone: the one to use for samples, or the chosen λ."""
    found = preferences(summary).get("sampled")
    trained = found is not None and found.use not in (BASE_MODEL, summary.baseline)
    return found.use if found is not None and trained else summary.chosen_penalty


def rivals(summary: Summary, arm: Arm) -> list[Arm]:
    """Return the arms over which a gain in samples is doubted: base model, λ = 0, the next on validation."""
    found = preferences(summary).get("sampled")
    next_best = found.next_best if found is not None and found.arm == arm else []
    return [other for other in dict.fromkeys((BASE_MODEL, summary.baseline, *next_best)) if other != arm]


def temperature_sweep(summary: Summary) -> TemperatureSweep | None:
    """Return the sweep of the main task; None without one in the recipe or without two temperatures.

    A temperature counts for an arm where all its finished seeds have it.
    """
    if not summary.study.recipe.decoding.temperatures:
        return None
    lines = {arm: _line(summary, arm) for arm in summary.arms(summary.task)}
    lines = {arm: line for arm, line in lines.items() if len(line) > 1}
    if not lines:
        return None
    best = {arm: at for arm, line in lines.items() if (at := _best(line)) is not None}
    arm = arm_in_question(summary)
    contests = [] if arm is None else list(_contests(summary, arm, best))
    return TemperatureSweep(arm, summary.baseline, lines, best, contests)


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


def _contests(summary: Summary, arm: Arm, best: dict[Arm, float]) -> Iterator[Contest]:
    """Compare the arm with its rivals, each at its best of the temperatures at which it was sampled."""
    study = summary.study
    unfinished = {cell.arm for cell in study.missing if cell.task == summary.task}
    decodings = temperatures(study.recipe)
    for rival in rivals(summary, arm):
        if not {arm, rival} <= best.keys() or unfinished & {arm, rival}:
            continue
        treated, other = (summary.outcomes(one, decodings[best[one]]) for one in (arm, rival))
        yield Contest(
            arm=arm,
            rival=rival,
            temperature=best[arm],
            rival_temperature=best[rival],
            mean=float(treated.mean()),
            rival_mean=float(other.mean()),
            gain=paired_gain(treated, other, untrained=["baseline"] if rival.is_base else []),
        )
