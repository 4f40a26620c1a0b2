"""The paper's four steps give its verdicts, faults included, and sympy's process never outlives its limit."""

import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from toys.answers.hostile import INJECTIONS, injection
from toys.waiting import within

from erce.verify.killable import SYMPY, symbolic_difference
from erce.verify.paper_steps import braced, equivalent_paper, plain

HANGS = "9^{9^{9}}"  # sympy computes it, for hours

ACCEPTED = [  # gold, answer, reason
    ("7", "7", "exact"),
    (r"\frac{3}{4}", r"\dfrac34", "exact"),
    (r"\frac{3}{4}", "3/4", "exact"),
    (r"\sqrt{3}", "sqrt(3)", "exact"),
    (r"\frac{\sqrt{3}}{2}", "(sqrt(3))/(2)", "exact"),
    ("12", r"12\text{ cm}^2", "exact"),
    ("12", "12 square inches", "exact"),
    ("60", r"60^\circ", "exact"),
    ("5", r"\$5", "exact"),
    ("20", r"20\%", "exact"),
    ("1234567", "1,234,567", "exact"),
    (r"\text{east}", "east", "exact"),
    ("5", "x=5", "exact"),
    ("(1,2)", r"\left( 1, 2 \right)", "exact"),
    ("0.5", r"\frac{1}{2}", "numeric"),
    (r"\frac{3}{4}", r"\frac{6}{8}", "numeric"),
    ("2.5", "2.5000009", "numeric"),
    ("x^2+2x+1", "(x+1)^2", "structural"),
    (r"1\frac{1}{2}", r"\frac{3}{2}", "structural"),
    (r"\sin^2 x+\cos^2 x", "1", "structural"),
    ("e^{i\\pi}", "-1", "structural"),
    ("y=2x+3", "f(x)=3+2x", "structural"),
]
REJECTED = [
    ("7", "8", "different"),
    ("0.5", "0.50001", "different"),
    ("2^{10}", "2^{1}0", "different"),
    ("x>3", "x<3", "unparsed"),
    ("(1,2)", "(2,1)", "unparsed"),
    ("5", "", "unparsed"),
    ("5", "(", "unparsed"),
    (r"\%", r"^\circ", "unparsed"),  # nothing is left of either
    ("x" * 3000, "x" * 3000 + ".", "too large"),
    ("5", "1/0", "different"),
    ("5", "x" * 3000, "too large"),
]
FAULTS = [  # that follow from the steps: gold, answer, verdict, what is true
    ("0.0000001", "0.0000002", True, False),
    ("0", "0.0000005", True, False),
    ("x^2+y^2=1", "x^2-y^2=1", True, False),
    ("2x+z=1", "1", True, False),
    (r"\text{ab}", r"\text{ba}", True, False),
    (r"\cos 60^\circ", r"\frac{1}{2}", False, True),
    (r"\{1,2\}", r"\{2,1\}", False, True),
    ("x>3", "3<x", False, True),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{bmatrix}1\\2\end{bmatrix}", False, True),
]


@pytest.mark.parametrize(("gold", "answer", "reason"), ACCEPTED)
def test_the_steps_accept_in_their_order(gold, answer, reason):
    verdict = equivalent_paper(gold, answer)
    assert (verdict.accepted, verdict.reason, verdict.extracted) == (True, reason, answer)


@pytest.mark.parametrize(("gold", "answer", "reason"), REJECTED)
def test_what_passes_no_step_is_rejected_with_its_reason(gold, answer, reason):
    verdict = equivalent_paper(gold, answer)
    assert (verdict.accepted, verdict.reason) == (False, reason)


@pytest.mark.parametrize(("gold", "answer", "verdict", "truth"), FAULTS)
def test_the_faults_of_the_steps_stay(gold, answer, verdict, truth):
    assert equivalent_paper(gold, answer).accepted is verdict is not truth


def test_the_two_conventions_are_two():
    """Each accepts a pair that the other one does not."""
    assert braced("3/4") == braced(r"\frac34")
    assert plain("3/4") != plain(r"\frac34")
    assert plain("12 inches") == plain("12")
    assert braced("12 inches") != braced("12")


@pytest.mark.parametrize(
    ("left", "right", "difference"),
    [
        (r"\cos 60^\circ", "1/2", "zero"),
        (r"\arcsin\frac12", r"\frac{\pi}{6}", "zero"),
        (r"\sqrt[3]{27}", "3", "zero"),
        ("|x|", "x", "other"),
        ("x_1", "x_2", "other"),
        (r"\pm 1", "1", "unparsed"),
        ("1,2", "1", "unparsed"),
    ],
)
def test_sympy_decides_on_every_kind_of_node(left, right, difference):
    assert symbolic_difference(left, right, seconds=60) == difference


def test_a_check_that_hangs_sympy_is_killed_in_time_and_the_next_one_is_fine():
    assert equivalent_paper("x+1", "1+x").accepted
    start = time.monotonic()
    verdict = equivalent_paper("2", HANGS, seconds=0.5)
    assert (verdict.accepted, verdict.reason) == (False, "timeout")
    assert 0.5 <= verdict.elapsed <= time.monotonic() - start < 60  # unless killed, it takes hours
    assert equivalent_paper("x+1", "1+x").accepted


@pytest.mark.slow
def test_threads_share_the_process_and_a_late_check_of_one_spoils_no_other():
    checks = [("x+1", "1+x", 60), ("x+1", "2+x", 60), ("2", HANGS, 0.5), (r"\sqrt{8}", r"2\sqrt{2}", 60)] * 2
    with ThreadPoolExecutor(4) as threads:
        verdicts = threads.map(lambda check: equivalent_paper(*check[:2], seconds=check[2]).reason, checks)
    assert list(verdicts) == ["structural", "different", "timeout", "structural"] * 2


def test_a_worker_that_somebody_killed_is_made_again():
    assert symbolic_difference("x", "x", seconds=60) == "zero"
    killed = SYMPY.pid
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    os.waitid(os.P_PID, killed, os.WEXITED | os.WNOWAIT)
    assert symbolic_difference("x", "y", seconds=60) == "other"
    assert SYMPY.pid not in (None, killed)


def test_a_check_whose_worker_is_killed_is_made_again():
    symbolic_difference("x", "x", seconds=60)
    assert SYMPY.pid is not None
    killing = threading.Timer(0.1, kill, (SYMPY.pid,))
    killing.start()
    assert symbolic_difference("2", HANGS, seconds=0.5) == "timeout"
    killing.join()


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):  # a slow machine may have ended it already
        os.kill(pid, signal.SIGKILL)


def test_the_worker_has_a_limit_of_memory():
    symbolic_difference("x", "x", seconds=60)
    assert SYMPY.pid is not None
    assert resource.prlimit(SYMPY.pid, resource.RLIMIT_AS)[0] == 2 << 30


@pytest.mark.slow
def test_a_forked_child_gets_a_worker_of_its_own_and_waits_for_no_thread_of_its_parent():
    assert symbolic_difference("x", "x", seconds=60) == "zero"
    SYMPY._lock.acquire()  # as another thread's request does
    ours, child = SYMPY.pid, os.fork()
    if child == 0:
        signal.alarm(120)
        differences = symbolic_difference("x", "y", seconds=60), symbolic_difference("x", "x", seconds=60)
        os._exit(differences != ("other", "zero") or SYMPY.pid in (None, ours))
    SYMPY._lock.release()
    assert symbolic_difference("x", "y", seconds=60) == "other"
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def in_a_fresh_process(code: str) -> subprocess.CompletedProcess[str]:
    code = "from erce.verify.killable import SYMPY, symbolic_difference\n" + textwrap.dedent(code)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "ending",
    ["", pytest.param("import os; os.kill(os.getpid(), 9)", marks=pytest.mark.slow)],
    ids=["exit", "SIGKILL"],
)
def test_no_worker_outlives_us(ending):
    ended = in_a_fresh_process(
        f"symbolic_difference('x', 'y', seconds=60); print(SYMPY.pid, flush=True)\n{ending}"
    )
    assert ended.stderr == ""
    assert within(60, lambda: not _lives(int(ended.stdout)))


def test_sympy_is_imported_in_its_own_process_only():
    ended = in_a_fresh_process(
        """
        import sys
        from erce.verify.paper_steps import equivalent_paper
        print(equivalent_paper("x+1", "1+x").accepted, "sympy" in sys.modules)
        """
    )
    assert ended.stdout.split() == ["True", "False"]


@pytest.mark.parametrize("template", INJECTIONS)
def test_nothing_in_an_answer_is_executed(template, tmp_path):
    marker = tmp_path / "made"
    for gold in ("0", "x", r"\begin{pmatrix}0\end{pmatrix}"):
        assert not equivalent_paper(gold, injection(template, str(marker))).accepted
    assert not marker.exists()


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
