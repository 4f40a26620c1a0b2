"""Completions and verdicts → a table's numbers: one sample, k samples, their vote, the likeliest."""

from erce.score.k_samples import best_by_problem, coverage, coverage_by_problem, mixed_share
from erce.score.majority import majority_by_problem, merged
from erce.score.summary import acceptance, shares, summarize

__all__ = [
    "acceptance",
    "best_by_problem",
    "coverage",
    "coverage_by_problem",
    "majority_by_problem",
    "merged",
    "mixed_share",
    "shares",
    "summarize",
]
