"""Arrays → checked grids of verdicts; n samples → the chances of drawing k of them."""

import numpy as np


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
        raise ValueError("accepted holds values other than 0 and 1; give one verdict a completion")
    return accepted.astype(float)


def check_k(k: int, n: int) -> None:
    """Raise a ValueError unless k of n samples can be drawn: 1 ≤ k ≤ n."""
    if not 1 <= k <= n:
        raise ValueError(f"k = {k} of {n} samples a problem; k is 1 to {n}, or draw more samples")


def all_among(n: int) -> np.ndarray:
    """Return C(m, k) / C(n, k) at [m, k − 1]: the chance that k of n samples are all among m marked ones.

    A product of k ratios, so no binomial coefficient can overflow. Shape (n + 1, n).

    >>> all_among(3)[2]  # both of two draws, one of one draw; three draws never
    array([0.66666667, 0.33333333, 0.        ])
    """
    drawn = np.arange(n)
    left = np.maximum(np.arange(n + 1)[:, None] - drawn, 0)
    return np.cumprod(left / (n - drawn), axis=1)
