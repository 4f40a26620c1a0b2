"""Verdicts of n samples per problem → scores of k of them: pass@k, and best-of-k by log-probability.

The k samples are chosen at random from the n without replacement, and every chance is exact.
"""

import numpy as np


def coverage_by_problem(accepted: np.ndarray) -> np.ndarray:
    """Return 1 − C(n − c, k) / C(n, k) at [..., problem, k − 1], c of its n samples being accepted.

    This is the chance that k samples, chosen at random from the n without replacement, hold an accepted one:
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


def mixed_share(accepted: np.ndarray) -> float:
    """Return the share of problems with both accepted and rejected samples: what GRPO can learn from.

    The shape is that of `accepted`, 0 and 1 of (problems, samples) or (seeds, problems, samples), where a
    problem counts once for each seed.

    >>> mixed_share(np.array([[1, 0], [1, 1], [0, 0], [0, 0]]))
    0.25
    """
    shares = verdict_grid(accepted).mean(axis=-1)
    return float(((shares > 0) & (shares < 1)).mean())


def best_by_problem(logprob: np.ndarray, accepted: np.ndarray) -> np.ndarray:
    """Return the chance that the likeliest of k samples is accepted, at [..., problem, k − 1].

    The k are chosen at random from the problem's n without replacement, and the chance is exact: where m
    samples are no likelier than a sample and l less likely, it wins with [C(m, k) − C(l, k)] / C(n, k),
    shared equally among the samples that tie. `logprob` is the sum over a sample's tokens of log p; −inf is
    allowed, NaN is not. Both have the shape of `accepted`, 0 and 1 of (problems, samples) or (seeds,
    problems, samples).

    >>> best_by_problem(np.array([[-1.0, -2.0, -2.0]]), np.array([[0, 1, 0]])).round(3)
    array([[0.333, 0.167, 0.   ]])
    """
    accepted = verdict_grid(accepted)
    likely = np.asarray(logprob, dtype=float)
    if likely.shape != accepted.shape or np.isnan(likely).any():
        raise ValueError(
            f"logprob has shape {likely.shape} with {int(np.isnan(likely).sum())} NaN beside verdicts "
            f"of shape {accepted.shape}; give one log-probability per completion"
        )
    among = all_among(accepted.shape[-1])
    rows = zip(likely.reshape(-1, likely.shape[-1]), accepted.reshape(-1, likely.shape[-1]), strict=True)
    return np.array([_best(row, verdicts, among) for row, verdicts in rows]).reshape(accepted.shape)


def _best(likely: np.ndarray, accepted: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Return, for each k, the chance that the likeliest of k samples of one problem is right."""
    ranked = np.sort(likely)
    less = np.searchsorted(ranked, likely, side="left")
    no_likelier = np.searchsorted(ranked, likely, side="right")
    return (accepted / (no_likelier - less)) @ (among[no_likelier] - among[less])


def verdict_grid(accepted: np.ndarray) -> np.ndarray:
    """Check that `accepted` holds 0 and 1 of shape (problems, samples), at least (1, 1); return it as floats.

    A grid of several training seeds, (seeds, problems, samples), may be given too; all else is a ValueError.
    """
    accepted = np.asarray(accepted)
    if accepted.ndim not in (2, 3) or accepted.size == 0:
        raise ValueError(
            f"accepted has shape {accepted.shape}; it is (problems, samples) or (seeds, problems, samples), "
            "at least one of each"
        )
    if not np.isin(accepted, (0, 1)).all():
        raise ValueError("accepted holds values other than 0 and 1; give one verdict per completion")
    return accepted.astype(float)


def all_among(n: int) -> np.ndarray:
    """Return C(m, k) / C(n, k) at [m, k − 1]: the chance that k of n samples are all among m marked ones.

    A product of k ratios, so no binomial coefficient can overflow. Shape (n + 1, n).

    >>> all_among(3)[2]  # both of two, one of one; three never
    array([0.66666667, 0.33333333, 0.        ])
    """
    chosen = np.arange(n)
    left = np.maximum(np.arange(n + 1)[:, None] - chosen, 0)
    return np.cumprod(left / (n - chosen), axis=1)
