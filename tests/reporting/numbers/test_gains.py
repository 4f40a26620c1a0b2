"""Gains, rows and the interaction agree with the files that a study leaves, finished or not."""

import numpy as np
import pytest
from toys.studies import CONTROL, TASK, make_study, with_results

from erce.files import read_rows
from erce.reporting import contents
from erce.reporting.numbers.gains import DECODINGS, summary
from erce.stats import difference
from erce.study.folder import cell_folder
from erce.types import Arm


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return make_study(tmp_path_factory.mktemp("study") / "runs")


def entries(study):
    return [row for row in contents(summary(study))["rows"] if row["lam"] is not None]


def test_means_and_gains_are_those_of_the_verdicts_on_disk(study):
    def mean(task, lam, decoding):
        return np.mean(
            [
                row["accepted"]
                for cell in study.results
                if (cell.task, cell.lam) == (task, lam)
                for row in read_rows(cell_folder(study.root, study.recipe, cell) / "verdicts.jsonl")
                if (row["split"], row["decoding"]) == ("test", decoding)
            ]
        )

    for entry in entries(study):
        task, decoding = entry["task"], entry["decoding"]
        assert entry["mean"] == pytest.approx(mean(task, entry["lam"], decoding))
        assert entry["over_base"]["covers"] == "problems and seeds"  # though the base model has one cell
        assert entry["over_base"]["gain"] == pytest.approx(entry["mean"] - mean(task, None, decoding))
        if entry["lam"] == 0:  # has no gain over itself
            assert {*entry["over_lam0"].values(), entry["p_holm"]} == {None}
        else:
            assert entry["over_lam0"]["gain"] == pytest.approx(entry["mean"] - mean(task, 0.0, decoding))


def test_the_interaction_is_the_difference_of_the_two_entries(study):
    study_summary = summary(study)
    for decoding, gain in study_summary.interaction.items():
        both = [study_summary.row(task, study_summary.chosen, decoding).gain for task in (TASK, CONTROL)]
        assert gain == difference(*both)
        assert gain.gain == pytest.approx(both[0].gain - both[1].gain)
    assert list(study_summary.interaction) == list(DECODINGS)


def test_rows_hold_every_seed_and_shares_that_sum_to_one(study):
    study_summary = summary(study)
    lams = [row.arm.lam for row in study_summary.rows if (row.task, row.decoding) == (TASK, "greedy")]
    assert lams == [None, 0.0, 0.5, 1.0]
    row = study_summary.row(TASK, Arm(0.5), "sampled")
    assert list(row.seeds) == [0, 1, 2]
    assert row.sd == pytest.approx(np.std(list(row.seeds.values()), ddof=1))
    assert sum(row.reasons.values()) == pytest.approx(1)
    base = study_summary.row(TASK, Arm(None), "sampled")
    assert (base.sd, base.n_seeds) == (None, 1)


def test_an_accuracys_interval_does_not_widen_with_seeds_and_stays_a_share(tmp_path):
    study = make_study(tmp_path / "runs", right=lambda *_: 1.0, control=None)
    for arm in (Arm(None), Arm(0.5)):  # one seed, and three alike
        row = summary(study).row(TASK, arm, "greedy")
        assert (row.mean, row.ci[1]) == (1.0, 1.0)
        assert row.ci[0] == pytest.approx(0.025 ** (1 / row.n_problems), abs=0.01)


def test_the_grid_is_sorted_whatever_its_order_in_the_recipe(tmp_path):
    study = make_study(tmp_path / "runs", lams=(1.0, 0.0, -0.1, 0.5), control=None, problems=5)
    study_summary = summary(study)
    assert study_summary.arms(TASK) == [*map(Arm, (None, -0.1, 0.0, 0.5, 1.0))]
    assert [row.arm.lam for row in study_summary.rows[::2]] == [None, -0.1, 0.0, 0.5, 1.0]


def test_without_a_finished_baseline_there_is_a_mean_and_no_gain(tmp_path):
    skip = {(TASK, 0.0, seed) for seed in range(3)}
    study_summary = summary(make_study(tmp_path / "runs", skip=skip, problems=10))
    assert 0 < study_summary.row(TASK, Arm(0.5), "sampled").mean < 1
    assert study_summary.row(TASK, Arm(0.5), "sampled").gain is None
    assert study_summary.row(CONTROL, Arm(0.5), "sampled").gain is not None
    assert study_summary.interaction == {}


def test_a_decoding_that_an_arm_lacks_is_left_out_and_the_other_stays(tmp_path):
    """As in a study of imported logs, which may be samples alone."""

    def change(cell, result):
        if cell.lam in (0.0, 1.0):
            del result["scores"]["test"]["greedy"], result["scores"]["validation"]["greedy"]

    study_summary = summary(with_results(make_study(tmp_path / "runs"), change))
    assert study_summary.choice.lam == 0.5
    assert study_summary.row(TASK, Arm(0.0), "greedy") is study_summary.row(TASK, Arm(1.0), "greedy") is None
    assert study_summary.row(TASK, Arm(0.5), "greedy").gain is None
    assert study_summary.row(TASK, Arm(0.5), "sampled").gain is not None
    assert list(study_summary.interaction) == ["sampled"]


def test_without_validation_nothing_is_chosen_and_the_reason_is_kept(tmp_path):
    study_summary = summary(make_study(tmp_path / "runs", validation=0, problems=5))
    assert study_summary.choice is None
    assert "--validation" in str(study_summary.no_choice)
    assert not any(row["is_preferred"] for row in contents(study_summary)["rows"])
    assert study_summary.row(TASK, Arm(0.5), "greedy").validation is None
