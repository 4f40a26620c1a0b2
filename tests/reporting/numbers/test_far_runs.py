"""Runs that collapsed, in a study whose other runs differ by what they drew."""

import pytest
from toys.studies import TASK, make_study

from erce.files import read_json, write_json
from erce.reporting.numbers.far_runs import far_runs
from erce.reporting.numbers.gains import summary
from erce.reporting.words.cautions import cautions
from erce.study.folder import cell_folder, read_study


def _summary(root, **changes):
    return summary(make_study(root, **({"control": None, "problems": 40, "validation": 8} | changes)))


def _with_training(study, cell_name, training):
    [cell] = [cell for cell in study.results if cell.name == cell_name]
    path = cell_folder(study.root, study.recipe, cell) / "result.json"
    result = read_json(path)
    write_json(path, result | {"training": result["training"] | training})


def test_runs_that_differ_by_what_they_drew_are_not_far(tmp_path):
    assert far_runs(_summary(tmp_path)) == []


def test_a_run_in_which_nothing_is_right_is_named_with_the_gain_with_and_without_it(tmp_path):
    report = _summary(tmp_path, seeds=(0, 1, 2, 3, 4), collapsed={(TASK, 0.5, 3)})
    [run] = far_runs(report)
    assert (run.cell.name, run.measure, run.value) == ("sums-lam0.5-seed3", "accuracy", 0.0)
    seeds = report.row(TASK, run.cell.arm, "sampled").seeds
    zero = report.row(TASK, report.baseline, "sampled").mean
    kept = [score for seed, score in seeds.items() if seed != 3]
    assert run.without.gain == pytest.approx(sum(kept) / 4 - zero)
    assert run.whole.gain == pytest.approx(sum(kept) / 5 - zero)
    caution = cautions(report)[0]
    assert "sums-lam0.5-seed3 is far from the other seeds of λ = 0.5: right in 0.0 % of samples" in caution
    assert "without this run it is" in caution


def test_of_two_seeds_the_lower_one_is_far(tmp_path):
    [run] = far_runs(_summary(tmp_path, seeds=(0, 1), collapsed={(TASK, 1.0, 0)}))
    assert run.cell.name == "sums-lam1-seed0"


def test_a_collapsed_run_of_the_baseline_shows_in_the_gain_of_the_chosen_lam(tmp_path):
    report = _summary(tmp_path, collapsed={(TASK, 0.0, 1)})
    [run] = far_runs(report)
    assert run.cell.name == "sums-lam0-seed1"
    assert run.compared == report.chosen
    assert run.without.gain < run.whole.gain


@pytest.mark.parametrize("measure", ["ce", "entropy"])
def test_a_training_whose_loss_or_entropy_blew_up_is_named_though_its_answers_are_right(tmp_path, measure):
    study = _summary(tmp_path).study
    for seed in (0, 1, 2):
        nats = {"ce": 0.4, "entropy": 0.2} | ({measure: 2.5} if seed == 2 else {})
        _with_training(study, f"sums-lam1-seed{seed}", nats)
    report = summary(read_study(tmp_path))
    [run] = far_runs(report)
    assert (run.cell.name, run.measure, run.value) == ("sums-lam1-seed2", measure, 2.5)
    assert "2.50 nats a token at the end of training, against" in cautions(report)[0]
