"""Completions and verdicts → a table's numbers: one sample, k samples, votes, the likeliest."""

from erce.score.k_samples import (
    Crossover,
    best_by_problem,
    coverage,
    coverage_by_problem,
    crossover,
    pass_at_k,
)
from erce.score.majority import maj_at_k, majority_by_problem, merged
from erce.score.summary import acceptance, pass_at_1, shares, summarize

__all__ = [
    "Crossover",
    "acceptance",
    "best_by_problem",
    "coverage",
    "coverage_by_problem",
    "crossover",
    "maj_at_k",
    "majority_by_problem",
    "merged",
    "pass_at_1",
    "pass_at_k",
    "shares",
    "summarize",
]
