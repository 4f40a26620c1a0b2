"""A file or a study judged again: every row once, in its order, under every procedure."""

import json

import pytest

from erce import regrade
from erce.cli import main
from erce.regrade import regrade_file, summary

MATH = [
    {"answer": "(2,3]", "completion": "so \\boxed{(2,3]}", "expected": True},
    {"gold": "0.0000001", "pred": "\\boxed{0.0000002}", "expected": False},
    {"answer": "\\{1,2\\}", "completion": "\\boxed{\\{2,1\\}}", "kind": "response"},
]
PROGRAM = {"program": "class Yes:\n    __eq__ = lambda s, o: True\ndef f():\n    return Yes()"}
PROGRAMS = [
    PROGRAM | {"tests": ["assert f() == 3"]},
    {"code": "def f(): return g()", "tests": ["assert f() == 3"], "setup": ["def g(): return 3"]},
    {"completion": "def f(): return 3", "tests": ["assert f() == 3"], "entry_points": ["f"]},
]


@pytest.fixture
def file(tmp_path):
    def write(rows):
        path = tmp_path / "rows.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return write


@pytest.fixture(autouse=True)
def without_math_verify(monkeypatch):
    """What is installed beside erce changes no test."""
    monkeypatch.setattr(regrade, "math_verify_is_installed", lambda: False)


def accepted(rows, procedure):
    return [row.verdicts[procedure].accepted for row in rows]


def test_rows_of_all_kinds_keep_their_order(file):
    rows = regrade_file(file([MATH[0], PROGRAMS[2], MATH[1]]), workers=1)
    assert [row.where for row in rows] == ["line 1", "line 2", "line 3"]
    assert [set(row.verdicts) for row in rows] == [
        {"typed", "paper"},
        {"strict", "paper"},
        {"typed", "paper"},
    ]


def test_what_the_paper_takes_for_equal_or_does_not_know_is_a_dispute(file):
    rows = regrade_file(file(MATH), workers=1)
    assert accepted(rows, "typed") == [True, False, True]
    assert accepted(rows, "paper") == [True, True, False]  # an absolute tolerance, and no sets
    assert [row.where for row in rows if row.disputed] == ["line 2", "line 3"]


def test_a_forged_pass_is_a_dispute(file):
    rows = regrade_file(file(PROGRAMS), workers=1)
    assert accepted(rows, "strict") == [False, False, True]
    assert accepted(rows, "paper") == [True, True, True]
    assert rows[0].verdicts["strict"].reason == "opaque"


def test_labels_are_counted_and_rows_without_one_are_not(file):
    typed, paper = summary(regrade_file(file(MATH), workers=1))
    assert typed | {"procedure": ""} == {
        "procedure": "",
        "rows": 3,
        "accepted": 2,
        "labelled": 2,
        "right": 2,
        "false accepts": 0,
    }
    assert (paper["right"], paper["false accepts"]) == (1, 1)


@pytest.mark.parametrize(
    ("row", "kind", "verdict"),
    [
        ({"answer": "18", "completion": "#### 18"}, "number", True),
        ({"answer": "18", "completion": "#### 18"}, "math", False),
        ({"answer": "18", "completion": "\\frac{36}{2}"}, "answer", True),
        ({"answer": "18", "completion": "\\frac{36}{2}", "kind": "answer"}, "math", True),
    ],
)
def test_a_row_is_read_as_its_kind_says(file, row, kind, verdict):
    [judged] = regrade_file(file([row]), kind=kind, workers=1)
    assert next(iter(judged.verdicts.values())).accepted is verdict


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"", "has no rows to judge"),
        (b"[1]\n", "line 1 is no JSON object"),
        (b'{"answer": "1", "completion": "\xff"}\n', "line 1 is no JSON object"),
        (b'\n{"answer": "1"}\n', "line 2 has no text 'completion' (nor response, pred, prediction, output)"),
        (b'{"program": "", "tests": "assert f()"}\n', "line 1: tests = 'assert f()' is no list of texts"),
    ],
)
def test_a_file_that_cannot_be_read_is_said_with_its_line(tmp_path, capsys, text, sentence):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(text)
    assert main(["verify", str(path)]) == 2
    assert sentence in capsys.readouterr().err


def test_the_command_lists_disputes_and_writes_every_row(file, tmp_path, capsys):
    assert main(["verify", str(file(MATH)), "--workers", "1", "--json", str(tmp_path / "out.jsonl")]) == 0
    said = capsys.readouterr().out
    assert "2 of 3 rows on which they disagree" in said
    assert "line 2: reference 0.0000001" in said
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["disputed"] for row in rows] == [False, True, True]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--answer", "1/2", "--completion", "\\boxed{0.5}"], 0, "accepted: numeric"),
        (["--answer", "1/2", "--completion", "0.5"], 1, "not accepted: no answer"),
        (["--answer", "1/2", "--completion", "0.5", "--as", "answer"], 0, "accepted: numeric"),
        (["--answer", "18", "--completion", "#### 18", "--as", "number"], 0, "accepted: exact"),
        (["--answer", "a", "--completion", "\\boxed{\x1b[31mb}", "--explain"], 1, "judged   \\x1b[31mb"),
        (["--answer", "1/2"], 2, "nothing to verify"),
        (["--program", "no/such.py", "--test", "assert f()"], 2, "'no/such.py' cannot be read as text"),
    ],
)
def test_one_answer_is_judged_and_the_exit_code_tells(capsys, words, code, said):
    assert main(["verify", *words]) == code
    out = capsys.readouterr()
    assert said in out.out + out.err


@pytest.mark.parametrize(
    ("body", "code", "said"), [("return 3", 0, "accepted: passed"), ("return 4", 1, "not accepted: failed")]
)
def test_one_program_is_judged(tmp_path, capsys, body, code, said):
    path = tmp_path / "program.py"
    path.write_text(f"def f():\n    {body}\n", encoding="utf-8")
    assert main(["verify", "--program", str(path), "--test", "assert f() == 3"]) == code
    assert said in capsys.readouterr().out
