"""Logs of evalplus and the least logs of each tool become rows; the tool is told by the name."""

import json

import pytest
from toys.logs import (
    from_evalplus,
    from_inspect,
    from_lm_eval,
    write_evalplus,
    write_inspect,
    write_lm_eval,
)

from erce.imports import Reading
from erce.imports.readers import PATTERNS, format_of, read_log

ARGUMENTS = {"arg_0": "Q: 2+2?\nA:", "arg_1": {"until": ["\n"], "do_sample": False}}
LEAST = (  # a log of lm-eval, of inspect and of evalplus
    {
        **{"doc_id": 4, "target": "4", "arguments": {"gen_args_0": ARGUMENTS}, "prompt_hash": "8f0c"},
        **{"resps": [["2+2=4"]], "filtered_resps": ["4"], "filter": "strict-match"},
        **{"metrics": ["exact_match"], "exact_match": 1.0},
    },
    {
        "status": "success",
        "eval": {"task": "sums", "model": "mine", "model_generate_config": {"temperature": 0}},
        "samples": [
            {
                **{"id": 4, "epoch": 1, "input": "2+2?", "target": "4"},
                "output": {
                    "completion": "2+2=4",
                    "choices": [{"stop_reason": "stop"}],
                    "usage": {"output_tokens": 3},
                },
                "scores": {"match": {"value": "C", "answer": "4"}},
            }
        ],
    },
    {
        "eval": {
            "HumanEval/0": [
                {
                    **{"task_id": "HumanEval/0", "solution": "def f():\n    return 4\n"},
                    **{"base_status": "pass", "plus_status": "fail"},
                }
            ]
        }
    },
)


def test_the_format_is_told_by_the_name(tmp_path):
    logs = {
        "lm-eval": next(write_lm_eval(tmp_path / "lm", [[1]]).iterdir()),
        "inspect": write_inspect(tmp_path / "a.json", [[1]]),
        "evalplus": write_evalplus(tmp_path / "b_eval_results.json", [[("pass", "pass")]]),
    }
    assert {kind: format_of(path) for kind, path in logs.items()} == {kind: kind for kind in PATTERNS}
    assert {
        kind: list(read_log(path, "a", Reading(temperature=0))[1].values()) for kind, path in logs.items()
    } == {"lm-eval": ["Q: 0+0?\nA:"], "inspect": ["Add.\n\n0+0?"], "evalplus": [""]}
    with pytest.raises(ValueError, match="not the name of a log of lm-eval, inspect, evalplus"):
        format_of(tmp_path / "c.txt")


def test_logs_with_the_fields_that_are_read_and_no_others_become_rows(tmp_path):
    names = ("samples_sums_2026-01-01T00-00-00.000000.jsonl", "log.json", "x_temp_0.0_eval_results.json")
    paths = [tmp_path / name for name in names]
    for path, log in zip(paths, LEAST, strict=True):
        path.write_text(json.dumps(log), encoding="utf-8")
    readers = (from_lm_eval, from_inspect, from_evalplus)
    rows = [row for read, path in zip(readers, paths, strict=True) for row in read(path, arm="mine")]
    assert [row.task for row in rows] == ["sums", "sums", "humaneval"]
    assert {(row.arm, row.decoding, row.accepted) for row in rows} == {("mine", "greedy", True)}
    assert [row.completion for row in rows][:2] == ["2+2=4"] * 2


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
        write_evalplus(tmp_path / "m_hf_temp_0.8_eval_results.json", programs), arm="a", plus=plus
    )
    assert [row.accepted for row in rows] == accepted
    assert [row.reason for row in rows] == reasons
    assert [(row.problem, row.sample) for row in rows[:3]] == [
        ("HumanEval/0", 0),
        ("HumanEval/0", 1),
        ("HumanEval/1", 0),
    ]
    assert {(row.task, row.decoding, row.temperature, row.seed) for row in rows} == {
        (task, "sampled", 0.8, 0)
    }
    assert rows[2].completion == rows[2].extracted == "def f():\n    return 1"


def test_the_temperature_may_stand_in_the_name_of_the_folder(tmp_path):
    folder = tmp_path / "m_hf_temp_0.8"
    folder.mkdir()
    [row] = from_evalplus(write_evalplus(folder / "eval_results.json", [[("pass", None)]]), arm="a")
    assert (row.decoding, row.temperature) == ("sampled", 0.8)


@pytest.mark.parametrize(
    ("name", "content", "chosen", "sentence"),
    [
        ("", [[("pass", "pass")]], {}, "does not say how it was sampled; give --temperature"),
        ("a_temp_1_", [[("pass", None)]], {"plus": True}, "without base_status and plus_status"),
        ("a_temp_1_", [], {}, "has no section 'eval' with anything in it"),
        ("a_temp_1_", "[", {}, "is not JSON"),
        ("a_temp_1_", '{"eval": {"HumanEval/0": {"nfiles": 1}}}', {}, "without base_status; evaluate it"),
        ("a_temp_1_", '{"eval": {"HumanEval/0": [{}]}}', {}, "without base_status"),
    ],
)
def test_results_of_evalplus_that_cannot_be_read_are_said(tmp_path, name, content, chosen, sentence):
    name += "eval_results.json"
    if isinstance(content, str):
        (tmp_path / name).write_text(content)
    else:
        write_evalplus(tmp_path / name, content)
    with pytest.raises(ValueError, match=sentence):
        from_evalplus(tmp_path / name, arm="a", **chosen)
