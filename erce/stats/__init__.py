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
from erce.stats.planning import (
    Spread,
    detectable_gain,
    few_seeds_factor,
    problems_needed,
    spread_of,
)
from erce.stats.significance import GridGain, grid_gains, holm

__all__ = [
    "Covers",
    "Estimate",
    "Gain",
    "GridGain",
    "Spread",
    "accuracy_bounds",
    "detectable_gain",
    "difference",
    "few_seeds_factor",
    "grid_gains",
    "holm",
    "over_seeds",
    "paired_gain",
    "problems_needed",
    "spread_of",
    "welch",
]
