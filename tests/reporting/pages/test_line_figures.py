"""pass@k of every arm with the crossover, the table of votes, and the legend of lines."""

import json

import numpy as np
import pytest
from toys.studies import TASK, arm_of, make_study

from erce.reporting import contents
from erce.reporting.numbers.frontier import temperature_frontier
from erce.reporting.numbers.gains import summary
from erce.reporting.numbers.k_samples import all_samples, sample_coverage
from erce.reporting.pages.line_figures import accuracy_over_temperature
from erce.reporting.words.captions import coverage_caption
from erce.score import coverage, crossover
from erce.types import Arm


def _crossing(root, **changes):
    """λ = 0.5 is right on half of the problems always; cross-entropy on all of them now and then."""
    fake = {
        "right": lambda task, arm, decoding: {0.5: 0.55}.get(arm, 0.4),
        "reach": lambda arm: 4.0 if arm == 0.5 else 0.1,
        "control": None,
        "samples": 6,
        "problems": 40,
        "together": True,
    }
    return summary(make_study(root / "runs", **(fake | changes)))


@pytest.fixture(scope="module")
def study_summary(tmp_path_factory):
    return _crossing(tmp_path_factory.mktemp("crossing"), objectives=("dft",))


def test_the_curves_are_pass_at_every_k_and_the_table_the_scores_of_the_cells(study_summary):
    held = sample_coverage(study_summary)
    assert held.ks == [1, 2, 4, 6]
    assert list(held.curves) == list(map(arm_of, (None, 0.0, 0.5, 1.0, "dft")))
    for arm, curve in held.curves.items():
        assert curve == pytest.approx(
            coverage(study_summary.study.outcomes(TASK, arm, split="test", decoding="sampled"))
        )
        assert held.together["pass"][arm] == [curve[k - 1] for k in held.ks]
        scores = [
            study_summary.study.results[cell]["scores"]["test"]["sampled"]
            for cell in study_summary.study.cells(TASK, arm)
        ]
        for way in ("maj", "best"):
            for k, value in zip(held.ks_of(way), held.together[way][arm], strict=True):
                assert value == pytest.approx(np.mean([score[f"{way}@{k}"] for score in scores]))


def test_the_crossover_is_that_of_the_chosen_lam_and_said(study_summary):
    held = sample_coverage(study_summary)
    arms = (
        study_summary.study.outcomes(TASK, Arm(lam), split="test", decoding="sampled") for lam in (0.5, 0.0)
    )
    assert held.chosen == Arm(0.5)
    assert held.crossing == crossover(*arms) is not None
    caption = f"From k = {held.crossing.k} on cross-entropy has the higher pass@k."
    assert coverage_caption(held) == caption


def test_all_parts_of_a_report_have_the_same_crossover_and_shares(study_summary):
    assert sample_coverage(study_summary).crossing == all_samples(study_summary).crossover is not None
    numbers = contents(study_summary)
    assert numbers["several"]["crossover"] == numbers["coverage"]["crossover"]
    together = sample_coverage(study_summary).together
    for lam, shares in (
        (0.5, all_samples(study_summary).treated),
        (0.0, all_samples(study_summary).baseline),
    ):
        assert {way: together[way][Arm(lam)][-1] for way in ("maj", "best")}.items() <= shares.items()


def test_arms_that_do_not_change_places_are_said_not_to(tmp_path):
    held = sample_coverage(
        _crossing(tmp_path, reach=None, right=lambda task, arm, decoding: 0.2 + (arm or 0) / 4)
    )
    assert held.crossing is None
    assert "Up to 6 samples the chosen λ and cross-entropy do not change places" in coverage_caption(held)


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({}, ["base model", "cross-entropy", "λ = 0.5, chosen", "other λ"]),
        (
            {"validation": 0, "objectives": ("dft",)},
            ["base model", "cross-entropy", "other λ and objectives"],
        ),
        ({"lams": (0.0,)}, ["base model", "cross-entropy"]),
    ],
)
def test_the_legend_names_what_is_asked_about_and_sums_up_the_rest(tmp_path, changes, names):
    frontier = temperature_frontier(_crossing(tmp_path, temperatures=(0.4,), **changes))
    legend = accuracy_over_temperature(frontier).legends[0]
    assert [text.get_text() for text in legend.get_texts()] == names


def test_the_json_has_an_entry_an_arm(study_summary):
    held = json.loads(json.dumps(contents(study_summary)["coverage"], allow_nan=False))
    assert held["k"] == [1, 2, 4, 6]
    assert [(arm["lam"], arm["objective"]) for arm in held["arms"]][-1] == (0.0, "dft")
    assert {len(arm["curve"]) for arm in held["arms"]} == {6}
    assert {len(arm[way]) for arm in held["arms"] for way in ("maj", "best")} == {3}
    assert held["crossover"]["leader"] == "treated"


def test_a_way_that_no_cell_has_scored_is_left_out_and_one_sample_has_no_part(tmp_path):
    held = sample_coverage(_crossing(tmp_path / "a", together=False))
    assert list(held.together) == ["pass"]
    one = _crossing(tmp_path / "b", samples=1)
    assert sample_coverage(one) is None
    assert contents(one)["coverage"] is None
