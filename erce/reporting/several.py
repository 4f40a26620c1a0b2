"""A study → what several samples of a problem do together: one of them right, their vote, the likeliest."""

from statistics import fmean
from typing import Any

from erce.reporting.format import percent, strength
from erce.reporting.gains import Summary
from erce.score import crossover

WAYS = ("pass", "maj", "best")


def several(summary: Summary) -> dict[str, Any] | None:
    """The chosen λ and cross-entropy with all k samples a problem; None without both, or with one sample.

    `k`; `treated` and `baseline`, each with "pass" (one of k is right), "maj" (the majority's answer is) and
    "best" (the likeliest by log-probability is), as far as every seed has it, means over seeds in fractions
    of 1; `crossover`, the number of samples from which on the other arm covers more, None without one.
    """
    task, lam = summary.study.recipe.task, summary.lam
    row = summary.row(task, lam, "sampled") if lam else None
    if lam is None or row is None or row.n_samples < 2 or not summary.has_gain(task, lam):
        return None
    treated, baseline = (
        summary.study.outcomes(task, arm, split="test", decoding="sampled") for arm in (lam, 0.0)
    )
    crossed = crossover(treated, baseline)
    return {
        "k": row.n_samples,
        "treated": _together(summary, lam, row.n_samples),
        "baseline": _together(summary, 0.0, row.n_samples),
        "crossover": None if crossed is None else crossed._asdict(),
    }


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
        for way in WAYS
        if way in treated and way in baseline
    ]
    if not parts:
        return ""
    opening = f"With λ = {strength(summary.lam)} and with cross-entropy, "
    return opening + ", ".join(parts) + "." + _crossing(found["crossover"], k)


def _crossing(crossed: dict[str, Any] | None, k: int) -> str:
    if crossed is None:
        return f" Up to {k} samples neither overtakes the other in the first of these."
    ahead = "the penalty" if crossed["leader"] == "treated" else "cross-entropy"
    bounds = [str(crossed[end]) if crossed[end] is not None else f"beyond {k}" for end in ("low", "high")]
    return (
        f" In the first of these {ahead} is ahead with few samples and behind from {crossed['k']} on "
        f"(95 % interval over problems {bounds[0]} to {bounds[1]})."
    )


def _together(summary: Summary, arm: float, k: int) -> dict[str, float]:
    """Means over seeds of what every seed's scores hold."""
    cells = summary.study.cells(summary.study.recipe.task, arm)
    scores = [summary.study.results[cell]["scores"]["test"]["sampled"] for cell in cells]
    return {
        way: fmean(score[f"{way}@{k}"] for score in scores)
        for way in WAYS
        if all(f"{way}@{k}" in score for score in scores)
    }
