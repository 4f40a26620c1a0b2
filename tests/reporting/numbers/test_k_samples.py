"""What several samples do together: the numbers of the cells, and which arm is ahead."""

import numpy as np
import pytest
from toys.studies import TASK, arm_of, make_study, with_results

from erce.recipe import Cell
from erce.reporting import contents
from erce.reporting.numbers.gains import summary
from erce.reporting.numbers.k_samples import sample_coverage
from erce.reporting.pages.html import document
from erce.score import coverage
from erce.stats import paired_gain
from erce.types import Arm


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A study in which λ = 0.5 is chosen, and whose scores hold no votes."""
    return summary(make_study(tmp_path_factory.mktemp("votes") / "runs", control=None, lams=(0.0, 0.5)))


def _by_problem(cell):
    """Every seed and problem has its own chances; λ is better by a quarter."""
    chances = (np.arange(30) % 4) / 8 + 0.1 * cell.seed + 0.25 * cell.lam
    return {"maj@4": 0.5, "by_problem": {"maj": chances.tolist(), "best": (chances / 2).tolist()}}


def test_the_gain_in_coverage_is_over_problems_and_seeds_and_needs_the_verdicts_alone(study):
    arms = [study.study.outcomes(TASK, Arm(lam), split="test", decoding="sampled") for lam in (0.5, 0.0)]
    expected = paired_gain(*(arm.max(axis=2, keepdims=True) for arm in arms))  # pass@n: any of n is right
    gains = sample_coverage(study).gains
    assert (list(gains), sample_coverage(study).votes) == (["pass"], {})
    assert gains["pass"][:4] == pytest.approx(expected[:4])
    assert gains["pass"].covers == "problems and seeds"


def test_votes_and_the_likeliest_have_an_interval_where_the_scores_hold_every_problem(study):
    def change(cell, result):
        if cell.lam is not None:
            result["scores"]["test"]["sampled"] |= _by_problem(cell)

    scored = summary(with_results(study.study, change))
    held = sample_coverage(scored)
    arms = [
        np.array([_by_problem(Cell(TASK, lam, seed))["by_problem"]["maj"] for seed in range(3)])[..., None]
        for lam in (0.5, 0.0)
    ]
    expected = paired_gain(*arms)
    assert list(held.gains) == ["pass", "maj", "best"]
    assert held.gains["maj"] == expected
    assert held.gains["best"].gain == pytest.approx(expected.gain / 2)
    low, high = (f"{100 * end:+.1f}".replace("-", "−") for end in (expected.low, expected.high))
    assert f'<span class="strong">+12.5</span> <span class="quiet">{low} to {high}</span>' in document(scored)


def test_the_gain_is_that_of_the_arm_that_validation_prefers(tmp_path):
    """Of another method, which is better than every λ."""
    made = summary(make_study(tmp_path / "dft", control=None, lams=(0.0, 0.5), methods=("dft",)))
    found = sample_coverage(made)
    assert found.arm == Arm(0.0, "dft")
    arms = [made.study.outcomes(TASK, arm, split="test", decoding="sampled") for arm in (found.arm, Arm(0.0))]
    expected = paired_gain(*(arm.max(axis=2, keepdims=True) for arm in arms))
    assert found.gains["pass"].gain == pytest.approx(expected.gain)
    assert "</abbr> of dft over λ = 0" in document(made)


@pytest.mark.parametrize("samples", [1, 2])
def test_two_samples_have_no_part(tmp_path, samples):
    few = summary(make_study(tmp_path / "few", control=None, problems=10, steps=1, samples=samples))
    assert sample_coverage(few) is None
    assert contents(few)["coverage"] is None
    assert "As a start for reinforcement learning" not in document(few)


def test_no_chosen_penalty_has_no_pair(tmp_path):
    losing = make_study(
        tmp_path / "ce", control=None, problems=10, steps=1, right=lambda task, lam, how: 0.2 if lam else 0.9
    )
    assert contents(summary(losing))["coverage"]["gains"] == {}


TOGETHER = {
    "right": lambda task, arm, decoding: {0.5: 0.55}.get(arm, 0.4),
    "reach": lambda arm: 4.0 if arm == 0.5 else 0.1,
    "control": None,
    "lams": (0.0, 0.5),
    "samples": 6,
    "problems": 40,
    "together": True,
}


@pytest.fixture(scope="module")
def study_summary(tmp_path_factory):
    """λ = 0.5 is right on half of the problems always; cross-entropy on all of them now and then."""
    return summary(make_study(tmp_path_factory.mktemp("together"), **TOGETHER, methods=("dft",)))


def test_the_table_has_pass_at_each_k_and_the_scores_of_the_cells(study_summary):
    held = sample_coverage(study_summary)
    assert held.ks == [1, 2, 4, 6]
    assert list(held.passed) == list(map(arm_of, (None, 0.0, 0.5, "dft")))
    for arm, values in held.passed.items():
        curve = coverage(study_summary.outcomes(arm, "sampled"))
        assert values == pytest.approx([curve[k - 1] for k in held.ks])
        scores = [
            study_summary.study.results[cell]["scores"]["test"]["sampled"]
            for cell in study_summary.study.cells(TASK, arm)
        ]
        for way in ("maj", "best"):
            assert held.votes[way][arm] == pytest.approx(np.mean([score[f"{way}@6"] for score in scores]))
