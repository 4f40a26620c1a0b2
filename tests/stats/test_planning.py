"""What a study finds, and which sizes find more, against variances put in and simulated studies."""

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from erce.stats import paired_gain, plan


def _outcomes(rng, *, seeds=6, problems=2000, samples=3, change=0.1, run=0.03, gain=0.05):  # noqa: PLR0913  each is varied
    """Return arms `gain` apart, with known ω², w, cell and σ_run: chances shift by problem, run and cell."""
    base = rng.uniform(0.4, 0.5, problems)
    effect = rng.uniform(gain - change, gain + change, problems)
    arms = []
    for chance in (base + effect, base):
        luck = rng.normal(0, run, (seeds, 1)) + rng.uniform(-0.1, 0.1, (seeds, problems))
        arms.append((rng.random((seeds, problems, samples)) < (chance + luck)[..., None]).astype(int))
    return arms


def test_the_detectable_gain_is_that_of_the_variances_put_in():
    rng, detectable = np.random.default_rng(0), []
    for _ in range(40):
        detectable.append(plan(*_outcomes(rng, run=0.01)).detectable)
    in_cells = 0.2**2 / 12 + 0.24 / 3  # what a seed's samples share, and w of the mean chances near 0.48
    variance = (0.2**2 / 12 + 2 * in_cells / 6) / 2000 + 2 * 0.01**2 / 6
    quantiles = scipy_stats.t.ppf(0.975, 5) + scipy_stats.t.ppf(0.8, 5)
    assert np.mean(np.square(detectable)) == pytest.approx(quantiles**2 * variance, rel=0.15)


def test_the_detectable_gain_needs_the_problems_and_seeds_that_the_study_has():
    arms = _outcomes(np.random.default_rng(1), problems=300, run=0.01)
    found = plan(*arms, gain=plan(*arms).detectable + 1e-9)
    assert (found.problems, found.seeds) == (300, 6)
    assert found.times == 1
    assert plan(*arms, gain=0.9 * found.detectable).problems > 300 / 0.9**2  # the runs' part stays


def test_more_problems_and_more_seeds_find_what_they_are_planned_to_find():
    """The median plan of small studies; a study of that size has the standard error that finds the gain."""
    rng, larger = np.random.default_rng(2), {"problems": [], "seeds": []}
    for _ in range(30):
        found = plan(*_outcomes(rng, problems=400, run=0.002), gain=0.025)
        larger["problems"].append(found.problems)
        larger["seeds"].append(found.seeds)
    for name, numbers in larger.items():
        size = {"problems": 400, "run": 0.002} | {name: int(np.median(numbers))}
        arms = _outcomes(rng, **size)
        quantiles = scipy_stats.t.ppf([0.975, 0.8], 5).sum()  # of the pilots' 6 seeds
        assert quantiles * paired_gain(*arms).se == pytest.approx(0.025, rel=0.15)


def test_no_number_of_problems_is_enough_where_the_runs_differ_and_none_of_seeds_where_problems_do():
    noisy = plan(*_outcomes(np.random.default_rng(3), run=0.05), gain=0.03)
    assert math.isinf(noisy.problems)
    assert math.isfinite(noisy.seeds)
    varied = plan(*_outcomes(np.random.default_rng(3), problems=100, change=0.4, run=0), gain=0.03)
    assert math.isinf(varied.seeds)
    assert math.isfinite(varied.problems)
    assert varied.times == pytest.approx((varied.detectable / 0.03) ** 2)


def test_where_nothing_varies_every_size_finds_the_gain():
    assert plan(np.ones((2, 5, 3)), np.zeros((2, 5, 3))) == (0, 1, 1, 1)


@pytest.mark.slow
@pytest.mark.parametrize(("seeds", "run"), [(5, 0.005), (5, 0.03), (10, 0.015)])
def test_what_a_study_says_that_it_finds_is_found_in_four_of_five_others(seeds, run):
    """Each of 200 pilots names a gain, and another study has just that gain. Normal quantiles give 0.68."""
    rng, significant = np.random.default_rng(9), []
    for _ in range(200):
        size = {"seeds": seeds, "problems": 200, "samples": 4, "run": run}
        gain = plan(*_outcomes(rng, **size)).detectable
        significant.append(paired_gain(*_outcomes(rng, gain=gain, **size)).p < 0.05)
    print(seeds, run, np.mean(significant))
    assert 0.78 < np.mean(significant) < 0.95


ARM = np.ones((2, 5, 1))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: plan(ARM, ARM, gain=3), "3 points are 0.03"),
        (lambda: plan(ARM[:1], ARM), "the study has 1 seeds and 5 problems"),
        (lambda: plan(ARM[:, :1], ARM[:, :1]), "the study has 2 seeds and 1 problems"),
        (lambda: plan(ARM, 50.0 * ARM), "baseline holds values outside 0 to 1"),
    ],
)
def test_a_plan_that_means_nothing_stops_with_a_way_out(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
