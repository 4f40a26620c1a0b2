"""Validation outcomes → λ: which cells to train next, and which evaluations to end."""

from erce.auto.halving import GRID, Search, Settings
from erce.auto.story import Run, Stop, explain, plain

__all__ = ["GRID", "Run", "Search", "Settings", "Stop", "explain", "plain"]
