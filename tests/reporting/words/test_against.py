"""A study of the paper's task beside the paper."""

from dataclasses import asdict

import numpy as np
import pytest
from toys.paper_study import make_study

from erce.files import read_json, write_json, write_rows
from erce.paper import lookup
from erce.reporting.numbers.against import FROM_SEEDS, FROM_SUMMARY, ONE_SEED, against_rows
from erce.reporting.words.against import against_lines, against_warnings
from erce.stats import welch
from erce.study.folder import PROBLEMS
from erce.types import Arm

MODEL = "Qwen/Qwen2.5-1.5B-Instruct"


@pytest.fixture(scope="module")
def gsm8k(tmp_path_factory):
    """Three seeds on the task and its control, with a λ that the paper lacks."""
    return make_study(
        tmp_path_factory.mktemp("paper") / "gsm8k",
        task="gsm8k",
        control="gsm8k-answer-only",
        lams=(0.0, 1.0, 5.0, 8.0),
        seeds=(0, 1, 2),
        accuracy=lambda task, arm, decoding: 0.1 if task == "gsm8k-answer-only" else 0.5,
    )


def one_seed(folder, **settings):
    return make_study(
        folder, **{"task": "mbpp", "lams": (0.0, 1.0), "seeds": (0,), "model": MODEL, **settings}
    )


def test_rows_are_the_lams_that_both_have(gsm8k):
    rows = [(row.task, row.decoding, row.lam) for row in against_rows(gsm8k)]
    assert rows == [
        (task, decoding, lam)
        for task, decoding in (("gsm8k", "greedy"), ("gsm8k", "sampled"), ("gsm8k-answer-only", "greedy"))
        for lam in (0.0, 1.0, 8.0)
    ]


def test_a_row_is_welch_over_the_seeds_of_both(gsm8k):
    row = against_rows(gsm8k)[1]
    ours = gsm8k.outcomes("gsm8k", Arm(1.0), split="test", decoding="greedy").mean(axis=(1, 2))
    expected = welch(ours.tolist(), lookup("gsm8k", "greedy").scores(1))
    assert (row.difference, row.low, row.high, row.p) == pytest.approx(expected[:4])
    assert row.basis == FROM_SEEDS
    assert (row.mean, row.sd) == pytest.approx((ours.mean(), np.std(ours)))
    assert (row.n_seeds, row.n_problems, row.paper_n_seeds) == (3, 40, 5)
    assert (row.paper_mean, row.paper_sd) == (0.5276, 0.0064)


def test_gains_stand_beside_each_other(gsm8k):
    first, second, *_ = against_rows(gsm8k)
    assert (first.gain, first.paper_gain) == (None, None)
    assert second.gain == pytest.approx(second.mean - first.mean)
    assert second.paper_gain == pytest.approx(0.0364)


def test_where_the_paper_prints_no_seeds_the_basis_says_so(gsm8k):
    sampled = [row for row in against_rows(gsm8k) if row.decoding == "sampled"]
    assert {row.basis for row in sampled} == {FROM_SUMMARY}
    assert all(row.low is not None and row.low < row.difference < row.high for row in sampled)


def test_one_seed_has_no_interval(tmp_path):
    row = against_rows(one_seed(tmp_path / "one"))[0]
    assert (row.sd, row.low, row.high, row.p, row.basis) == (None, None, None, None, ONE_SEED)
    assert row.difference == pytest.approx(row.mean - 0.527)
    assert any(
        "interval: none, with one seed." in line for line in against_lines(one_seed(tmp_path / "again"))
    )


def test_rows_come_back_from_json_as_they_were(gsm8k, tmp_path):
    rows = [asdict(row) for row in against_rows(gsm8k)]
    write_json(tmp_path / "rows.json", {"rows": rows})
    assert read_json(tmp_path / "rows.json")["rows"] == rows


def test_cells_that_are_not_done_have_no_row(tmp_path):
    study = one_seed(tmp_path / "half", skip={("mbpp", 0.0, 0)})
    assert {row.lam for row in against_rows(study)} == {1.0}
    assert {row.gain for row in against_rows(study)} == {None}
    assert any(text.startswith("Missing here: 1 cell,") for text in against_warnings(study))


def test_a_study_without_a_finished_cell_still_reads(tmp_path):
    study = one_seed(tmp_path / "none", skip={("mbpp", lam, 0) for lam in (None, 0.0, 1.0)})
    assert against_rows(study) == []
    assert "  none of the paper's λ is done here" in against_lines(study)


def test_the_text_lines_up_and_names_the_tables(gsm8k):
    lines = against_lines(gsm8k)
    assert lines[0] == "gsm8k, greedy, beside the paper's tab:entropy_appendix_results, in %"
    headings = "λ here seeds paper seeds difference 95 % interval gain paper's gain"
    assert lines[1].split() == headings.split()
    assert "49.12 ± 1.54" in lines[2]
    assert len({len(line) for line in lines[1:5]}) == 1
    assert "What differs from the paper:" in lines


@pytest.mark.parametrize(
    "sentence",
    [
        f"The model here is tiny, the paper's is {MODEL}: these are two models.",
        "test problems: 40 here, 500 in the paper.",
        "gsm8k greedy, gsm8k-answer-only greedy: seeds: 3 here, 5 in the paper.",
        "gsm8k sampled: samples a problem: 2 here, 8 in the paper.",
        "λ = 5: not in the paper, so not compared.",
        "gsm8k sampled: λ = 3: in the paper and not done here.",
    ],
)
def test_differences_are_said_once_and_where_they_hold(gsm8k, sentence):
    assert against_warnings(gsm8k).count(sentence) == 1


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        ({"training": {"epochs": 1.0}}, "[training] epochs is 1 here, 3 in the paper"),
        ({"training": {"normalize": "token"}}, '[training] normalize is "token" here'),
        ({"decoding": {"temperature": 1.0}}, "temperature: 1 here, 0.8 in the paper"),
        ({"n_train": 126}, "training problems: 126 here, 300 in the paper"),
        ({"task": "mbpp-full"}, "outside the sanitized subset"),
        ({}, "of 427 in all"),
        ({}, "no row of the base model, which is right in "),
        ({"n_test": 50}, "50 problems here and 200 there can differ by up to 15.5 points"),
    ],
)
def test_other_settings_are_warned_of(tmp_path, settings, part):
    from erce.recipe import Decoding, Training

    sections = {"training": Training, "decoding": Decoding}
    settings = {key: sections[key](**value) if key in sections else value for key, value in settings.items()}
    assert any(part in text for text in against_warnings(one_seed(tmp_path / "study", **settings)))


def test_the_papers_settings_are_not_warned_of(tmp_path):
    from erce.recipe import Training

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
    differences = [text for text in against_warnings(study) if " here" in text and "base model" not in text]
    assert [text.startswith("Which problems") for text in differences] == [True] * len(differences)


def test_training_problems_are_counted_from_the_studys_own_list(tmp_path):
    study = one_seed(tmp_path / "listed")
    assert not any("training problems" in text for text in against_warnings(study))
    listed = [("mbpp", "train")] * 7 + [("mbpp", "test")] * 40 + [("mbpp-full", "train")] * 5
    rows = [{"task": task, "split": split, "problem": f"{at}"} for at, (task, split) in enumerate(listed)]
    write_rows(study.root / PROBLEMS, rows)
    assert any("training problems: 7 here" in text for text in against_warnings(study))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"task": "mini-sums"},
            r"no task 'mini-sums' .*; it has gsm8k, mbpp, math, gsm8k-answer-only, mbpp-f",
        ),
        (
            {"penalty": "renyi", "order": 0.5},
            r"mbpp greedy \(renyi 0\.5\); it has mbpp greedy \(shannon",
        ),
    ],
)
def test_what_the_paper_has_not_is_refused(tmp_path, settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        against_lines(one_seed(tmp_path / "other", **settings))


def test_a_renyi_study_stands_beside_its_order(tmp_path):
    study = one_seed(tmp_path / "renyi", task="gsm8k", penalty="renyi", order=0.25, lams=(0.0, 8.0))
    rows = against_rows(study)
    assert [(row.decoding, row.paper_mean, row.paper_n_seeds) for row in rows] == [
        ("greedy", 0.4717, 3),
        ("greedy", 0.1883, 3),
    ]
