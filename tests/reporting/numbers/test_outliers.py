"""Runs that collapsed, in a study whose other runs differ by their samples."""

import pytest
from toys.studies import TASK, make_study

from erce.reporting.numbers.gains import summary
from erce.reporting.numbers.outliers import outliers
from erce.reporting.words.cautions import cautions


def _summary(root, **changes):
    return summary(make_study(root, **({"control": None, "problems": 40, "validation": 8} | changes)))


def test_runs_that_differ_by_their_samples_are_no_outliers(tmp_path):
    assert outliers(_summary(tmp_path)) == []


def test_a_run_in_which_nothing_is_right_is_named_with_the_gain_with_and_without_it(tmp_path):
    report = _summary(tmp_path, seeds=(0, 1, 2, 3, 4), collapsed={(TASK, 0.5, 3)})
    [run] = outliers(report)
    assert (run.cell.name, run.accuracy) == ("sums-lam0.5-seed3", 0.0)
    seeds = report.row(TASK, run.cell.arm, "sampled").seeds
    zero = report.row(TASK, report.baseline, "sampled").mean
    kept = [score for seed, score in seeds.items() if seed != 3]
    assert run.without.gain == pytest.approx(sum(kept) / 4 - zero)
    assert run.gain.gain == pytest.approx(sum(kept) / 5 - zero)
    caution = cautions(report)[0]
    assert "sums-lam0.5-seed3 is far from the other seeds of λ = 0.5: right in 0.0 % of samples" in caution
    assert "without this run it is" in caution


def test_of_two_seeds_the_lower_one_is_far(tmp_path):
    [run] = outliers(_summary(tmp_path, seeds=(0, 1), collapsed={(TASK, 1.0, 0)}))
    assert run.cell.name == "sums-lam1-seed0"


def test_a_collapsed_run_of_the_baseline_shows_in_the_gain_of_the_chosen_lam(tmp_path):
    report = _summary(tmp_path, collapsed={(TASK, 0.0, 1)})
    [run] = outliers(report)
    assert run.cell.name == "sums-lam0-seed1"
    assert run.compared == report.chosen
    assert run.without.gain < run.gain.gain
