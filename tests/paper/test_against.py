"""A study of the paper's task beside the paper."""

import re

import numpy as np
import pytest
from toys.studies import Fake, write_study

from erce.files import write_rows
from erce.recipe import Decoding, Recipe, Training
from erce.reporting.format import interval, points
from erce.stats import welch
from erce.study.folder import PROBLEMS
from erce.types import Arm
from scripts.paper import lookup
from scripts.paper.against import against_lines

MODEL = "Qwen/Qwen2.5-1.5B-Instruct"


def make_study(folder, *, chance=lambda task: 0.5, skip=frozenset(), samples=2, **settings):
    """The study of that recipe, with so many verdicts right."""
    recipe = Recipe(**{"n_test": 40, **settings})
    sizes = {"problems": recipe.n_test, "samples": samples, "validation": 0}
    right = {"right": lambda task, arm, decoding: chance(task)}
    return write_study(folder, recipe, Fake(task=recipe.task, skip=skip, **right, **sizes))


@pytest.fixture(scope="module")
def gsm8k(tmp_path_factory):
    """Three seeds on the task and its control, with a λ that the paper lacks."""
    return make_study(
        tmp_path_factory.mktemp("paper") / "gsm8k",
        task="gsm8k",
        control="gsm8k-answer-only",
        lams=(0.0, 1.0, 5.0, 8.0),
        seeds=(0, 1, 2),
        chance=lambda task: 0.1 if task == "gsm8k-answer-only" else 0.5,
    )


def one_seed(folder, **settings):
    small = {"task": "mbpp", "lams": (0.0, 1.0), "seeds": (0,), "model": MODEL}
    return make_study(folder, **(small | settings))


def _rows(study):
    """Return (task, decoding) → λ → the cells of its row, and the note below the table."""
    tables, lines = {}, iter(against_lines(study))
    for line in lines:
        if "beside the paper's" in line:
            task, decoding, _ = line.split(", ", 2)
            rows = [line.strip().replace(" ± ", "±") for line in iter(lambda: next(lines), "")]
            tables[task, decoding] = [re.split(r"  +", row) for row in rows[1:-1]], rows[-1]
    return tables


def test_rows_are_the_lams_that_both_have(gsm8k):
    assert {place: [row[0] for row in rows] for place, (rows, _) in _rows(gsm8k).items()} == {
        (task, decoding): ["0", "1", "8"]
        for task, decoding in (("gsm8k", "greedy"), ("gsm8k", "sampled"), ("gsm8k-answer-only", "greedy"))
    }


def test_a_row_is_welch_over_the_seeds_of_both_with_the_gains_beside_each_other(gsm8k):
    rows, note = _rows(gsm8k)["gsm8k", "greedy"]
    outcomes = [gsm8k.outcomes("gsm8k", Arm(lam), split="test", decoding="greedy") for lam in (0.0, 1.0)]
    baseline, ours = (arm.mean(axis=(1, 2)) for arm in outcomes)
    off = welch(ours.tolist(), lookup("gsm8k", "greedy").scores(1))
    here = f"{100 * ours.mean():.2f}±{100 * np.std(ours):.2f}"
    gain = points(float(ours.mean() - baseline.mean()))
    assert rows[1] == ["1", here, "3", "52.76±0.64", "5", points(off.gain), interval(off), gain, "+3.6"]
    assert rows[0][-2:] == ["–", "–"]
    assert note.endswith("interval: Welch over seeds.")


def test_where_the_paper_prints_no_seeds_the_note_says_so(gsm8k):
    rows, note = _rows(gsm8k)["gsm8k", "sampled"]
    assert note.endswith("Welch over seeds, the paper's from its printed mean and ±.")
    assert all(" to " in row[6] for row in rows)


def test_one_seed_has_no_interval_and_a_cell_that_is_not_done_no_row(tmp_path):
    study = one_seed(tmp_path / "half", skip={("mbpp", 0.0, 0)})
    [row], note = _rows(study)["mbpp", "greedy"]
    assert (row[0], "±" in row[1], row[6], row[7]) == ("1", False, "–", "–")
    assert note.endswith("interval: none, with one seed.")
    assert any("Missing here: 1 cell;" in text for text in against_lines(study))


def test_a_study_without_a_finished_cell_still_reads(tmp_path):
    study = one_seed(tmp_path / "none", skip={("mbpp", lam, 0) for lam in (None, 0.0, 1.0)})
    assert "  none of the paper's λ is done here" in against_lines(study)


def test_what_differs_is_said_and_where(gsm8k):
    lines = [line.strip(" ·") for line in against_lines(gsm8k)]
    for sentence in (
        f"The model here is tiny, the paper's is {MODEL}: these are two models.",
        "gsm8k greedy: test problems: 40 here, 500 in the paper.",
        "gsm8k-answer-only greedy: seeds: 3 here, 5 in the paper.",
        "gsm8k sampled: samples a problem: 2 here, 8 in the paper.",
        "gsm8k sampled: λ = 5: not in the paper, so not compared.",
        "gsm8k sampled: λ = 3: in the paper and not done here.",
    ):
        assert lines.count(sentence) == 1


def test_other_settings_are_warned_of(tmp_path):
    training, decoding = Training(epochs=1.0, normalize="token"), Decoding(temperature=1.0)
    study = one_seed(tmp_path / "study", task="mbpp-full", training=training, decoding=decoding, n_train=126)
    lines = "\n".join(against_lines(study))
    for part in (
        "[training] epochs is 1 here, 3 in the paper",
        '[training] normalize is "token" here',
        "temperature: 1 here, 0.8 in the paper",
        "mbpp-full greedy: training problems: 126 here",
    ):
        assert part in lines


def test_the_papers_settings_are_not_warned_of(tmp_path):
    study = make_study(
        tmp_path / "like",
        task="mbpp",
        model=MODEL,
        lams=lookup("mbpp", "greedy").lams,
        seeds=(0, 1, 2, 3, 4),
        n_train=300,
        n_test=200,
        samples=4,
        training=Training(normalize="sequence"),
    )
    assert not [line for line in against_lines(study) if " here" in line and "·" in line]


def test_training_problems_are_counted_from_the_studys_own_list(tmp_path):
    study = one_seed(tmp_path / "listed")
    assert "training problems" not in "\n".join(against_lines(study))
    listed = [("mbpp", "train")] * 7 + [("mbpp", "test")] * 40 + [("mbpp-full", "train")] * 5
    rows = [{"task": task, "split": split, "problem": f"{at}"} for at, (task, split) in enumerate(listed)]
    write_rows(study.root / PROBLEMS, rows)
    assert "training problems: 7 here" in "\n".join(against_lines(study))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"task": "mini-sums"}, r"no mini-sums greedy .*; it has .*gsm8k-answer-only greedy"),
        ({"penalty": "renyi", "order": 0.5}, r"mbpp greedy \(renyi 0\.5\); it has .*mbpp greedy \(shannon"),
    ],
)
def test_what_the_paper_has_not_is_refused(tmp_path, settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        against_lines(one_seed(tmp_path / "other", **settings))


def test_a_renyi_study_stands_beside_its_order(tmp_path):
    study = one_seed(tmp_path / "renyi", task="gsm8k", penalty="renyi", order=0.25, lams=(0.0, 8.0))
    [(rows, _)] = _rows(study).values()
    assert [row[3].partition("±")[0] for row in rows] == ["47.17", "18.83"]
