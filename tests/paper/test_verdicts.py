"""The paper's own verdict procedures, beside ours, on answers, programs and a study's completions."""

import pytest
from toys.studies import make_study

from erce.files import write_rows
from erce.study.demonstrations import cell_splits
from erce.study.folder import cell_folder
from erce.types import Problem
from scripts.paper.__main__ import main
from scripts.paper.verdicts import verified_rows, verify_math_paper, verify_program_paper

SQUARE = Problem(id="p", prompt="", demonstration="", tests=("assert f(3) == 9",), entry_points=("f",))
FORGED = "class Yes:\n    __eq__ = lambda self, other: True\ndef f(*_):\n    return Yes()"


@pytest.mark.parametrize(
    ("answer", "completion", "reason"),
    [
        ("2x + z = 1", r"\boxed{2x + z = 1}", "exact"),
        ("0.0000001", r"\boxed{0.0000002}", "numeric"),  # its tolerance is absolute
        ("18", "So \\boxed{18}.\n#### 19", "exact"),
        ("18", "The final answer is 18.", "exact"),
        ("18", "#### 18", "no answer"),
        (r"\{1,2\}", r"\boxed{\{2,1\}}", "unparsed"),
    ],
)
def test_an_answer_is_read_from_a_box_and_compared_by_the_four_steps(answer, completion, reason):
    assert verify_math_paper(answer, completion).reason == reason


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("def f(x):\n    return x * x", "passed"),
        ("from __future__ import annotations\ndef f(x: int):\n    return x * x", "passed"),
        ("def f(x):\n    return x", "failed"),
        ("def f(x:", "failed"),
        ("raise SystemExit(0)", "failed"),
        ("while True: pass", "timeout"),
        ("import time\ndef f(x):\n    time.sleep(9)\n    return x * x", "timeout"),
        ("import time\ntime.sleep(1.2)\ndef f(x):\n    time.sleep(1.2)\n    return x * x", "timeout"),
        (FORGED, "passed"),
        (" ", "no answer"),
    ],
)
def test_a_program_shares_an_interpreter_with_its_tests_under_one_alarm(program, reason):
    assert verify_program_paper(SQUARE, program).reason == reason


def completions(folder, rows):
    """Write a cell's completions: (problem, text) pairs."""
    common = {"split": "test", "decoding": "greedy", "sample": 0, "finished": True, "tokens": 9}
    empty = {"logprob": None, "entropy": None}
    write_rows(folder / "completions.jsonl", [common | empty | {"problem": p, "text": t} for p, t in rows])


def test_a_studys_completions_are_verified_by_both(tmp_path, capsys):
    study = make_study(tmp_path / "code", task="mini-code", control=None, lams=(0.0,), seeds=(0,), problems=2)
    first, second = cell_splits(study.recipe, "mini-code").test
    for cell in study.results:
        rows = [(first.id, first.demonstration), (second.id, FORGED)]
        completions(cell_folder(study.root, study.recipe, cell), rows)
    rows = verified_rows(study.root, workers=1)
    assert [(row.ours.accepted, row.paper.accepted) for row in rows] == [(True, True), (False, True)] * 2
    main(["--verify", str(study.root)])
    head, *lines = capsys.readouterr().out.splitlines()
    assert head == (
        "4 completions; accepted by the study's verifier: 2, by the paper's procedure: 4; they disagree on 2"
    )
    assert len(lines) == 2
    assert f"{second.id}, sample 0: reference 'assert f(" in lines[0]
    assert lines[0].endswith(
        "the study's verifier refuses it (opaque), the paper's procedure accepts it (passed)"
    )


def test_a_study_without_anything_to_compare_is_refused(tmp_path):
    settings = {"task": "mini-sums", "control": None, "lams": (0.0,), "seeds": (0,), "problems": 2}
    other = make_study(tmp_path / "other", **settings)
    with pytest.raises(ValueError, match="no procedure for task 'mini-sums'; it has one for math, mbpp"):
        verified_rows(other.root)
    skip = {("mini-sums", lam, 0) for lam in (0.0, None)}
    with pytest.raises(ValueError, match="has no finished cell to verify again"):
        verified_rows(make_study(tmp_path / "none", skip=skip, **settings).root)
