"""Validation outcomes → λ: which cells to train next."""

from erce.study.search.halving import Search
from erce.study.search.steps import Run, Stop, explain, plain

__all__ = ["Run", "Search", "Stop", "explain", "plain"]
