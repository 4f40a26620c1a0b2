"""maj@k is the accepted share of all subsets' votes, ties split, whatever the answers are."""

from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from erce.score import majority_by_problem, merged

# An answer's text and verdict: "a" is always right, "b" sometimes (as where a verdict depends on more than
# the text), "c" and "d" never, and None does not vote.
SAMPLE = st.sampled_from([("a", 1), ("b", 1), ("b", 0), ("c", 0), ("d", 0), (None, 0)])
SAMPLES = st.lists(SAMPLE, min_size=1, max_size=10)


def enumerated(samples, k: int) -> float:
    """The mean, over k-subsets, of the mean verdict of the tied winners' samples in the subset."""
    chances = []
    for subset in combinations(samples, k):
        votes = Counter(answer for answer, _ in subset if answer is not None)
        winners = [answer for answer, count in votes.items() if count == max(votes.values())]
        means = [np.mean([right for answer, right in subset if answer == winner]) for winner in winners]
        chances.append(np.mean(means) if means else 0.0)
    return float(np.mean(chances))


def one(samples, k: int) -> float:
    answers, verdicts = zip(*samples, strict=True)
    return majority_by_problem([answers], np.array([verdicts]), k)[0]


@settings(deadline=None, max_examples=60)
@given(samples=SAMPLES)
def test_maj_at_k_is_the_mean_over_all_subsets_with_ties_split(samples):
    for k in range(1, len(samples) + 1):
        assert one(samples, k) == pytest.approx(enumerated(samples, k), abs=1e-12)


@pytest.mark.parametrize(
    ("k", "counts"), [(5, (9, 9, 4, 2)), (16, (20, 22, 10, 10, 2)), (63, (30, 31, 3)), (33, (1,) * 40)]
)
def test_the_exact_chance_is_what_random_subsets_of_many_samples_approach(k, counts):
    samples = [(str(i), int(i == 0)) for i, count in enumerate(counts) for _ in range(count)]
    rng, won = np.random.default_rng(0), 0.0
    kinds = np.repeat(np.arange(len(counts)), counts)
    for _ in range(4000):
        votes = np.bincount(kinds[rng.permutation(len(kinds))[:k]], minlength=len(counts))
        won += (votes[0] == votes.max()) / (votes == votes.max()).sum()
    assert one(samples, k) == pytest.approx(won / 4000, abs=4 * 0.5 / 4000**0.5)


@pytest.mark.parametrize("k", [1, 2, 999, 2000])
def test_two_thousand_samples_overflow_nothing(k):
    half = [("a", 1)] * 1000 + [("b", 0)] * 1000
    assert one(half, k) == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize(
    ("samples", "k", "expected"),
    [
        ([(None, 0)] * 3, 2, 0.0),  # nobody votes, nothing is handed in
        ([(None, 0), ("a", 1)], 1, 0.5),
        ([(None, 0), (None, 0), ("a", 1)], 3, 1.0),  # one vote outweighs any number of none
        ([("a", 1), ("b", 0), ("c", 0), ("d", 0)], 4, 0.25),  # all tie
        ([("", 0), ("", 0), ("a", 1)], 3, 0.0),  # the empty text is an answer
        ([("a", 1), ("a", 0), ("b", 0)], 3, 0.5),  # one text, two verdicts
        ([("a", 1), ("a ", 1), ("b", 0), ("b", 0)], 4, 0.0),  # two texts do not pool their votes
    ],
)
def test_conventions(samples, k, expected):
    assert one(samples, k) == pytest.approx(expected)


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
    ("answers", "accepted", "k", "message"),
    [
        ([["a", "b"]], [[1, 0]], 3, "k = 3 of 2 samples"),
        ([["a", "b"]], [[1, 0]], 0, "k = 0 of 2 samples"),
        ([["a", None]], [[1, 1]], 1, "an accepted completion has no answer"),
        ([["a", "b"], ["a"]], [[1, 0], [1, 0]], 1, r"2 problems of \[1, 2\] answers"),
        ([["a", "b"]], [[1, 0], [1, 0]], 1, r"1 problems of \[2\] answers"),
        ([], np.zeros((0, 2)), 1, r"shape \(0, 2\)"),
        ([["a"]], [[[1]]], 1, "one seed at a time"),
    ],
)
def test_votes_that_cannot_be_counted_are_refused(answers, accepted, k, message):
    with pytest.raises(ValueError, match=message):
        majority_by_problem(answers, np.array(accepted), k)
