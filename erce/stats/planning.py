"""Outcomes of a study → the gain that such a study finds, and the size of one that finds a smaller gain.

The formula is Miller's for evaluations (arXiv 2411.00640, §5) with one more term. More problems average out
differences between problems. But what a training run does to *all* problems at once averages out over seeds
alone: with too few seeds no number of problems is enough.
"""

import math
from typing import NamedTuple

from numpy.typing import ArrayLike
from scipy.special import stdtrit

from erce.stats.outcomes import accuracy, cell_variance, paired_fractions, seeds_variance, variance


class Power(NamedTuple):
    """What a study of a known size finds, and which sizes find a wanted gain, each in 80 of 100 cases.

    detectable: the smallest gain that a study of the known size finds, in fractions of 1;
    problems, seeds: how many of the one find the wanted gain with as many of the other; infinite where no
        number is enough;
    times: how many times as many of both find it, at least 1.
    """

    detectable: float
    problems: float
    seeds: float
    times: float


def plan(treated: ArrayLike, baseline: ArrayLike, *, gain: float = 0.03) -> Power:
    """Return the power of studies of other sizes, from how the outcomes of two arms varied.

    With the terms of `paired_gain`, a study of f times as many problems and g times as many seeds has

        V = (V_problem − V_cell) / f + (V_seed − V_cell) / g + V_cell / (f g),

    where a difference below 0 counts as 0, and finds gains from (t_0.975 + t_0.8) √V on, two-sided at 5 %.
    The quantiles are Student's with seeds − 1 degrees of freedom, as the variances are known from these seeds
    alone: in simulations with 5 and 10 seeds, 85 to 93 % of studies of the same size find that gain.

    Args:
        treated: Outcomes of one arm, (seeds, problems, samples) as `paired_gain` takes them.
        baseline: Outcomes of the other one, for the same problems in the same order.
        gain: The wanted gain, in fractions of 1.

    Raises:
        ValueError: An arm has one seed, there is one problem, or the gain is not between 0 and 1.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> regularized, cross_entropy = (rng.random((2, 5, 100, 2)) < 0.5).astype(int)
    >>> found = plan(regularized, cross_entropy)
    >>> f"{found.detectable:.3f}; for 0.03 {found.problems:.0f} problems or {found.seeds:.0f} seeds"
    '0.101; for 0.03 inf problems or 92 seeds'
    """
    if not 0 < gain < 1:
        raise ValueError(f"gain = {gain:g} must lie between 0 and 1, in fractions of 1: 3 points are 0.03")
    arms = paired_fractions(treated, baseline)
    seeds, problems = min(map(len, arms)), arms[0].shape[1]
    if seeds < 2 or problems < 2:
        raise ValueError(
            f"the study has {seeds} seeds and {problems} problems; a plan needs two of each in both arms"
        )
    of_problems = variance(accuracy(arms[0]) - accuracy(arms[1])) / problems
    of_seeds, of_cells = sum(map(seeds_variance, arms)), sum(map(cell_variance, arms))
    effect, run = max(0.0, of_problems - of_cells), max(0.0, of_seeds - of_cells)
    quantiles = float(stdtrit(seeds - 1, 0.975) + stdtrit(seeds - 1, 0.8))
    allowed = (gain / quantiles) ** 2  # the variance at which the wanted gain is found

    def needed(number: int, averaged: float, left: float) -> float:
        return max(1.0, math.ceil(number * averaged / (allowed - left))) if allowed > left else math.inf

    detectable = quantiles * math.sqrt(effect + run + of_cells)
    return Power(
        detectable=detectable,
        problems=needed(problems, effect + of_cells, run),
        seeds=needed(seeds, run + of_cells, effect),
        times=max(1.0, (detectable / gain) ** 2),
    )
