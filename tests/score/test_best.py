"""best@k is the accepted share of all subsets' likeliest samples, ties split."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from erce.score import best_at_k, best_by_problem, coverage, pass_at_1

# Few values, so that ties are common; −inf is one of them.
SAMPLE = st.tuples(st.sampled_from([-np.inf, -3.0, -2.0, -1.0]), st.integers(0, 1), st.integers(1, 3))
SAMPLES = st.lists(SAMPLE, min_size=1, max_size=10)


def enumerated(likely, accepted, k: int) -> float:
    """The mean, over k-subsets, of the mean verdict of the likeliest samples in the subset."""
    chances = []
    for subset in combinations(range(len(likely)), k):
        top = max(likely[i] for i in subset)
        chances.append(np.mean([accepted[i] for i in subset if likely[i] == top]))
    return float(np.mean(chances))


@settings(deadline=None, max_examples=60)
@given(samples=SAMPLES)
def test_best_at_k_is_the_mean_over_all_subsets_with_ties_split(samples):
    logprob, accepted, tokens = (np.array([each]) for each in zip(*samples, strict=True))
    for k in range(1, len(samples) + 1):
        for lengths, likely in ((None, logprob), (tokens, logprob / tokens)):
            truth = enumerated(likely[0], accepted[0], k)
            assert best_at_k(logprob, accepted, k, tokens=lengths) == pytest.approx(truth, abs=1e-12)


def test_length_decides_between_the_sum_and_the_mean():
    logprob, accepted, tokens = np.array([[-4.0, -6.0]]), np.array([[1, 0]]), np.array([[2, 12]])
    assert best_at_k(logprob, accepted, 2) == 1
    assert best_at_k(logprob, accepted, 2, tokens=tokens) == 0


def test_where_all_tie_best_at_k_is_pass_at_1_for_every_k():
    accepted = np.array([[1, 0, 0, 1, 0, 0]])
    assert best_by_problem(np.full((1, 6), -2.5), accepted) == pytest.approx(np.full((1, 6), 1 / 3))


def test_a_likelihood_that_knows_the_verdict_reaches_coverage_and_none_exceeds_it():
    rng = np.random.default_rng(0)
    accepted = (rng.random((2, 20, 12)) < 0.3).astype(int)  # (seeds, problems, samples)
    oracle = best_by_problem(accepted - 5.0, accepted)
    assert oracle.reshape(-1, 12).mean(axis=0) == pytest.approx(coverage(accepted))
    guess = best_by_problem(rng.normal(size=accepted.shape), accepted)
    assert (guess <= oracle + 1e-12).all()
    assert guess[..., 0].mean() == pytest.approx(pass_at_1(accepted[0]) / 2 + pass_at_1(accepted[1]) / 2)


@pytest.mark.parametrize(
    ("logprob", "accepted", "k", "tokens", "message"),
    [
        ([[-1.0, -2.0]], [[1, 0]], 3, None, "k = 3 of 2 samples"),
        ([[-1.0, -2.0]], [[1, 0]], 0, None, "k = 0 of 2 samples"),
        ([[-1.0, np.nan]], [[1, 0]], 1, None, "1 NaN"),
        ([[-1.0]], [[1, 0]], 1, None, r"logprob has shape \(1, 1\)"),
        (np.zeros((0, 2)), np.zeros((0, 2)), 1, None, r"accepted has shape \(0, 2\)"),
        ([[-1.0, -2.0]], [[1, 0]], 1, [[3, 0]], "length of 1 or more"),
        ([[-1.0, -2.0]], [[1, 0]], 1, [[3]], r"tokens has shape \(1, 1\)"),
    ],
)
def test_what_has_no_likeliest_sample_is_refused(logprob, accepted, k, tokens, message):
    with pytest.raises(ValueError, match=message):
        best_at_k(
            np.array(logprob), np.array(accepted), k, tokens=tokens if tokens is None else np.array(tokens)
        )
