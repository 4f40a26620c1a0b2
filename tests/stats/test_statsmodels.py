"""Values of statsmodels 0.15.0, each written down with the call that gave it; it need not be installed."""

import pytest

from erce.stats import equivalent, holm, mcnemar, welch, wilson

TREATED = [0.5220, 0.5180, 0.5320, 0.5340, 0.5320]  # the paper's GSM8K seeds of λ = 1 and λ = 0
BASELINE = [0.5080, 0.4620, 0.4960, 0.4940, 0.4960]


def test_holm():
    p = [0.0013, 0.4, 0.02, 0.021, 0.007, 0.99, 0.02, 0.05]
    # statsmodels.stats.multitest.multipletests(p, method="holm")[1]
    expected = [0.0104, 0.8, 0.12, 0.12, 0.049, 0.99, 0.12, 0.15]
    assert holm(p).tolist() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("accepted", "problems", "confidence", "low", "high"),
    [  # statsmodels.stats.proportion.proportion_confint(accepted, problems, 1 - confidence, method="wilson")
        (147, 200, 0.95, 0.6698242381, 0.7913184585),
        (0, 10, 0.95, 0.0, 0.2775327999),
        (499, 500, 0.99, 0.9831912267, 0.9997651455),
    ],
)
def test_wilson(accepted, problems, confidence, low, high):
    assert wilson(accepted, problems, confidence=confidence)[1:] == pytest.approx((low, high), abs=1e-9)


@pytest.mark.parametrize(
    ("gained", "lost", "p"),
    [  # statsmodels.stats.contingency_tables.mcnemar([[40, gained], [lost, 23]], exact=True).pvalue
        (12, 25, 0.04703102743951604),
        (3, 9, 0.14599609375),
    ],
)
def test_mcnemar(gained, lost, p):
    treated = [1] * (40 + gained) + [0] * (lost + 23)
    baseline = [1] * 40 + [0] * gained + [1] * lost + [0] * 23
    assert mcnemar(treated, baseline) == pytest.approx((gained, lost, p), abs=1e-9)


def test_welch():
    # statsmodels.stats.weightstats.ttest_ind(TREATED, BASELINE, usevar="unequal")
    # CompareMeans(DescrStatsW(TREATED), DescrStatsW(BASELINE)).tconfint_diff(usevar="unequal")
    gain = welch(TREATED, BASELINE)
    assert gain.p == pytest.approx(0.006274310289251584, abs=1e-9)
    assert gain.df == pytest.approx(5.328611808271355, abs=1e-9)
    assert (gain.low, gain.high) == pytest.approx((0.015346252998794142, 0.057453747001205834), abs=1e-9)


def test_equivalence():
    # statsmodels.stats.weightstats.ttost_ind(TREATED, BASELINE, -0.06, 0.06, usevar="unequal")[0]
    assert equivalent(welch(TREATED, BASELINE), margin=0.06).p == pytest.approx(0.01709783922486841, abs=1e-9)
