"""Completions and verdicts → a table's numbers: one sample, k samples, votes, the likeliest, calibration."""

from erce.score.best import best_at_k, best_by_problem
from erce.score.calibration import (
    Bin,
    Confidence,
    Reliability,
    modal_confidence,
    reliability,
    sequence_confidence,
)
from erce.score.coverage import Crossover, coverage, coverage_by_problem, crossover, pass_at_k
from erce.score.majority import maj_at_k, majority_by_problem, merged
from erce.score.summary import acceptance, pass_at_1, shares, summarize

__all__ = [
    "Bin",
    "Confidence",
    "Crossover",
    "Reliability",
    "acceptance",
    "best_at_k",
    "best_by_problem",
    "coverage",
    "coverage_by_problem",
    "crossover",
    "maj_at_k",
    "majority_by_problem",
    "merged",
    "modal_confidence",
    "pass_at_1",
    "pass_at_k",
    "reliability",
    "sequence_confidence",
    "shares",
    "summarize",
]
