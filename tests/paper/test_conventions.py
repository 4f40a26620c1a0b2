"""The paper's conventions against the numbers that it prints."""

import math

import pytest

from erce.stats import over_seeds, welch
from scripts.paper import conventions

GSM8K_0 = [0.508, 0.462, 0.496, 0.494, 0.496]  # the paper's per-seed tables, greedy
GSM8K_8 = [0.602, 0.590, 0.554, 0.576, 0.586]
MBPP_0 = [0.545, 0.530, 0.515, 0.520, 0.525]
MBPP_1 = [0.575, 0.570, 0.575, 0.560, 0.575]


@pytest.mark.parametrize(
    ("scores", "printed"),
    [
        (GSM8K_0, "0.4912 ± 0.0154"),
        (GSM8K_8, "0.5816 ± 0.0161"),
        (MBPP_0, "0.5270 ± 0.0103"),
        (MBPP_1, "0.5710 ± 0.0058"),
    ],
)
def test_the_plus_minus_is_the_printed_one(scores, printed):
    assert str(conventions.over_seeds(scores)) == printed
    assert str(over_seeds(scores)) != printed


def test_the_interval_has_sample_deviations_and_the_normal_1_96():
    """By hand: Σ (x − mean)² is 0.0012368 + 0.0012992 … / 4 / 5, added, rooted, times 1.96."""
    squares = [sum((x - sum(arm) / 5) ** 2 for x in arm) for arm in (GSM8K_8, GSM8K_0)]
    half = 1.96 * math.sqrt(sum(squares) / 4 / 5)
    gain = conventions.welch(GSM8K_8, GSM8K_0)
    assert gain.gain == pytest.approx(0.0904)
    assert (gain.low, gain.high) == pytest.approx((0.0904 - half, 0.0904 + half))
    assert gain.covers == "seeds"


def test_it_is_narrower_than_welchs_own_interval_by_a_sixth_or_more():
    for arms in [(GSM8K_8, GSM8K_0), (MBPP_1, MBPP_0)]:
        theirs, right = conventions.welch(*arms), welch(*arms)
        assert theirs.se == pytest.approx(right.se)
        assert 1.15 < (right.high - right.low) / (theirs.high - theirs.low) < 1.3
        assert theirs.p < right.p


def test_arms_of_unequal_seeds_and_without_spread():
    gain = conventions.welch([0.5, 0.6, 0.7], [0.4, 0.5])
    assert gain.se == pytest.approx(math.sqrt(0.01 / 3 + 0.005 / 2))
    assert conventions.welch([0.5, 0.5], [0.5, 0.5])[:5] == (0, 0, 0, 1, 0)
    assert conventions.welch([0.6, 0.6], [0.5, 0.5]).p == 0
    assert conventions.over_seeds([0.5]) == (0.5, 0.0, 1)
    with pytest.raises(ValueError, match="treated has 1 seeds and baseline 2; this interval needs two"):
        conventions.welch([0.5], [0.5, 0.6])
