"""pass@k and best@n against enumeration and closed forms."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from erce.score import (
    best_by_problem,
    coverage,
    coverage_by_problem,
)

VERDICTS = st.integers(1, 10).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 1), min_size=n, max_size=n), min_size=1, max_size=4)
)


def enumerated(row, k: int) -> float:
    """The share of the k-subsets that hold an accepted sample."""
    return float(np.mean([any(subset) for subset in combinations(row, k)]))


@settings(deadline=None, max_examples=50)
@given(rows=VERDICTS)
def test_pass_at_k_is_the_share_of_subsets_with_an_accepted_sample(rows):
    accepted = np.array(rows)
    for k in range(1, accepted.shape[1] + 1):
        truth = [enumerated(row, k) for row in rows]
        assert coverage_by_problem(accepted)[:, k - 1] == pytest.approx(truth, abs=1e-12)
        assert coverage(accepted)[k - 1] == pytest.approx(np.mean(truth), abs=1e-12)


@pytest.mark.parametrize("n", [128, 2000])
def test_pass_at_k_is_the_exact_fraction_where_binomials_overflow_a_float(n):
    c = np.array([0, 1, 2, n // 2, n - 1, n])
    accepted = (np.arange(n) < c[:, None]).astype(int)
    for k in (1, 2, n // 4, n // 2, n - 1, n):
        truth = [1 - comb(n - int(each), k) / comb(n, k) for each in c]
        assert coverage_by_problem(accepted)[:, k - 1] == pytest.approx(truth, abs=1e-12)


def test_seeds_are_policies_of_their_own_whose_samples_are_not_pooled():
    accepted = np.array([[[1, 1], [0, 0]], [[0, 0], [0, 1]]])  # (seeds, problems, samples)
    assert coverage_by_problem(accepted).shape == (2, 2, 2)
    assert coverage(accepted).tolist() == [0.375, 0.5]


@pytest.mark.parametrize(
    ("accepted", "message"),
    [
        (np.zeros((2, 0)), r"shape \(2, 0\)"),
        (np.zeros((0, 2)), r"shape \(0, 2\)"),
        (np.zeros(3), r"shape \(3,\)"),
        (np.full((1, 2), 0.5), "other than 0 and 1"),
    ],
)
def test_a_grid_without_samples_and_other_values_than_verdicts_are_refused(accepted, message):
    with pytest.raises(ValueError, match=message):
        coverage(accepted)


# Few values, so that ties are common; −inf is one of them.
SAMPLE = st.tuples(st.sampled_from([-np.inf, -3.0, -2.0, -1.0]), st.integers(0, 1))
SAMPLES = st.lists(SAMPLE, min_size=1, max_size=10)


@given(samples=SAMPLES)
def test_best_at_n_is_the_mean_verdict_of_the_likeliest_samples(samples):
    logprob, accepted = (np.array([each]) for each in zip(*samples, strict=True))
    truth = np.mean([right for likely, right in samples if likely == logprob.max()])
    assert best_by_problem(logprob, accepted) == pytest.approx([truth], abs=1e-12)


def test_a_likelihood_that_knows_the_verdict_reaches_coverage_in_every_seed():
    accepted = (np.random.default_rng(0).random((2, 20, 12)) < 0.1).astype(int)  # (seeds, problems, samples)
    assert (best_by_problem(accepted - 5.0, accepted) == coverage_by_problem(accepted)[..., -1]).all()


@pytest.mark.parametrize(
    ("logprob", "accepted", "message"),
    [
        ([[-1.0, np.nan]], [[1, 0]], "1 NaN"),
        ([[-1.0]], [[1, 0]], r"logprob has shape \(1, 1\)"),
        (np.zeros((0, 2)), np.zeros((0, 2)), r"accepted has shape \(0, 2\)"),
    ],
)
def test_what_has_no_likeliest_sample_is_refused(logprob, accepted, message):
    with pytest.raises(ValueError, match=message):
        best_by_problem(np.array(logprob), np.array(accepted))
