"""Verdicts of several processes are the same as one by one."""

import os
import signal
import subprocess
import sys

import pytest
from toys.process_trees import descendants, parents
from toys.waiting import within

from erce.errors import RunError
from erce.types import Verdict
from erce.verify import verify_many, verify_number

PAIRS = [(str(number % 7), f"#### {number % 5}") for number in range(200)]


def refuse(answer, completion):
    raise KeyError(answer)


@pytest.mark.parametrize("workers", [1, 2, None])
def test_verdicts_come_in_order_whatever_the_number_of_processes(workers):
    assert verify_many(verify_number, PAIRS, workers=workers) == [verify_number(*pair) for pair in PAIRS]


@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_verifier_raises_is_no_verdict(workers):
    with pytest.raises(KeyError):
        verify_many(refuse, PAIRS, workers=workers)


def test_nothing_to_judge_is_no_verdicts():
    assert verify_many(verify_number, [], workers=2) == []


def test_a_verifier_that_cannot_travel_is_said():
    with pytest.raises(ValueError, match="cannot be sent to other processes"):
        verify_many(lambda answer, completion: Verdict(True, "exact"), PAIRS, workers=2)


def test_no_processes_is_said():
    with pytest.raises(ValueError, match="workers = 0; give 1 or more"):
        verify_many(verify_number, PAIRS, workers=0)


def kill(answer, completion):
    """Kill this process at pair 70."""
    if completion == "70":
        os.kill(os.getpid(), signal.SIGKILL)
    return Verdict(True, "exact")


def test_a_killed_process_is_said():
    pairs = [("", str(number)) for number in range(200)]
    with pytest.raises(RunError, match="a process of verify_many was killed"):
        verify_many(kill, pairs, workers=2)


LONG = """
from erce.types import Problem
from erce.verify import verify_many, verify_program
if __name__ == "__main__":
    problem = Problem(id="1", prompt="", demonstration="", tests=("assert f(1) == 1",))
    programs = [f"def f(x):\\n    while x: x += {n}" for n in range(1, 2000)]
    verify_many(verify_program, [(problem, program) for program in programs], workers=2)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize(
    "number",
    [
        signal.SIGKILL,
        pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_nothing_outlives_a_process_that_is_ended(number, tmp_path):
    script = tmp_path / "long.py"
    script.write_text(LONG, encoding="utf-8")
    with subprocess.Popen([sys.executable, script], stderr=subprocess.DEVNULL) as process:
        # Two processes, and in each the worker, judge and candidate of a sandbox.
        left: set[int] = set()
        began = within(60, lambda: left.update(descendants(process.pid)) or len(left) >= 8)
        process.send_signal(number)
        try:
            process.wait(20)
        finally:
            process.kill()
    assert began
    # A second on an idle machine.
    assert within(20, lambda: not left & parents().keys())
