"""maj@n is the accepted share of the vote of all samples, ties split, whatever the answers are."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from erce.score import majority_by_problem, merged

# An answer's text and verdict: "a" is always right, "b" sometimes (as where a verdict depends on more than
# the text), "c" and "d" never, and None does not vote.
SAMPLE = st.sampled_from([("a", 1), ("b", 1), ("b", 0), ("c", 0), ("d", 0), (None, 0)])
SAMPLES = st.lists(SAMPLE, min_size=1, max_size=10)


def one(samples) -> float:
    answers, verdicts = zip(*samples, strict=True)
    return majority_by_problem([answers], np.array([verdicts]))[0]


@given(samples=SAMPLES)
def test_maj_at_n_is_the_mean_verdict_of_the_answers_with_most_votes(samples):
    votes = Counter(answer for answer, _ in samples if answer is not None)
    winners = [answer for answer, count in votes.items() if count == max(votes.values())]
    means = [np.mean([right for answer, right in samples if answer == winner]) for winner in winners]
    assert one(samples) == pytest.approx(np.mean(means) if means else 0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        ([(None, 0)] * 3, 0.0),  # nobody votes, nothing is handed in
        ([(None, 0), (None, 0), ("a", 1)], 1.0),  # one vote outweighs any number of none
        ([("a", 1), ("b", 0), ("c", 0), ("d", 0)], 0.25),  # all tie
        ([("", 0), ("", 0), ("a", 1)], 0.0),  # the empty text is an answer
        ([("a", 1), ("a", 0), ("b", 0)], 0.5),  # one text, two verdicts
        ([("a", 1), ("a ", 1), ("b", 0), ("b", 0)], 0.0),  # two texts do not pool their votes
    ],
)
def test_conventions(samples, expected):
    assert one(samples) == pytest.approx(expected)


@pytest.mark.parametrize(
    "pairs",
    [
        {("1,2", "(1,2)"), ("1,2", "2,1"), ("2,1", "1,2"), ("2,1", "(1,2)")},  # (1,2) accepts neither
        {("0.05", "5\\%"), ("5\\%", "0.05\\%")},
    ],
)
def test_votes_are_joined_alike_in_every_order_even_if_equality_is_neither_symmetric_nor_transitive(pairs):
    texts = sorted({text for pair in pairs for text in pair} | {"7"})
    classes = set()
    for order in permutations([*texts, texts[0]]):
        [row] = merged([[*order, None]], lambda first, answer: (first, answer) in pairs)
        assert row[-1] is None
        classes.add(frozenset(zip(order, row, strict=False)))
    assert len(classes) == 1
    assert len({stands_for for _, stands_for in classes.pop()}) == 2


def test_merged_answers_are_of_their_own_problem():
    assert merged([["1", "2", "1.0"], ["1.0"]], lambda a, b: float(a) == float(b)) == [
        ["1", "2", "1"],
        ["1.0"],
    ]


@pytest.mark.parametrize(
    ("answers", "accepted", "message"),
    [
        ([["a", None]], [[1, 1]], "an accepted completion has no answer"),
        ([["a", "b"], ["a"]], [[1, 0], [1, 0]], r"2 problems of \[1, 2\] answers"),
        ([["a", "b"]], [[1, 0], [1, 0]], r"1 problems of \[2\] answers"),
        ([], np.zeros((0, 2)), r"shape \(0, 2\)"),
        ([["a"]], [[[1]]], "one seed at a time"),
    ],
)
def test_votes_that_cannot_be_counted_are_refused(answers, accepted, message):
    with pytest.raises(ValueError, match=message):
        majority_by_problem(answers, np.array(accepted))
