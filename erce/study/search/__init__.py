"""Validation outcomes → λ: which cells to train next."""

from erce.study.search.halving import GRID, Search, Settings
from erce.study.search.steps import Run, Stop, explain, plain

__all__ = ["GRID", "Run", "Search", "Settings", "Stop", "explain", "plain"]
