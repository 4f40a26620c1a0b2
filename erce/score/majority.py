"""Answers and verdicts → maj@k: how often the answer that most of k samples give is accepted, exactly."""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain

import numpy as np

from erce.score.k_samples import verdict_grid

Answers = Sequence[Sequence[str | None]]
Equal = Callable[[str, str], bool]


def majority_by_problem(answers: Answers, accepted: np.ndarray, k: int) -> np.ndarray:
    """Return each problem's chance that the vote of k samples is accepted; maj@k is the mean.

    The k samples are chosen at random from the problem's n without replacement, and the chance is exact: no
    subset is sampled. Texts vote together if they are the same; pass them through `merged` first to compare
    what they mean. If none of the k samples votes, nothing is handed in, and that is not accepted. Answers
    with equally many votes are handed in equally often, as are an answer's samples if their verdicts differ.

    Votes are hypergeometric: independent binomial counts given their sum, so a convolution over the answers
    counts the winners and the ties.

    Args:
        answers: The extracted texts, one row per problem; None does not vote.
        accepted: Verdicts, 0 and 1, (problems, samples).
        k: How many samples vote.

    Returns:
        A share for each problem, (problems,).

    Raises:
        ValueError: k is above the number of samples per problem, or None was accepted.

    >>> majority_by_problem([["12", "12", "7"]], np.array([[1, 1, 0]]), 2)  # {12, 12}; {12, 7} twice, a tie
    array([0.66666667])
    >>> majority_by_problem([[None, "3", "3 "], [None, None, None]], np.array([[0, 1, 1], [0, 0, 0]]), 1)
    array([0.66666667, 0.        ])
    """
    accepted = verdict_grid(accepted)
    lengths = {len(row) for row in answers}
    if accepted.ndim != 2 or len(answers) != len(accepted) or lengths != {accepted.shape[1]}:
        raise ValueError(
            f"{len(answers)} problems of {sorted(lengths)} answers beside verdicts of shape "
            f"{accepted.shape}; give one answer per verdict, one seed at a time"
        )
    n = accepted.shape[1]
    if not 1 <= k <= n:
        raise ValueError(f"k = {k} of {n} samples per problem; k is 1 to {n}, or generate more samples")
    return np.array([_problem(*row, k) for row in zip(answers, accepted, strict=True)])


def merged(answers: Answers, equal: Equal) -> list[list[str | None]]:
    """Replace each answer by one of its problem's answers that stands for all of its class.

    Two answers are of one class if `equal` says so of them in either order, or if a chain of such pairs joins
    them. The classes, and so the votes, do not depend on the order of the samples, even where `equal` is
    neither symmetric nor transitive. With mathematical answers it is
    `lambda first, answer: erce.verify.equivalent(first, answer).accepted`.

    >>> merged([["1/2", "2", "0.5", None], ["0.5"]], lambda a, b: {a, b} == {"1/2", "0.5"})
    [['0.5', '2', '0.5', None], ['0.5']]
    """
    return [_merged(row, equal) for row in answers]


def _merged(row: Sequence[str | None], equal: Equal) -> list[str | None]:
    classes: list[list[str]] = []
    for answer in sorted({answer for answer in row if answer is not None}):
        same = [
            members
            for members in classes
            if any(equal(member, answer) or equal(answer, member) for member in members)
        ]
        classes = [members for members in classes if members not in same]
        classes.append([*chain.from_iterable(same), answer])
    stands_for = {answer: min(members) for members in classes for answer in members}
    return [None if answer is None else stands_for[answer] for answer in row]


def _problem(answers: Sequence[str | None], accepted: np.ndarray, k: int) -> float:
    verdicts: dict[str, list[float]] = {}  # answer → the verdicts on it
    for answer, verdict in zip(answers, accepted, strict=True):
        if answer is not None:
            verdicts.setdefault(answer, []).append(verdict)
        elif verdict:
            raise ValueError(
                "an accepted completion has no answer to vote for; give the text that was verified"
            )
    votes = sorted(len(on_answer) for on_answer in verdicts.values())
    chance = 0.0
    for on_answer in verdicts.values():
        if any(on_answer):
            size, rivals = len(on_answer), votes.copy()
            rivals.remove(size)
            chance += sum(on_answer) / size * _wins(size, tuple(rivals), len(answers), k)
    return chance


@lru_cache(maxsize=65536)
def _wins(size: int, rivals: tuple[int, ...], n: int, k: int) -> float:
    """Return the chance that an answer of `size` samples wins the vote of k of n; in a tie of t, 1 / t.

    Let each answer's votes be Binomial(its size, p), independently: given that all sum to k, they are sampled
    without replacement, whatever p. So the chance is Σ_v P(v votes) · E[1 / (1 + ties), the rest has k − v] /
    P(k votes in all), and p = k / n keeps all of these away from 0.
    """
    if k == n:
        most = max((size, *rivals))
        return (size == most) / (1 + rivals.count(size))
    chance = 0.0
    for votes in range(1, min(size, k) + 1):
        chance += _binomial(size, k / n)[votes] * _others(rivals, n - size, k - votes, votes, k / n)
    return float(chance / _binomial(n, k / n)[k])


def _others(rivals: tuple[int, ...], n: int, k: int, votes: int, p: float) -> float:
    """Return E[1 / (1 + ties)] over n other samples, where k of them vote and no rival has over `votes`."""
    able = [size for size in rivals if size >= votes] if votes <= k else []
    ways = np.zeros((min(len(able), k // votes) + 1, k + 1))  # (rivals tied, samples chosen)
    rest = _binomial(n - sum(able), p)[: k + 1]
    ways[0, : len(rest)] = rest
    for size in able:
        share, before = _binomial(size, p), ways
        ways = share[0] * before
        for count in range(1, votes):
            ways[:, count:] += share[count] * before[:, :-count]
        ways[1:, votes:] += share[votes] * before[:-1, :-votes]
    return float(ways[:, k] @ (1 / np.arange(1, len(ways) + 1)))


@lru_cache(maxsize=4096)
def _binomial(n: int, p: float) -> np.ndarray:
    """Return the chances of 0 … n successes in n trials, 0 < p < 1."""
    counts = range(n + 1)
    logs = [math.lgamma(n + 1) - math.lgamma(x + 1) - math.lgamma(n - x + 1) for x in counts]
    return np.exp(np.array(logs) + np.arange(n + 1) * math.log(p) + np.arange(n, -1, -1) * math.log1p(-p))
