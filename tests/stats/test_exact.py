"""Bounds where few problems differ, or none: enumerated outcomes, scipy's exact bound, McNemar's exact p."""

import math

import numpy as np
import pytest
from scipy import optimize
from scipy import stats as scipy_stats

from erce.stats import difference, paired_gain
from erce.stats.exact import ProblemGains


def _clopper_pearson(problems, tail):
    """Return the chance of a problem at which none of all is seen with probability `tail`."""
    return scipy_stats.beta.ppf(1 - tail, 1, problems)


@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_equal_arms_leave_the_exact_bound_open_and_not_an_interval_of_width_zero(confidence):
    for seeds, problems in ((1, 7), (3, 20), (2, 500)):
        arm = np.tile(np.arange(problems) % 2, (seeds, 1))[..., None]
        same = paired_gain(arm, arm, confidence=confidence)
        bound = _clopper_pearson(problems, (1 - confidence) / 2)
        assert (same.low, same.high) == pytest.approx((-bound, bound))
        assert (same.gain, same.p, same.se, same.covers, same.problems) == (0, 1, 0, "problems", problems)


def test_a_gain_on_every_problem_has_mcnemars_exact_p_and_the_bound_on_its_other_side():
    for problems in (2, 5, 6, 40):
        ones, zeros = np.ones((2, problems, 3)), np.zeros((2, problems, 3))
        sure, back = paired_gain(ones, zeros), paired_gain(zeros, ones)
        assert sure.p == back.p == pytest.approx(scipy_stats.binomtest(problems, problems).pvalue)
        assert (sure.low, sure.high) == (pytest.approx(1 - 2 * _clopper_pearson(problems, 0.025)), 1)
        assert (back.low, back.high) == pytest.approx((-sure.high, -sure.low))
        assert (sure.low > 0) == (sure.p < 0.05) == (problems > 5)


def test_the_worst_that_the_bounds_leave_open_is_missed_as_seldom_as_they_say():
    """A share of all problems differs, each of them lost: the mean gain is then the lower bound."""
    for gain, problems in ((0.0, 20), (1.0, 12), (0.5, 30)):
        high = ProblemGains(-gain, (-gain,), (problems,), 2).bounds(tail=0.025).high
        low = ProblemGains(gain, (gain,), (problems,), 2).bounds(tail=0.025).low
        assert low == pytest.approx(-high)
        share = (gain - low) / (1 + gain)
        assert (1 - share) ** problems == pytest.approx(0.025)


def test_where_only_seeds_differ_the_problems_still_leave_their_bound_open():
    """The seeds of one arm in another order: no problem gains, and every seed's accuracy is another."""
    arm = np.ones((3, 60, 1))
    arm[0, 0] = 0
    gain = paired_gain(arm[::-1], arm)
    of_seeds = 2 * arm.mean(axis=(1, 2)).var(ddof=1) / 3
    of_problems = (_clopper_pearson(60, 0.025) / 1.96) ** 2
    assert gain.gain == 0
    assert 0 < of_seeds < of_problems <= gain.se**2
    assert gain.high > _clopper_pearson(60, 0.025)
    assert gain.covers == "problems and seeds"


def test_a_gain_in_which_nothing_varied_adds_what_it_leaves_open_to_a_difference():
    """The control solved throughout by both arms is no reason for a narrower interval."""
    gain = paired_gain(*np.random.default_rng(1).integers(0, 2, (2, 3, 60, 4)))
    control = paired_gain(*[np.ones((3, 30, 4))] * 2)
    both = difference(gain, control)
    assert both.se**2 == pytest.approx(gain.se**2 + (_clopper_pearson(30, 0.025) / 1.96) ** 2)
    assert both.problems == 30
    twice = difference(control, control)
    assert twice.high > math.sqrt(2) * _clopper_pearson(30, 0.025)


def _chance_enumerated(problems, gained, lost, true):
    """Return the chance of at most this net gain: likeliest chances by search, then every outcome."""

    def minus_log_likelihood(chance_lost):
        kept = 1 - true - 2 * chance_lost
        logs = np.log(np.maximum([true + chance_lost, chance_lost, kept], 1e-300))
        return -np.dot([gained, lost, problems - gained - lost], logs)

    likeliest = optimize.minimize_scalar(
        minus_log_likelihood, bounds=(0, (1 - true) / 2), method="bounded", options={"xatol": 1e-12}
    )
    chances = [true + likeliest.x, likeliest.x, 1 - true - 2 * likeliest.x]
    outcomes = [(up, down) for up in range(problems + 1) for down in range(problems + 1 - up)]
    return math.fsum(
        scipy_stats.multinomial.pmf([up, down, problems - up - down], problems, chances)
        for up, down in outcomes
        if up - down <= gained - lost
    )


@pytest.mark.parametrize(("gained", "lost"), [(1, 0), (3, 0), (2, 1), (0, 2), (4, 4)])
def test_the_chance_of_a_gain_is_the_sum_over_all_outcomes_of_the_likeliest_distribution(gained, lost):
    problems = 15
    differences = np.repeat([1.0, -1.0, 0.0], [gained, lost, problems - gained - lost])
    seen = ProblemGains.of(differences, gain=differences.mean(), steps=1)
    for true in (0.3, 0.45):
        expected = _chance_enumerated(problems, gained, lost, true)
        assert seen.chance(true) == pytest.approx(expected, rel=1e-5)
    low, high = seen.bounds(tail=0.05)
    assert (seen.chance(low), seen.chance(high)) == pytest.approx((0.05, 0.05))


def test_no_step_between_gains_is_lost_where_arms_have_other_numbers_of_seeds():
    """Gains of twelfths: 3 seeds of 2 samples against 2 of 2; wrong steps would round them."""
    rng = np.random.default_rng(2)
    arms = (rng.random((3, 30, 2)) < 0.2).astype(int), (rng.random((2, 30, 2)) < 0.2).astype(int)
    gains = paired_gain(*arms).by_problem
    assert gains.steps == 12
    steps = np.array(gains.values) * gains.steps
    assert np.allclose(steps, steps.round())
