"""Log-probabilities and verdicts → best-of-k: how often the likeliest of k samples is accepted."""

import numpy as np

from erce.score.draws import all_among, check_k, verdict_grid


def best_at_k(
    logprob: np.ndarray, accepted: np.ndarray, k: int, *, tokens: np.ndarray | None = None
) -> float:
    """Return the share accepted when the likeliest of k samples is handed in, the mean of `best_by_problem`.

    A k above the samples a problem is a ValueError.

    >>> best_at_k(np.array([[-1.0, -2.0, -3.0]]), np.array([[0, 1, 1]]), 2)  # the first, in 2 of 3 pairs
    0.3333333333333333
    """
    check_k(k, verdict_grid(accepted).shape[-1])
    return float(best_by_problem(logprob, accepted, tokens=tokens)[..., k - 1].mean())


def best_by_problem(
    logprob: np.ndarray, accepted: np.ndarray, *, tokens: np.ndarray | None = None
) -> np.ndarray:
    """Return the chance that the likeliest of k samples is accepted, at [..., problem, k − 1].

    The k are drawn at random from the problem's n without replacement, and the chance is exact: where m
    samples are no likelier than a sample and l less likely, it wins with [C(m, k) − C(l, k)] / C(n, k),
    shared equally among the samples that tie. Likeliest is by `logprob`, the sum over a sample's
    tokens of log p; with `tokens`, the lengths, by the mean of log p a token. −inf is allowed, NaN is
    not. All three have the shape of `accepted`, 0 and 1 of (problems, samples) or (seeds, problems,
    samples).

    >>> best_by_problem(np.array([[-1.0, -2.0, -2.0]]), np.array([[0, 1, 0]])).round(3)
    array([[0.333, 0.167, 0.   ]])
    """
    accepted = verdict_grid(accepted)
    likely = _likelihoods(logprob, accepted.shape, tokens)
    among = all_among(accepted.shape[-1])
    rows = zip(likely.reshape(-1, likely.shape[-1]), accepted.reshape(-1, likely.shape[-1]), strict=True)
    return np.array([_best(row, verdicts, among) for row, verdicts in rows]).reshape(accepted.shape)


def _likelihoods(logprob: np.ndarray, shape: tuple[int, ...], tokens: np.ndarray | None) -> np.ndarray:
    likely = np.asarray(logprob, dtype=float)
    if likely.shape != shape or np.isnan(likely).any():
        raise ValueError(
            f"logprob has shape {likely.shape} with {int(np.isnan(likely).sum())} NaN beside verdicts "
            f"of shape {shape}; give one log-probability a completion"
        )
    if tokens is None:
        return likely
    lengths = np.asarray(tokens)
    if lengths.shape != shape or (lengths < 1).any():
        raise ValueError(
            f"tokens has shape {lengths.shape} beside verdicts of shape {shape}; give one length of 1 or "
            "more a completion"
        )
    return likely / lengths


def _best(likely: np.ndarray, accepted: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Return one problem's chance for each k."""
    ranked = np.sort(likely)
    less = np.searchsorted(ranked, likely, side="left")
    no_likelier = np.searchsorted(ranked, likely, side="right")
    return (accepted / (no_likelier - less)) @ (among[no_likelier] - among[less])
