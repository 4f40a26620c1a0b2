"""What several samples do together: the numbers of the cells, and which arm is ahead."""

import json

import numpy as np
import pytest
from toys.studies import TASK, make_study

from erce.files import read_json, write_json
from erce.recipe import Cell
from erce.reporting.numbers.gains import summary
from erce.reporting.numbers.k_samples import all_samples, sample_coverage
from erce.reporting.pages.html import document
from erce.reporting.words.captions import coverage_caption
from erce.stats import paired_gain
from erce.study.folder import cell_folder, read_study
from erce.types import Arm

SCORES = {0.0: {"pass@4": 0.9, "maj@4": 0.5, "best@4": 0.4}, 0.5: {"pass@4": 0.8, "maj@4": 0.7}}


@pytest.fixture
def study(tmp_path):
    """λ = 0.5 is chosen; its score of the vote differs between seeds."""
    made = make_study(tmp_path / "runs", control=None, lams=(0.0, 0.5))
    for cell in made.results:
        path = cell_folder(made.root, made.recipe, cell) / "result.json"
        result = read_json(path)
        if cell.lam is not None:
            scores = dict(SCORES[cell.lam])
            scores["maj@4"] += 0.1 * (cell.seed - 1)
            result["scores"]["test"]["sampled"] |= scores
        write_json(path, result)
    return summary(read_study(made.root))


def test_means_over_seeds_of_what_both_arms_have(study):
    together = all_samples(study)
    assert together.k == 4
    assert together.treated == pytest.approx({"pass": 0.8, "maj": 0.7})
    assert together.baseline == pytest.approx({"pass": 0.9, "maj": 0.5, "best": 0.4})
    json.dumps(together.as_json(), allow_nan=False)


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
        result = read_json(folder / "result.json")
        result["scores"]["test"]["sampled"]["pass@4"] = 0.5 if cell.lam else 1.0
        write_json(folder / "result.json", result)
    study_summary = summary(read_study(made.root))
    assert all_samples(study_summary).crossover.k == 3
    caption = coverage_caption(sample_coverage(study_summary))
    assert caption == "From k = 3 on cross-entropy has the higher pass@k."


def _with(study, arm_says):
    """Return the study with `arm_says(cell)` added to each trained cell's scores of test samples."""
    for cell in study.study.results:
        path = cell_folder(study.study.root, study.study.recipe, cell) / "result.json"
        result = read_json(path)
        if cell.lam is not None:
            result["scores"]["test"]["sampled"] |= arm_says(cell)
        write_json(path, result)
    return summary(read_study(study.study.root))


def _by_problem(cell):
    """Every seed and problem has its own chances; λ is better by a quarter."""
    chances = (np.arange(30) % 4) / 8 + 0.1 * cell.seed + 0.25 * cell.lam
    return {"by_problem": {"maj": chances.tolist(), "best": (chances / 2).tolist()}}


def test_the_gain_in_coverage_is_over_problems_and_seeds_and_needs_the_verdicts_alone(study):
    arms = [study.study.outcomes(TASK, Arm(lam), split="test", decoding="sampled") for lam in (0.5, 0.0)]
    expected = paired_gain(*(arm.max(axis=2, keepdims=True) for arm in arms))  # pass@n: any of n is right
    gains = all_samples(study).gains
    assert list(gains) == ["pass"]
    assert gains["pass"][:4] == pytest.approx(expected[:4])
    assert gains["pass"].covers == "problems and seeds"


def test_votes_and_the_likeliest_have_an_interval_where_the_scores_hold_every_problem(study):
    together = all_samples(_with(study, _by_problem))
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
    together = all_samples(_with(study, lambda cell: _by_problem(cell) if cell.seed else {}))
    assert list(together.gains) == ["pass"]


def test_one_sample_or_no_chosen_penalty_has_nothing_to_say(tmp_path):
    assert all_samples(summary(make_study(tmp_path / "one", samples=1))) is None
    losing = make_study(tmp_path / "ce", right=lambda task, lam, decoding: 0.9 if not lam else 0.2)
    assert all_samples(summary(losing)) is None
    assert summary(losing).study.recipe.task == TASK
