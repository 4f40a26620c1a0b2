"""The coverage tables of `benchmarks/coverage.py`: exact where few problems differ, simulated elsewhere."""

import pytest

from benchmarks.coverage import called_the_same, sparse_coverage, sparse_seeds_coverage, unequal_coverage

EXPECTED = (1.0, 2.0, 3.0, 4.5, 6.0, 7.5, 10.0)


def test_where_three_of_300_problems_differ_the_interval_holds_the_gain():
    """By t alone in 84.8 % of studies."""
    assert sparse_coverage(300, 3.0) > 0.92


@pytest.mark.slow
@pytest.mark.parametrize("problems", [50, 100, 300, 1000])
def test_however_few_problems_differ_the_interval_holds_the_gain(problems):
    shares = {expected: sparse_coverage(problems, expected) for expected in EXPECTED}
    print(problems, shares)
    assert min(shares.values()) > 0.92


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [1, 2, 5])
def test_seeds_that_differ_on_few_problems_leave_the_gain_in_the_interval(seeds):
    shares = {
        expected: sparse_seeds_coverage(300, expected, seeds=seeds, studies=300)
        for expected in EXPECTED[1::2]
    }
    print(seeds, shares)
    assert min(shares.values()) > 0.92


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [(2, 2), (2, 10), (3, 3)])
def test_two_noisy_seeds_against_quiet_ones_leave_the_gain_in_the_interval(seeds):
    """With the variance between two seeds taken as it is, 92 and 87 % with two seeds."""
    share = unequal_coverage(seeds=seeds, noise=0.2, studies=1500)
    print(seeds, share)
    assert share > 0.89


@pytest.mark.slow
@pytest.mark.parametrize("problems", [150, 300, 500])
def test_arms_two_points_apart_are_called_the_same_within_two_in_at_most_5_percent(problems):
    """By t up to 14.9 %, with 300 problems, all of them gained."""
    shares = {lost: called_the_same(problems, lost) for lost in (0.0, 0.5, 2.0)}
    print(problems, shares)
    assert max(shares.values()) < 0.055
