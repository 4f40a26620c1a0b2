"""Rows that anything wrote become sample rows; the least log of lm-eval does; all else is refused."""

import json

import pytest
from toys.logs import known_columns, rows_of, write_lm_eval

from erce.imports import Reading, import_study
from erce.imports.readers import read_log
from erce.study.export import records

LEAST = {
    **{"doc_id": 4, "resps": [["2+2=4"]], "metrics": ["exact_match"], "exact_match": 1.0},
    "arguments": {"gen_args_0": {"arg_0": "Q: 2+2?\nA:", "arg_1": {"until": ["\n"], "do_sample": False}}},
}


def test_a_log_of_lm_eval_with_the_fields_that_are_read_and_no_others_becomes_rows(tmp_path):
    path = tmp_path / "samples_sums_2026-01-01T00-00-00.000000.jsonl"
    path.write_text(json.dumps(LEAST), encoding="utf-8")
    [row], prompts = read_log(path, "mine", Reading())
    assert (row.task, row.decoding, row.accepted, row.completion) == ("sums", "greedy", True, "2+2=4")
    assert prompts == {"4": "Q: 2+2?\nA:"}


def test_a_row_has_its_problem_and_verdict_and_what_else_is_known_of_it(file):
    known = {"model": "m", "completion": "#### 4", "tokens": 9, "finish": "length", "extracted": "4"}
    known |= {"temperature": 0, "top_p": 0.9, "reason": "passed", "answer": "4", "stop": ["Q:"]}
    known |= {"logprob": -1.5, "entropy": 0.25, "repetition_penalty": 1.1}
    left = {"prompt": "2+2?", "flexible": None, "my own": [1]}
    path = file({"problem": 4, "accepted": 1} | known | left, "mine.jsonl")
    [row], prompts = read_log(path, "mine", Reading(task="sums"))
    shared = {"task": "sums", "arm": "mine", "seed": 0, "split": "", "decoding": "greedy"}
    assert known_columns(row) == shared | known | {"problem": "4", "sample": 0, "accepted": True}
    assert prompts == {"4": "2+2?"}


def test_samples_without_a_number_count_up_within_their_problem(file):
    lines = [{"problem": name, "accepted": False} for name in ("a", "b", "a")]
    rows = rows_of(file(lines, "mine.jsonl"), arm="mine", temperature=0.7)
    assert [(row.problem, row.sample) for row in rows] == [("a", 0), ("b", 0), ("a", 1)]
    assert {(row.decoding, row.temperature) for row in rows} == {("sampled", 0.7)}


def test_what_records_writes_is_read_again(tmp_path, file):
    logs = {"baseline": [write_lm_eval(tmp_path / "a", [[1], [0]])]}
    rows = list(records(import_study(tmp_path / "first", logs)))
    path = file([vars(row) for row in rows], "rows.jsonl")
    again = list(records(import_study(tmp_path / "second", {"baseline": [path]})))
    names = ("task", "arm", "problem", "sample", "completion", "answer", "accepted", "reason", "temperature")
    assert [[getattr(row, name) for name in names] for row in again] == [
        [getattr(row, name) for name in names] for row in rows
    ]


@pytest.mark.parametrize("name", ["split", "seed", "arm", "lam", "method", "model"])
def test_a_file_of_several_seeds_or_arms_is_refused(name, file):
    lines = [{"problem": 1, "accepted": 1, name: value} for value in (0, 1)]
    with pytest.raises(ValueError, match=f"rows of the {name}s 0, 1; give a file for each"):
        rows_of(file(lines, "mine.jsonl"), arm="mine", temperature=0)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "has no lines; write one JSON object for each completion"),
        ("[", "line 1 has neither the doc_id"),
        ("PK\3\4\xff\n", "line 1 has neither the doc_id, resps and metrics of lm-eval"),
        ('{"problem": 1}', 'nor "problem" and "accepted"; docs/records.md shows'),
        ('{"problem": null, "accepted": 1}', "has the problem None, neither a text nor a number"),
        ('{"problem": 1, "accepted": "C"}', "problem '1' has the accepted 'C', neither 0 nor 1"),
        ('{"problem": 1, "accepted": [1]}', "neither 0 nor 1"),
        ('{"problem": 1, "accepted": 1, "completion": 4}', "problem '1' has completion = 4, not a text"),
        ('{"problem": 1, "accepted": 1, "tokens": "9"}', "problem '1' has tokens = '9', not a number"),
        ('{"problem": 1, "accepted": 1, "sample": true}', "has sample = True, not a number"),
    ],
)
def test_a_file_that_cannot_be_read_is_said_with_its_place(tmp_path, content, sentence):
    (tmp_path / "log.jsonl").write_bytes(content.encode("latin-1"))
    with pytest.raises(ValueError, match=sentence):
        rows_of(tmp_path / "log.jsonl", arm="a")
