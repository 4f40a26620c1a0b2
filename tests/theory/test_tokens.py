"""The token-level optimum: no search beats it; the critical λ: no distribution goes below it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from scripts.theory.tokens import critical_lam, first_order, logit_gradient, objective, optimum

QUICK = settings(deadline=None, max_examples=30)
LAMS = (0.001, 0.05, 0.3, 1.0, 2.0, 4.0, 8.0)
ROWS = st.lists(st.floats(1e-4, 1.0), min_size=2, max_size=7).map(lambda row: np.array(row) / sum(row))


def searched(t, lam):
    """The least objective that BFGS finds in the logits, from several sharpenings of t."""

    def value_and_gradient(z):
        p = np.exp(z - z.max())
        p = np.maximum(p / p.sum(), 1e-300)
        return objective(p, t, lam), logit_gradient(p, t, lam)

    starts = [power * np.log(t) for power in (0.5, 1, 2, 5)]
    return min(minimize(value_and_gradient, z, jac=True, method="BFGS").fun for z in starts)


@QUICK
@given(t=ROWS, lam=st.sampled_from(LAMS))
def test_no_search_beats_the_optimum_and_its_gradient_vanishes(t, lam):
    p = optimum(t, lam)
    assert p.sum() == pytest.approx(1, abs=1e-12)
    assert objective(p, t, lam) <= searched(t, lam) + 1e-9
    assert np.abs(logit_gradient(p, t, lam)).max() < 1e-6


def test_cross_entropy_alone_is_matched_and_what_is_never_shown_stays_out():
    t = [0.6, 0.0, 0.4]
    assert optimum(t, 0).tolist() == t
    assert optimum(t, 1.0)[1] == 0
    assert optimum([0, 1, 0], 5.0).tolist() == [0, 1, 0]


@pytest.mark.parametrize("lam", [1e-2, 1e-3])
def test_near_lam_0_the_optimum_is_a_power_up_to_the_square_of_lam(lam):
    t = [0.5, 0.3, 0.15, 0.05]
    assert np.abs(optimum(t, lam) - first_order(t, lam)).max() <= 3 * lam**2


def test_two_equal_tokens_stay_equal_up_to_lam_1_and_not_above():
    assert optimum([0.5, 0.5], 0.99).max() == pytest.approx(0.5, abs=1e-6)
    assert optimum([0.5, 0.5], 1.01).max() > 0.55


@QUICK
@given(t=ROWS, token=st.integers(0, 6))
def test_no_distribution_pushes_a_demonstrated_token_down_below_the_critical_lam(t, token):
    shown = np.eye(len(t))[token % len(t)]
    assert logit_gradient(t, shown, critical_lam()) @ shown <= 1e-9


def test_above_the_critical_lam_the_first_token_to_be_pushed_down_is_at_the_critical_p():
    at = 1 / (1 + critical_lam())
    assert critical_lam() == pytest.approx(3.591121, abs=5e-7)
    assert logit_gradient([at, 1 - at], [1, 0], critical_lam())[0] == pytest.approx(0, abs=1e-12)


@QUICK
@given(t=ROWS, token=st.integers(0, 6), lam=st.floats(0, 12))
def test_the_gradient_is_that_of_the_objective(t, token, lam):
    z, step = np.log(t), 1e-6
    target = np.eye(len(t))[token % len(t)]
    sides = [np.exp(z + side * step * target) for side in (1, -1)]
    high, low = (objective(p / p.sum(), target, lam) for p in sides)
    slope = logit_gradient(t, target, lam) @ target
    assert slope == pytest.approx((high - low) / (2 * step), abs=1e-6)


def test_what_has_no_optimum_is_refused():
    with pytest.raises(ValueError, match="at least 0 and finite"):
        optimum([0.5, 0.5], -1)
    with pytest.raises(ValueError, match="sum to 1"):
        optimum([0.5, 0.6], 1)
