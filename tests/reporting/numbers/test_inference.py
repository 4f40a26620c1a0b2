"""What a study can show: the gain that it finds, and runs that collapsed."""

import pytest
from toys.studies import TASK, arm_of, make_study

from erce.reporting.numbers.gains import summary
from erce.reporting.numbers.inference import outliers, power
from erce.reporting.words.cautions import cautions
from erce.reporting.words.sentences import sentences
from erce.stats import holm, paired_gain, plan


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """λ = 1 is chosen; accuracy in samples rises to it, greedy does not change."""
    settings = {"lams": (0.0, 0.5, 1.0), "problems": 60, "control": None, "methods": ("dft",)}
    settings["seeds"] = (0, 1, 2, 3, 4)
    chances = {0.0: 0.4, 0.5: 0.57, 1.0: 0.74, "dft": 0.42, None: 0.3}
    made = make_study(
        tmp_path_factory.mktemp("study") / "runs",
        right=lambda task, arm, decoding: chances[arm] if decoding == "sampled" else 0.6,
        right_on_validation=lambda task, arm, decoding: float(arm == 1.0),
        **settings,
    )
    return summary(made)


def _outcomes(study, decoding="sampled"):
    arms = (0.0, 0.5, 1.0, "dft")
    return {arm: study.study.outcomes(TASK, arm_of(arm), split="test", decoding=decoding) for arm in arms}


def test_every_trained_arm_has_its_gain_with_p_for_the_full_grid(study):
    outcomes = _outcomes(study)
    rows = [study.row(TASK, arm_of(arm), "sampled") for arm in (0.5, 1.0, "dft")]
    own = [paired_gain(outcomes[arm], outcomes[0.0]) for arm in (0.5, 1.0, "dft")]
    assert [row.gain for row in rows] == own
    assert [row.p_holm for row in rows] == holm([gain.p for gain in own]).tolist()


def test_the_plan_is_what_the_statistics_say_of_the_same_outcomes(study):
    outcomes = _outcomes(study)
    assert power(study, "sampled") == plan(outcomes[1.0], outcomes[0.0], gain=0.03)


def test_where_nothing_varied_nothing_is_certain(tmp_path):
    """No interval of width 0 and no p of 0, of whatever test; of other seeds nothing is said at all."""

    def right(task, arm, decoding):
        return float(bool(arm)) if decoding == "sampled" else 1.0

    study_summary = summary(
        make_study(tmp_path / "runs", control=None, right=right, problems=20, seeds=(0, 1))
    )
    rows = [*study_summary.compared("sampled"), *study_summary.compared("greedy")]
    assert len(rows) == 4
    for row in rows:
        assert row.gain.high - row.gain.low > 0.1
        assert min(row.gain.p, row.p_holm) > 0
        assert row.gain.covers == "problems"
    assert "over problems alone; other seeds may differ" in sentences(study_summary)["choosing"]


@pytest.mark.parametrize("changes", [{"problems": 1}, {"right": lambda *_: 1.0}, {"seeds": (0, 1)}])
def test_of_a_study_in_which_too_little_varies_nothing_is_planned(tmp_path, changes):
    size = {"control": None, "problems": 12, "validation": 2, "seeds": (0, 1, 2, 3, 4)}
    assert power(summary(make_study(tmp_path / "runs", **(size | changes))), "sampled") is None


def _summary(root, **changes):
    return summary(make_study(root, **({"control": None, "problems": 40, "validation": 8} | changes)))


def test_runs_that_differ_by_their_samples_are_no_outliers(tmp_path):
    assert outliers(_summary(tmp_path)) == []


def test_a_run_in_which_nothing_is_right_is_named(tmp_path):
    report = _summary(tmp_path, seeds=(0, 1, 2, 3, 4), collapsed={(TASK, 0.5, 3)})
    [(cell, accuracy, _)] = outliers(report)
    assert (cell.name, accuracy) == ("sums-lam0.5-seed3", 0.0)
    caution = cautions(report)[0]
    assert "sums-lam0.5-seed3 is far from the other seeds of λ = 0.5: right in 0.0 % of samples" in caution


def test_of_two_seeds_the_lower_one_is_far(tmp_path):
    [(cell, *_)] = outliers(_summary(tmp_path, seeds=(0, 1), collapsed={(TASK, 1.0, 0)}))
    assert cell.name == "sums-lam1-seed0"
