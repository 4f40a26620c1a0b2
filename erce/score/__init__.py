"""Completions and verdicts → a table's numbers: one sample, k samples, votes, the likeliest."""

from erce.score.k_samples import (
    Crossover,
    best_by_problem,
    coverage,
    coverage_by_problem,
    crossover,
    mixed_share,
)
from erce.score.majority import majority_by_problem, merged
from erce.score.summary import acceptance, pass_at_1, shares, summarize

__all__ = [
    "Crossover",
    "acceptance",
    "best_by_problem",
    "coverage",
    "coverage_by_problem",
    "crossover",
    "majority_by_problem",
    "merged",
    "mixed_share",
    "pass_at_1",
    "shares",
    "summarize",
]
