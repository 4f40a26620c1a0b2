"""The arm to use: validation prefers it, the test problems check it, and a cheaper one may be as good."""

from dataclasses import replace

import pytest
from toys.studies import TASK, Fake, make_study, write_study

from erce.files import write_json
from erce.recipe import OwnSamples
from erce.reporting import contents
from erce.reporting.format import interval, points
from erce.reporting.numbers.gains import summary
from erce.reporting.numbers.verdict import preferences, usable_for_both
from erce.reporting.words.sentences import sentences
from erce.stats import paired_gain
from erce.study.folder import cell_folder, read_study
from erce.types import BASE_MODEL, BASELINE, Arm

SIZE = {"control": None, "problems": 60, "validation": 20, "lams": (0.0, 4.0), "seeds": (0, 1, 2)}


def verdict(root, *operands, **changes):
    """What validation prefers in `studied`."""
    return preferences(studied(root, *operands, **changes))


def studied(root, chances, on_validation=None, own_tokens=None, **changes):
    """The summary of a study in which an arm is right as often as `chances` says by its name."""
    right = {"right": lambda task, arm, decoding: chances[arm]}
    if on_validation is not None:
        right["right_on_validation"] = lambda task, arm, decoding: on_validation[arm]
    study = make_study(root / "runs", **(SIZE | right | changes))
    if own_tokens is not None:
        counts = {"problems": 9, "with_one": 8, "accepted": 9, "samples": 72, "tokens": own_tokens}
        own = cell_folder(study.root, study.recipe, study.recipe.own_cells[0])
        write_json(own / "result.json", {"scores": {}, "own": counts})
    return summary(read_study(study.root))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """`self` is preferred, and the test problems would prefer λ = 4."""
    return studied(
        tmp_path_factory.mktemp("self"),
        {None: 0.2, 0.0: 0.3, 4.0: 0.9, "self": 0.7},
        {None: 0.0, 0.0: 0.3, 4.0: 0.6, "self": 1.0},
        own_tokens=5000,
        methods=("self",),
    )


@pytest.fixture(scope="module")
def self_wins(made):
    return preferences(made)


def test_validation_chooses_among_all_arms_and_the_test_problems_have_no_say(self_wins):
    assert list(self_wins) == ["greedy", "sampled"]
    for found in self_wins.values():
        assert found.arm == found.use == Arm(0.0, "self")
        assert list(found.scores) == [Arm(0.0, "self"), Arm(4.0), BASELINE, BASE_MODEL]
        assert (found.row.sampled_before, found.row.steps) == (5000, 12)


def test_the_model_that_samples_for_an_arm_counts_among_what_the_arm_costs(tmp_path):
    fake = Fake(**SIZE, methods=("rft",))
    recipe = replace(fake.recipe(), own=OwnSamples(lam=0.0))
    made = summary(write_study(tmp_path / "runs", recipe, fake))
    steps = {arm: made.row(TASK, arm, "greedy").steps for arm in made.arms(TASK)}
    assert steps == {BASE_MODEL: 0, BASELINE: 12, Arm(4.0): 12, Arm(0.0, "rft"): 24}


def test_gains_are_those_of_the_test_problems_and_allow_for_the_choice_among_the_trained_arms(made):
    found = preferences(made)["sampled"]
    arms = (Arm(0.0, "self"), BASE_MODEL, BASELINE, Arm(4.0))
    own, base, zero, four = (made.outcomes(arm, "sampled") for arm in arms)
    allowing = {"chosen_from": 3}
    assert found.over_base == paired_gain(own, base, untrained=["baseline"], **allowing)
    assert found.over_baseline == paired_gain(own, zero, **allowing)
    ends = {BASE_MODEL: paired_gain(own, base, untrained=["baseline"]), BASELINE: paired_gain(own, zero)}
    alone = ends | {Arm(4.0): paired_gain(own, four)}
    assert found.over.keys() == alone.keys()
    wider = {
        arm: (found.over[arm].high - found.over[arm].low - one.high + one.low) / 2
        for arm, one in alone.items()
    }
    assert found.widening == pytest.approx(max(wider.values()))


def test_each_other_arm_has_the_gain_over_it_which_allows_for_the_choice(made):
    found = preferences(made)["sampled"]
    assert list(found.over) == list(found.scores)[1:]
    four = paired_gain(*(made.outcomes(arm, "sampled") for arm in (found.arm, Arm(4.0))), chosen_from=3)
    assert found.over[Arm(4.0)] == four
    behind = {row["label"]: row["behind"]["gain"] for row in found.as_json("cross-entropy")["chosen_from"]}
    assert behind == {"self": None, "λ = 4": four.gain} | {
        made.name(arm): found.over[arm].gain for arm in (BASELINE, BASE_MODEL)
    }
    beside = f"Over λ = 4, the next on validation, the gain is {points(four.gain)} points ({interval(four)})."
    assert (beside in sentences(made)["sampled"]) == (found.cheaper.row.arm != Arm(4.0))


def test_what_costs_less_and_is_not_shown_to_be_worse_is_named_with_the_gain_over_it(self_wins, tmp_path):
    cheaper = self_wins["sampled"].cheaper
    assert cheaper is not None
    assert cheaper.row.arm == Arm(4.0)  # λ = 4 samples nothing before its training, and is better on test
    assert cheaper.is_as_good
    unclear = verdict(
        tmp_path / "unclear",
        {None: 0.2, 0.0: 0.3, 4.0: 0.7, "self": 0.65},
        {None: 0.0, 0.0: 0.3, 4.0: 0.6, "self": 1.0},
        own_tokens=5000,
        methods=("self",),
    )["sampled"]
    assert unclear.cheaper is not None
    assert unclear.cheaper.row.arm == Arm(4.0)
    assert unclear.cheaper.gain.gain < 0.02 < unclear.cheaper.gain.high
    assert not unclear.cheaper.is_as_good
    chances = {None: 0.2, 0.0: 0.3, 4.0: 0.5, "self": 1.0}
    alike = {None: 0.0, 0.0: 0.7, 4.0: 0.7}
    at_one_cost = verdict(tmp_path / "alike", alike, {None: 0.0, 0.0: 0.3, 4.0: 1.0})["sampled"]
    assert at_one_cost.arm == Arm(4.0)
    assert at_one_cost.cheaper.row.arm == BASE_MODEL
    worse = verdict(tmp_path, chances, own_tokens=5000, methods=("self",))
    assert worse["sampled"].arm == Arm(0.0, "self")
    assert worse["sampled"].cheaper.row.arm == Arm(4.0)  # the best on validation of the cheaper ones
    assert worse["sampled"].cheaper.gain.low > 0


def test_of_equal_scores_the_cheaper_arm_is_preferred(tmp_path):
    alike = dict.fromkeys((None, 0.0, 4.0, "self"), 1.0)
    found = verdict(tmp_path / "all", alike, own_tokens=5000, methods=("self",))
    assert [one.arm for one in found.values()] == [BASE_MODEL, BASE_MODEL]
    found = verdict(tmp_path, alike | {None: 0.5}, own_tokens=5000, methods=("self",))
    assert list(found["sampled"].scores) == [BASELINE, Arm(4.0), Arm(0.0, "self"), BASE_MODEL]


def test_an_arm_that_is_not_shown_to_beat_the_base_model_is_not_to_be_used(tmp_path):
    on_validation = {None: 0.2, 0.0: 0.3, 4.0: 1.0}
    found = verdict(tmp_path, dict.fromkeys(on_validation, 0.5), on_validation)["sampled"]
    assert (found.arm, found.use) == (Arm(4.0), BASE_MODEL)
    assert found.over_base.low < 0 < found.over_base.high


def test_an_arm_that_lacks_a_seed_or_validation_cannot_be_preferred(tmp_path):
    chances = {None: 0.2, 0.0: 0.3, 4.0: 1.0}
    found = verdict(tmp_path / "seed", chances, skip={(TASK, 4.0, 1)})
    assert set(found["greedy"].scores) == {BASE_MODEL, BASELINE}
    assert verdict(tmp_path / "validation", chances, validation=0) == {}


@pytest.mark.parametrize(
    ("greedy", "sampled", "both"), [(0.7, 0.2, Arm(4.0)), (0.1, 0.2, None), (0.7, 0.9, Arm(4.0))]
)
def test_one_arm_for_both_decodings_is_not_shown_to_be_worse_under_either(tmp_path, greedy, sampled, both):
    """Greedily λ = 0 is preferred, and λ = 4 is right as often as `greedy` says; `sampled`: the other way."""
    chances = {
        "greedy": {None: 0.0, 0.0: 0.7, 4.0: greedy},
        "sampled": {None: 0.0, 0.0: sampled, 4.0: 0.9},
    }
    on_validation = {
        "greedy": {None: 0.0, 0.0: 1.0, 4.0: 0.5},
        "sampled": {None: 0.0, 0.0: 0.2, 4.0: 0.9},
    }
    settings = {
        "right": lambda task, arm, decoding: chances[decoding][arm],
        "right_on_validation": lambda task, arm, decoding: on_validation[decoding][arm],
    }
    made = summary(make_study(tmp_path / "runs", **SIZE, **settings))
    assert [one.use for one in preferences(made).values()] == [BASELINE, Arm(4.0)]
    assert usable_for_both(made) == both
    assert contents(made)["verdict"]["use"] == (both or Arm(4.0)).as_json("cross-entropy")
    text = (
        "Use λ = 4. With greedy decoding validation prefers λ = 0; the test problems do not show it to be "
        "better."
    )
    assert (sentences(made)["verdict"] == text) is (both == Arm(4.0))
