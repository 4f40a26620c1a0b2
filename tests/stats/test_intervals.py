"""Gains and intervals against slow definitions, scipy, and simulated studies whose true gain is known."""

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from erce.score import coverage_by_problem
from erce.stats import Gain, accuracy_bounds, difference, over_seeds, paired_gain, welch


def _arms(seed, *, seeds=(3, 3), problems=40, samples=(4, 4)):
    """Two correlated arms: each problem has its own difficulty, each seed its own luck."""
    rng = np.random.default_rng(seed)
    difficulty = rng.normal(0.5, 1.0, problems)
    arms = []
    for shift, n_seeds, n_samples in zip((0.4, 0.0), seeds, samples, strict=True):
        logits = (
            difficulty + shift + rng.normal(0, 0.2, (n_seeds, 1)) + rng.normal(0, 0.3, (n_seeds, problems))
        )
        right = rng.random((n_seeds, problems, n_samples)) < 1 / (1 + np.exp(-logits))[..., None]
        arms.append(right.astype(int))
    return arms


def _mean(values):
    return math.fsum(values) / len(values)


def _sample_variance(values):
    return math.fsum((value - _mean(values)) ** 2 for value in values) / (len(values) - 1)


def _slow_paired_gain(treated, baseline, *, untrained=(), chosen_from=1):
    """The formula of the docstring written out with loops, and scipy's t."""
    p = [[[_mean(list(samples)) for samples in seed] for seed in arm] for arm in (treated, baseline)]
    n = len(p[0][0])
    per_problem = [[_mean([seed[i] for seed in arm]) for i in range(n)] for arm in p]
    gains = [b - a for b, a in zip(*per_problem, strict=True)]
    v_problem = _sample_variance(gains) / n
    names = ("treated", "baseline")
    trained = [
        pair
        for pair, name in zip(zip(p, per_problem, strict=True), names, strict=True)
        if name not in untrained
    ]
    p = [arm for arm, _ in trained]
    counts = (scipy_stats.norm.isf(0.025 / chosen_from) / scipy_stats.norm.isf(0.025)) ** 2
    v_seed = [counts * _sample_variance([_mean(seed) for seed in arm]) / len(arm) for arm in p]
    v_seed = [v / 0.455 if len(arm) == 2 else v for v, arm in zip(v_seed, p, strict=True)]
    v_cell = 0.0
    for arm, accuracy in trained:
        squares = [(seed[i] - accuracy[i]) ** 2 for seed in arm for i in range(n)]
        v_cell += counts * math.fsum(squares) / ((len(arm) - 1) * len(arm) * n**2)
    v = max(v_problem + sum(v_seed) - v_cell, v_problem, sum(v_seed))
    df = v**2 / (
        v_problem**2 / (n - 1) + sum(x**2 / (len(arm) - 1) for x, arm in zip(v_seed, p, strict=True))
    )
    gain, se, t = _mean(gains), math.sqrt(v), scipy_stats.t(df)
    return Gain(
        gain,
        gain - t.ppf(0.975) * se,
        gain + t.ppf(0.975) * se,
        2 * t.sf(abs(gain) / se),
        se,
        df,
        "problems and seeds",
    )


WIDER = 0.01  # by the exact bounds, at most, on the arms of this file


def _agree(fast, slow, *, rtol):
    """Assert equality but for the exact bounds of `test_exact.py`, which widen an end by little, or not."""
    np.testing.assert_allclose(
        [fast.gain, fast.se, fast.df], [slow.gain, slow.se, slow.df], rtol=rtol, atol=1e-12
    )
    wider = max(-1, slow.low) - fast.low, fast.high - min(1, slow.high)
    assert -1e-9 <= min(wider) <= max(wider) < WIDER
    assert fast.p >= slow.p - 1e-9


@pytest.mark.parametrize(
    ("untrained", "chosen_from", "seeds"),
    [((), 6, (3, 3)), (("baseline",), 1, (3, 1)), (("baseline",), 6, (4, 1)), (("treated",), 2, (1, 3))],
)
def test_choosing_counts_the_variance_between_runs_more_and_an_untrained_arm_has_none(
    untrained, chosen_from, seeds
):
    arms = _arms(7, seeds=seeds)
    how = {"untrained": untrained, "chosen_from": chosen_from}
    gain, alone = paired_gain(*arms, **how), paired_gain(*arms, untrained=untrained)
    _agree(gain, _slow_paired_gain(*arms, **how), rtol=1e-9)
    assert gain.covers == "problems and seeds"
    assert (gain.high - gain.low > alone.high - alone.low) is (chosen_from > 1)


def test_choosing_adds_nothing_over_problems_alone():
    arms = _arms(8, seeds=(1, 1))
    assert paired_gain(*arms, chosen_from=9) == paired_gain(*arms)
    with pytest.raises(ValueError, match="chosen_from = 0 must be 1 or more"):
        paired_gain(*arms, chosen_from=0)


@pytest.mark.parametrize(
    ("seeds", "samples"), [((3, 3), (4, 4)), ((2, 2), (1, 1)), ((5, 3), (4, 1)), ((2, 6), (2, 3))]
)
def test_paired_gain_equals_its_definition_written_with_loops(seeds, samples):
    for draw in range(5):
        treated, baseline = _arms(draw, seeds=seeds, samples=samples)
        fast, slow = paired_gain(treated, baseline), _slow_paired_gain(treated, baseline)
        assert fast.covers == slow.covers
        _agree(fast, slow, rtol=1e-9)


def test_seed_luck_that_outweighs_everything_is_not_subtracted_away():
    """All problems move together with the seed: the floor keeps at least the variance between seeds."""
    treated = np.repeat([[1], [1], [0]], 50, axis=1)[..., None]
    baseline = np.repeat([[0], [1], [0]], 50, axis=1)[..., None]
    gain = paired_gain(treated, baseline)
    assert gain.se**2 == pytest.approx(2 * (1 / 3) / 3)
    assert gain.df == pytest.approx(4, rel=1e-4)


def test_with_one_seed_the_interval_is_the_paired_t_over_problems_and_says_so():
    treated, baseline = _arms(1, seeds=(1, 1))
    gain = paired_gain(treated, baseline)
    reference = scipy_stats.ttest_rel(treated.mean((0, 2)), baseline.mean((0, 2)))
    low, high = reference.confidence_interval(0.95)
    assert gain.covers == "problems"
    np.testing.assert_allclose([gain.df, gain.se], [39, (high - low) / 2 / scipy_stats.t(39).ppf(0.975)])
    assert gain.low <= low < high <= gain.high
    assert gain.p >= reference.pvalue
    assert paired_gain(_arms(1, seeds=(3, 1))[0], baseline).covers == "problems"


def test_with_one_problem_nothing_is_known_about_other_problems():
    gain = paired_gain(np.ones((3, 1, 4)), np.zeros((3, 1, 4)))
    assert (gain.gain, gain.low, gain.high, gain.p) == (1.0, -1.0, 1.0, 1.0)
    assert difference(gain, gain)[:4] == (0.0, -2.0, 2.0, 1.0)


def test_equal_seeds_tell_welch_nothing_of_other_seeds():
    for treated in ([0.1] * 3, [0.6] * 3):
        gain = welch(treated, [0.1] * 2)
        assert gain[1:] == (-1.0, 1.0, 1.0, math.inf, 1.0, "seeds", 0, None)
    assert welch([0.6, 0.6], [0.5, 0.6]).se > 0


def test_a_gain_of_a_third_on_every_problem_leaves_no_rounding_either():
    for problems in range(2, 40):
        treated = np.tile([[1, 1, 0]], (2, problems, 1))
        gain = paired_gain(treated, treated * [1, 0, 0])
        assert (gain.se, gain.p) == (0, pytest.approx(min(1, 2 * (4 / 3) ** -problems)))
    fifths = [
        np.tile([[1] * a + [0] * (5 - a), [1] * b + [0] * (5 - b)], (2, 20, 1)) for a, b in ((3, 1), (2, 0))
    ]
    assert paired_gain(*fifths).se == 0  # 3/5 − 2/5 and 1/5 − 0 are no equal floats


@pytest.mark.parametrize("k", [2, 4])
def test_a_gain_in_pass_at_k_is_the_same_formula_over_each_problems_chance(k):
    for draw in range(5):
        arms = [coverage_by_problem(arm)[..., k - 1 : k] for arm in _arms(draw, samples=(5, 4))]
        _agree(paired_gain(*arms), _slow_paired_gain(*arms), rtol=1e-8)


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_welch_is_scipys_unequal_variance_t_test(confidence):
    treated, baseline = [0.52, 0.51, 0.53, 0.54], [0.50, 0.46, 0.49]
    reference = scipy_stats.ttest_ind(treated, baseline, equal_var=False)
    low, high = reference.confidence_interval(confidence)
    gain = welch(treated, baseline, confidence=confidence)
    np.testing.assert_allclose(
        [gain.p, gain.df, gain.low, gain.high], [reference.pvalue, reference.df, low, high], rtol=1e-9
    )
    assert gain.covers == "seeds"


def test_the_interval_excludes_zero_exactly_when_p_is_below_the_level():
    for draw in range(20):
        treated, baseline = _arms(draw, problems=25, seeds=(2, 2), samples=(1, 1))
        gain = paired_gain(treated, baseline)
        level = 1 - gain.p
        if 0 < level < 1:
            edge = paired_gain(treated, baseline, confidence=level)
            assert min(abs(edge.low), abs(edge.high)) < 1e-9


def test_the_difference_of_two_gains_is_the_four_variance_welch_interval():
    rng = np.random.default_rng(8)
    arms = [rng.normal(0.5, 0.02, size) for size in (5, 4, 6, 3)]
    both = difference(welch(arms[0], arms[1]), welch(arms[2], arms[3]))
    variances = [arm.var(ddof=1) / len(arm) for arm in arms]
    first, second = welch(arms[0], arms[1]), welch(arms[2], arms[3])
    assert both.se**2 == pytest.approx(sum(variances))
    assert both.df == pytest.approx(sum(variances) ** 2 / (first.se**4 / first.df + second.se**4 / second.df))
    assert both.gain == pytest.approx(first.gain - second.gain)
    assert difference(second, first).low == pytest.approx(-both.high)


def test_the_difference_covers_only_what_both_gains_cover():
    full = paired_gain(*_arms(1))
    problems = paired_gain(*_arms(1, seeds=(1, 1)))
    assert difference(full, full).covers == "problems and seeds"
    assert difference(full, problems).covers == "problems"
    with pytest.raises(ValueError, match="take both from the same function"):
        difference(full, welch([0.1, 0.2], [0.1, 0.3]))


def test_over_seeds_divides_by_n_minus_1():
    scores = [0.5080, 0.4620, 0.4960, 0.4940, 0.4960]  # the paper's GSM8K table, λ = 0
    assert over_seeds(scores).sd == pytest.approx(np.std(scores, ddof=1))
    assert math.isnan(over_seeds([0.5]).sd)
    assert over_seeds([0.1] * 3).sd == 0  # 0.1 + 0.1 + 0.1 is not 0.3 in floats


ARM = np.ones((2, 3, 1))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: paired_gain(ARM, np.ones((2, 4, 1))), "treated has 3 problems, baseline 4; pair"),
        (lambda: paired_gain(np.ones((2, 3)), ARM), "treated has shape (2, 3); it must be"),
        (lambda: paired_gain(np.ones((0, 3, 1)), ARM), "treated has shape (0, 3, 1)"),
        (lambda: paired_gain(ARM, 50.0 * ARM), "baseline holds values outside 0 to 1"),
        (lambda: paired_gain(np.nan * ARM, ARM), "treated holds values outside 0 to 1"),
        (lambda: accuracy_bounds(0.5 * ARM[0]), "accepted holds values other than 0 and 1"),
        (lambda: welch([0.5], [0.5, 0.6]), "treated has 1 seeds and baseline 2; Welch's interval needs two"),
        (lambda: welch([0.5, 0.6], [0.5, 0.6], confidence=95), "confidence = 95 must lie between 0 and 1"),
        (lambda: over_seeds([]), "hand in one score per seed"),
    ],
)
def test_values_that_mean_nothing_stop_with_a_way_out(call, sentence):
    with pytest.raises(ValueError) as stopped:  # noqa: PT011  the sentence holds brackets
        call()
    assert sentence in str(stopped.value)


@pytest.mark.parametrize("right", [0, 1, 6, 19, 20])
def test_the_bounds_of_an_accuracy_are_clopper_and_pearsons_for_one_sample_per_problem(right):
    exact = scipy_stats.binomtest(right, 20).proportion_ci(confidence_level=0.9, method="exact")
    accepted = np.arange(20)[:, None] < right
    assert accuracy_bounds(accepted, confidence=0.9) == pytest.approx((exact.low, exact.high), abs=1e-9)


def test_the_bounds_of_an_accuracy_over_several_samples_cover_other_problems():
    """Of simulated models with a chance per problem, 1 in 20 intervals misses the mean chance, not more."""
    rng, missed, studies = np.random.default_rng(0), 0, 400
    for _ in range(studies):
        chances = rng.beta(0.3, 2.0, 60)
        low, high = accuracy_bounds(rng.random((60, 4)) < chances[:, None])
        missed += not low <= 0.3 / 2.3 <= high
    assert missed <= 0.07 * studies


def test_the_bounds_of_an_accuracy_over_several_samples_are_students_where_problems_differ():
    accepted = np.random.default_rng(1).random((200, 4)) < np.linspace(0, 1, 200)[:, None]
    shares = accepted.mean(axis=1)
    student = scipy_stats.t.interval(0.95, 199, shares.mean(), scipy_stats.sem(shares))
    assert accuracy_bounds(accepted) == pytest.approx(student, abs=2e-3)


def test_one_problem_says_nothing_of_others_and_a_share_is_no_outcome():
    assert accuracy_bounds([[1, 1, 0]]) == (0.0, 1.0)
    with pytest.raises(ValueError, match="accepted holds values other than 0 and 1"):
        accuracy_bounds([[0.5], [1.0]])
