"""Simultaneous intervals of a grid: each arm's own where it is alone, wider for what the grid costs."""

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from erce.stats import max_t, paired_gain


def _grid(seed, shifts, *, seeds=3, problems=60, samples=2):
    rng = np.random.default_rng(seed)
    difficulty = rng.normal(0.3, 1.5, problems)
    arms = []
    for shift in (0.0, *shifts):
        chance = 1 / (1 + np.exp(-(difficulty + shift + rng.normal(0, 0.4, problems))))
        arms.append((rng.random((seeds, problems, samples)) < chance[:, None]).astype(int))
    return arms[1:], arms[0]


def test_the_interval_of_one_arm_of_one_seed_is_students():
    arms, baseline = _grid(0, (0.4,), seeds=1, problems=400)
    found, own = max_t(arms, baseline, draws=40_000), paired_gain(arms[0], baseline)
    assert found.gain[0] == own.gain
    np.testing.assert_allclose([found.low[0], found.high[0]], [own.low, own.high], atol=0.02 * own.se)
    narrow = max_t(arms, baseline, confidence=0.5)
    assert narrow.high[0] - narrow.low[0] < 0.5 * (found.high[0] - found.low[0])


def test_the_grid_widens_every_interval_by_one_quantile_of_the_largest():
    """With one seed all arms have the same degrees of freedom; independent arms need Šidák's level."""
    rng = np.random.default_rng(3)
    baseline = np.tile([1, 0], (1, 300, 1))
    arms = [rng.integers(0, 2, (1, 300, 2)) for _ in range(6)]
    found = max_t(arms, baseline, draws=40_000)
    own = [paired_gain(arm, baseline) for arm in arms]
    times = (found.high - found.gain) / [gain.se for gain in own]
    np.testing.assert_allclose(times, times[0], rtol=1e-9)
    assert times[0] == pytest.approx(scipy_stats.t(299).ppf((1 + 0.95 ** (1 / 6)) / 2), rel=0.02)
    np.testing.assert_allclose(found.gain - found.low, found.high - found.gain, rtol=1e-9)


def test_few_seeds_widen_the_interval_to_their_own_degrees_of_freedom():
    """All problems move with the seed, four runs an arm: Student's t has six."""
    treated = np.repeat([[1], [1], [1], [0]], 80, axis=1)[..., None]
    baseline = np.repeat([[0], [1], [0], [0]], 80, axis=1)[..., None]
    found = max_t([treated], baseline)
    half = scipy_stats.t(6).ppf(0.975) * math.sqrt(2 * 0.25 / 4)
    assert found.low[0] == pytest.approx(0.5 - half, abs=0.05)
    assert found.high[0] == 1


def test_a_large_gain_on_every_problem_does_not_widen_its_own_interval():
    """Flips of the gains themselves would: what chance does is in how they differ."""
    rng = np.random.default_rng(5)
    treated = np.ones((1, 40, 1), int)
    baseline = (rng.random((1, 40, 1)) < 0.1).astype(int)
    found, own = max_t([treated], baseline, draws=40_000), paired_gain(treated, baseline)
    np.testing.assert_allclose([found.low[0], found.high[0]], [own.low, own.high], atol=0.15 * own.se)


def test_the_best_arms_interval_excludes_0_where_its_p_is_far_from_the_level():
    for draw in range(8):
        arms, baseline = _grid(draw, (0.0, 0.5, 1.0))
        found = max_t(arms, baseline, draws=4_999)
        best = int(np.argmax(np.abs(found.t)))
        if not 0.03 < found.p[best] < 0.08:
            assert (found.low[best] > 0 or found.high[best] < 0) == (found.p[best] <= 0.05)


def test_an_arm_without_variation_has_the_exact_bound_of_its_problems_with_every_arm_paid_for():
    """Each end is missed with 2.5 % over the number of arms, on the farther side of the gain."""
    ones, zeros = np.ones((2, 9, 3)), np.zeros((2, 9, 3))
    sure = max_t([ones, zeros], zeros)
    open_ = scipy_stats.beta.ppf(1 - 0.025 / 2, 1, 9)  # Clopper and Pearson's for none of nine
    assert sure.low.tolist() == pytest.approx([1 - 2 * open_, -open_])
    assert sure.high.tolist() == pytest.approx([1, open_])
    thirds = max_t([np.tile([1, 1, 0], (2, 30, 1))], np.tile([1, 0, 0], (2, 30, 1)))
    assert thirds.high[0] - 1 / 3 == pytest.approx(4 / 3 * scipy_stats.beta.ppf(0.975, 1, 30))


def test_one_problem_or_too_few_draws_say_nothing():
    zeros = np.zeros((2, 9, 3))
    alone = max_t([np.ones((3, 1, 4))], np.zeros((3, 1, 4)))
    assert (alone.gain[0], alone.low[0], alone.high[0]) == (1, -1, 1)
    few = max_t(*_grid(1, (0.3,)), draws=9)
    assert (few.low[0], few.high[0]) == (-1, 1)
    assert max_t([], zeros).low.shape == (0,)


def test_draws_beyond_one_chunk_are_the_same_quantile():
    arms, baseline = _grid(2, (0.3, 0.6), problems=3000, seeds=2, samples=1)
    one, many = max_t(arms, baseline, draws=1_000), max_t(arms, baseline, draws=3_000)
    np.testing.assert_allclose(one.high, many.high, rtol=0.1)


def test_a_confidence_in_percent_is_refused():
    with pytest.raises(ValueError, match="confidence = 95 must lie between 0 and 1"):
        max_t([np.ones((1, 2, 1))], np.ones((1, 2, 1)), confidence=95)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [1, 4])
def test_all_intervals_hold_their_true_gains_as_often_as_they_say(seeds):
    """Five arms with other true gains each; problems are drawn anew, and so are runs."""
    rng, hits, draws = np.random.default_rng(11), 0, 600
    shifts, noise, luck = np.array([0.0, 0.2, 0.4, 0.6, 0.8]), 0.6, 0.05
    big = rng.normal(0, 1.5, 400_000)
    nudge = rng.normal(0, math.hypot(noise, luck), big.size)
    base = (1 / (1 + np.exp(-(big + rng.normal(0, luck, big.size))))).mean()
    truth = np.array([(1 / (1 + np.exp(-(big + shift + nudge)))).mean() - base for shift in shifts])
    for _ in range(draws):
        difficulty = rng.normal(0, 1.5, 150)
        arms = []
        for shift in (None, *shifts):
            own = difficulty if shift is None else difficulty + shift + rng.normal(0, noise, 150)
            chance = 1 / (1 + np.exp(-(own + rng.normal(0, luck, (seeds, 1)))))
            arms.append((rng.random((seeds, 150)) < chance).astype(int)[..., None])
        found = max_t(arms[1:], arms[0], draws=999)
        hits += bool(((found.low <= truth) & (truth <= found.high)).all())
    print(f"{seeds} seeds: all five hold in {100 * hits / draws:.1f} %")
    assert 0.92 <= hits / draws <= 0.99
