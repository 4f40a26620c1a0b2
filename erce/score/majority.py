"""Answers and verdicts → maj@n: how often the answer that most of a problem's samples give is accepted."""

from collections.abc import Callable, Sequence
from itertools import chain
from statistics import fmean

import numpy as np

from erce.score.k_samples import verdict_grid

Answers = Sequence[Sequence[str | None]]
Equal = Callable[[str, str], bool]


def majority_by_problem(answers: Answers, accepted: np.ndarray) -> np.ndarray:
    """Return each problem's chance that the vote of its n samples is accepted; maj@n is the mean.

    Texts vote together if they are the same; pass them through `merged` first to compare what they mean. If
    no sample votes, nothing is handed in, and that is not accepted. Answers with equally many votes are
    handed in equally often, as are an answer's samples if their verdicts differ.

    Args:
        answers: The extracted texts, one row per problem; None does not vote.
        accepted: Verdicts, 0 and 1, (problems, samples).

    Returns:
        A share for each problem, (problems,).

    Raises:
        ValueError: The shapes differ, or None was accepted.

    >>> majority_by_problem([["12", "12", "7"], ["3", "3 ", None]], np.array([[1, 1, 0], [0, 1, 0]]))
    array([1. , 0.5])
    """
    accepted = verdict_grid(accepted)
    lengths = {len(row) for row in answers}
    if accepted.ndim != 2 or len(answers) != len(accepted) or lengths != {accepted.shape[1]}:
        raise ValueError(
            f"{len(answers)} problems of {sorted(lengths)} answers beside verdicts of shape "
            f"{accepted.shape}; give one answer per verdict, one seed at a time"
        )
    return np.array([_problem(*row) for row in zip(answers, accepted, strict=True)])


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


def _problem(answers: Sequence[str | None], accepted: np.ndarray) -> float:
    verdicts: dict[str, list[float]] = {}  # answer → the verdicts on it
    for answer, verdict in zip(answers, accepted, strict=True):
        if answer is not None:
            verdicts.setdefault(answer, []).append(verdict)
        elif verdict:
            raise ValueError(
                "an accepted completion has no answer to vote for; give the text that was verified"
            )
    most = max(map(len, verdicts.values()), default=0)
    winners = [on_answer for on_answer in verdicts.values() if len(on_answer) == most]
    return fmean(map(fmean, winners)) if winners else 0.0
