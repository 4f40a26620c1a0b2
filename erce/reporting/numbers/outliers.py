"""A study's runs → those far from the other seeds of their arm, with the gain with and without each.

If one run in ten of an arm collapses, its 95 % interval covers the true gain in 42 to 64 % of studies of 3 to
10 seeds (`benchmarks/coverage.py`), for a few seeds hold one collapsed run, or none. No interval repairs
that, so a run that collapsed is named.
"""

from dataclasses import dataclass
from statistics import median_high, median_low

import numpy as np

from erce.recipe import Cell
from erce.reporting.numbers.gains import Summary, TableRow
from erce.stats import Gain, paired_gain
from erce.types import Arm

FAR_DEVIATIONS = 5.0  # standard deviations of a run's accuracy
FAR_AT_LEAST = 0.1  # of accuracy, in fractions of 1


@dataclass(frozen=True)
class Outlier:
    """A run whose accuracy on the test problems, in fractions of 1, is far from its arm's median seed.

    `gain` and `without` are the gain of `compared` over the baseline with all runs and without this one; all
    three are None for a run of the baseline where no penalty was chosen.
    """

    cell: Cell
    accuracy: float
    median: float
    compared: Arm | None
    gain: Gain | None
    without: Gain | None


def outliers(summary: Summary) -> list[Outlier]:
    """Return the outliers, task by task; of two seeds that lie far apart, the lower one is the outlier."""
    found = []
    for task in summary.study.recipe.tasks:
        rows = [
            row
            for row in summary.rows
            if (row.task, row.decoding) == (task, summary.decoding) and row.n_seeds > 1
        ]
        spreads = [row.sd for row in rows if row.sd is not None]
        for row in rows:
            median = median_high(row.seeds.values())
            spread = max(median_low(spreads), _spread_by_chance(summary, row))
            limit = max(FAR_AT_LEAST, FAR_DEVIATIONS * spread)
            for place, cell in enumerate(summary.study.cells(task, row.arm)):
                accuracy = row.seeds[cell.seed]
                if abs(accuracy - median) > limit:
                    found.append(Outlier(cell, accuracy, median, *_gains(summary, cell, place=place)))
    return found


def _spread_by_chance(summary: Summary, row: TableRow) -> float:
    """Return the standard deviation between seeds that differ by nothing but their samples."""
    outcomes = summary.study.outcomes(row.task, row.arm, split="test", decoding=row.decoding)
    by_problem = outcomes.mean(axis=2).var(axis=0, ddof=1)  # between seeds
    return float(np.sqrt(by_problem.sum()) / len(by_problem))


def _gains(summary: Summary, cell: Cell, *, place: int) -> tuple[Arm | None, Gain | None, Gain | None]:
    """Return the run's arm, its gain, and the gain without the run; of the baseline, the chosen λ's."""
    compared = summary.chosen_penalty if cell.arm == summary.baseline else cell.arm
    gain = summary.gain(cell.task, compared, summary.decoding)
    if compared is None or gain is None:
        return None, None, None
    kept = []
    for arm in (compared, summary.baseline):
        outcomes = summary.study.outcomes(cell.task, arm, split="test", decoding=summary.decoding)
        kept.append(np.delete(outcomes, place, axis=0) if arm == cell.arm else outcomes)
    return compared, gain.gain, paired_gain(*kept)
