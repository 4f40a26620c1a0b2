"""Wilson and McNemar against scipy's binomial test and against numbers worked by hand."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from erce.stats import mcnemar, wilson


@pytest.mark.parametrize(
    ("accepted", "problems", "low", "high"),
    [
        (0, 10, 0.0, 0.277533),  # z² / (n + z²) with z² = 3.841459
        (10, 10, 0.722467, 1.0),
        (5, 10, 0.236593, 0.763407),  # (1 ∓ z / √(n + z²)) / 2
    ],
)
def test_wilson_is_worked_by_hand(accepted, problems, low, high):
    proportion = wilson(accepted, problems)
    assert proportion == pytest.approx((accepted / problems, low, high), abs=1e-6)


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_wilson_is_scipys(confidence):
    for accepted in range(0, 41, 5):
        reference = scipy_stats.binomtest(accepted, 40).proportion_ci(confidence, method="wilson")
        proportion = wilson(accepted, 40, confidence=confidence)
        assert proportion[1:] == pytest.approx((reference.low, reference.high), abs=1e-9)
        assert 0 <= proportion.low <= proportion.share <= proportion.high <= 1


def test_mcnemar_is_scipys_binomial_test_of_the_discordant_problems():
    rng = np.random.default_rng(6)
    for chance in (0.4, 0.5, 0.7):
        treated, baseline = (rng.random(80) < chance).astype(int), (rng.random(80) < 0.5).astype(int)
        discordant = mcnemar(treated, baseline)
        assert discordant.gained == sum(b > a for b, a in zip(treated, baseline, strict=True))
        assert discordant.lost == sum(b < a for b, a in zip(treated, baseline, strict=True))
        reference = scipy_stats.binomtest(discordant.gained, discordant.gained + discordant.lost).pvalue
        assert discordant.p == pytest.approx(reference, abs=1e-9)


def test_mcnemar_without_a_discordant_problem_or_with_as_many_on_either_side_has_p_1():
    assert mcnemar([1, 1, 0], [1, 1, 0]) == (0, 0, 1.0)
    assert mcnemar([1, 0], [0, 1]) == (1, 1, 1.0)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: wilson(11, 10), "11 accepted of 10 problems"),
        (lambda: wilson(0, 0), "0 accepted of 0 problems"),
        (lambda: wilson(1, 2, confidence=95), "confidence = 95 must lie between"),
        (lambda: mcnemar([1, 0], [1]), "hand in one outcome a problem"),
        (lambda: mcnemar([[1, 0]], [[1, 0]]), "hand in one outcome a problem"),
        (lambda: mcnemar([0.5, 1], [0, 1]), "not 0 or 1"),
    ],
)
def test_counts_that_mean_nothing_stop_with_a_way_out(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
