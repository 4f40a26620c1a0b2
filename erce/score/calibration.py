"""Confidences and verdicts → how far they agree: reliability table, calibration error, Brier score."""

from collections import Counter
from collections.abc import Hashable
from typing import NamedTuple

import numpy as np

from erce.score.draws import verdict_grid
from erce.score.majority import Answers, Same, majority_by_problem


class Bin(NamedTuple):
    """A row of the reliability table: the `size` completions of neighbouring confidence, `low` to `high`.

    `confidence` is their mean confidence and `accepted` the share of them that is accepted.
    """

    low: float
    high: float
    confidence: float
    accepted: float
    size: int


class Reliability(NamedTuple):
    """How far confidence is the chance of being accepted; 0 is best for both numbers.

    `ece`, the expected calibration error, is the mean over completions of |share accepted − mean confidence|
    of their bin; `brier` the mean of (confidence − verdict)², 0.25 for a confidence of one half everywhere.
    """

    ece: float
    brier: float
    bins: tuple[Bin, ...]


class Confidence(NamedTuple):
    """Confidences between 0 and 1 and, in the same shape, the chance that what each is about is accepted."""

    confidence: np.ndarray
    accepted: np.ndarray


def reliability(confidence: np.ndarray, accepted: np.ndarray, *, bins: int = 10) -> Reliability:
    """The reliability of confidences between 0 and 1 whose verdicts are `accepted`, in bins of equal mass.

    A bin holds as near as possible the same number of completions. Equal confidences share a bin, the one
    that the middle of their ranks falls in, so the order of completions changes nothing and there may be
    fewer bins than asked for. An `accepted` between 0 and 1 is the chance of a verdict; Brier's is the
    expectation then. Any shape, the same for both; nothing in it, or a value outside 0 to 1, is a ValueError.

    >>> found = reliability(np.array([0.25, 0.75, 1.0, 1.0]), np.array([0, 1, 1, 1]), bins=2)
    >>> found.ece, found.brier
    (0.0, 0.03125)
    >>> found.bins[0]
    Bin(low=0.25, high=0.75, confidence=0.5, accepted=0.5, size=2)
    """
    confidence, accepted = (np.asarray(each, dtype=float) for each in (confidence, accepted))
    _check(confidence, accepted, bins)
    values, kind, counts = np.unique(confidence.ravel(), return_inverse=True, return_counts=True)
    middles = np.cumsum(counts) - counts / 2
    places = np.floor(bins * middles / counts.sum()).astype(int)[kind]
    flat = accepted.ravel()
    table = tuple(_bin(values[kind[places == place]], flat[places == place]) for place in np.unique(places))
    ece = sum(each.size * abs(each.accepted - each.confidence) for each in table) / flat.size
    brier = np.mean(confidence**2 - 2 * confidence * accepted + accepted)
    return Reliability(float(ece), float(brier), table)


def sequence_confidence(logprob: np.ndarray, accepted: np.ndarray) -> Confidence:
    """exp of the log-probability of each completion, the policy's chance of that very text, and its verdict.

    `logprob` is the sum over tokens of log p and has the shape of `accepted`. −inf is a confidence of 0; a
    sum above 0 by rounding is one of 1, and one above 1e-3, or NaN, is a ValueError.

    >>> sequence_confidence(np.array([[0.0, -np.inf]]), np.array([[1, 0]])).confidence
    array([[1., 0.]])
    """
    accepted, logprob = verdict_grid(accepted), np.asarray(logprob, dtype=float)
    if logprob.shape != accepted.shape or not (logprob <= 1e-3).all():
        raise ValueError(
            f"logprob has shape {logprob.shape} and a largest value of {logprob.max(initial=-np.inf)} beside "
            f"verdicts of shape {accepted.shape}; give one sum of log p a completion, 0 at most"
        )
    return Confidence(np.exp(np.minimum(logprob, 0)), accepted)


def modal_confidence(answers: Answers, accepted: np.ndarray, *, same: Same | None = None) -> Confidence:
    """The share of a problem's samples that give its commonest answer, and that answer's verdict, a problem.

    Answers vote as in `erce.score.majority_by_problem` with k = n. None does not vote but counts as a sample;
    a problem without any answer has confidence 0 and is not accepted; answers that tie give the mean of their
    verdicts.

    >>> modal_confidence([["4", "4", "5", None]], np.array([[1, 1, 0, 0]]))
    Confidence(confidence=array([0.5]), accepted=array([1.]))
    """
    n = np.shape(accepted)[-1]
    chances = majority_by_problem(answers, accepted, n, same=same)
    shares = [_most(Counter(same(a) if same else a for a in row if a is not None)) / n for row in answers]
    return Confidence(np.array(shares), chances)


def _check(confidence: np.ndarray, accepted: np.ndarray, bins: int) -> None:
    if bins < 1:
        raise ValueError(f"bins = {bins}; a reliability table has at least 1")
    if confidence.shape != accepted.shape or not confidence.size:
        raise ValueError(
            f"confidence has shape {confidence.shape} and accepted {accepted.shape}; give one of each for "
            "at least one completion"
        )
    for name, values in (("confidence", confidence), ("accepted", accepted)):
        if not ((values >= 0) & (values <= 1)).all():
            raise ValueError(f"{name} holds values outside 0 to 1; give chances, exp of a log-probability")


def _bin(confidence: np.ndarray, accepted: np.ndarray) -> Bin:
    return Bin(
        low=float(confidence.min()),
        high=float(confidence.max()),
        confidence=float(confidence.mean()),
        accepted=float(accepted.mean()),
        size=confidence.size,
    )


def _most(votes: Counter[Hashable]) -> int:
    return max(votes.values(), default=0)
