"""What several samples do together: the numbers of the cells, in a sentence that says which arm is ahead."""

import json

import pytest
from fake_study import TASK, make_study

from erce.reporting.gains import summary
from erce.reporting.several import sentence, several
from erce.results import cell_folder, read_json, read_study, write_json

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
    found = several(study)
    assert found["k"] == 4
    assert found["treated"] == pytest.approx({"pass": 0.8, "maj": 0.7})
    assert found["baseline"] == pytest.approx({"pass": 0.9, "maj": 0.5, "best": 0.4})
    json.dumps(found, allow_nan=False)


def test_the_sentence_leaves_out_what_one_arm_lacks(study):
    text = sentence(study)
    assert "one of 4 samples is right on 80.0 % of problems against 90.0 %" in text
    assert "the vote of 4 on 70.0 % of problems against 50.0 %" in text
    assert "likeliest" not in text
    crossed = several(study)["crossover"]
    assert ("overtakes the other" in text) == (crossed is None)


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
    found = summary(read_study(made.root))
    assert several(found)["crossover"]["k"] == 3
    assert "the penalty is ahead with few samples and behind from 3 on" in sentence(found)


def test_one_sample_or_no_chosen_penalty_has_nothing_to_say(tmp_path):
    assert several(summary(make_study(tmp_path / "one", samples=1))) is None
    losing = make_study(tmp_path / "ce", right=lambda task, lam, decoding: 0.9 if not lam else 0.2)
    assert sentence(summary(losing)) == ""
    assert summary(losing).study.recipe.task == TASK
