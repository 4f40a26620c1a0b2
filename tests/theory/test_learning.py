"""Finite-support classes: the empirical minimiser against enumeration, learners against the bounds."""

import math
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from erce.theory import learning
from erce.theory.counterexample import support_size
from erce.theory.learning import (
    build,
    flat,
    learn,
    lemma_bound,
    peaked,
    penalised,
    risk_bound,
    sample,
    sample_size,
    sharper_bound,
)

QUICK = settings(deadline=None, max_examples=30)
ROWS = st.lists(st.floats(1e-3, 1.0), min_size=1, max_size=9).map(lambda row: np.array(row) / sum(row))
ETAS = st.floats(0.01, 0.5)
FINE = st.floats(0.01, 0.9)
SMALL = build(
    [
        [flat(3, [0, 1]), flat(3, [1, 2])],
        [peaked(3, [0, 1, 2], 0.6), peaked(3, [0, 1, 2], 0.6)],
        [peaked(3, [0, 1], 0.7), flat(3, [0, 1])],
        [flat(3, [0, 2]), flat(3, [1])],
    ],
    prompts=4,
)
LOSSES = {
    "cross-entropy": learning.cross_entropy,
    "step 1": learning.indicator(SMALL.eta),
    "step 2": penalised(lam=lambda m: m / 4, order=lambda m: 0.0),
    "step 3": penalised(lam=lambda m: m / 4, order=lambda m: 1 / m),
}


def worst_minimiser(family, seen, loss):
    """The largest risk among all policies of the class with the least empirical loss, policy by policy."""
    members, kinds, shapes, _ = family.shapes.shape
    m = int(seen.counts.sum())
    policies = []
    for member in range(members):
        for picked in product(range(shapes), repeat=family.prompts):
            rows = [family.shapes[member, x % kinds, s] for x, s in enumerate(picked)]
            losses = [loss(row, m) for row in rows]
            cost = sum(
                count * losses[x][y]
                for x, counts in zip(seen.prompts, seen.counts, strict=True)
                for y, count in enumerate(counts)
                if count
            )
            risk = np.mean([row[family.shapes[0, x % kinds, 0] == 0].sum() for x, row in enumerate(rows)])
            policies.append((cost, risk))
    least = min(cost for cost, _ in policies)
    return max(risk for cost, risk in policies if cost <= least + 1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("m", [1, 3, 8])
def test_what_is_learnt_is_the_worst_of_all_minimisers(loss, m):
    rng = np.random.default_rng([m, 7])
    for _ in range(3):
        seen = sample(SMALL, m, rng)
        expected = worst_minimiser(SMALL, seen, LOSSES[loss])
        assert learn(SMALL, seen, LOSSES[loss])[1] == pytest.approx(expected)


def test_the_demonstrator_says_what_its_first_shapes_say():
    seen = sample(SMALL, 40_000, np.random.default_rng(0))
    assert seen.counts.sum() == 40_000
    assert seen.prompts.tolist() == [0, 1, 2, 3]
    expected = SMALL.shapes[0, seen.prompts % 2, 0]
    np.testing.assert_allclose(seen.counts / 10_000, expected, atol=0.03)


def test_a_loss_is_infinite_only_for_what_a_policy_excludes():
    row = np.array([0.5, 0.5, 0.0])
    for name, loss in LOSSES.items():
        losses = loss(row, 4)
        assert np.isfinite(losses[:2]).all()
        assert np.isinf(losses[2]) == (name != "step 1")
    assert learning.indicator(0.25)(row, 1).tolist() == [2, 2, 6]


def test_the_example_is_learnt_with_a_penalty_and_not_without():
    family = learning.example(prompts=500)
    assert (family.eta, family.supports) == (0.125, 83)
    risk = {
        name: learning.risk_curve(family, loss, (16, 64), runs=8, seed=0).mean(1)
        for name, loss in {
            "cross-entropy": learning.cross_entropy,
            "step 1": learning.indicator(family.eta),
            "step 2": penalised(lam=float, order=lambda m: 0.0),
            "step 3": penalised(lam=float, order=lambda m: 1 / m),
        }.items()
    }
    assert risk.pop("cross-entropy").min() > 0.5
    for curve in risk.values():
        assert curve[1] < 0.05
        assert curve[1] < curve[0] < 0.3


def test_larger_lam_and_smaller_order_are_both_needed_where_the_penalty_must_tell_supports_apart():
    """At order 2 the larger support is the smaller penalty: λ_m = m makes it worse, α_m = 1/m cures it."""
    rivals = build([[flat(3, [0, 1])], [peaked(3, [0, 1, 2], 0.8)]], prompts=400)
    seen = sample(rivals, 30, np.random.default_rng(3))
    assert learn(rivals, seen, penalised(lam=float, order=lambda m: 2.0))[0] == 1
    assert learn(rivals, seen, penalised(lam=lambda m: 0.01, order=lambda m: 1 / m))[0] == 1
    assert learn(rivals, seen, penalised(lam=float, order=lambda m: 1 / m))[0] == 0


def test_measured_risk_stays_below_what_every_corollary_promises():
    family = learning.example(prompts=50)
    losses = {1: learning.indicator(family.eta), 2: penalised(lam=float, order=lambda m: 0.0)}
    losses[3] = penalised(lam=float, order=lambda m: 1 / m)
    m = 100_000
    seen = sample(family, m, np.random.default_rng(0))
    for step, loss in losses.items():
        promise = risk_bound(step, m, eta=family.eta, supports=family.supports, delta=0.05)
        assert learn(family, seen, loss)[1] <= promise < 1


def test_a_seed_decides_the_samples():
    family = learning.example(prompts=100)
    same, again, other = (
        learning.risk_curve(family, learning.indicator(family.eta), (6,), runs=8, seed=seed)
        for seed in (0, 0, 1)
    )
    assert np.array_equal(same, again)
    assert not np.array_equal(same, other)


def test_supports_are_counted_as_maps_and_not_as_members():
    twice = build([[flat(2, [0, 1])], [peaked(2, [0, 1], 0.9)], [flat(2, [0])]], prompts=1)
    assert twice.supports == 2
    assert twice.eta == pytest.approx(0.1)
    assert math.isclose(twice.risks.max(), 0)


@QUICK
@given(row=ROWS, order=st.floats(1e-6, 0.999), slack=st.floats(0.05, 1.0))
def test_s_falls_short_of_the_support_by_no_more_than_either_bound(row, order, slack):
    eta = float(row.min()) * slack
    gap = len(row) - float(support_size(row, order))
    sharper, lemma = sharper_bound(eta, order, len(row)), lemma_bound(eta, order)
    assert -1e-9 <= gap <= sharper + 1e-9
    assert sharper <= lemma + 1e-9


def test_the_sharper_bound_is_attained_by_flat_distributions():
    assert sharper_bound(0.25, 0.3, 4) == 0
    assert lemma_bound(0.25, 0.3) > 1


@QUICK
@given(eta=ETAS, supports=st.integers(1, 100), epsilon=FINE, delta=FINE)
def test_the_sample_size_of_a_corollary_gives_its_failure_probability(eta, supports, epsilon, delta):
    """The proofs' own inequalities, at m(ε, δ) and the corollary's λ_m = m, α_m = 1/m."""
    m = math.ceil(sample_size(1, eta, supports, epsilon, delta))
    assert 2 * supports * math.exp(-m * epsilon**2 / (2 * (2 / eta) ** 2)) <= delta * (1 + 1e-9)
    m = math.ceil(sample_size(2, eta, supports, epsilon, delta))
    assert 3 * supports * math.exp(-m * (eta * epsilon) ** 2 / 18) <= delta * (1 + 1e-9)
    assert m >= 3 / epsilon * math.log(1 / eta)
    m = math.ceil(sample_size(3, eta, supports, epsilon, delta))
    assert 3 * supports * math.exp(-m * (eta * epsilon) ** 2 / 32) <= delta * (1 + 1e-9)
    assert m >= 4 / epsilon * math.log(1 / eta)
    assert lemma_bound(eta, 1 / m) <= epsilon / 4 * (1 + 1e-9)


@pytest.mark.parametrize("step", learning.STEPS)
def test_the_promised_risk_is_the_one_whose_sample_size_is_m(step):
    setting = {"eta": 0.125, "supports": 7, "delta": 0.05}
    promised = [risk_bound(step, m, **setting) for m in (1, 100, 10**4, 10**5, 10**6, 10**8)]
    assert all(a >= b for a, b in pairwise(promised))
    assert promised[0] == 1
    asked = sample_size(step, 0.125, 7, promised[-1], 0.05)
    assert asked == pytest.approx(10**8, rel=1e-6)
