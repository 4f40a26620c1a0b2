"""Verdicts of n samples per problem → pass@k, exactly, for every k, and best@n by log-probability."""

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
    chosen = np.arange(n)
    left = np.maximum(np.arange(n + 1)[:, None] - chosen, 0)
    # A product of k ratios, so no binomial coefficient can overflow: C(m, k) / C(n, k) at [m, k − 1].
    all_rejected = np.cumprod(left / (n - chosen), axis=1)
    return 1 - all_rejected[n - accepted.sum(axis=-1).astype(int)]


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
    """Return the chance that the likeliest of a problem's n samples is accepted, at [..., problem].

    Samples that tie share it equally. `logprob` is the sum over a sample's tokens of log p; −inf is allowed,
    NaN is not. Both have the shape of `accepted`, 0 and 1 of (problems, samples) or (seeds, problems,
    samples).

    >>> best_by_problem(np.array([[-1.0, -2.0, -2.0], [-3.0, -2.0, -2.0]]), np.array([[0, 1, 0], [0, 1, 0]]))
    array([0. , 0.5])
    """
    accepted = verdict_grid(accepted)
    likely = np.asarray(logprob, dtype=float)
    if likely.shape != accepted.shape or np.isnan(likely).any():
        raise ValueError(
            f"logprob has shape {likely.shape} with {int(np.isnan(likely).sum())} NaN beside verdicts "
            f"of shape {accepted.shape}; give one log-probability per completion"
        )
    best = likely == likely.max(axis=-1, keepdims=True)
    return (accepted * best).sum(axis=-1) / best.sum(axis=-1)


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
