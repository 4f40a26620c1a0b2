"""Finite-support classes: the empirical minimiser against enumeration, learners against the bounds."""

import math
from itertools import product

import numpy as np
import pytest

from erce.theory import bounds, classes
from erce.theory.classes import build, draw, flat, learn, peaked, penalised

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
    "cross-entropy": classes.cross_entropy,
    "step 1": classes.indicator(SMALL.eta),
    "step 2": penalised(lam=lambda m: m / 4, order=lambda m: 0.0),
    "step 3": penalised(lam=lambda m: m / 4, order=lambda m: 1 / m),
}


def worst_minimiser(family, sample, loss):
    """The largest risk among all policies of the class with the least empirical loss, policy by policy."""
    members, kinds, shapes, _ = family.shapes.shape
    m = int(sample.counts.sum())
    policies = []
    for member in range(members):
        for picked in product(range(shapes), repeat=family.prompts):
            rows = [family.shapes[member, x % kinds, s] for x, s in enumerate(picked)]
            losses = [loss(row, m) for row in rows]
            cost = sum(
                count * losses[x][y]
                for x, counts in zip(sample.prompts, sample.counts, strict=True)
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
        sample = draw(SMALL, m, rng)
        expected = worst_minimiser(SMALL, sample, LOSSES[loss])
        assert learn(SMALL, sample, LOSSES[loss]).risk == pytest.approx(expected)


def test_the_demonstrator_says_what_its_first_shapes_say():
    sample = draw(SMALL, 40_000, np.random.default_rng(0))
    assert sample.counts.sum() == 40_000
    assert sample.prompts.tolist() == [0, 1, 2, 3]
    expected = SMALL.shapes[0, sample.prompts % 2, 0]
    np.testing.assert_allclose(sample.counts / 10_000, expected, atol=0.03)


def test_a_loss_is_infinite_only_for_what_a_policy_excludes():
    row = np.array([0.5, 0.5, 0.0])
    for name, loss in LOSSES.items():
        losses = loss(row, 4)
        assert np.isfinite(losses[:2]).all()
        assert np.isinf(losses[2]) == (name != "step 1")
    assert classes.indicator(0.25)(row, 1).tolist() == [2, 2, 6]


def test_the_example_is_learnt_with_a_penalty_and_not_without():
    family = classes.example(prompts=500)
    assert (family.eta, family.supports) == (0.125, 83)
    risk = {
        name: classes.risk_curve(family, loss, (16, 64), runs=8, seed=0).mean(1)
        for name, loss in {
            "cross-entropy": classes.cross_entropy,
            "step 1": classes.indicator(family.eta),
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
    sample = draw(rivals, 30, np.random.default_rng(3))
    assert learn(rivals, sample, penalised(lam=float, order=lambda m: 2.0)).member == 1
    assert learn(rivals, sample, penalised(lam=lambda m: 0.01, order=lambda m: 1 / m)).member == 1
    assert learn(rivals, sample, penalised(lam=float, order=lambda m: 1 / m)).member == 0


def test_measured_risk_stays_below_what_every_corollary_promises():
    family = classes.example(prompts=50)
    losses = {1: classes.indicator(family.eta), 2: penalised(lam=float, order=lambda m: 0.0)}
    losses[3] = penalised(lam=float, order=lambda m: 1 / m)
    m = 100_000
    sample = draw(family, m, np.random.default_rng(0))
    for step, loss in losses.items():
        promise = bounds.risk_bound(step, m, eta=family.eta, supports=family.supports, delta=0.05)
        assert learn(family, sample, loss).risk <= promise < 1


def test_a_seed_decides_the_samples():
    family = classes.example(prompts=100)
    same, again, other = (
        classes.risk_curve(family, classes.indicator(family.eta), (6,), runs=8, seed=seed)
        for seed in (0, 0, 1)
    )
    assert np.array_equal(same, again)
    assert not np.array_equal(same, other)


@pytest.mark.parametrize(
    ("family", "prompts", "says"),
    [
        ([[[[0.5, 0.6]]]], 3, "no distribution"),
        ([[[[0.5, 0.5], [1.0, 0.0]]]], 3, "different supports"),
        ([[[[0.5, 0.5]]]], 0, "at least one"),
    ],
)
def test_what_is_no_class_is_refused(family, prompts, says):
    with pytest.raises(ValueError, match=says):
        build(family, prompts=prompts)


def test_supports_are_counted_as_maps_and_not_as_members():
    twice = build([[flat(2, [0, 1])], [peaked(2, [0, 1], 0.9)], [flat(2, [0])]], prompts=1)
    assert twice.supports == 2
    assert twice.eta == pytest.approx(0.1)
    assert math.isclose(twice.risks.max(), 0)
