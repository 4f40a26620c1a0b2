"""What a report says of outcomes that were chosen for it, against what follows from them by hand."""

import numpy as np
import pytest
from toys.outcomes import first_right, study_of

from erce.errors import InputError
from erce.reporting.numbers.gains import summary
from erce.reporting.numbers.k_samples import sample_coverage
from erce.reporting.numbers.verdict import preferences, usable_for_both
from erce.reporting.pages.model_card import card
from erce.reporting.words.cautions import next_steps
from erce.reporting.words.sentences import sentences
from erce.stats import paired_gain
from erce.types import BASE_MODEL, Arm

ZERO, ONE, TWO = Arm(0.0), Arm(1.0), Arm(2.0)


def test_a_cheaper_arm_that_is_as_good_within_the_margin_is_not_called_worse(tmp_path):
    """rft is right on 600 of 1,000 problems, λ = 1 on 590 of these: 1 point behind, and surely behind."""
    n, rft = 1000, Arm(0.0, "rft")
    right = {ZERO: 200, ONE: 590, rft: 600, BASE_MODEL: 200}
    test = {arm: {"greedy": first_right(*[count] * 2, problems=n)} for arm, count in right.items()}
    test[BASE_MODEL]["greedy"] = test[BASE_MODEL]["greedy"][:1]
    validation = {ZERO: 0.2, BASE_MODEL: 0.2, ONE: 0.5, rft: 0.6}
    made = summary(study_of(tmp_path / "a", test, validation, methods=["rft"], n_test=n))
    found = preferences(made)["greedy"]
    assert (found.arm, found.cheaper.row.arm, found.cheaper.is_as_good) == (rft, ONE, True)
    assert found.cheaper.gain.low > 0
    assert "and as good within 2 points" in sentences(made)["greedy"]
    assert "worse" not in sentences(made)["greedy"]


def test_an_arm_is_for_both_decodings_by_the_same_intervals_that_say_what_it_gains(tmp_path):
    """A gain of one trained arm over the base model is no choice among two."""
    base = first_right(80, problems=200)
    rng = np.random.default_rng(0)
    for _ in range(5000):  # a gain that is above 0 alone, and is not as the better of two
        counts = zip(rng.integers(0, 12, 3), rng.integers(0, 40, 3), strict=True)
        seeds = [np.r_[np.arange(80) < 80 - lost, np.arange(120) < won] for lost, won in counts]
        greedy = np.stack(seeds)[..., None].astype(int)
        low = [paired_gain(greedy, base, untrained=["baseline"], chosen_from=k).low for k in (1, 2)]
        if low[0] > 0 >= low[1]:
            break
    test = {
        BASE_MODEL: {"greedy": base, "sampled": base},
        ZERO: {"greedy": greedy, "sampled": base.repeat(3, 0)},
    }
    validation = {BASE_MODEL: 0.3, ZERO: 0.6}
    made = summary(study_of(tmp_path / "a", test, validation, n_test=200))
    found = preferences(made)
    assert (found["greedy"].use, found["sampled"].use) == (ZERO, BASE_MODEL)
    assert found["greedy"].over_base.low > 0
    assert usable_for_both(made) == ZERO  # the base model is shown to be worse in greedy decoding


def test_the_gain_of_the_base_model_with_all_samples_covers_the_other_arms_seeds(tmp_path):
    rng = np.random.default_rng(1)

    def arm(*chances: float) -> np.ndarray:
        return np.stack([(rng.random((200, 3)) < chance).astype(int) for chance in chances])

    arms = {BASE_MODEL: arm(0.5), ZERO: arm(0.2, 0.4, 0.6), ONE: arm(0.4, 0.4, 0.4)}
    test = {name: {"sampled": array} for name, array in arms.items()}
    validation = {BASE_MODEL: 0.5, ZERO: 0.4, ONE: 0.4}
    made = summary(study_of(tmp_path / "a", test, validation, n_test=200, decoding={"samples": 3}))
    held = sample_coverage(made)
    any_right = [arms[name].max(-1, keepdims=True) for name in (BASE_MODEL, ZERO)]
    assert held.arm == BASE_MODEL
    assert held.gains["pass"].covers == "problems and seeds"
    found, wanted = held.gains["pass"], paired_gain(*any_right, untrained=["treated"])
    assert (found.low, found.high) == (wanted.low, wanted.high)


def test_what_choosing_costs_is_the_most_that_it_widens_any_interval(tmp_path):
    """Most where runs differ: here over λ = 1, which is neither end."""
    rng = np.random.default_rng(0)

    def arm(*chances: float) -> np.ndarray:
        return np.stack([(rng.random((100, 2)) < chance).astype(int) for chance in chances])

    arms = {BASE_MODEL: arm(0.1), ZERO: arm(0.2, 0.2, 0.2), ONE: arm(0.1, 0.4, 0.7), TWO: arm(0.8, 0.8, 0.8)}
    test = {name: {"sampled": array} for name, array in arms.items()}
    validation = {BASE_MODEL: 0.1, ZERO: 0.2, ONE: 0.4, TWO: 0.8}
    made = summary(study_of(tmp_path / "a", test, validation, n_test=100, decoding={"samples": 2}))
    allowing, alone = (paired_gain(arms[TWO], arms[ONE], chosen_from=n) for n in (3, 1))
    found = preferences(made)["sampled"]
    assert (found.over[ONE].low, found.over[ONE].high) == (allowing.low, allowing.high)
    wider = (allowing.high - allowing.low - alone.high + alone.low) / 2
    assert found.widening == pytest.approx(wider)
    assert f"at most {100 * wider:.1f} points wider" in sentences(made)["choosing"]


def test_where_the_base_model_is_the_one_to_use_no_step_and_no_card_takes_another(tmp_path):
    n = 200
    test = {
        BASE_MODEL: {"greedy": first_right(100, problems=n), "sampled": first_right(80, problems=n)},
        ZERO: {"greedy": first_right(60, 60, problems=n), "sampled": first_right(50, 50, problems=n)},
        ONE: {"greedy": first_right(100, 100, problems=n), "sampled": first_right(81, 81, problems=n)},
    }
    validation = {BASE_MODEL: 0.4, ZERO: 0.2, ONE: 0.5}
    made = summary(study_of(tmp_path / "a", test, validation, n_test=n, penalty="support-size"))
    assert sentences(made)["verdict"].startswith("Use the base model")
    assert not any("λ = 1 is right" in step or "Take λ" in step for step in next_steps(made))
    with pytest.raises(InputError, match="the arm to use is the base model, which has no adapter"):
        card(made, _best(made), hub=None)
    [cell] = [cell for cell in made.study.results if cell.arm == ONE and cell.seed == 0]
    assert "λ · the support size" in card(made, cell, hub=None)


def _best(made):
    from erce.reporting.pages.model_card import BEST, _named

    return _named(made, BEST)
