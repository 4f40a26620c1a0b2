"""Holm, equivalence, McNemar and Wilson: against definitions, references and the paper's numbers."""

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from erce.stats import (
    Gain,
    difference,
    equivalent,
    grid_gains,
    holm,
    paired_gain,
    paper,
    welch,
)
from erce.stats.exact import ProblemGains


def _grid(seed, shifts=(0.0, 0.3, 0.8), *, seeds=3, problems=60, samples=2):
    """A baseline and arms further and further from it, on shared problems."""
    rng = np.random.default_rng(seed)
    difficulty = rng.normal(0.3, 1.5, problems)
    arms = []
    for shift in (0.0, *shifts):
        logits = difficulty + shift + rng.normal(0, 0.4, problems)
        arms.append((rng.random((seeds, problems, samples)) < 1 / (1 + np.exp(-logits))[:, None]).astype(int))
    return arms[1:], arms[0]


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),  # × 3, × 1 raised to 0.06, × 2, × 4
        ([0.2, 0.001, 0.2], [0.4, 0.003, 0.4]),  # a tie stays one
        ([0.5, 0.6, 0.9], [1.0, 1.0, 1.0]),
        ([0.0, 1.0], [0.0, 1.0]),
        ([0.037], [0.037]),
        ([], []),
    ],
)
def test_holm_is_the_hand_worked_step_down(p_values, adjusted):
    np.testing.assert_allclose(holm(p_values), adjusted, rtol=1e-12)


def test_a_study_gets_each_arms_gain_and_its_p_after_holm_under_the_arms_name():
    arms, baseline = _grid(1)
    rows = grid_gains(dict(zip((0.3, 1.0, 8.0), arms, strict=True)), baseline)
    gains = [paired_gain(arm, baseline) for arm in arms]
    assert [row.gain for row in rows.values()] == gains
    assert list(rows) == [0.3, 1.0, 8.0]
    assert [row.adjusted for row in rows.values()] == holm([gain.p for gain in gains]).tolist()
    assert grid_gains({}, baseline) == {}
    [row] = grid_gains({8.0: arms[2]}, baseline).values()
    assert row.adjusted == row.gain.p


@pytest.mark.parametrize("shift", [-0.03, -0.01, 0.0, 0.012, 0.05])
def test_p_is_the_larger_of_scipys_two_one_sided_welch_tests(shift):
    rng = np.random.default_rng(3)
    treated, baseline = rng.normal(0.5 + shift, 0.01, 5), rng.normal(0.5, 0.02, 4)
    result = equivalent(welch(treated, baseline), margin=0.02)
    above = scipy_stats.ttest_ind(treated + 0.02, baseline, equal_var=False, alternative="greater").pvalue
    below = scipy_stats.ttest_ind(treated - 0.02, baseline, equal_var=False, alternative="less").pvalue
    assert result.p == pytest.approx(max(above, below), abs=1e-9)
    assert result.covers == "seeds"


def test_two_arms_are_equivalent_exactly_when_the_90_percent_interval_is_inside_the_margin():
    rng = np.random.default_rng(4)
    seen = set()
    for _ in range(200):
        gain = welch(rng.normal(0.5, 0.01, 5), rng.normal(0.5, 0.01, 5))
        result = equivalent(gain, margin=0.015)
        assert result.equivalent == (result.low > -0.015 and result.high < 0.015)
        seen.add(result.equivalent)
    assert seen == {True, False}


def test_the_interval_is_that_of_the_gain_at_90_percent_and_at_1_minus_2_levels():
    arms = [0.51, 0.50, 0.53], [0.50, 0.49, 0.52]
    for level, confidence in [(0.05, 0.90), (0.01, 0.98)]:
        result = equivalent(welch(*arms), margin=0.02, level=level)
        assert (result.low, result.high) == pytest.approx(welch(*arms, confidence=confidence)[1:3])


@pytest.mark.parametrize(("problems", "same"), [(20, False), (148, False), (149, True), (500, True)])
def test_no_difference_on_too_few_problems_is_no_equivalence(problems, same):
    """Clopper and Pearson's bound for none of n: 20 problems leave 13.9 points open, 149 just under 2."""
    arm = np.ones((3, problems, 1))
    result = equivalent(paired_gain(arm, arm), margin=0.02)
    bound = scipy_stats.beta.ppf(0.95, 1, problems)
    assert (result.equivalent, result.covers) == (same, "problems")
    assert result.p == pytest.approx(0.98**problems)
    assert (result.low, result.high) == pytest.approx((-bound, bound))
    assert same == (problems > math.log(0.05) / math.log(1 - 0.02))


def test_a_difference_on_one_problem_shows_no_more_than_one_on_none():
    """By t alone one difference on 140 problems shows equivalence within 2 points, and none does not."""
    arm = np.zeros((1, 140, 1))
    other = arm.copy()
    other[0, 0] = 1
    gain = paired_gain(other, arm)
    assert gain.gain + scipy_stats.t(139).ppf(0.95) * gain.se < 0.02
    none, one = (equivalent(paired_gain(each, arm), margin=0.02) for each in (arm, other))
    assert not none.equivalent
    assert not one.equivalent
    assert one.p >= none.p
    assert one.high >= none.high


@pytest.mark.parametrize("gain", [0.0, 0.01, -0.01, 0.019, 0.02, 0.3])
def test_where_nothing_varied_the_bounds_are_clopper_and_pearsons_for_no_other_problem(gain):
    seen = set()
    for problems in (20, 148, 149, 200, 300, 1000, 100_000):
        alike = ProblemGains(gain, (gain,), (problems,), 1)
        exact = Gain(gain, gain, gain, 1.0, 0.0, math.inf, "problems", problems, alike)
        result = equivalent(exact, margin=0.02)
        share = scipy_stats.beta.ppf(0.95, 1, problems)  # of problems that may differ, none of them drawn
        low, high = gain - share * (1 + gain), gain + share * (1 - gain)
        assert (result.low, result.high) == pytest.approx((low, high), rel=1e-9)
        inside = low > -0.02 and high < 0.02
        assert (result.equivalent, result.p < 0.05) == (inside, inside)
        seen.add(inside)
    assert seen == ({True, False} if abs(gain) < 0.02 else {False})


def test_the_edges_without_variation_and_with_one_problem():
    ones, zeros = np.ones((2, 7, 3)), np.zeros((2, 7, 3))
    assert equivalent(paired_gain(ones, zeros), margin=0.01)[:2] == (False, 1.0)
    for equal in (welch([0.5, 0.5], [0.5, 0.5]), paper.welch([0.5, 0.5], [0.5, 0.5])):
        assert equivalent(equal, margin=0.25)[:4] == (False, 1.0, -1.0, 1.0)
    lone = paired_gain(ones[:, :1], ones[:, :1])
    assert equivalent(lone, margin=0.5)[:4] == (False, 1.0, -1.0, 1.0)
    assert equivalent(difference(lone, lone), margin=0.5).p == 1.0


GAIN = welch([0.5, 0.6], [0.5, 0.6])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: holm([0.5, 1.5]), "are not all between 0 and 1"),
        (lambda: holm([math.nan]), "are not all between 0 and 1"),
        (
            lambda: equivalent(GAIN, margin=2.0),
            "must lie between 0 and 1, in fractions of 1: 2 points are 0.02",
        ),
        (lambda: equivalent(GAIN, margin=0.0), "margin = 0 must lie"),
        (lambda: equivalent(GAIN, margin=0.02, level=0.95), "level = 0.95 must lie between 0 and 0.5"),
    ],
)
def test_values_that_mean_nothing_stop_with_a_way_out(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
