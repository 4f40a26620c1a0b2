"""The winner's luck against its definition over all halves, and at the edges."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from erce.stats import selection_bias


def _grid(seed, shifts=(0.1, 0.1, 0.13), *, problems=6, samples=8):
    rng = np.random.default_rng(seed)
    base = rng.uniform(0.2, 0.5, problems)
    chances = [base, *(base + shift + rng.normal(0, 0.1, problems) for shift in shifts)]
    arms = [(rng.random((2, problems, samples)) < chance[:, None]).astype(int) for chance in chances]
    return dict(zip("abc", arms[1:], strict=True)), arms[0]


def test_the_corrected_gain_is_the_mean_over_all_halves():
    """In fractions, where the many ties of gains in tenths are ties."""
    arms, baseline = _grid(6, samples=5)
    counts = [(arm.sum((0, 2)) - baseline.sum((0, 2))).tolist() for arm in arms.values()]
    gains = np.array([[Fraction(count, 10) for count in row] for row in counts])
    reported, wins = [], np.zeros(3)
    for chosen_on in itertools.combinations(range(6), 3):
        rest = [i for i in range(6) if i not in chosen_on]
        winner = int(np.argmax(gains[:, list(chosen_on)].mean(axis=1)))
        wins[winner] += 1
        reported.append(gains[winner, rest].mean())
    found = selection_bias(arms, baseline, splits=40_000)
    assert found.winner == "abc"[int(np.argmax(gains.mean(axis=1)))]
    assert found.naive == pytest.approx(float(gains.mean(axis=1).max()))
    assert found.corrected == pytest.approx(float(np.mean(reported)), abs=0.002)
    assert found.bias == pytest.approx(found.naive - found.corrected)
    np.testing.assert_allclose(list(found.chosen.values()), wins / wins.sum(), atol=0.01)
    assert found.bias > 0.01
    assert min(found.chosen.values()) > 0.01


def test_the_same_seed_gives_the_same_splits_and_another_seed_others():
    arms, baseline = _grid(1, problems=50)
    first, again, other = (selection_bias(arms, baseline, splits=50, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first.corrected != other.corrected


def test_a_winner_far_ahead_has_no_bias():
    arms, baseline = _grid(2, (0.0, 0.0, 0.45), problems=60, samples=20)
    found = selection_bias(arms, baseline)
    assert found.chosen == {"a": 0, "b": 0, "c": 1}
    assert found.bias == pytest.approx(0, abs=1e-3)


def test_with_an_odd_number_of_problems_either_part_chooses_and_reports():
    """Of three problems an arm gains on one: chosen by one or by two, it is reported on the rest."""
    ones = np.ones((1, 3, 1), dtype=int)
    arm = np.array([[[1], [0], [0]]])
    found = selection_bias({"flat": 0 * ones, "one": arm}, 0 * ones, splits=3000)
    # "one" wins wherever its problem is among those chosen on, and is then reported on others: 0.
    assert found.corrected == 0
    assert found.chosen["one"] == pytest.approx(0.5)


def test_equal_gains_go_to_the_arm_named_first_and_one_arm_is_no_choice():
    arms, baseline = _grid(3)
    found = selection_bias({8: arms["c"], 1: arms["c"]}, baseline)
    assert (found.winner, found.chosen, found.bias) == (8, {8: 1, 1: 0}, pytest.approx(0, abs=1e-2))
    alone = selection_bias({8: arms["c"]}, baseline)
    assert (alone.naive, alone.bias, alone.chosen) == (alone.corrected, 0, {8: 1})


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: selection_bias({}, np.ones((1, 2, 1))), "0 arms and splits = 1000"),
        (lambda: selection_bias({1: np.ones((1, 2, 1))}, np.ones((1, 2, 1)), splits=0), "splits = 0"),
        (lambda: selection_bias({1: np.ones((1, 1, 1))}, np.ones((1, 1, 1))), "at least two problems"),
    ],
)
def test_nothing_to_choose_from_stops_with_a_way_out(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
