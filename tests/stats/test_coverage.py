"""The coverage tables of `benchmarks/coverage.py`: exact where few problems differ, simulated elsewhere."""

import pytest

from benchmarks.coverage import (
    EXPECTED,
    PROBLEMS,
    sparse_coverage,
    sparse_seeds_coverage,
    unequal_coverage,
)


def test_where_three_of_300_problems_differ_the_interval_holds_the_gain():
    """By t alone the interval holds the gain in 84.8 % of studies."""
    assert sparse_coverage(300, 3.0) > 0.965


@pytest.mark.slow
@pytest.mark.parametrize("problems", PROBLEMS)
def test_however_few_problems_differ_the_interval_holds_the_gain(problems):
    shares = {expected: sparse_coverage(problems, expected) for expected in EXPECTED}
    print(problems, shares)
    assert min(shares.values()) > 0.965


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [1, 2, 5])
def test_seeds_that_differ_on_few_problems_leave_the_gain_in_the_interval(seeds):
    shares = {
        expected: sparse_seeds_coverage(300, expected, seeds=seeds, studies=300)
        for expected in EXPECTED[1::2]
    }
    print(seeds, shares)
    assert min(shares.values()) > 0.96


@pytest.mark.slow
@pytest.mark.parametrize(("seeds", "least"), [((2, 2), 0.94), ((2, 10), 0.89), ((3, 3), 0.92)])
def test_two_noisy_seeds_against_quiet_ones_leave_the_gain_in_the_interval(seeds, least):
    """With the variance between two seeds as it is, 92 % for 2 and 2 seeds, 87 % for 2 and 10."""
    share = unequal_coverage(seeds=seeds, noise=0.2, studies=1500)
    print(seeds, share)
    assert share > least
