"""Verdicts → pass@k for every k up to the samples a problem, and the k at which two arms cross over."""

from typing import Literal, NamedTuple

import numpy as np

from erce.score.draws import all_among, check_k, verdict_grid

EQUAL = 1e-12  # rounding of a mean of shares; real differences are 1 / (problems · samples) at least


class Crossover(NamedTuple):
    """The k from which the other arm covers more, with the interval of a bootstrap over problems.

    `leader` is the arm that covers more below `k`. `low` and `high` are None where they lie beyond the
    samples a problem; `share` is the share of the bootstrap's draws that cross within them.
    """

    k: int
    low: int | None
    high: int | None
    leader: Literal["treated", "baseline"]
    share: float


def coverage_by_problem(accepted: np.ndarray) -> np.ndarray:
    """1 − C(n − c, k) / C(n, k) at [..., problem, k − 1], c of its n samples being accepted.

    The chance that k samples, drawn at random from the n without replacement, hold an accepted one: unbiased
    for pass@k (Chen et al. 2021, "Evaluating Large Language Models Trained on Code", Section 2.1). The shape
    is that of `accepted`, 0 and 1 of (problems, samples) or (seeds, problems, samples).

    >>> coverage_by_problem(np.array([[1, 0, 0, 0], [0, 0, 0, 0]]))
    array([[0.25, 0.5 , 0.75, 1.  ],
           [0.  , 0.  , 0.  , 0.  ]])
    """
    accepted = verdict_grid(accepted)
    n = accepted.shape[-1]
    rejected = n - accepted.sum(axis=-1).astype(int)
    return 1 - all_among(n)[rejected]


def coverage(accepted: np.ndarray) -> np.ndarray:
    """pass@1, pass@2, … pass@n, the means over problems (and seeds); the last is the share ever solved.

    >>> coverage(np.array([[1, 0], [1, 1], [0, 0], [0, 0]]))
    array([0.375, 0.5  ])
    """
    curves = coverage_by_problem(accepted)
    return curves.reshape(-1, curves.shape[-1]).mean(axis=0)


def pass_at_k(accepted: np.ndarray, k: int) -> float:
    """pass@k, unbiased, as in `coverage`; a k above the samples a problem is a ValueError.

    >>> pass_at_k(np.array([[1, 0], [1, 1], [0, 0], [0, 0]]), 2)
    0.5
    """
    check_k(k, verdict_grid(accepted).shape[-1])
    return float(coverage(accepted)[k - 1])


def crossover(
    treated: np.ndarray, baseline: np.ndarray, *, seed: int = 0, draws: int = 2000, level: float = 0.95
) -> Crossover | None:
    """Where the arm that covers more with few samples begins to cover less; None where it never does.

    Both are 0 and 1 of (problems, samples) or (seeds, problems, samples), of the same problems in the same
    order; k goes up to the fewer of their samples. The arm that is ahead at the smallest k at which they
    differ is the leader, and k the smallest at which the other is ahead. The bootstrap draws problems, with
    both arms' verdicts, and asks for the same k: 1 where the other is ahead from the start, beyond all
    samples where it never is. Training seeds are held as they are. The ends are percentiles at `level`.

    >>> sharp, broad = np.array([[1, 1, 1, 1], [0, 0, 0, 0]]), np.array([[1, 0, 0, 0], [1, 0, 0, 0]])
    >>> coverage(sharp), coverage(broad)
    (array([0.5, 0.5, 0.5, 0.5]), array([0.25, 0.5 , 0.75, 1.  ]))
    >>> crossover(sharp, broad).k
    3
    """
    if draws < 1 or not 0 < level < 1:
        raise ValueError(f"draws = {draws} at level {level}; draw at least once, at a level between 0 and 1")
    lead = _leads(treated, baseline)
    mean = lead.mean(axis=0)
    differ = np.flatnonzero(np.abs(mean) > EQUAL)
    if not differ.size:
        return None
    leader = 1 if mean[differ[0]] > 0 else -1
    n = mean.size
    k = int(_first_behind(leader * mean[None])[0])
    if k > n:
        return None
    problems = len(lead)
    times = np.random.default_rng(seed).multinomial(problems, [1 / problems] * problems, size=draws)
    crossed = _first_behind(leader * (times @ lead) / problems)
    ends = np.quantile(crossed, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
    low, high = (int(end) if end <= n else None for end in ends)
    return Crossover(k, low, high, "treated" if leader > 0 else "baseline", float(np.mean(crossed <= n)))


def _leads(treated: np.ndarray, baseline: np.ndarray) -> np.ndarray:
    """The treated arm's pass@k less the baseline's, (problems, k), the mean over each arm's own seeds."""
    curves = [coverage_by_problem(arm) for arm in (treated, baseline)]
    curves = [curve.mean(axis=0) if curve.ndim == 3 else curve for curve in curves]
    if len(curves[0]) != len(curves[1]):
        raise ValueError(
            f"{len(curves[0])} problems against {len(curves[1])}; give both arms the same problems in order"
        )
    shared = min(curve.shape[-1] for curve in curves)
    return curves[0][:, :shared] - curves[1][:, :shared]


def _first_behind(leads: np.ndarray) -> np.ndarray:
    """The smallest k at which each row is below 0; one more than there are where none is."""
    behind = leads < -EQUAL
    return np.where(behind.any(axis=1), behind.argmax(axis=1), leads.shape[1]) + 1
