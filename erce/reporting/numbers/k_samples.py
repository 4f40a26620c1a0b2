"""A study → how often one of k samples of a problem is right, the vote of all n, and the likeliest."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from erce.reporting.numbers.gains import Summary, gain_as_json, known_mean
from erce.reporting.numbers.verdict import preferences
from erce.score import coverage, coverage_by_problem, mixed_share
from erce.stats import Gain, paired_gain
from erce.types import Arm

VOTES = ("maj", "best")  # the majority's answer is right, the likeliest sample is


@dataclass(frozen=True)
class Coverage:
    """Every arm's scores for several samples of a problem, in fractions of 1, on the main task.

    `passed` is each arm's pass@k for every k of `ks`, whose last is n, all samples of a problem. `votes` is
    "maj" and "best" → each arm's maj@n or best@n, None where the scores of a seed lack it; what every arm
    lacks is left out. `mixed` is each arm's `erce.score.mixed_share`. `gains` compares `arm`, the one that
    validation prefers for samples, with the baseline, all n samples: "pass", and votes whose scores hold
    every problem.
    """

    ks: list[int]
    passed: dict[Arm, list[float]]
    votes: dict[str, dict[Arm, float | None]]
    mixed: dict[Arm, float]
    arm: Arm | None
    gains: dict[str, Gain]

    def as_json(self, grid: str) -> dict[str, Any]:
        arms = [
            arm.as_json(grid)
            | {"pass": passed}
            | {way: shares[arm] for way, shares in self.votes.items()}
            | {"mixed": self.mixed[arm]}
            for arm, passed in self.passed.items()
        ]
        gains = {way: gain_as_json(gain) for way, gain in self.gains.items()}
        return {"k": self.ks, "arms": arms, "gains": gains}


@lru_cache(maxsize=1)
def sample_coverage(summary: Summary) -> Coverage | None:
    """Score every arm's samples together; None if a problem has fewer than three, or no cell is finished."""
    arms = [arm for arm in summary.arms(summary.task) if summary.row(summary.task, arm, "sampled")]
    outcomes = {arm: summary.outcomes(arm, "sampled") for arm in arms}
    n = min((array.shape[2] for array in outcomes.values()), default=1)
    if n < 3:
        return None
    ks = sorted({*(2**power for power in range(n.bit_length())), n})
    passed = {arm: coverage(array)[[k - 1 for k in ks]].tolist() for arm, array in outcomes.items()}
    votes = {}
    for way in VOTES:
        shares = {
            arm: known_mean([scores.get(f"{way}@{n}") for scores in _scores(summary, arm)]) for arm in arms
        }
        if any(share is not None for share in shares.values()):
            votes[way] = shares
    mixed, gains = {arm: mixed_share(array[..., :n]) for arm, array in outcomes.items()}, {}
    preferred = preferences(summary).get("sampled")
    arm = preferred.arm if preferred else summary.chosen_penalty
    if arm in outcomes and summary.baseline in outcomes and arm != summary.baseline:
        found = {way: _gain(summary, arm, way, n) for way in ("pass", *VOTES)}
        gains = {way: gain for way, gain in found.items() if gain is not None}
    return Coverage(ks, passed, votes, mixed, arm, gains)


def _gain(summary: Summary, preferred: Arm, way: str, n: int) -> Gain | None:
    """Return the paired gain; None where a seed's scores do not hold the way problem by problem."""
    treated, baseline = (_by_problem(summary, arm, way, n) for arm in (preferred, summary.baseline))
    if treated is None or baseline is None or treated.shape[1] != baseline.shape[1]:
        return None
    return paired_gain(treated, baseline, untrained=["treated"] if preferred.is_base else [])


def _by_problem(summary: Summary, arm: Arm, way: str, n: int) -> np.ndarray | None:
    """Return each problem's chance with n samples: (seeds, problems, 1). pass@k comes from the verdicts."""
    if way == "pass":
        return coverage_by_problem(summary.outcomes(arm, "sampled"))[..., n - 1 : n]
    rows = [scores.get("by_problem", {}).get(way) for scores in _scores(summary, arm)]
    if None in rows or len({len(row) for row in rows}) != 1:
        return None
    return np.clip(np.array(rows, dtype=float), 0, 1)[..., None]


def _scores(summary: Summary, arm: Arm) -> list[dict[str, Any]]:
    """Return what each seed's result.json says of the samples of the test problems."""
    cells = summary.study.cells(summary.task, arm)
    return [summary.study.results[cell]["scores"]["test"]["sampled"] for cell in cells]
