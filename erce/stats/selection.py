"""A grid whose winner was chosen on the test problems → how much of its gain is luck of the choice.

Choosing on validation problems and reading the test split once needs none of this. If only one split
exists, the winner's gain on the very problems that it was chosen on is too large, the more so the more arms
there are.
"""

from collections.abc import Mapping
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from erce.stats.outcomes import mean, problem_gains

Arm = TypeVar("Arm")


class Selection(NamedTuple, Generic[Arm]):
    """The winner on all problems, its gain there, and what is left of it on problems it was not chosen on.

    naive = corrected + bias, in fractions of 1. `chosen` is how often each arm won a half: a winner that
    wins few of them is hardly one.
    """

    winner: Arm
    naive: float
    corrected: float
    bias: float
    chosen: dict[Arm, float]


def selection_bias(
    arms: Mapping[Arm, ArrayLike],  # name, such as λ, → (seeds, problems, samples), 0 or 1
    baseline: ArrayLike,  # (seeds, problems, samples); the same problems in the same order
    *,
    splits: int = 1000,
    seed: int = 0,
) -> Selection[Arm]:
    """How much choosing the best arm on the problems it is reported on flatters it, by repeated split-half.

    Problems are halved at random `splits` times; on each half the arm with the largest gain is chosen, and
    its gain on the other half is reported: `corrected` is the mean of those. It speaks of the rule "choose
    the best", not of the winner, and as half the problems choose worse than all of them, it is a little too
    small where arms truly differ. Seeds are not split: a lucky training run stays lucky on both halves.

    Equal gains go to the arm named first; write the weaker penalty first. Where the baseline may win, hand
    it in among the arms. One arm is no choice: its bias is 0. The same `seed` gives the same splits.
    """
    if not arms or splits < 1:
        raise ValueError(f"{len(arms)} arms and splits = {splits}; both must be at least 1")
    names = list(arms)
    by_problem = np.stack([problem_gains(arm, baseline) for arm in arms.values()])  # (arms, problems)
    problems = by_problem.shape[1]
    if problems < 2:
        raise ValueError("one problem has no halves; hand in at least two problems")
    overall = [mean(row) for row in by_problem]
    best = int(np.argmax(np.round(overall, 12)))  # equal gains are equal whatever the order of summation
    if len(names) == 1:
        return Selection(names[0], overall[0], overall[0], 0.0, {names[0]: 1.0})
    halves = _halves(problems, splits, seed)
    parts = [half @ by_problem.T / half.sum(axis=1, keepdims=True) for half in (halves, 1.0 - halves)]
    choices = [np.argmax(part.round(12), axis=1) for part in parts]
    reported = [other[np.arange(splits), choice] for other, choice in zip(parts[::-1], choices, strict=True)]
    corrected = float(np.mean(reported))
    counts = np.bincount(np.concatenate(choices), minlength=len(names)) / (2 * splits)
    chosen = dict(zip(names, counts.tolist(), strict=True))
    return Selection(names[best], overall[best], corrected, overall[best] - corrected, chosen)


def _halves(problems: int, splits: int, seed: int) -> np.ndarray:
    """(splits, problems) of 0 and 1, with problems // 2 ones a row."""
    rng = np.random.default_rng(seed)
    first = (np.arange(problems) < problems // 2).astype(float)
    return rng.permuted(np.tile(first, (splits, 1)), axis=1)
