"""A pass is evidence that every assert held; nothing else passes, hangs or outlives its verdict."""

from dataclasses import replace

import pytest
from toys.answers.completions import cut_off
from toys.numpy_seen import NEEDS_NUMPY

from erce.types import Problem, Verdict
from erce.verify import program
from erce.verify.program import run_program, verify_program
from erce.verify.sandbox import Limits, Outcome, Sandbox, pool

SQUARE = Problem(
    id="square",
    prompt="",
    demonstration="",
    tests=("assert f(3) == 9", "assert f(-2) == 4", "assert f(0) == 0"),
)


DATACLASS = """
from __future__ import annotations
from dataclasses import dataclass

@dataclass
class Squared:
    x: int

def f(x):
    return Squared(x * x).x
"""


@pytest.fixture
def short_of_cpu(monkeypatch):
    monkeypatch.setattr(program, "LIMITS", Limits(cpu=0.2, wall=60.0))


@pytest.mark.parametrize(
    "program",
    [
        "def f(x):\n    return x * x",
        "print('a' * 10**6)\ndef f(x):\n    print(x)\n    return x * x",
        "def f(x):\n    return x * x\nif __name__ == '__main__':\n    raise SystemExit(1)",
        DATACLASS,
        "import threading, time\nthreading.Thread(target=time.sleep, args=[60]).start()\nf = lambda x: x * x",
    ],
)
def test_a_right_program_passes(program):
    verdict = verify_program(SQUARE, program)
    assert (verdict.accepted, verdict.reason, verdict.extracted) == (True, "passed", program)


@pytest.mark.parametrize(
    "leave",
    [
        "raise SystemExit(0)",
        "import sys; sys.exit(0)",
        "import os; os._exit(0)",
        "exit(0)",
        "import os; os.kill(os.getpid(), 9)",
    ],
)
@pytest.mark.parametrize("where", ["{}", "def f(x):\n    if x == 0:\n        {}\n    return x * x"])
def test_leaving_early_is_never_a_pass(leave, where):
    assert verify_program(SQUARE, where.format(leave)).reason == "failed"


def test_a_pair_of_program_and_problem_is_judged_once(monkeypatch):
    verified = []
    verify_job = Sandbox.verify_job
    monkeypatch.setattr(
        Sandbox, "verify_job", lambda self, job: (verified.append(job), verify_job(self, job))[1]
    )
    program = "def f(x):\n    return x * x  # once"
    first = verify_program(SQUARE, program)
    assert verify_program(SQUARE, f"Like this:\n```python\n{program}\n```") == first
    assert len(verified) == 1


def test_a_fault_of_the_machine_is_not_kept(monkeypatch):
    program = "def f(x):\n    return x * x  # unlucky"
    broken = Outcome(Verdict(False, "error", detail="gone"), 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(Sandbox, "verify_job", lambda self, job: broken)
        assert verify_program(SQUARE, program).reason == "error"
    assert verify_program(SQUARE, program).accepted


SLOW = "import time\ndef f(x):\n    while time.process_time() < {}: pass\n    return x * x"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reference", "seconds", "reason"),
    [
        (SLOW.format(0.15), 0.4, "passed"),  # five times 0.15 is more than 0.4
        (SLOW.format(0.15), 9.0, "timeout"),
        (SLOW.format(0.01), 2.0, "timeout"),  # five times 0.01 is less than the usual 0.2
        ("def f(x):\n    return 1", 0.4, "timeout"),  # a demonstration that is wrong gives no time
        ("", 0.4, "timeout"),
    ],
)
def test_a_slow_machine_gives_five_times_what_the_demonstration_needs(
    short_of_cpu, reference, seconds, reason
):
    problem = Problem(id="slow", prompt="", demonstration=f"```python\n{reference}\n```", tests=SQUARE.tests)
    assert verify_program(problem, SLOW.format(seconds)).reason == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "truncated"),
        ("def f(x):\n    ret", "truncated"),
        ("def f(x):\n    return x", "truncated"),
        ("def f(x):\n    return x * x\n", "passed"),
    ],
)
def test_a_completion_that_was_cut_off_and_does_not_pass_is_truncated(text, reason):
    assert verify_program(SQUARE, cut_off(text)).reason == reason


@pytest.mark.parametrize("text", ["", " \n", "```python\n```"])
def test_an_empty_program_is_no_answer(text):
    assert verify_program(SQUARE, text).reason == "no answer"


def test_set_up_and_entry_points_are_the_problems_own():
    problem = Problem(
        id="p",
        prompt="",
        demonstration="",
        tests=("assert sum([1]) == twice(2)",),
        setup=("import math\ndef twice(x):\n    return 2 * x",),
        entry_points=("sum",),
    )
    assert verify_program(problem, "def sum(xs):\n    return math.floor(4.2)").accepted
    assert verify_program(problem, "def sum(xs):\n    return 5\ntwice = lambda x: 5").reason == "failed"


STACK = """
class Stack:
    def __init__(self): self.items = []
    def push(self, x): self.items.append(x)
    def top(self): return self.items[-1]
"""
OBJECTS = Problem(
    id="stack",
    prompt="",
    demonstration=f"```python\n{STACK}\n```",
    tests=("s = Stack()\ns.push(3)\nassert s.top() == 3",),
)


def test_a_demonstration_that_needs_one_interpreter_makes_its_problem_unproven():
    assert verify_program(OBJECTS, STACK).reason == "unproven"
    assert verify_program(OBJECTS, STACK.replace("items", "values")).accepted
    wrong = verify_program(OBJECTS, STACK.replace("[-1]", "[0] + 1"))
    assert (wrong.reason, wrong.accepted) == ("failed", False)


@pytest.mark.parametrize(
    "demonstration", ["def f(x): return x * x", "def f(x): return 1", "", "import numpy"]
)
def test_no_program_chooses_the_interpreter_that_it_could_cheat_in(demonstration):
    cheat = "class A:\n    def __eq__(self, other): return True\nf = lambda x: A()"
    problem = Problem(id="p", prompt="", demonstration=demonstration, tests=SQUARE.tests)
    assert verify_program(problem, cheat).reason == "opaque"


@NEEDS_NUMPY
def test_a_problem_whose_tests_import_numpy_is_unproven_if_its_demonstration_passes():
    right = "import numpy as np\ndef f(x): return np.array(x) * 2"
    tests = ("import numpy as np\nassert np.array_equal(f([1, 2]), [2, 4])",)
    problem = Problem(id="p", prompt="", demonstration=right, tests=tests)
    assert verify_program(problem, right).reason == "unproven"
    assert verify_program(problem, right.replace("2", "3")).reason == "failed"
    assert verify_program(replace(problem, demonstration="f = 5"), right).reason == "opaque"


def test_a_fault_of_the_tests_lowers_no_mode():
    problem = Problem(
        id="p", prompt="", demonstration="def f(): return 1", tests=("assert 1",), entry_points=("f",)
    )
    assert verify_program(problem, "def f(): return 2").reason == "error"


def test_a_program_that_returns_plain_values_is_proven_whatever_its_demonstration_does():
    found = "import re\ndef f(text): return re.search('b', text)"
    tests = ("assert bool(f('ab'))", "assert not bool(f('a'))")  # hand the object on
    problem = Problem(id="p", prompt="", demonstration=found, tests=tests)
    assert verify_program(problem, found).reason == "unproven"
    assert verify_program(problem, "def f(text): return 'b' in text").reason == "passed"


@pytest.mark.parametrize(
    ("tests", "message"),
    [((), "'p'.*without tests"), (("f(1) == 1",), "no assert"), (("assert f(1)", "assert f("), "not Python")],
)
def test_tests_that_would_pass_anything_are_the_tasks_fault(tests, message):
    with pytest.raises(ValueError, match=message):
        verify_program(Problem(id="p", prompt="", demonstration="", tests=tests), "f = abs")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"tests": ("assert f(1) == 1",), "inputs": ("1",), "outputs": ("1",)},
            "'p': {'tests': 1, 'inputs': 1",
        ),
        ({"inputs": ("1", "2"), "outputs": ("1",)}, "'inputs': 2, 'outputs': 1}: give it"),
        ({"tests": "assert f(1)"}, "tests = 'assert f.1.' is one text; give a list"),
    ],
)
def test_a_problem_has_tests_or_as_many_outputs_as_inputs(fields, message):
    with pytest.raises(ValueError, match=message):
        verify_program(Problem(id="p", prompt="", demonstration="", **fields), "print(1)")


def test_a_problems_texts_may_be_lists():
    problem = Problem(id="p", prompt="", demonstration="", tests=["assert f(3) == 9"], entry_points=["f"])
    assert verify_program(problem, "def f(x): return x * x").accepted


@pytest.mark.parametrize("completion", [None, b"def f(x): return x * x", 5])
def test_what_is_no_text_is_no_completion(completion):
    with pytest.raises(ValueError, match="a completion is text"):
        verify_program(SQUARE, completion)


def test_no_mode_accepts_a_program_without_its_tests():
    with pytest.raises(ValueError, match=r"does not run tests = .* use mode 'strict'"):
        run_program("def f(x): return 0", ["assert f(3) == 9"], mode="script")


def test_a_program_may_be_judged_without_a_problem():
    assert run_program("def f(x):\n    return x", ["assert f(1) == 1"]).accepted
    assert run_program("def f(x):\n    return x", []).reason == "error"
    assert run_program("f = lambda x: x", ["assert f(1) == 1"], mode="unproven").reason == "unproven"
    limited = run_program("while True: pass", ["assert f(1)"], limits=Limits(cpu=0.1))
    assert (limited.reason, limited.detail) == ("timeout", "over 0.1 s of processor time")
    with pytest.raises(ValueError, match="program must be a str"):
        run_program(b"f = 1", ["assert f"])
    with pytest.raises(ValueError, match="tests must be a list"):
        run_program("f = 1", "assert f")


def test_no_tier_is_an_accident_and_not_a_verdict(monkeypatch):
    pool._shared.clear()
    monkeypatch.setenv("ERCE_SANDBOX", "no such tier")
    with pytest.raises(ValueError, match="no tier 'no such tier'"):
        run_program("f = 'no tier'", ["assert f"])


def test_a_lesser_tier_is_used_where_the_environment_names_it(monkeypatch):
    pool._shared.clear()
    monkeypatch.setenv("ERCE_SANDBOX", "seccomp")
    verdict = run_program("f = lambda: 5", ["assert f() == 5"])
    pool._shared.clear()
    assert verdict.accepted
    assert "seccomp" in verdict.warning


def test_a_helper_may_stand_in_another_fence():
    helper, function = "def times(a, b):\n    return a * b", "def f(x):\n    return times(x, x)"
    for first, second in ((helper, function), (function, helper)):
        text = f"A helper:\n```python\n{first}\n```\nThe rest:\n```python\n{second}\n```\n```\n9\n```"
        assert verify_program(SQUARE, text).reason == run_program(text, SQUARE.tests).reason == "passed"


@pytest.mark.parametrize("text", ["\ufeff{}", "\ufeff```python\n{}\n```", "```python\n\ufeff{}\n```"])
def test_a_byte_order_mark_is_no_part_of_a_text(text):
    square = "def f(x):\n    return x * x"
    assert run_program(text.format(square), ["\ufeffassert f(3) == 9"]).reason == "passed"
    assert verify_program(SQUARE, text.format(square)).extracted.removeprefix("\ufeff") == square


def test_a_program_may_stand_inside_a_markdown_fence():
    right = "def f(x):\n    return x * x"
    for text in (f" So:\n```python\n{right}\n```", f"\ud800\n\n{right}", f"{right}\n</s>", right):
        assert run_program(text, ["assert f(3) == 9"]).reason == "passed"
    fenced = "Sure:\n```python\ndef f(x):\n    return x * x\n```\nLike this:\n```python\nprint(f(3))\n```"
    assert run_program(fenced, ["assert f(3) == 9"]).reason == "passed"
    assert run_program(fenced, ["assert f(3) == 6"]).reason == "failed"
    in_a_string = 'def f(x):\n    """\n```python\nf = print\n```\n"""\n    return x * x'
    assert run_program(in_a_string, ["assert f(3) == 9"]).reason == "passed"
