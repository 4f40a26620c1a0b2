"""The lemma and the corollaries: never violated, and inverted rightly."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from erce.theory import bounds
from erce.theory.entropies import support_size

QUICK = settings(deadline=None, max_examples=30)
ROWS = st.lists(st.floats(1e-3, 1.0), min_size=1, max_size=9).map(lambda row: np.array(row) / sum(row))
ETAS = st.floats(0.01, 0.5)
FINE = st.floats(0.01, 0.9)


@QUICK
@given(row=ROWS, order=st.floats(1e-6, 0.999), slack=st.floats(0.05, 1.0))
def test_s_falls_short_of_the_support_by_no_more_than_either_bound(row, order, slack):
    eta = float(row.min()) * slack
    gap = len(row) - float(support_size(row, order))
    sharper, lemma = bounds.sharper_bound(eta, order, len(row)), bounds.lemma_bound(eta, order)
    assert -1e-9 <= gap <= sharper + 1e-9
    assert sharper <= lemma + 1e-9


def test_the_sharper_bound_is_attained_by_flat_distributions():
    assert bounds.sharper_bound(0.25, 0.3, 4) == 0
    assert bounds.lemma_bound(0.25, 0.3) > 1


@QUICK
@given(eta=ETAS, supports=st.integers(1, 100), epsilon=FINE, delta=FINE)
def test_the_sample_size_of_a_corollary_gives_its_failure_probability(eta, supports, epsilon, delta):
    """The proofs' own inequalities, at m(ε, δ) and the corollary's λ_m = m, α_m = 1/m."""
    m = bounds.step_1(eta, supports, epsilon, delta).samples
    assert 2 * supports * math.exp(-m * epsilon**2 / (2 * (2 / eta) ** 2)) <= delta * (1 + 1e-9)
    m = bounds.step_2(eta, supports, epsilon, delta).samples
    assert 3 * supports * math.exp(-m * (eta * epsilon) ** 2 / 18) <= delta * (1 + 1e-9)
    assert m >= 3 / epsilon * math.log(1 / eta)
    m = bounds.step_3(eta, supports, epsilon, delta).samples
    assert 3 * supports * math.exp(-m * (eta * epsilon) ** 2 / 32) <= delta * (1 + 1e-9)
    assert m >= 4 / epsilon * math.log(1 / eta)
    assert bounds.lemma_bound(eta, 1 / m) <= epsilon / 4 * (1 + 1e-9)


@QUICK
@given(eta=ETAS, supports=st.integers(1, 100), epsilon=FINE, delta=FINE)
def test_the_deviation_term_is_the_largest(eta, supports, epsilon, delta):
    terms = bounds.step_3(eta, supports, epsilon, delta)
    assert terms.deviation == max(terms)


@pytest.mark.parametrize("step", bounds.STEPS)
def test_the_promised_risk_is_the_one_whose_sample_size_is_m(step):
    setting = {"eta": 0.125, "supports": 7, "delta": 0.05}
    promised = [bounds.risk_bound(step, m, **setting) for m in (1, 100, 10**4, 10**5, 10**6, 10**8)]
    assert all(a >= b for a, b in pairwise(promised))
    assert promised[0] == 1
    asked = max(bounds.STEPS[step](0.125, 7, promised[-1], 0.05))
    assert asked == pytest.approx(10**8, rel=1e-6)


def test_any_sequences_will_do_and_the_corollarys_agree_with_it():
    setting = (0.125, 2, 0.1, 0.05)
    terms = bounds.step_3_terms(*setting, lam=float, order=lambda m: 1 / m)
    assert terms.samples == bounds.step_3(*setting).samples == 980_479
    assert [math.ceil(term) for term in bounds.step_3(*setting)[1:]] == [terms.strength, terms.order]
    slow = bounds.step_3_terms(*setting, lam=math.sqrt, order=lambda m: 1 / math.sqrt(m))
    assert slow.strength > terms.strength
    assert slow.order > terms.order
    with pytest.raises(ValueError, match="may never"):
        bounds.step_3_terms(*setting, lam=lambda m: 1.0, order=lambda m: 1 / m)


@pytest.mark.parametrize(
    "call",
    [
        lambda: bounds.lemma_bound(0.0, 0.5),
        lambda: bounds.lemma_bound(0.5, 1.0),
        lambda: bounds.sharper_bound(0.5, 0.5, 3),
        lambda: bounds.risk_bound(1, 5, eta=0.5, supports=0, delta=0.1),
    ],
)
def test_what_the_lemma_does_not_cover_is_refused(call):
    with pytest.raises(ValueError, match=r"η|support|order"):
        call()
