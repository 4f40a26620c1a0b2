"""A study → what k samples of a problem do together: one of them right, their vote, the likeliest."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from erce.reporting.numbers.gains import Summary, gain_as_json, known_mean
from erce.score import Crossover, coverage, coverage_by_problem, crossover
from erce.stats import Gain, paired_gain
from erce.types import BASELINE, Arm

WAYS = ("pass", "maj", "best")  # one of k is right, the majority's answer is, the likeliest is


class TwoArms(NamedTuple):
    """The chosen λ and the baseline with all k samples: way → mean over seeds, in fractions of 1.

    A way is left out where a seed's scores lack it, and `gains` also where they lack it problem by problem.
    `crossover` is where the two change places in pass@k, None where they do not.
    """

    k: int
    treated: dict[str, float]
    baseline: dict[str, float]
    gains: dict[str, Gain]
    crossover: Crossover | None

    def as_json(self) -> dict[str, Any]:
        return {
            "k": self.k,
            "treated": self.treated,
            "baseline": self.baseline,
            "gains": {way: gain_as_json(gain) for way, gain in self.gains.items()},
            "crossover": self.crossover and self.crossover._asdict(),
        }


@dataclass(frozen=True)
class Coverage:
    """Every arm's scores for k samples of a problem together, in fractions of 1, on the study's own task.

    `curves` are pass@1 … pass@n. `together` is way → arm → a value for each k of `ks_of(way)`, None where
    the scores of a seed lack the way; a way that every arm lacks is left out.
    """

    chosen: Arm | None  # None also where λ = 0 was chosen
    curves: dict[Arm, list[float]]
    ks: list[int]
    together: dict[str, dict[Arm, list[float | None]]]
    crossing: Crossover | None
    baseline: Arm = BASELINE

    def ks_of(self, way: str) -> list[int]:
        """Return the k that `together` has; of one sample, vote and likeliest are the sample itself."""
        return self.ks if way == WAYS[0] else self.ks[1:]

    def as_json(self) -> dict[str, Any]:
        arms = [
            arm.as_json() | {"curve": curve} | {way: values[arm] for way, values in self.together.items()}
            for arm, curve in self.curves.items()
        ]
        return {"k": self.ks, "arms": arms, "crossover": self.crossing and self.crossing._asdict()}


def all_samples(summary: Summary) -> TwoArms | None:
    """Compare the chosen λ with the baseline; None without both of them, or with one sample a problem."""
    task, chosen = summary.study.recipe.task, summary.chosen_penalty
    row = summary.row(task, chosen, "sampled")
    if chosen is None or row is None or row.n_samples < 2 or not summary.has_gain(task, chosen):
        return None
    return TwoArms(
        k=row.n_samples,
        treated=_shares(summary, chosen, row.n_samples),
        baseline=_shares(summary, summary.baseline, row.n_samples),
        gains={way: gain for way in WAYS if (gain := _gain(summary, chosen, way)) is not None},
        crossover=_crossing(summary),
    )


def sample_coverage(summary: Summary) -> Coverage | None:
    """Score every arm on the test problems; None with one sample a problem, or no finished cell."""
    study, task = summary.study, summary.study.recipe.task
    arms = [arm for arm in summary.arms(task) if summary.row(task, arm, "sampled")]
    outcomes = {arm: study.outcomes(task, arm, split="test", decoding="sampled") for arm in arms}
    n = min((array.shape[2] for array in outcomes.values()), default=1)
    if n < 2:
        return None
    curves = {arm: coverage(array)[:n].tolist() for arm, array in outcomes.items()}
    ks = sorted({*(2**power for power in range(n.bit_length())), n})
    together: dict[str, dict[Arm, list[float | None]]] = {
        "pass": {arm: [curve[k - 1] for k in ks] for arm, curve in curves.items()}
    }
    for way in WAYS[1:]:
        values = {arm: [_share(summary, arm, way, k) for k in ks[1:]] for arm in curves}
        if any(value is not None for row in values.values() for value in row):
            together[way] = values
    return Coverage(summary.chosen_penalty, curves, ks, together, _crossing(summary), summary.baseline)


@lru_cache(maxsize=1)
def _crossing(summary: Summary) -> Crossover | None:
    task, chosen = summary.study.recipe.task, summary.chosen_penalty
    arms = (chosen, summary.baseline)
    if chosen is None or any(summary.row(task, arm, "sampled") is None for arm in arms):
        return None
    return crossover(
        *(summary.study.outcomes(task, arm, split="test", decoding="sampled") for arm in arms if arm)
    )


def _shares(summary: Summary, arm: Arm, k: int) -> dict[str, float]:
    shares = {way: _share(summary, arm, way, k) for way in WAYS}
    return {way: share for way, share in shares.items() if share is not None}


def _share(summary: Summary, arm: Arm, way: str, k: int) -> float | None:
    """Return the mean over seeds; None where a seed's scores lack it."""
    return known_mean([scores.get(f"{way}@{k}") for scores in _scores(summary, arm)])


def _gain(summary: Summary, chosen: Arm, way: str) -> Gain | None:
    """Return the paired gain; None where a seed's scores do not hold the way problem by problem."""
    treated, baseline = (_by_problem(summary, arm, way) for arm in (chosen, summary.baseline))
    if treated is None or baseline is None or treated.shape[1] != baseline.shape[1]:
        return None
    return paired_gain(treated, baseline)


def _by_problem(summary: Summary, arm: Arm, way: str) -> np.ndarray | None:
    """Return each problem's chance with all samples: (seeds, problems, 1). pass@k comes from the verdicts."""
    if way == "pass":
        task = summary.study.recipe.task
        outcomes = summary.study.outcomes(task, arm, split="test", decoding="sampled")
        return coverage_by_problem(outcomes)[..., -1:]
    rows = [scores.get("by_problem", {}).get(way) for scores in _scores(summary, arm)]
    if None in rows or len({len(row) for row in rows}) != 1:
        return None
    return np.clip(np.array(rows, dtype=float), 0, 1)[..., None]


def _scores(summary: Summary, arm: Arm) -> list[dict[str, Any]]:
    """Return what each seed's result.json says of the samples of the test problems."""
    cells = summary.study.cells(summary.study.recipe.task, arm)
    return [summary.study.results[cell]["scores"]["test"]["sampled"] for cell in cells]
