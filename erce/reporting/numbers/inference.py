"""A study → what its gains do not say by themselves: power, runs that an interval hides, versions.

Power is about the main task on the test problems, with samples and greedy decoding apart. Outliers
are named because no interval repairs them: if one run in ten of an arm collapses, its 95 % interval covers
the true gain in 42 to 64 % of studies of 3 to 10 seeds (`benchmarks/coverage.py`), for a few seeds hold one
collapsed run, or none.
"""

from collections import Counter
from functools import lru_cache
from itertools import chain
from statistics import median_high, median_low

import numpy as np

from erce.errors import counted
from erce.recipe import Cell
from erce.reporting.numbers.gains import Summary, TableRow
from erce.stats import Power, plan

WANTED = 0.03  # the gain that a study is planned for, in fractions of 1
PILOT_SEEDS = 5  # with fewer, the spread is too uncertain to say which gain is found in 4 of 5 studies
FAR_DEVIATIONS = 5.0  # standard deviations of a run's accuracy
FAR_AT_LEAST = 0.1  # of accuracy, in fractions of 1


@lru_cache(maxsize=2)
def power(summary: Summary, decoding: str) -> Power | None:
    """Plan for WANTED with what varied between the chosen λ, or else the best arm, and the baseline.

    None without an arm to compare, with fewer than PILOT_SEEDS seeds, with one problem, or if nothing varies.
    """
    means = {row.arm: row.mean for row in summary.compared(decoding)}
    if not means:
        return None
    arm = summary.chosen_penalty
    if arm not in means:
        arm = max(means, key=lambda arm: means[arm])
    treated, baseline = summary.outcomes(arm, decoding), summary.outcomes(summary.baseline, decoding)
    if min(len(treated), len(baseline)) < PILOT_SEEDS or baseline.shape[1] < 2:
        return None
    found = plan(treated, baseline, gain=WANTED)
    return found if found.detectable else None


def outliers(summary: Summary) -> list[tuple[Cell, float, float]]:
    """Return each run that is far from its arm's median seed, with its accuracy and that median.

    Of two seeds that lie far apart, the lower one is the outlier.
    """
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
            found += [
                (cell, row.seeds[cell.seed], median)
                for cell in summary.study.cells(task, row.arm)
                if abs(row.seeds[cell.seed] - median) > limit
            ]
    return found


def package_versions(summary: Summary) -> dict[str, list[str]]:
    """Return package → the version of all cells, or each of several versions with its number of cells."""
    cells = [result.get("versions", {}) for result in summary.study.results.values()]
    versions = {}
    for name in sorted({*chain(*cells)}):
        counts = Counter(of_cell.get(name, "unknown") for of_cell in cells)
        numbered = [f"{version} ({counted(count, 'cell')})" for version, count in counts.items()]
        versions[name] = numbered if len(counts) > 1 else [*counts]
    return versions


def _spread_by_chance(summary: Summary, row: TableRow) -> float:
    """Return the standard deviation between seeds that differ by nothing but their samples."""
    outcomes = summary.study.outcomes(row.task, row.arm, split="test", decoding=row.decoding)
    by_problem = outcomes.mean(axis=2).var(axis=0, ddof=1)  # between seeds
    return float(np.sqrt(by_problem.sum()) / len(by_problem))
