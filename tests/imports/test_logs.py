"""Runs that other harnesses logged become rows and arrays of our form; nothing missing counts as wrong."""

import json
import struct
import zipfile
import zlib
from dataclasses import replace

import numpy as np
import pytest

from erce.cli.main import main
from erce.imports import from_inspect, from_lm_eval
from erce.study.export import COLUMNS, export, outcome_arrays
from erce.study.folder import read_study
from erce.study.regrade import regrade_file
from erce.types import BASELINE

HASH = "8" * 64


def document(doc_id, value, **change):
    """A line as `lm_eval --log_samples` writes it for a generated answer."""
    return {
        "doc_id": doc_id,
        "doc": {"question": "2+2?", "answer": "#### 4"},
        "target": "4",
        "arguments": {"gen_args_0": {"arg_0": "Q: 2+2?\nA:", "arg_1": {"until": ["\n"], "do_sample": False}}},
        "resps": [[f"So #### {doc_id}"]],
        "filtered_resps": [str(doc_id)],
        "filter": "strict-match",
        "metrics": ["exact_match"],
        "doc_hash": HASH,
        "prompt_hash": HASH,
        "target_hash": HASH,
        "exact_match": value,
    } | change


def sample(name, epoch, value, **change):
    """A sample of an inspect log."""
    return {
        "id": name,
        "epoch": epoch,
        "input": "2+2?",
        "target": "4",
        "output": {
            "model": "m",
            "choices": [{"message": {"role": "assistant", "content": f"#### {name}"}, "stop_reason": "stop"}],
            "completion": f"#### {name}",
            "usage": {"input_tokens": 5, "output_tokens": 9},
        },
        "scores": {"match": {"value": value, "answer": str(name)}},
    } | change


def log(samples, **change):
    run = {
        "task": "gsm8k",
        "model": "vllm/m",
        "model_generate_config": {"temperature": 0.8, "max_tokens": 64},
    }
    return (
        {"version": 2, "status": "success", "eval": run, "plan": {"config": {"top_p": 0.9}}}
        | change
        | {"samples": samples}
    )


@pytest.fixture
def file(tmp_path):
    def write(content, name="samples_gsm8k_2026-01-01T00-00-00.000000.jsonl"):
        lines = content if isinstance(content, list) else [content]
        (tmp_path / name).write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
        return tmp_path / name

    return write


@pytest.fixture
def archive(tmp_path):
    def write(content, compression=zipfile.ZIP_DEFLATED, leave_out=()):
        header = {name: value for name, value in content.items() if name != "samples"}
        members = {"header.json": header, "_journal/start.json": {}, "summaries.json": []}
        for each in reversed(content["samples"]):
            members[f"samples/{each['id']}_epoch_{each['epoch']}.json"] = each
        with zipfile.ZipFile(tmp_path / "log.eval", "w", compression) as file:
            for name, member in members.items():
                if name not in leave_out:
                    file.writestr(name, json.dumps(member))
        return tmp_path / "log.eval"

    return write


def zstandard(path, members):
    """An archive of such members as inspect writes them, which Python's zipfile reads only from 3.14 on."""
    pyarrow = pytest.importorskip("pyarrow")
    body, directory = b"", b""
    for name, content in ((name.encode(), json.dumps(member).encode()) for name, member in members.items()):
        packed = pyarrow.compress(content, "zstd", asbytes=True)
        head = struct.pack(
            "<5H3L2H", 63, 0, 93, 0, 33, zlib.crc32(content), len(packed), len(content), len(name), 0
        )
        directory += b"PK\1\2\0\0" + head + struct.pack("<3H2L", 0, 0, 0, 0, len(body)) + name
        body += b"PK\3\4" + head + name + packed
    counts = struct.pack("<4H2LH", 0, 0, len(members), len(members), len(directory), len(body), 0)
    path.write_bytes(body + directory + b"PK\5\6" + counts)
    return path


def given(row):
    return {name: value for name, value in vars(row).items() if value is not None}


def test_a_document_of_lm_eval_is_a_row(file):
    [row] = from_lm_eval(file(document(4, 1.0)), arm="mine", seed=3)
    assert list(vars(row)) == list(COLUMNS)
    assert given(row) == {
        "task": "gsm8k",
        "arm": "mine",
        "seed": 3,
        "split": "test",
        "decoding": "greedy",
        "temperature": 0.0,
        "stop": ["\n"],
        "problem": "4",
        "prompt_hash": HASH[:16],
        "answer": "4",
        "sample": 0,
        "completion": "So #### 4",
        "accepted": True,
        "extracted": "4",
    }


@pytest.mark.parametrize(
    ("resps", "filtered", "value", "accepted", "extracted"),
    [
        ([["a", "b"]], [["x", "y"]], [1, 0], [True, False], ["x", "y"]),
        ([["a", "b"]], ["x", "y"], [0.0, 1.0], [False, True], ["x", "y"]),
        ([["a", "b"]], ["x"], 1.0, [None, None], [None, None]),  # a vote has no single winner
        ([["a"]], ["x"], True, [True], ["x"]),
        ([[[-1.5, False]], [[-0.5, True]]], [[-1.5, False], [-0.5, True]], 0, [False], [None]),
    ],
)
def test_each_response_of_lm_eval_has_its_own_verdict_or_none(
    file, resps, filtered, value, accepted, extracted
):
    rows = from_lm_eval(file(document(1, value, resps=resps, filtered_resps=filtered)), arm="a")
    assert [row.accepted for row in rows] == accepted
    assert [row.extracted for row in rows] == extracted
    assert [row.sample for row in rows] == list(range(len(rows)))


@pytest.mark.parametrize(
    ("settings", "decoding", "temperature"),
    [
        ({"do_sample": True, "temperature": 0.7}, "sampled", 0.7),
        ({"do_sample": True, "temperature": 0}, "greedy", 0.0),
        ({"temperature": 0.7}, "greedy", 0.0),
        ({}, "greedy", 0.0),
    ],
)
def test_the_decoding_of_lm_eval_is_read_from_its_arguments(file, settings, decoding, temperature):
    for arguments in ({"gen_args_0": {"arg_0": "Q", "arg_1": settings}}, [["Q", settings]]):
        [row] = from_lm_eval(file(document(1, 1, arguments=arguments)), arm="a")
        assert (row.decoding, row.temperature) == (decoding, temperature)


def test_a_filter_and_a_metric_are_chosen_where_there_are_several(file):
    both = {"metrics": ["acc", "acc_norm"], "acc": 0, "acc_norm": 1}
    path = file([document(1, 0, **both), document(1, 0, filter="flexible-extract", **both)])
    with pytest.raises(ValueError, match="the filters flexible-extract, strict-match; choose with filter="):
        from_lm_eval(path, arm="a")
    with pytest.raises(ValueError, match="the metrics acc, acc_norm; choose with metric="):
        from_lm_eval(path, arm="a", filter="strict-match")
    for metric, accepted in (("acc", False), ("acc_norm", True)):
        [row] = from_lm_eval(path, arm="a", filter="strict-match", metric=metric)
        assert row.accepted is accepted


@pytest.mark.parametrize(
    ("content", "chosen", "sentence"),
    [
        ({"doc": {}}, {}, "line 1 has no doc_id and resps"),
        ([[1]], {}, "line 1 has no doc_id and resps"),
        (document(1, 0.5), {}, r"document 1 has the value 0\.5, neither 0 nor 1"),
        (document(1, [1, 0]), {}, "1 responses and 2 verdicts"),
        (document(1, 1), {"metric": "f1"}, "no metric 'f1'; it has exact_match"),
        (document(1, 1), {"filter": "none"}, "no line with filter 'none'"),
    ],
)
def test_a_file_of_lm_eval_that_cannot_be_read_is_said_with_its_place(file, content, chosen, sentence):
    with pytest.raises(ValueError, match=sentence):
        from_lm_eval(file(content), arm="a", **chosen)


@pytest.mark.parametrize("form", ["json", "stored", "deflated"])
def test_a_sample_of_inspect_is_a_row(file, archive, form):
    content = log([sample(4, 1, "C"), sample(4, 2, "I")])
    kinds = {"stored": zipfile.ZIP_STORED, "deflated": zipfile.ZIP_DEFLATED}
    path = file(content, "log.json") if form == "json" else archive(content, kinds[form])
    first, second = from_inspect(path, arm="mine", seed=2)
    assert list(vars(first)) == list(COLUMNS)
    assert given(first) == {
        "task": "gsm8k",
        "arm": "mine",
        "seed": 2,
        "model": "vllm/m",
        "split": "test",
        "decoding": "sampled",
        "temperature": 0.8,
        "top_p": 0.9,
        "max_new_tokens": 64,
        "problem": "4",
        "answer": "4",
        "sample": 0,
        "completion": "#### 4",
        "tokens": 9,
        "finish": "stop",
        "accepted": True,
        "extracted": "4",
    }
    assert (second.sample, second.accepted) == (1, False)


@pytest.mark.parametrize(
    ("value", "accepted"), [("C", True), ("I", False), ("N", False), (1, True), (0.0, False), (True, True)]
)
def test_a_score_of_inspect_is_right_or_wrong(file, value, accepted):
    [row] = from_inspect(file(log([sample(1, 1, value)]), "log.json"), arm="a")
    assert row.accepted is accepted


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"scores": None}, {"accepted": None, "reason": None}),
        ({"error": {"message": "server"}}, {"accepted": None, "reason": "error"}),
        ({"scores": None, "score": {"value": "C"}}, {"accepted": True, "extracted": None}),
        ({"target": ["4", "four"]}, {"answer": "4; four"}),
        (
            {
                "output": {
                    "choices": [
                        {
                            "stop_reason": "max_tokens",
                            "message": {
                                "content": [
                                    {"type": "reasoning", "reasoning": "hm"},
                                    {"type": "text", "text": "4"},
                                ]
                            },
                        }
                    ]
                }
            },
            {"completion": "4", "finish": "length", "tokens": None},
        ),
        (
            {"output": {"completion": "attachment://f00"}, "attachments": {"f00": "long"}},
            {"completion": "long"},
        ),
        ({"output": {}}, {"completion": None}),
    ],
)
def test_what_a_sample_of_inspect_lacks_is_none(file, change, said):
    [row] = from_inspect(file(log([sample(1, 1, "C", **change)]), "log.json"), arm="a")
    assert {name: getattr(row, name) for name in said} == said


@pytest.mark.parametrize(
    ("content", "chosen", "sentence"),
    [
        ({"samples": []}, {}, "no section 'eval'"),
        (log([]), {}, "holds no samples"),
        (log([], status="cancelled"), {}, "ended as 'cancelled'; finish it"),
        (log([sample(1, 1, "P")]), {}, "the score 'P', neither right nor wrong"),
        (log([sample(1, 1, {"a": 1})]), {}, "neither right nor wrong"),
        (log([sample(1, 1, "C")]), {"scorer": "f1"}, "no score 'f1'; it has match"),
        (log([sample(1, 1, "C", scores={"a": {}, "b": {}})]), {}, "the scores a, b; choose with scorer="),
    ],
)
def test_a_log_of_inspect_that_cannot_be_read_is_said(file, content, chosen, sentence):
    with pytest.raises(ValueError, match=sentence):
        from_inspect(file(content, "log.json"), arm="a", **chosen)


def test_an_archive_that_cannot_be_read_is_said(archive):
    content = log([sample(1, 1, "C")])
    with pytest.raises(ValueError, match=r"no header\.json"):
        from_inspect(archive(content, leave_out=["header.json"]), arm="a")
    with pytest.raises(ValueError, match="inspect log convert --to json"):
        from_inspect(archive(content, zipfile.ZIP_BZIP2), arm="a")


def test_an_archive_packed_with_zstandard_is_read(file, tmp_path):
    content = log([sample(4, 1, "C"), sample(5, 1, "I")])
    members = {"header.json": {name: value for name, value in content.items() if name != "samples"}}
    members |= {f"samples/{each['id']}_epoch_1.json": each for each in content["samples"]}
    path = zstandard(tmp_path / "log.eval", members)
    assert from_inspect(path, arm="a") == from_inspect(file(content, "log.json"), arm="a")
    torn = path.read_bytes()
    at = torn.index(zlib.crc32(json.dumps(members["header.json"]).encode()).to_bytes(4, "little"), 60)
    path.write_bytes(torn[:at] + b"\0\0\0\0" + torn[at + 4 :])
    with pytest.raises(ValueError, match=r"is damaged: header\.json is not what was written"):
        from_inspect(path, arm="a")


def test_two_runs_become_arrays_that_line_up(file):
    ours = from_lm_eval(file([document(2, 1), document(1, 0)]), arm="treated")
    base = from_lm_eval(file([document(1, 1), document(2, 0)]), arm="base")
    again = from_lm_eval(file([document(1, 1), document(2, 1)]), arm="base", seed=1)
    arrays = outcome_arrays([*ours, *again, *base])
    np.testing.assert_array_equal(arrays["treated"], [[[0], [1]]])
    np.testing.assert_array_equal(arrays["base"], [[[1], [0]], [[1], [1]]])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda rows: rows[:-1], r"arm 'b', seed 0, problem '2', sample 0 is missing \(1 in all\)"),
        (lambda rows: [*rows, rows[0]], "arm 'a', seed 0, problem '1', sample 0 is there twice"),
        (lambda rows: [replace(rows[0], accepted=None), *rows[1:]], "has no verdict; judge it first"),
        (lambda rows: [replace(rows[0], task="math"), *rows[1:]], "select one task, split and decoding"),
        (lambda rows: [replace(rows[0], decoding="sampled"), *rows[1:]], "select one task"),
        (lambda rows: [], "nothing to compare"),
    ],
)
def test_nothing_missing_is_ever_scored(file, change, sentence):
    path = file([document(1, 1), document(2, 0)])
    rows = from_lm_eval(path, arm="a") + from_lm_eval(path, arm="b")
    with pytest.raises(ValueError, match=sentence):
        outcome_arrays(change(rows))


def test_an_imported_run_is_judged_again(file, tmp_path):
    rows = from_lm_eval(file([document(4, 0), document(5, 1)]), arm="a")
    export(rows, tmp_path / "rows.jsonl")
    judged = regrade_file(tmp_path / "rows.jsonl", kind="number", workers=1)
    assert [row.verdicts["number"].accepted for row in judged] == [True, False]


@pytest.fixture
def exported(file, tmp_path):
    """A file of thirty rows, as `erce records` writes them."""
    rows = from_lm_eval(file([document(at, at % 2) for at in range(30)]), arm="lam0")
    trained = {"lam": 0.0, "objective": "cross-entropy"}
    export([replace(row, **trained) for row in rows], tmp_path / "rows.jsonl")
    return tmp_path / "rows.jsonl"


def test_every_row_of_a_file_is_imported_whether_or_not_its_last_line_ends(exported, tmp_path):
    exported.write_bytes(exported.read_bytes().rstrip(b"\n"))
    assert main(["import", str(tmp_path / "study"), "--rows", str(exported)]) == 0
    outcomes = read_study(tmp_path / "study").outcomes("gsm8k", BASELINE, split="test", decoding="greedy")
    assert (outcomes.size, outcomes.sum()) == (30, 15)


def test_rows_whose_numbers_another_tool_wrote_its_own_way_are_the_same_rows(exported, tmp_path):
    text = exported.read_text(encoding="utf-8")
    changed = text.replace('"lam": 0.0', '"lam": 0').replace('"seed": 0', '"seed": 0.0')
    (tmp_path / "changed.jsonl").write_text(changed, encoding="utf-8")
    for name in ("rows", "changed"):
        assert main(["import", str(tmp_path / name), "--rows", str(tmp_path / f"{name}.jsonl")]) == 0
    files = [
        {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        for root in (tmp_path / "rows", tmp_path / "changed")
    ]
    assert files[0] == files[1]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (lambda row: "[1, 2]", "line 31 is no JSON object; correct or remove the line"),
        (lambda row: '{"task": "gs', "line 31 is no JSON object; correct or remove the line"),
        (lambda row: '{"task": "gsm8k"}', "has not the columns that `erce records` writes"),
        (
            lambda row: json.dumps(row | {"sample": "a"}),
            "row 31: sample = 'a', where `erce records` writes int64",
        ),
        (lambda row: json.dumps(row | {"seed": 0.5}), "row 31: seed = 0.5, where"),
        (lambda row: json.dumps(row | {"arm": None}), "row 31: arm = None, where"),
        (lambda row: json.dumps(row | {"accepted": 1}), "row 31: accepted = 1, where"),
        (lambda row: json.dumps(row | {"lam": True}), "row 31: lam = True, where"),
    ],
)
def test_a_file_of_rows_that_cannot_be_read_is_said_with_its_line(exported, tmp_path, line, sentence, capsys):
    row = json.loads(exported.read_text(encoding="utf-8").splitlines()[0])
    with exported.open("a", encoding="utf-8") as file:
        file.write(line(row))
    assert main(["import", str(tmp_path / "study"), "--rows", str(exported)]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.startswith("erce: ")
    assert said.count("\n") == 1
    assert not (tmp_path / "study").exists()
