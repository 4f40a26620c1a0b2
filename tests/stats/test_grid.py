"""Tests over a whole grid against hand-worked numbers, scipy, full enumeration and the paper's own tables."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from erce.paper import lookup
from erce.stats import dunnett, grid_gains, holm, max_t, paired_gain, trend, welch

GSM8K, MBPP = ({row.lam: row.seeds for row in lookup(task, "greedy").rows} for task in ("gsm8k", "mbpp"))


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


def test_holm_says_of_the_papers_tables_what_survives():
    for table, lost in [(GSM8K, {0.3, 0.5}), (MBPP, {0.3, 3, 6})]:
        lams = [lam for lam in table if lam]
        adjusted = holm([welch(table[lam], table[0]).p for lam in lams])
        assert {lam for lam, p in zip(lams, adjusted, strict=True) if p > 0.05} == lost


def test_a_study_gets_each_arms_gain_and_its_p_after_holm_under_the_arms_name():
    arms, baseline = _grid(1)
    found = grid_gains(dict(zip((0.3, 1.0, 8.0), arms, strict=True)), baseline, confidence=0.9)
    gains = [paired_gain(arm, baseline, confidence=0.9) for arm in arms]
    assert [row.gain for row in found.values()] == gains
    assert list(found) == [0.3, 1.0, 8.0]
    assert [row.adjusted for row in found.values()] == holm([gain.p for gain in gains]).tolist()
    assert grid_gains({}, baseline) == {}
    [row] = grid_gains({8.0: arms[2]}, baseline).values()
    assert row.adjusted == row.gain.p


def test_a_study_may_ask_for_max_t_instead():
    arms, baseline = _grid(1)
    found = grid_gains(dict(enumerate(arms)), baseline, correction="max-t")
    assert [row.adjusted for row in found.values()] == max_t(arms, baseline).p.tolist()
    assert {row.correction for row in found.values()} == {"max-t"}


def test_max_t_with_one_seed_is_what_all_sign_flips_say():
    """Step-down by hand over all 2^10 flips; the arms' gains are flipped together."""
    arms, baseline = _grid(5, (0.5, 1.2, 2.5), seeds=1, problems=10, samples=4)
    gains = np.stack([(arm.mean((0, 2)) - baseline.mean((0, 2))) for arm in arms])

    def largest(flip):
        return np.abs(scipy_stats.ttest_1samp(gains * flip, 0, axis=1).statistic)

    observed = largest(1)
    flips = np.array([largest(flip) for flip in itertools.product((-1, 1), repeat=10)])
    order, p, floor = np.argsort(-observed), np.empty(3), 0.0
    for rank, arm in enumerate(order):
        floor = max(floor, np.mean(flips[:, order[rank:]].max(axis=1) >= observed[arm] - 1e-9))
        p[arm] = floor
    found = max_t(arms, baseline, draws=40_000)
    np.testing.assert_allclose(np.abs(found.t), observed, rtol=1e-9)
    np.testing.assert_allclose(found.p, p, atol=4 * math.sqrt(0.25 / 40_000))
    assert 0.01 < p.min() < np.median(p) < 0.5  # more than one arm is put to the test


def test_max_t_of_one_arm_agrees_with_the_paired_gain():
    arms, baseline = _grid(2, (0.25,), problems=300)
    gain = paired_gain(arms[0], baseline)
    found = max_t(arms, baseline, draws=20_000)
    assert found.t[0] == pytest.approx(gain.gain / gain.se, rel=0.05)
    assert found.p[0] == pytest.approx(gain.p, abs=0.02)


def test_max_t_is_the_same_for_a_seed_and_another_for_another():
    arms, baseline = _grid(3)
    first, again, other = (max_t(arms, baseline, draws=999, seed=seed) for seed in (4, 4, 5))
    assert first.p.tolist() == again.p.tolist() != other.p.tolist()
    np.testing.assert_allclose(first.p, other.p, atol=0.1)


def test_max_t_follows_the_order_of_the_arms_and_ignores_their_sign():
    arms, baseline = _grid(4)
    found = max_t(arms, baseline, draws=999)
    turned = max_t(arms[::-1], baseline, draws=999)
    assert turned.p.tolist() == found.p[::-1].tolist()
    assert turned.t.tolist() == found.t[::-1].tolist()
    [up], [down] = max_t(arms[2:], baseline).t, max_t([baseline], arms[2]).t
    assert up == pytest.approx(-down)


def test_max_t_gives_arms_with_the_same_t_the_same_p():
    [arm], _ = _grid(8, (0.3,), problems=20, seeds=1)
    half = np.tile([1, 0], (1, 20, 1))
    found = max_t([np.roll(arm, shift, axis=1) for shift in range(4)], half)
    assert len(set(found.t.round(9))) == len(set(found.p)) == 1
    assert 0.1 < found.p[0] < 0.9


def test_max_t_charges_nothing_for_arms_that_repeat_each_other_where_holm_does():
    arms, baseline = _grid(6, (0.4,), problems=200, seeds=1)
    once, eight = max_t(arms, baseline), max_t(arms * 8, baseline)
    np.testing.assert_allclose(eight.p, once.p[0], rtol=1e-12)
    [alone], [of_eight, *_] = (
        [row.adjusted for row in grid_gains(dict(enumerate(group)), baseline).values()]
        for group in (arms, arms * 8)
    )
    assert of_eight == pytest.approx(min(1, 8 * alone))


def test_max_t_takes_seeds_for_luck_too():
    """All problems move with the seed, up in three runs of one arm and in one of the other."""
    treated = np.repeat([[1], [1], [1], [0]], 80, axis=1)[..., None]
    baseline = np.repeat([[0], [1], [0], [0]], 80, axis=1)[..., None]
    found = max_t([treated], baseline)
    assert found.t[0] == pytest.approx(0.5 / math.sqrt(2 * 0.25 / 4))
    assert found.p[0] == pytest.approx(2 * scipy_stats.t(6).sf(found.t[0]), abs=0.03)
    assert max_t([treated[:1]], baseline[:1]).p[0] == pytest.approx(1e-4)


def test_max_t_at_its_edges():
    arms, baseline = _grid(7)
    same = max_t([baseline, arms[2]], baseline)
    assert (same.t[0], same.p[0]) == (0, 1)
    ones, zeros = np.ones((2, 9, 3)), np.zeros((2, 9, 3))
    sure = max_t([ones], zeros, draws=40_000)
    assert (sure.t[0], sure.p[0]) == (math.inf, pytest.approx(2 / 2**9, abs=0.002))
    thirds = np.tile([1, 0, 0], (2, 10, 1))  # a third is no exact float
    assert max_t([thirds], 0 * thirds, draws=40_000).p[0] == pytest.approx(2 / 2**10, abs=0.001)
    assert max_t([zeros, zeros], zeros).p.tolist() == [1, 1]
    assert max_t([np.ones((3, 1, 4))], np.zeros((3, 1, 4))).p.tolist() == [1]
    assert max_t([], baseline).p.shape == (0,)


def test_dunnett_is_the_multivariate_t_probability():
    arms, baseline = [[0.50, 0.52, 0.53], [0.49, 0.53, 0.55, 0.56]], [0.48, 0.49, 0.50, 0.50, 0.47]
    found = dunnett(arms, baseline)
    loadings = np.sqrt(np.array([3 / 8, 4 / 9]))
    shape = np.outer(loadings, loadings)
    np.fill_diagonal(shape, 1)
    joint = scipy_stats.multivariate_t(shape=shape, df=9, seed=0)
    for t, p in zip(np.abs(found.t), found.p, strict=True):
        inside = joint.cdf([t, t], lower_limit=[-t, -t], maxpts=500_000)
        assert p == pytest.approx(1 - inside, abs=1e-6)


@pytest.mark.parametrize("table", [GSM8K, MBPP], ids=["gsm8k", "mbpp"])
def test_dunnett_is_scipys_up_to_its_random_integration(table):
    arms = [table[lam] for lam in table if lam]
    ours, theirs = dunnett(arms, table[0]), scipy_stats.dunnett(*arms, control=table[0])
    np.testing.assert_allclose(ours.t, theirs.statistic, rtol=1e-9)
    np.testing.assert_allclose(ours.p, theirs.pvalue, atol=1e-3)


@pytest.mark.parametrize(
    ("arms", "df", "critical"),
    [
        (1, 10, 2.23),
        (3, 20, 2.54),
        (4, 20, 2.65),
        (9, 40, 2.81),
    ],  # Dunnett's table, two-sided 5 %, equal sizes
)
def test_dunnett_has_the_critical_values_of_its_printed_table(arms, df, critical):
    size = df // (arms + 1) + 1
    assert (size - 1) * (arms + 1) == df
    groups = np.tile(np.linspace(-1, 1, size), (arms + 1, 1))
    pooled = math.sqrt(groups.var(axis=1, ddof=1).mean())
    groups[1] += critical * pooled * math.sqrt(2 / size)
    assert dunnett(list(groups[1:]), list(groups[0])).p[0] == pytest.approx(0.05, abs=0.0011)


def test_dunnett_of_one_arm_is_students_t_test_and_survives_no_variation():
    found = dunnett([GSM8K[1]], GSM8K[0])
    assert found.p[0] == pytest.approx(scipy_stats.ttest_ind(GSM8K[1], GSM8K[0]).pvalue, rel=1e-9)
    still = dunnett([[0.5, 0.5], [0.6]], [0.5, 0.5])
    assert still.t.tolist() == [0, 0]
    assert still.p.tolist() == [1, 1]
    assert dunnett([], [0.5, 0.6]).p.shape == (0,)


def test_the_trend_is_pages_test_whatever_the_order_of_the_table():
    reference = scipy_stats.page_trend_test(np.array(list(GSM8K.values())).T)
    shuffled = {lam: GSM8K[lam] for lam in (8, 0, 3, 0.3, 6, 1, 0.5, 4, 2)}
    found = trend(shuffled)
    assert found == pytest.approx((reference.statistic, reference.pvalue), rel=1e-6)
    assert found.p < 1e-8
    assert trend({-lam: seeds for lam, seeds in GSM8K.items()}).p > 1 - 1e-8
    assert trend({0: [0.5, 0.5], 1: [0.5, 0.5], 2: [0.5, 0.5]}).p > 0.5


def test_the_exact_p_of_a_small_trend_is_the_count_of_orders():
    """Two seeds that both rise over three λ: one order in 6 × 6."""
    assert trend({0: [0.1, 0.2], 1: [0.3, 0.3], 2: [0.5, 0.4]}).p == pytest.approx(1 / 36)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: holm([0.5, 1.5]), "are not all between 0 and 1"),
        (lambda: holm([math.nan]), "are not all between 0 and 1"),
        (lambda: max_t([np.ones((1, 2, 1))], np.ones((1, 2, 1)), draws=0), "draws = 0 must be at least 1"),
        (lambda: max_t([np.ones((1, 3, 1))], np.ones((1, 2, 1))), "treated has 3 problems, baseline 2"),
        (lambda: grid_gains({}, [], correction="bonferroni"), "write 'holm' or 'max-t'"),
        (lambda: dunnett([[0.5]], [0.5]), "all 2 arms have one seed"),
        (lambda: dunnett([[]], [0.5, 0.6]), "hand in one score a seed"),
        (lambda: trend({0: [0.5, 0.6], 1: [0.5, 0.6]}), "2 λ with [2] seeds"),
        (lambda: trend({0: [0.5], 1: [0.5], 2: [0.5]}), "3 λ with [1] seeds"),
        (lambda: trend({0: [0.5, 0.6], 1: [0.5, 0.6], 2: [0.5]}), "3 λ with [1, 2] seeds"),
    ],
)
def test_a_grid_that_means_nothing_stops_with_a_way_out(call, sentence):
    with pytest.raises(ValueError) as stopped:  # noqa: PT011  the sentence holds brackets
        call()
    assert sentence in str(stopped.value)
