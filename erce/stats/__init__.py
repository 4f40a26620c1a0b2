"""Outcomes over arms, seeds, problems and samples → gains, intervals and p-values that say what they cover.

Two questions are kept apart. `welch` answers "what if other seeds had been trained, on these very
problems?"; `paired_gain`, the one to report, adds "… and on other problems like these?". `grid_gains` is
`paired_gain` for a whole study. The paper's own conventions are in `paper`, to reproduce it.
"""

from erce.stats import paper
from erce.stats.equivalence import Equivalence, equivalent, fewest_problems
from erce.stats.flips import MaxT, max_t
from erce.stats.gains import Covers, Estimate, Gain, difference, over_seeds, paired_gain, welch
from erce.stats.grid import GridGain, GridTest, Trend, dunnett, grid_gains, holm, trend
from erce.stats.planning import Size, Spread, detectable_gain, problems_needed, spread_of, study_sizes
from erce.stats.proportions import Discordant, Proportion, mcnemar, wilson
from erce.stats.selection import Selection, selection_bias

__all__ = [
    "Covers",
    "Discordant",
    "Equivalence",
    "Estimate",
    "Gain",
    "GridGain",
    "GridTest",
    "MaxT",
    "Proportion",
    "Selection",
    "Size",
    "Spread",
    "Trend",
    "detectable_gain",
    "difference",
    "dunnett",
    "equivalent",
    "fewest_problems",
    "grid_gains",
    "holm",
    "max_t",
    "mcnemar",
    "over_seeds",
    "paired_gain",
    "paper",
    "problems_needed",
    "selection_bias",
    "spread_of",
    "study_sizes",
    "trend",
    "welch",
    "wilson",
]
