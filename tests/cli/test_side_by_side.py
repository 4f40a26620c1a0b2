"""A file verified again: every row once, in its order, strictly and flexibly."""

import json

import pytest

from erce.cli.main import main
from erce.cli.side_by_side import Reverified, reverify_file, summary
from erce.cli.terminal import reverify_lines
from erce.types import Verdict

MATH = [
    {"answer": "(2,3]", "completion": "so \\boxed{(2,3]}", "expected": True},
    {"gold": "0.0000001", "pred": "\\boxed{0.0000002}", "expected": False},
    {"answer": "\\{1,2\\}", "completion": "\\boxed{\\{2,1\\}}", "kind": "math"},
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


def accepted(rows, procedure):
    return [row.verdicts[procedure].accepted for row in rows]


def test_rows_of_all_kinds_keep_their_order(file):
    rows = reverify_file(file([MATH[0], PROGRAMS[2], MATH[1]]), workers=1)
    assert [row.where for row in rows] == ["line 1", "line 2", "line 3"]
    assert [set(row.verdicts) for row in rows] == [
        {"strict", "flexible"},
        {"strict"},
        {"strict", "flexible"},
    ]


def test_a_program_inside_a_markdown_fence_is_verified(file):
    fenced = "Sure:\n```python\ndef f(): return {}\n```"
    programs = [{"completion": fenced.format(value), "tests": ["assert f() == 3"]} for value in (4, 3)]
    rows = reverify_file(file([*programs, PROGRAMS[2]]), workers=1)
    assert accepted(rows, "strict") == [False, True, True]


def test_a_forged_pass_is_refused(file):
    rows = reverify_file(file(PROGRAMS), workers=1)
    assert accepted(rows, "strict") == [False, False, True]
    assert rows[0].verdicts["strict"].reason == "opaque"


def test_labels_are_counted(file):
    labelled = [*MATH, {"answer": "1", "completion": "\\boxed{1}", "expected": False}]
    strict, flexible = summary(reverify_file(file(labelled), workers=1))
    assert flexible == strict | {"reading": "flexible"}
    assert strict | {"reading": ""} == {
        "reading": "",
        "rows": 4,
        "accepted": 3,
        "labelled": 3,
        "right": 2,
        "false accepts": 1,
    }


@pytest.mark.parametrize(
    ("row", "kind", "verdict"),
    [
        ({"answer": "18", "completion": "#### 18"}, "number", True),
        ({"answer": 18, "completion": "#### 18 apples"}, "number", True),
        ({"answer": 0.5, "completion": "1/2"}, "answer", True),
        ({"answer": "18", "completion": "Answer: 18"}, "math", False),
        ({"answer": "18", "completion": "\\frac{36}{2}"}, "answer", True),
        ({"answer": "18", "completion": "\\frac{36}{2}", "kind": "answer"}, "math", True),
    ],
)
def test_a_row_is_read_as_its_kind_says(file, row, kind, verdict):
    [judged] = reverify_file(file([row]), kind=kind, workers=1)
    assert next(iter(judged.verdicts.values())).accepted is verdict


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"", "has no rows to verify"),
        (b"[1]\n", "line 1: [1] is not a JSON object"),
        (
            b'{"kind": "maths", "answer": "1", "completion": ""}\n',
            "line 1: no kind 'maths'; did you mean 'math'?",
        ),
        (
            b'{"answer": "1", "completion": "", "expected": 1}\n',
            "line 1: `expected` is 1, neither true nor false",
        ),
        (b'{"kind": ["x"], "answer": "1", "completion": ""}\n', "line 1: no kind ['x']; there are math, "),
        (b'{"answer": true, "completion": ""}\n', "line 1: no text or number 'answer'"),
        (
            b'\n{"answer": "1"}\n',
            "line 2: no text or number 'completion' (nor response, pred, prediction, output)",
        ),
        (b'{"program": "", "tests": "assert f()"}\n', "line 1: `tests` is 'assert f()', not a list of texts"),
    ],
)
def test_a_file_that_cannot_be_read_is_said_with_its_line(tmp_path, capsys, text, sentence):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(text)
    assert main(["verify", str(path)]) == 2
    assert sentence in capsys.readouterr().err


def test_a_kind_or_a_number_of_workers_that_cannot_be_is_refused(file):
    with pytest.raises(ValueError, match="the rows: no kind 'maths'; did you mean"):
        reverify_file(file(PROGRAMS), kind="maths")
    with pytest.raises(ValueError, match="workers = 0; give 1 or more"):
        reverify_file(file(PROGRAMS), workers=0)


def test_a_row_that_a_file_names_cannot_steer_the_terminal():
    rows = [Reverified("problem \x1b[31m", "1", {"strict": Verdict(False, "different")})]
    lines = reverify_lines(rows, summary(rows), limit=1)
    assert "  problem \\x1b[31m: reference 1, different" in lines


def test_the_command_lists_what_is_not_accepted_and_writes_every_row(file, tmp_path, capsys):
    words = [
        str(file([*MATH, *MATH])),
        "--workers",
        "1",
        "--limit",
        "1",
        "--json",
        str(tmp_path / "out.jsonl"),
    ]
    assert main(["verify", *words]) == 0
    printed = capsys.readouterr().out
    assert "  line 2: reference 0.0000001, different: 0.0000002\n… and 1 more; --json FILE" in printed
    assert printed.index("strict") < printed.index("flexible")
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["verdicts"]["strict"]["accepted"] for row in rows] == [True, False, True] * 2


def test_a_folder_is_not_a_file_of_rows(tmp_path, capsys):
    assert main(["verify", str(tmp_path)]) == 2
    assert f"`erce records {tmp_path} rows.jsonl` writes its verdicts" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "printed"),
    [
        (["--answer", "1/2", "--completion", "\\boxed{0.5}"], 0, "accepted: numeric"),
        (["--answer", "1/2", "--completion", "0.5"], 1, "not accepted: no answer"),
        (["--answer", "1/2", "--completion", "0.5", "--as", "answer"], 0, "accepted: numeric"),
        (["--answer", "18", "--completion", "#### 18", "--as", "number"], 0, "accepted: exact"),
        (["--answer", "a", "--completion", "\\boxed{\x1b[31mb}", "--explain"], 1, "read     \\x1b[31mb"),
        (["--program", "no/such.py", "--test", "assert f()"], 2, "'no/such.py' cannot be read or written"),
    ],
)
def test_one_answer_is_verified_and_the_exit_code_tells(capsys, words, code, printed):
    assert main(["verify", *words]) == code
    out = capsys.readouterr()
    assert printed in out.out + out.err


@pytest.mark.parametrize(
    ("completion", "kind", "code", "printed"),
    [
        ("Answer: 18", "number", 1, "not accepted: no answer\naccepted if the format is ignored: exact\n"),
        ("Answer: 18", "math", 1, "not accepted: no answer\naccepted if the format is ignored: exact\n"),
        ("19", "number", 1, "not accepted: no answer\nnot accepted if the format is ignored: different\n"),
        ("#### 18", "number", 0, "accepted: exact\naccepted if the format is ignored: exact\n"),
        ("The final answer is 18.", "math", 0, "accepted: exact\naccepted if the format is ignored: exact\n"),
        (
            "The final answer is 18. Answer: 17",
            "math",
            1,
            "not accepted: different\n",
        ),  # the later one counts
        ("18", "answer", 0, "accepted: exact\n"),
    ],
)
def test_the_strict_verdict_decides_and_the_flexible_one_stands_below_it(
    capsys, completion, kind, code, printed
):
    assert main(["verify", "--answer", "18", "--completion", completion, "--as", kind]) == code
    assert capsys.readouterr().out.startswith(printed)


def test_rows_that_lack_the_format_alone_are_counted(file, tmp_path, capsys):
    completions = ["#### 18", "Answer: 18", "Answer: 19", "The answer is not 18."]
    rows = [{"answer": "18", "completion": text, "expected": "19" not in text} for text in completions]
    judged = reverify_file(file(rows), kind="number", workers=1)
    assert accepted(judged, "strict") == [True, False, False, False]
    assert accepted(judged, "flexible") == [True, True, False, False]
    assert main(["verify", str(file(rows)), "--as", "number", "--workers", "1"]) == 0
    assert capsys.readouterr().out.startswith(
        "1 of 4 rows accepted, 1 more if the format is ignored\n  line 2: reference 18, no answer\n"
    )


ONE = ["--answer", "1", "--completion", "1"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([*ONE, "--as", "program"], "--as program: an --answer is not a program"),
        ([*ONE, "--program", "f.py", "--test", "assert f()"], "or two things"),
        (["f.jsonl", *ONE], "or two things"),
        (["f.jsonl", "--limit", "-1"], "--limit -1 must be 0 or more"),
        (["."], "is a folder, not a file of rows: `erce run` verifies a study again"),
    ],
)
def test_what_cannot_be_verified_so_is_refused(capsys, words, sentence):
    assert main(["verify", *words]) == 2
    printed = capsys.readouterr()
    assert sentence in printed.err
    assert printed.out == ""


@pytest.mark.parametrize(
    ("words", "readings"),
    [
        ([], ["strict", "flexible"]),
        (["--as", "answer"], ["strict"]),
        (["--as", "number"], ["strict", "flexible"]),
    ],
)
def test_the_verdict_on_one_answer_is_written_as_that_on_a_row_of_a_file(tmp_path, words, readings):
    path = tmp_path / "out.jsonl"
    code = main(["verify", "--answer", "18", "--completion", "18", *words, "--json", str(path)])
    [row] = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    assert (row["where"], row["reference"], row["expected"]) == ("command line", "18", None)
    assert list(row["verdicts"]) == readings
    assert row["verdicts"][readings[0]]["accepted"] is (code == 0)


def test_one_program_is_verified(tmp_path, capsys):
    path = tmp_path / "program.py"
    path.write_text("def f():\n    return 3\n", encoding="utf-8")
    for value, code, printed in ((3, 0, "accepted: passed"), (4, 1, "not accepted: failed")):
        assert main(["verify", "--program", str(path), "--test", f"assert f() == {value}"]) == code
        assert printed in capsys.readouterr().out
