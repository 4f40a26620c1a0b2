"""Outcomes over arms, seeds, problems and samples → gains, intervals and p-values that say what they cover.

`welch` answers "what if other seeds had been trained, on these very problems?". `paired_gain` also asks "…
and on other problems like these?": report this gain. `grid_gains` is `paired_gain` for a whole study.
"""

from erce.stats.intervals import (
    Covers,
    Estimate,
    Gain,
    accuracy_bounds,
    difference,
    over_seeds,
    paired_gain,
    welch,
)
from erce.stats.planning import Power, plan
from erce.stats.significance import GridGain, grid_gains, holm

__all__ = [
    "Covers",
    "Estimate",
    "Gain",
    "GridGain",
    "Power",
    "accuracy_bounds",
    "difference",
    "grid_gains",
    "holm",
    "over_seeds",
    "paired_gain",
    "plan",
    "welch",
]
