"""pass@k and best-of-k against enumeration and closed forms."""

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
    crossover,
    pass_at_1,
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


def sharp_and_broad(problems: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """32 samples of policies whose chances are 0.002 or 0.98, a problem, and 0.03 or 0.4."""
    rng = np.random.default_rng(seed)
    solves = rng.random(problems) < 0.6
    sharp = rng.random((problems, 32)) < np.where(solves, 0.98, 0.002)[:, None]
    broad = rng.random((problems, 32)) < np.where(solves, 0.4, 0.03)[:, None]
    return sharp.astype(int), broad.astype(int)


def test_the_crossover_is_the_first_k_at_which_the_leader_is_behind():
    sharp, broad = sharp_and_broad(300, 0)
    crossed = crossover(sharp, broad)
    behind = np.flatnonzero(coverage(sharp) < coverage(broad))
    assert crossed is not None
    assert (crossed.k, crossed.leader) == (behind[0] + 1, "treated")
    turned = crossover(broad, sharp)
    assert turned == crossed._replace(leader="baseline")


@pytest.mark.parametrize(
    ("treated", "baseline"),
    [
        ([[1, 1], [0, 0]], [[1, 1], [0, 0]]),  # one curve
        ([[1, 1], [1, 0]], [[1, 0], [0, 0]]),  # ahead everywhere
        ([[0, 0], [0, 0]], [[0, 0], [0, 0]]),  # nobody solves anything
        ([[1, 1], [0, 0]], [[1, 0], [0, 0]]),  # they meet, and nobody passes
        ([[1], [0]], [[0], [0]]),  # one sample a problem
    ],
)
def test_curves_that_do_not_change_places_have_no_crossover(treated, baseline):
    assert crossover(np.array(treated), np.array(baseline)) is None


def test_a_crossover_averages_each_arms_own_seeds_and_takes_the_fewer_samples():
    sharp, broad = sharp_and_broad(100, 2)
    luckier, _ = sharp_and_broad(100, 8)
    seeds = np.stack([sharp, luckier])  # (seeds, problems, samples)
    crossed = crossover(seeds, broad[:, :20])
    assert crossed is not None
    assert crossed.k == np.flatnonzero(coverage(seeds)[:20] < coverage(broad[:, :20]))[0] + 1
    assert crossed.k not in {each.k for each in (crossover(sharp, broad), crossover(luckier, broad)) if each}


def test_a_crossover_of_other_problems_is_refused():
    with pytest.raises(ValueError, match="2 problems against 3"):
        crossover(np.ones((2, 4)), np.ones((3, 4)))


# Few values, so that ties are common; −inf is one of them.
SAMPLE = st.tuples(st.sampled_from([-np.inf, -3.0, -2.0, -1.0]), st.integers(0, 1))
SAMPLES = st.lists(SAMPLE, min_size=1, max_size=10)


def best_enumerated(likely, accepted, k: int) -> float:
    """The mean, over k-subsets, of the mean verdict of the likeliest samples in the subset."""
    chances = []
    for subset in combinations(range(len(likely)), k):
        top = max(likely[i] for i in subset)
        chances.append(np.mean([accepted[i] for i in subset if likely[i] == top]))
    return float(np.mean(chances))


@settings(deadline=None, max_examples=60)
@given(samples=SAMPLES)
def test_best_at_k_is_the_mean_over_all_subsets_with_ties_split(samples):
    logprob, accepted = (np.array([each]) for each in zip(*samples, strict=True))
    for k in range(1, len(samples) + 1):
        truth = best_enumerated(logprob[0], accepted[0], k)
        assert best_by_problem(logprob, accepted)[0, k - 1] == pytest.approx(truth, abs=1e-12)


def test_a_likelihood_that_knows_the_verdict_reaches_coverage_and_none_exceeds_it():
    rng = np.random.default_rng(0)
    accepted = (rng.random((2, 20, 12)) < 0.3).astype(int)  # (seeds, problems, samples)
    oracle = best_by_problem(accepted - 5.0, accepted)
    assert oracle.reshape(-1, 12).mean(axis=0) == pytest.approx(coverage(accepted))
    guess = best_by_problem(rng.normal(size=accepted.shape), accepted)
    assert (guess <= oracle + 1e-12).all()
    assert guess[..., 0].mean() == pytest.approx(pass_at_1(accepted[0]) / 2 + pass_at_1(accepted[1]) / 2)


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
