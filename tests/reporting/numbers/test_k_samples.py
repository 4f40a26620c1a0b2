"""What several samples do together: the numbers of the cells, and which arm is ahead."""

import json

import numpy as np
import pytest
from toys.studies import TASK, arm_of, make_study, with_results

from erce.recipe import Cell
from erce.reporting import contents
from erce.reporting.numbers.gains import summary
from erce.reporting.numbers.k_samples import sample_coverage
from erce.reporting.pages.html import document
from erce.score import coverage, crossover
from erce.stats import paired_gain
from erce.study.folder import cell_folder, read_study
from erce.types import Arm

SCORES = {0.0: {"maj@4": 0.5, "best@4": 0.4}, 0.5: {"maj@4": 0.7}}


@pytest.fixture
def study(tmp_path):
    """λ = 0.5 is chosen; its score of the vote differs between seeds."""
    made = make_study(tmp_path / "runs", control=None, lams=(0.0, 0.5))

    def change(cell, result):
        if cell.lam is not None:
            scores = dict(SCORES[cell.lam])
            scores["maj@4"] += 0.1 * (cell.seed - 1)
            result["scores"]["test"]["sampled"] |= scores

    return summary(with_results(made, change))


def test_means_over_seeds_of_what_an_arm_has(study):
    held = sample_coverage(study)
    last = {
        way: {arm.lam: values[-1] for arm, values in held.together[way].items()} for way in ("maj", "best")
    }
    assert held.ks[-1] == 4
    assert last["maj"] == {None: None, 0.0: pytest.approx(0.5), 0.5: pytest.approx(0.7)}
    assert last["best"] == {None: None, 0.0: pytest.approx(0.4), 0.5: None}


def test_an_arm_that_starts_ahead_and_falls_behind_is_said(tmp_path):
    """Cross-entropy is right on every problem now and then; the penalty always, on half of them."""
    made = make_study(tmp_path / "runs", control=None, lams=(0.0, 0.5), seeds=(0,), problems=40)
    for cell in made.results:
        folder = cell_folder(made.root, made.recipe, cell)
        rows = [json.loads(line) for line in (folder / "verdicts.jsonl").read_text().splitlines()]
        for row in rows:
            if (row["split"], row["decoding"]) == ("test", "sampled"):
                number = int(row["problem"].rpartition("-")[2])
                row["accepted"] = number % 2 == 0 if cell.lam else row["sample"] == number % 4
        (folder / "verdicts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    study_summary = summary(read_study(made.root))
    assert sample_coverage(study_summary).crossing.k == 3
    assert "From k = 3 on cross-entropy has the higher pass@k." in document(study_summary)


def _with(study, arm_says):
    """Return the study with `arm_says(cell)` added to each trained cell's scores of test samples."""

    def change(cell, result):
        if cell.lam is not None:
            result["scores"]["test"]["sampled"] |= arm_says(cell)

    return summary(with_results(study.study, change))


def _by_problem(cell):
    """Every seed and problem has its own chances; λ is better by a quarter."""
    chances = (np.arange(30) % 4) / 8 + 0.1 * cell.seed + 0.25 * cell.lam
    return {"by_problem": {"maj": chances.tolist(), "best": (chances / 2).tolist()}}


def test_the_gain_in_coverage_is_over_problems_and_seeds_and_needs_the_verdicts_alone(study):
    arms = [study.study.outcomes(TASK, Arm(lam), split="test", decoding="sampled") for lam in (0.5, 0.0)]
    expected = paired_gain(*(arm.max(axis=2, keepdims=True) for arm in arms))  # pass@n: any of n is right
    gains = sample_coverage(study).gains
    assert list(gains) == ["pass"]
    assert gains["pass"][:4] == pytest.approx(expected[:4])
    assert gains["pass"].covers == "problems and seeds"


def test_votes_and_the_likeliest_have_an_interval_where_the_scores_hold_every_problem(study):
    together = sample_coverage(_with(study, _by_problem))
    arms = [
        np.array([_by_problem(Cell(TASK, lam, seed))["by_problem"]["maj"] for seed in range(3)])[..., None]
        for lam in (0.5, 0.0)
    ]
    expected = paired_gain(*arms)
    assert list(together.gains) == ["pass", "maj", "best"]
    assert together.gains["maj"] == expected
    assert together.gains["best"].gain == pytest.approx(expected.gain / 2)
    low, high = (f"{100 * end:+.1f}".replace("-", "−") for end in (expected.low, expected.high))
    assert f'<td colspan="2">+12.5, {low} to {high}</td>' in document(_with(study, _by_problem))


def test_a_seed_without_its_problems_leaves_the_interval_out(study):
    together = sample_coverage(_with(study, lambda cell: _by_problem(cell) if cell.seed else {}))
    assert list(together.gains) == ["pass"]


def test_one_sample_has_no_part_and_no_chosen_penalty_no_pair(tmp_path):
    one = summary(make_study(tmp_path / "one", samples=1))
    assert sample_coverage(one) is None
    assert contents(one)["coverage"] is None
    losing = summary(make_study(tmp_path / "ce", right=lambda task, lam, decoding: 0.9 if not lam else 0.2))
    assert contents(losing)["coverage"]["gains"] == {}
    assert "pass@k." not in document(losing)


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
        assert curve == pytest.approx(coverage(study_summary.outcomes(arm, "sampled")))
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
    arms = (study_summary.outcomes(Arm(lam), "sampled") for lam in (0.5, 0.0))
    assert held.chosen == Arm(0.5)
    assert held.crossing == crossover(*arms) is not None


def test_arms_that_do_not_change_places_are_said_not_to(tmp_path):
    crossing = _crossing(tmp_path, reach=None, right=lambda task, arm, decoding: 0.2 + (arm or 0) / 4)
    assert sample_coverage(crossing).crossing is None
    words = "Up to 6 samples the chosen λ and cross-entropy do not change places in pass@k."
    assert words in document(crossing)


def test_the_json_has_an_entry_an_arm(study_summary):
    held = json.loads(json.dumps(contents(study_summary)["coverage"], allow_nan=False))
    assert held["k"] == [1, 2, 4, 6]
    assert [(arm["lam"], arm["objective"]) for arm in held["arms"]][-1] == (0.0, "dft")
    assert {len(arm["curve"]) for arm in held["arms"]} == {6}
    assert {len(arm[way]) for arm in held["arms"] for way in ("maj", "best")} == {3}
    assert held["crossover"]["leader"] == "treated"


def test_a_way_that_no_cell_has_scored_is_left_out(tmp_path):
    assert list(sample_coverage(_crossing(tmp_path, together=False)).together) == ["pass"]
