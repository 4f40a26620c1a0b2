"""Confidence is held against verdicts in bins of equal mass, whatever the order and the ties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from erce.score import modal_confidence, reliability, sequence_confidence

PAIRS = st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.5, 0.75, 1.0]), st.integers(0, 1)), min_size=1)


def test_distinct_confidences_fill_bins_of_equal_mass():
    confidence = np.linspace(0.01, 0.99, 40)
    found = reliability(confidence[::-1], np.zeros(40), bins=8)
    assert [each.size for each in found.bins] == [5] * 8
    assert found.bins[0].low == 0.01
    assert found.bins[-1].high == 0.99
    assert [each.low for each in found.bins] == pytest.approx(confidence[::5])


@pytest.mark.parametrize(("n", "bins", "sizes"), [(5, 2, [2, 3]), (3, 10, [1, 1, 1]), (7, 1, [7])])
def test_a_remainder_and_more_bins_than_completions_are_spread(n, bins, sizes):
    found = reliability(np.linspace(0, 1, n), np.zeros(n), bins=bins)
    assert [each.size for each in found.bins] == sizes


def test_the_numbers_are_those_of_the_definition():
    confidence = np.array([0.1, 0.3, 0.6, 0.8])
    accepted = np.array([0, 1, 1, 1])
    found = reliability(confidence, accepted, bins=2)
    assert found.ece == pytest.approx((2 * abs(0.5 - 0.2) + 2 * abs(1 - 0.7)) / 4)
    assert found.brier == pytest.approx((0.1**2 + 0.7**2 + 0.4**2 + 0.2**2) / 4)


@given(pairs=PAIRS, bins=st.integers(1, 12), seed=st.integers(0, 99))
def test_ties_share_a_bin_so_the_order_changes_nothing(pairs, bins, seed):
    confidence, accepted = (np.array(each, dtype=float) for each in zip(*pairs, strict=True))
    found = reliability(confidence, accepted, bins=bins)
    assert sum(each.size for each in found.bins) == len(pairs)
    for left, right in zip(found.bins, found.bins[1:], strict=False):
        assert left.high < right.low
    order = np.random.default_rng(seed).permutation(len(pairs))
    again = reliability(confidence[order], accepted[order], bins=bins)
    assert again.ece == pytest.approx(found.ece, abs=1e-12)
    assert again.brier == pytest.approx(found.brier, abs=1e-12)


@given(pairs=PAIRS)
def test_brier_is_the_mean_square_and_no_less_than_the_square_of_the_overall_error(pairs):
    confidence, accepted = (np.array(each, dtype=float) for each in zip(*pairs, strict=True))
    found = reliability(confidence, accepted)
    assert found.brier == pytest.approx(np.mean((confidence - accepted) ** 2), abs=1e-12)
    assert abs(accepted.mean() - confidence.mean()) - 1e-12 <= found.ece <= 1


def test_a_chance_of_a_verdict_counts_as_its_expectation():
    half = reliability(np.array([0.25]), np.array([0.5]))
    both = reliability(np.array([0.25, 0.25]), np.array([0, 1]))
    assert (half.ece, half.brier) == (both.ece, both.brier) == (0.25, pytest.approx(0.3125))


def test_calibrated_confidences_have_a_small_error_and_sharpened_ones_a_large_one():
    rng = np.random.default_rng(0)
    chance = rng.random(20_000)
    accepted = (rng.random(20_000) < chance).astype(int)
    assert reliability(chance, accepted).ece < 0.015
    assert reliability(chance**0.2, accepted).ece > 0.2


def test_a_sequences_confidence_is_its_probability_at_the_edges_too():
    logprob = np.array([[0.0, 1e-9, np.log(0.25), -2000.0, -np.inf]])
    found = sequence_confidence(logprob, np.array([[1, 1, 1, 0, 0]]))
    assert found.confidence[0] == pytest.approx([1, 1, 0.25, 0, 0])
    assert found.confidence.max() == 1
    assert found.accepted.tolist() == [[1, 1, 1, 0, 0]]


@pytest.mark.parametrize(
    ("row", "verdicts", "confidence", "accepted"),
    [
        (["4", "4", "5", "6"], [1, 1, 0, 0], 0.5, 1.0),
        (["4", "5", "5", "5"], [1, 0, 0, 0], 0.75, 0.0),
        (["4", None, None, None], [1, 0, 0, 0], 0.25, 1.0),  # None is a sample without a vote
        ([None, None, None, None], [0, 0, 0, 0], 0.0, 0.0),
        (["4", "4", "5", "5"], [1, 1, 0, 0], 0.5, 0.5),  # a tie is split
        (["4", "4 ", "5", None], [1, 1, 0, 0], 0.5, 1.0),  # `same` strips
    ],
)
def test_modal_confidence_is_the_share_of_the_commonest_answer(row, verdicts, confidence, accepted):
    found = modal_confidence([row], np.array([verdicts]), same=str.strip)
    assert (found.confidence.tolist(), found.accepted.tolist()) == ([confidence], [accepted])
    assert reliability(*found).brier == pytest.approx(
        accepted * (1 - confidence) ** 2 + (1 - accepted) * confidence**2
    )


@pytest.mark.parametrize(
    ("confidence", "accepted", "bins", "message"),
    [
        ([], [], 10, "at least one completion"),
        ([0.5], [1, 0], 10, r"shape \(1,\) and accepted \(2,\)"),
        ([1.5], [1], 10, "confidence holds values outside 0 to 1"),
        ([-0.1], [1], 10, "confidence holds values outside 0 to 1"),
        ([np.nan], [1], 10, "confidence holds values outside 0 to 1"),
        ([0.5], [2], 10, "accepted holds values outside 0 to 1"),
        ([0.5], [1], 0, "bins = 0"),
    ],
)
def test_what_is_no_confidence_is_refused(confidence, accepted, bins, message):
    with pytest.raises(ValueError, match=message):
        reliability(np.array(confidence), np.array(accepted), bins=bins)


@pytest.mark.parametrize("logprob", [[[0.5]], [[np.nan]], [[-1.0, -1.0]]])
def test_a_log_probability_above_0_is_refused(logprob):
    with pytest.raises(ValueError, match="give one sum of log p a completion"):
        sequence_confidence(np.array(logprob), np.array([[1]]))
