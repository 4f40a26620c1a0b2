"""Holm's correction, alone and over a grid of arms: against its definition."""

import math

import numpy as np
import pytest

from erce.stats import grid_gains, holm, paired_gain


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


def test_a_study_gets_each_arms_gain_and_its_p_after_holm_under_the_arms_name():
    arms, baseline = _grid(1)
    rows = grid_gains(dict(zip((0.3, 1.0, 8.0), arms, strict=True)), baseline)
    gains = [paired_gain(arm, baseline) for arm in arms]
    assert [row.gain for row in rows.values()] == gains
    assert list(rows) == [0.3, 1.0, 8.0]
    assert [row.adjusted for row in rows.values()] == holm([gain.p for gain in gains]).tolist()
    assert grid_gains({}, baseline) == {}
    [row] = grid_gains({8.0: arms[2]}, baseline).values()
    assert row.adjusted == row.gain.p


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: holm([0.5, 1.5]), "are not all between 0 and 1"),
        (lambda: holm([math.nan]), "are not all between 0 and 1"),
    ],
)
def test_values_that_mean_nothing_stop_with_a_way_out(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
