"""Results of evalplus become rows; its own tests and the added tests are two verdicts."""

import pytest
from toys.logs import write_evalplus

from erce.imports import from_evalplus, import_study
from erce.study.export import COLUMNS
from erce.types import BASELINE


@pytest.mark.parametrize(
    ("plus", "accepted", "reasons", "task"),
    [
        (False, [True, True, False, False], ["passed", "passed", "failed", "timeout"], "humaneval"),
        (True, [True, False, False, False], ["passed", "failed", "failed", "timeout"], "humaneval+"),
    ],
)
def test_base_and_plus_are_two_verdicts_of_evalplus(tmp_path, plus, accepted, reasons, task):
    programs = [[("pass", "pass"), ("pass", "fail")], [("fail", "pass"), ("timeout", "fail")]]
    rows = from_evalplus(
        write_evalplus(tmp_path / "m_hf_temp_0.8_eval_results.json", programs), arm="a", seed=2, plus=plus
    )
    assert list(vars(rows[0])) == list(COLUMNS)
    assert [row.accepted for row in rows] == accepted
    assert [row.reason for row in rows] == reasons
    assert [(row.problem, row.sample) for row in rows[:3]] == [
        ("HumanEval/0", 0),
        ("HumanEval/0", 1),
        ("HumanEval/1", 0),
    ]
    assert {(row.task, row.decoding, row.temperature, row.seed) for row in rows} == {
        (task, "sampled", 0.8, 2)
    }
    assert rows[2].completion == rows[2].extracted == "def f():\n    return 1"


def test_the_samples_of_evalplus_stand_for_the_results_beside_them(tmp_path):
    path = tmp_path / "m_hf_temp_0.0.jsonl"
    path.write_text('{"task_id": "HumanEval/0", "solution": ""}\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"m_hf_temp_0\.0_eval_results\.json is not beside it; run evalplus"):
        from_evalplus(path, arm="a")
    write_evalplus(tmp_path / "m_hf_temp_0.0_eval_results.json", [[("pass", None)]])
    [row] = from_evalplus(path, arm="a")
    assert (row.decoding, row.temperature, row.accepted) == ("greedy", 0.0, True)
    study = import_study(tmp_path / "study", {"baseline": [path]})
    assert study.outcomes("humaneval", BASELINE, split="test", decoding="greedy").tolist() == [[[1]]]


def test_the_temperature_may_stand_in_the_name_of_the_folder(tmp_path):
    folder = tmp_path / "m_hf_temp_0.8"
    folder.mkdir()
    [row] = from_evalplus(write_evalplus(folder / "eval_results.json", [[("pass", None)]]), arm="a")
    assert (row.decoding, row.temperature) == ("sampled", 0.8)


@pytest.mark.parametrize(
    ("name", "content", "chosen", "sentence"),
    [
        (
            "eval_results.json",
            [[("pass", "pass")]],
            {},
            "does not say how it was sampled; give --temperature",
        ),
        ("a_temp_1_eval_results.json", [[("pass", None)]], {"plus": True}, "no verdicts of the added tests"),
        ("a_temp_1_eval_results.json", [], {}, "has no problems under 'eval'"),
        ("a_temp_1_eval_results.json", "[", {}, "is no JSON"),
        ("a_temp_1_eval_results.json", '{"eval": {"HumanEval/0": {"nfiles": 1}}}', {}, "by an old evalplus"),
        ("a_temp_1_eval_results.json", '{"eval": {"HumanEval/0": [{}]}}', {}, "without base_status"),
    ],
)
def test_results_of_evalplus_that_cannot_be_read_are_said(tmp_path, name, content, chosen, sentence):
    if isinstance(content, str):
        (tmp_path / name).write_text(content)
    else:
        write_evalplus(tmp_path / name, content)
    with pytest.raises(ValueError, match=sentence):
        from_evalplus(tmp_path / name, arm="a", **chosen)
