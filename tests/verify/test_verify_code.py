"""A pass is evidence that every assert held; nothing else passes, hangs or outlives its verdict."""

import sys
import time
from pathlib import Path

import pytest

from erce.types import Completion, Problem
from erce.verify import code, verify_program
from erce.verify.code import extract_program

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
def impatient(monkeypatch):
    monkeypatch.setattr(code, "SECONDS", 0.3)


@pytest.mark.parametrize(
    "program",
    [
        "def f(x):\n    return x * x",
        "f = lambda x: x ** 2",
        "import math\ndef f(x):\n    return int(math.pow(x, 2))",
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
    ("program", "reason"),
    [
        ("def f(x):\n    return x + x", "failed"),
        ("def f(x):\n    return 9", "failed"),
        ("def f(x):\n    return x * x\nassert False", "failed"),
        ("def f(x:\n", "error"),
        ("g = 1", "error"),
        ("import numpy\nf = numpy.square", "error"),
        ("def f(x):\n    return f(x)", "error"),
        ("x = input()\ndef f(x):\n    return x * x", "error"),
        ("(" * 100_000, "error"),
        ("\0", "error"),
        ("\ud800", "error"),
    ],
)
def test_a_wrong_program_fails_or_errs(program, reason):
    verdict = verify_program(SQUARE, program)
    assert (verdict.accepted, verdict.reason) == (False, reason)


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
@pytest.mark.parametrize(
    "where", ["{}", "def f(x):\n    {}", "def f(x):\n    if x == 0:\n        {}\n    return x * x"]
)
def test_leaving_early_is_never_a_pass(leave, where):
    assert verify_program(SQUARE, where.format(leave)).reason == "error"


def test_an_exit_handler_does_not_make_a_pass():
    program = (
        "import atexit, os, sys\natexit.register(os._exit, 0)\nsys.excepthook = lambda *_: os._exit(0)\n"
    )
    assert verify_program(SQUARE, program + "def f(x):\n    return 0").reason == "failed"


def test_writing_to_every_descriptor_does_not_make_a_pass():
    program = (
        "import os\nfor fd in range(64):\n    try:\n        os.set_blocking(fd, False)\n"
        "        os.write(fd, b'passed' * 10**5)\n    except OSError:\n        pass\n"
    )
    assert not verify_program(SQUARE, program).accepted


@pytest.mark.parametrize(
    "program",
    [
        "while True:\n    pass",
        "while True:\n    try:\n        while 1:\n            pass\n    except BaseException:\n        pass",
        "while True:\n    print('x' * 10**5)",
        "import sys\nwhile True:\n    sys.stderr.write('x' * 10**5)",
        "import signal, time\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))\ntime.sleep(60)",
    ],
)
def test_a_program_that_does_not_end_is_a_timeout(program, impatient):
    verdict = verify_program(SQUARE, program)
    assert (verdict.accepted, verdict.reason) == (False, "timeout")


@pytest.mark.skipif(sys.platform != "linux", reason="macOS has no limit on address space")
def test_a_memory_bomb_ends_at_the_limit():
    assert verify_program(SQUARE, "bomb = bytearray(4 << 30)").reason == "error"


def test_processes_of_a_program_end_with_it(tmp_path):
    late = tmp_path / "late"
    program = (
        "import os, time\nif os.fork() == 0:\n    time.sleep(0.5)\n"
        f"    open({str(late)!r}, 'w').close()\n    os._exit(0)\ndef f(x):\n    return x * x"
    )
    assert verify_program(SQUARE, program).accepted
    time.sleep(1.0)
    assert not late.exists()


def test_a_program_runs_in_an_empty_folder_that_is_gone_afterwards(tmp_path):
    told = tmp_path / "told"
    program = (
        "import os\nopen('left behind', 'w').close()\n"
        f"open({str(told)!r}, 'w').write(os.getcwd() + ' ' + repr(os.listdir()))\nf = lambda x: x * x"
    )
    assert verify_program(SQUARE, program).accepted
    folder, _, files = told.read_text().partition(" ")
    assert files == "['left behind']"
    assert not Path(folder).exists()


def test_a_program_does_not_see_our_environment(monkeypatch):
    monkeypatch.setenv("ERCE_SECRET", "token")
    program = "import os\nassert 'ERCE_SECRET' not in os.environ\ndef f(x):\n    return x * x"
    assert verify_program(SQUARE, program).accepted


def test_sets_have_the_same_order_in_every_run(tmp_path):
    """Or a program that goes through a set of strings would pass on some days."""
    for run in ("first", "second"):
        told = tmp_path / run
        verify_program(SQUARE, f"open({str(told)!r}, 'w').write(str(list(set(map(str, range(50))))))")
    assert (tmp_path / "first").read_text() == (tmp_path / "second").read_text()


def test_a_pair_of_program_and_tests_runs_once(tmp_path):
    log = tmp_path / "log"
    program = f"open({str(log)!r}, 'a').write('ran ')\ndef f(x):\n    return x * x"
    first = verify_program(SQUARE, program)
    assert verify_program(SQUARE, f"Like this:\n```python\n{program}\n```") == first
    assert log.read_text() == "ran "


def cut_off(text: str) -> Completion:
    return Completion(
        problem="square", sample=0, text=text, tokens=9, finished=False, logprob=0.0, entropy=0.0
    )


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


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("x = 1", "x = 1"),
        ("```python\nx = 1\n```", "x = 1"),
        ("First\n```python\nx = 1\n```\nthen\n```Python\nx = 2\n```\nso", "x = 2"),
        ("```python\nx = 1\n```\n```\noutput\n```", "x = 1"),
        ("```py\nx = 1\n```", "x = 1"),
        ("```\nx = 1\n```", "x = 1"),
        ("```text\nout\n```\n```\nx = 1\n```", "x = 1"),
        ("```python\nx = 1", "x = 1"),
        ("  ```python\nx = '```'\n  ```", "x = '```'"),
    ],
)
def test_the_program_is_the_last_python_block_else_the_last_block_else_the_text(text, program):
    assert extract_program(text) == program


def test_tests_may_hold_set_up_and_asserts_inside_functions():
    tests = ("import math", "def check(f):\n    assert math.isclose(f(3), 9)", "check(f)")
    problem = Problem(id="p", prompt="", demonstration="", tests=tests)
    assert verify_program(problem, "f = lambda x: x * x").accepted
    assert verify_program(problem, "f = abs").reason == "failed"


@pytest.mark.parametrize(
    ("tests", "message"),
    [((), "has no assert"), (("f(1) == 1",), "has no assert"), (("assert f(1)", "assert f("), "not Python")],
)
def test_tests_that_would_pass_anything_are_the_tasks_fault(tests, message):
    with pytest.raises(ValueError, match=message):
        verify_program(Problem(id="p", prompt="", demonstration="", tests=tests), "f = abs")


def test_a_child_that_does_not_start_is_an_accident_and_not_a_verdict(monkeypatch, tmp_path):
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho no interpreter today >&2\nexit 0\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    with pytest.raises(RuntimeError, match="no interpreter today"):
        verify_program(SQUARE, "f = 'does not start'")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "missing"))
    with pytest.raises(OSError, match="missing"):
        verify_program(SQUARE, "f = 'does not start'")


def test_no_descriptor_is_left():
    before = len(list(Path("/dev/fd").iterdir()))
    for number in range(5):
        verify_program(SQUARE, f"def f(x):\n    return x * x + {number}")
    assert len(list(Path("/dev/fd").iterdir())) == before
