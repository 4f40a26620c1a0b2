"""A file of our own rows is imported whole, or refused with the line that is wrong."""

import json
from dataclasses import replace

import pytest
from toys.logs import lm_eval_document

from erce.cli.main import main
from erce.imports import from_lm_eval
from erce.study.export import export
from erce.study.folder import read_study
from erce.study.regrade import regrade_file
from erce.types import BASELINE


@pytest.fixture
def exported(file, tmp_path):
    """A file of thirty rows, as `erce records` writes them."""
    rows = from_lm_eval(file([lm_eval_document(at, at % 2) for at in range(30)]), arm="lam0")
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
    printed = capsys.readouterr().err
    assert sentence in printed
    assert printed.startswith("erce: ")
    assert printed.count("\n") == 1
    assert not (tmp_path / "study").exists()


def test_an_imported_run_is_judged_again(file, tmp_path):
    rows = from_lm_eval(file([lm_eval_document(4, 0), lm_eval_document(5, 1)]), arm="a")
    export(rows, tmp_path / "rows.jsonl")
    judged = regrade_file(tmp_path / "rows.jsonl", kind="number", workers=1)
    assert [row.verdicts["strict"].accepted for row in judged] == [True, False]
