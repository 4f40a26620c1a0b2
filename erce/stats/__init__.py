"""Outcomes over arms, seeds, problems and samples → gains, intervals and p-values that say what they cover.

`welch` answers "what if other seeds had been trained, on these very problems?". `paired_gain` also asks "…
and on other problems like these?": report this gain. `grid_gains` is `paired_gain` for a whole study. `paper`
has the paper's own conventions, to reproduce its figures.
"""

from erce.stats import paper
from erce.stats.intervals import Covers, Estimate, Gain, difference, over_seeds, paired_gain, welch
from erce.stats.planning import (
    Size,
    Spread,
    detectable_gain,
    few_seeds_factor,
    problems_needed,
    spread_of,
    study_sizes,
)
from erce.stats.significance import (
    Discordant,
    Equivalence,
    GridGain,
    Proportion,
    equivalent,
    fewest_problems,
    grid_gains,
    holm,
    mcnemar,
    wilson,
)

__all__ = [
    "Covers",
    "Discordant",
    "Equivalence",
    "Estimate",
    "Gain",
    "GridGain",
    "Proportion",
    "Size",
    "Spread",
    "detectable_gain",
    "difference",
    "equivalent",
    "few_seeds_factor",
    "fewest_problems",
    "grid_gains",
    "holm",
    "mcnemar",
    "over_seeds",
    "paired_gain",
    "paper",
    "problems_needed",
    "spread_of",
    "study_sizes",
    "welch",
    "wilson",
]
