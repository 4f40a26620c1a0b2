"""A study → what several samples of a problem do together: one of them right, their vote, the likeliest."""

from functools import lru_cache
from statistics import fmean
from typing import Any

import numpy as np

from erce.reporting.format import fixed, interval, percent, strength
from erce.reporting.gains import Summary, known_mean
from erce.score import Crossover, coverage_by_problem, crossover
from erce.stats import paired_gain
from erce.types import BASELINE, Arm

WAYS = ("pass", "maj", "best")
ALIKE = 0.005  # calibration errors no further apart are called alike


def several(summary: Summary) -> dict[str, Any] | None:
    """The chosen λ and cross-entropy with all k samples a problem; None without both, or with one sample.

    `k`; `treated` and `baseline`, each with "pass" (one of k is right), "maj" (the majority's answer is) and
    "best" (the likeliest by log-probability is), as far as every seed has it, means over seeds in fractions
    of 1; `gains`, for each of these the gain, its 95 % interval `ci`, `p` and what they cover, as far as
    every seed has it problem by problem; `calibration`, see below; `crossover`, the number of samples from
    which on the other arm covers more, None without one.

    `calibration` holds for `treated` and `baseline` the expected calibration error `ece` and Brier's score
    `brier` of two confidences, means over seeds: "vote", the winner's share of the k answers, and "sequence",
    exp of a completion's log-probability; as far as every seed has them.
    """
    task, arm = summary.study.recipe.task, summary.chosen_penalty
    row = summary.row(task, arm, "sampled")
    if arm is None or row is None or row.n_samples < 2 or not summary.has_gain(task, arm):
        return None
    crossed = crossing(summary)
    return {
        "k": row.n_samples,
        "treated": _together(summary, arm, row.n_samples),
        "baseline": _together(summary, BASELINE, row.n_samples),
        "gains": {way: found for way in WAYS if (found := _gain(summary, arm, way)) is not None},
        "calibration": {"treated": _calibration(summary, arm), "baseline": _calibration(summary, BASELINE)},
        "crossover": None if crossed is None else crossed._asdict(),
    }


@lru_cache(maxsize=1)
def crossing(summary: Summary) -> Crossover | None:
    """Where the chosen λ and cross-entropy change places in pass@k; None where they do not."""
    task, chosen = summary.study.recipe.task, summary.chosen_penalty
    if chosen is None:
        return None
    if any(summary.row(task, arm, "sampled") is None for arm in (chosen, BASELINE)):
        return None
    return crossover(
        *(summary.study.outcomes(task, arm, split="test", decoding="sampled") for arm in (chosen, BASELINE))
    )


def joined(summary: Summary, arm: Arm, way: str, k: int) -> float | None:
    """Mean over seeds of what k samples a problem scored together; None where a seed's scores lack it."""
    return known_mean([score.get(f"{way}@{k}") for score in _scores(summary, arm)])


def sentence(summary: Summary) -> str:
    """The same in words; empty where there is nothing to say."""
    found = several(summary)
    if found is None:
        return ""
    k, treated, baseline = found["k"], found["treated"], found["baseline"]
    words = {
        "pass": f"one of {k} samples is right",
        "maj": f"the vote of {k}",
        "best": f"the likeliest of {k}",
    }
    parts = [
        f"{words[way]} on {percent(treated[way])} % of problems against {percent(baseline[way])} %"
        + _bounds(found["gains"].get(way))
        for way in WAYS
        if way in treated and way in baseline
    ]
    if not parts:
        return ""
    opening = f"With λ = {strength(summary.lam)} and with cross-entropy, "
    brackets = [gain["covers"] for gain in found["gains"].values()]
    over = f" In brackets: 95 % interval of the difference in points, over {brackets[0]}." if brackets else ""
    return (
        f"{opening}{', '.join(parts)}.{over}{_crossing(found['crossover'], k)}{_calibrated(found, summary)}"
    )


def _bounds(gain: dict[str, Any] | None) -> str:
    return "" if gain is None else f" ({interval(gain['ci'])})"


def _crossing(crossed: dict[str, Any] | None, k: int) -> str:
    if crossed is None:
        return f" Up to {k} samples neither overtakes the other in the first of these."
    ahead = "the penalty" if crossed["leader"] == "treated" else "cross-entropy"
    bounds = [str(crossed[end]) if crossed[end] is not None else f"beyond {k}" for end in ("low", "high")]
    return (
        f" In the first of these {ahead} is ahead with few samples and behind from {crossed['k']} on "
        f"(95 % interval over problems {bounds[0]} to {bounds[1]})."
    )


def _calibrated(found: dict[str, Any], summary: Summary) -> str:
    """Of the vote; a whole text's probability is hardly ever anyone's confidence in it."""
    arms = [found["calibration"][arm].get("vote") for arm in ("treated", "baseline")]
    if None in arms:
        return ""
    errors = [arm["ece"] for arm in arms]
    penalty = f"λ = {strength(summary.lam)}"
    if abs(errors[0] - errors[1]) <= ALIKE:
        verdict = "about as well calibrated with either"
    else:
        verdict = f"better calibrated with {penalty if errors[0] < errors[1] else 'cross-entropy'}"
    off = [fixed(100 * error, 1) for error in errors]
    return (
        f" Taken as its chance to be right, the vote's share is off by {off[0]} points with {penalty} and by "
        f"{off[1]} with cross-entropy, {verdict}."
    )


def _together(summary: Summary, arm: Arm, k: int) -> dict[str, float]:
    """What every seed's scores hold."""
    found = {way: joined(summary, arm, way, k) for way in WAYS}
    return {way: share for way, share in found.items() if share is not None}


def _gain(summary: Summary, chosen: Arm, way: str) -> dict[str, Any] | None:
    """None where a seed's scores do not hold it problem by problem."""
    treated, baseline = (_chances(summary, arm, way) for arm in (chosen, BASELINE))
    if treated is None or baseline is None or treated.shape[1] != baseline.shape[1]:
        return None
    gain = paired_gain(treated, baseline)
    return {"gain": gain.gain, "ci": [gain.low, gain.high], "p": gain.p, "covers": gain.covers}


def _chances(summary: Summary, arm: Arm, way: str) -> np.ndarray | None:
    """(seeds, problems, 1): each problem's chance with all samples; pass@k follows from the verdicts."""
    if way == "pass":
        task = summary.study.recipe.task
        outcomes = summary.study.outcomes(task, arm, split="test", decoding="sampled")
        return coverage_by_problem(outcomes)[..., -1:]
    rows = [score.get("by_problem", {}).get(way) for score in _scores(summary, arm)]
    if None in rows or len({len(row) for row in rows}) != 1:
        return None
    return np.clip(np.array(rows, dtype=float), 0, 1)[..., None]


def _calibration(summary: Summary, arm: Arm) -> dict[str, dict[str, float]]:
    said = [score.get("calibration", {}) for score in _scores(summary, arm)]
    kinds = [kind for kind in ("vote", "sequence") if all(kind in each for each in said)]
    return {
        kind: {name: fmean(each[kind][name] for each in said) for name in ("ece", "brier")} for kind in kinds
    }


def _scores(summary: Summary, arm: Arm) -> list[dict[str, Any]]:
    """What each seed's result.json says of the samples of the test problems."""
    cells = summary.study.cells(summary.study.recipe.task, arm)
    return [summary.study.results[cell]["scores"]["test"]["sampled"] for cell in cells]
