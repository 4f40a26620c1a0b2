"""Verdicts → pass@k for every k up to the samples a problem, and the k at which two arms cross over."""

from typing import Literal, NamedTuple

import numpy as np

from erce.score.draws import all_among, check_k, verdict_grid

EQUAL = 1e-12  # rounding of a mean of shares; real differences are 1 / (problems · samples) at least


class Crossover(NamedTuple):
    """The smallest k at which the other arm covers more; `leader` is the arm that covers more below `k`."""

    k: int
    leader: Literal["treated", "baseline"]


def coverage_by_problem(accepted: np.ndarray) -> np.ndarray:
    """Return 1 − C(n − c, k) / C(n, k) at [..., problem, k − 1], c of its n samples being accepted.

    This is the chance that k samples, drawn at random from the n without replacement, hold an accepted one:
    unbiased for pass@k (Chen et al. 2021, "Evaluating Large Language Models Trained on Code", Section 2.1).
    The shape is that of `accepted`, 0 and 1 of (problems, samples) or (seeds, problems, samples).

    >>> coverage_by_problem(np.array([[1, 0, 0, 0], [0, 0, 0, 0]]))
    array([[0.25, 0.5 , 0.75, 1.  ],
           [0.  , 0.  , 0.  , 0.  ]])
    """
    accepted = verdict_grid(accepted)
    n = accepted.shape[-1]
    rejected = n - accepted.sum(axis=-1).astype(int)
    return 1 - all_among(n)[rejected]


def coverage(accepted: np.ndarray) -> np.ndarray:
    """Return pass@1, … pass@n, the means over problems (and seeds); the last is the share ever solved.

    >>> coverage(np.array([[1, 0], [1, 1], [0, 0], [0, 0]]))
    array([0.375, 0.5  ])
    """
    curves = coverage_by_problem(accepted)
    return curves.reshape(-1, curves.shape[-1]).mean(axis=0)


def pass_at_k(accepted: np.ndarray, k: int) -> float:
    """Return pass@k, unbiased, as in `coverage`; a k above the samples a problem is a ValueError.

    >>> pass_at_k(np.array([[1, 0], [1, 1], [0, 0], [0, 0]]), 2)
    0.5
    """
    check_k(k, verdict_grid(accepted).shape[-1])
    return float(coverage(accepted)[k - 1])


def crossover(treated: np.ndarray, baseline: np.ndarray) -> Crossover | None:
    """Return where the arm that covers more with few samples begins to cover less; None where it never does.

    Both are 0 and 1 of (problems, samples) or (seeds, problems, samples), of the same problems in the same
    order; k goes up to the fewer of their samples. The arm that is ahead at the smallest k at which they
    differ is the leader, and k the smallest at which the other is ahead.

    >>> sharp, broad = np.array([[1, 1, 1, 1], [0, 0, 0, 0]]), np.array([[1, 0, 0, 0], [1, 0, 0, 0]])
    >>> coverage(sharp), coverage(broad)
    (array([0.5, 0.5, 0.5, 0.5]), array([0.25, 0.5 , 0.75, 1.  ]))
    >>> crossover(sharp, broad)
    Crossover(k=3, leader='treated')
    """
    problems = [np.shape(arm)[-2] for arm in (treated, baseline)]
    if problems[0] != problems[1]:
        raise ValueError(
            f"{problems[0]} problems against {problems[1]}; give both arms the same problems in order"
        )
    curves = coverage(treated), coverage(baseline)
    samples = min(map(len, curves))
    lead = curves[0][:samples] - curves[1][:samples]
    differ = np.flatnonzero(np.abs(lead) > EQUAL)
    if not differ.size:
        return None
    sign = np.sign(lead[differ[0]])
    behind = np.flatnonzero(sign * lead < -EQUAL)
    return Crossover(int(behind[0]) + 1, "treated" if sign > 0 else "baseline") if behind.size else None
