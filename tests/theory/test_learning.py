"""Finite-support classes: the empirical minimiser against enumeration, learners against the bounds."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.theory import learning
from scripts.theory.counterexample import support_size
from scripts.theory.learning import SupportClass, learn, penalised, rows_on, sample, sample_size

QUICK = settings(deadline=None, max_examples=30)
ROWS = st.lists(st.floats(1e-3, 1.0), min_size=1, max_size=9).map(lambda row: np.array(row) / sum(row))
ETAS = st.floats(0.01, 0.5)
FINE = st.floats(0.01, 0.9)


def rows(*support, top=None):
    return rows_on(support, answers=3, top=top)


SMALL = SupportClass(
    np.array(
        [
            [rows(0, 1), rows(1, 2)],
            [rows(0, 1, 2, top=0.6), rows(0, 1, 2, top=0.6)],
            [rows(0, 1, top=0.7), rows(0, 1)],
            [rows(0, 2), rows(1)],
        ]
    ),
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
    rivals = SupportClass(np.array([[rows(0, 1)], [rows(0, 1, 2, top=0.8)]]), prompts=400)
    seen = sample(rivals, 30, np.random.default_rng(3))
    assert learn(rivals, seen, penalised(lam=float, order=lambda m: 2.0))[0] == 1
    assert learn(rivals, seen, penalised(lam=lambda m: 0.01, order=lambda m: 1 / m))[0] == 1
    assert learn(rivals, seen, penalised(lam=float, order=lambda m: 1 / m))[0] == 0


def lemma_bound(eta, order):
    """The most by which S of order α < 1 falls short of |supp p|, for p with no entry between 0 and η."""
    return (1 - eta ** (order / (1 - order))) / eta


@QUICK
@given(row=ROWS, order=st.floats(1e-6, 0.999), slack=st.floats(0.05, 1.0))
def test_s_falls_short_of_the_support_by_no_more_than_the_lemma_says(row, order, slack):
    gap = len(row) - float(support_size(row, order))
    assert -1e-9 <= gap <= lemma_bound(float(row.min()) * slack, order) + 1e-9


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
