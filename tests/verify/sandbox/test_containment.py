"""What a program can use in each tier, and where its limits are; test_hostile has the rest.

Each attempt is such that it changes nothing of the machine where it succeeds.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from toys.numpy_seen import NEEDS_NUMPY
from toys.process_trees import parents
from toys.waiting import within

from erce.verify.sandbox import Limits, Sandbox, SandboxUnavailable, host, pool
from erce.verify.sandbox.kernel.layers import readable_paths

TRY = """
import os, socket
def reached(code):
    try:
        return bool(eval(code))
    except (OSError, MemoryError, ValueError):
        return False
"""
ELSEWHERE = "(open('/var/tmp/erce-probe', 'w').close(), os.unlink('/var/tmp/erce-probe'))"
SOLVED = "f = lambda x: x"


ORPHAN = """
import os
from erce.verify.sandbox.kernel.layers import Confinement
from erce.verify.sandbox.kernel.linux import make
confinement, worker = Confinement("none", 3), os.getpid()
if not os.fork():
    while os.getppid() == worker:
        pass
    make(confinement.calls)
    os.write(1, b"runs the program")
    os._exit(0)
"""


def in_tier(tier):
    try:
        return Sandbox(tier)
    except SandboxUnavailable as none:
        pytest.skip(str(none))


MARKS_ITS_STREAMS = """
import fcntl, os
marked = [fcntl.fcntl(number, fcntl.F_GETFL) & (os.O_APPEND | os.O_NONBLOCK) for number in (0, 1, 2)]
for number in (0, 1, 2):
    fcntl.fcntl(number, fcntl.F_SETFL, os.O_APPEND | os.O_NONBLOCK)
f = lambda: sum(marked)
"""


@pytest.fixture(scope="module", params=["namespaces", "landlock"])
def sandbox(request):
    with in_tier(request.param) as made:
        yield made


def test_no_program_sees_what_one_before_it_did_to_the_standard_streams(sandbox):
    for _ in range(2):
        assert sandbox.run(MARKS_ITS_STREAMS, ["assert f() == 0"]).accepted


def reached(sandbox, code, **options):
    """Return whether the attempt succeeded, as the program itself reports."""
    verdict = sandbox.run(TRY, [f"assert reached({code!r}) is False"], **options)
    assert verdict.reason in ("passed", "failed"), verdict
    return not verdict.accepted


def test_a_candidate_whose_worker_has_ended_before_it_was_confined_runs_nothing():
    """The kernel kills it with its worker only from the moment on in which it has asked for that."""
    ended = subprocess.run([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE, check=True)
    assert ended.stdout == b""


def test_a_program_writes_nowhere_but_in_a_folder_of_its_own(sandbox):
    assert not reached(sandbox, ELSEWHERE)
    writable = reached(sandbox, "open('/tmp/left-by-a-program', 'w').write('x')")
    assert writable == (sandbox.tier == "namespaces")  # in the other tier there is no temporary file at all
    assert not reached(sandbox, "os.path.exists('/tmp/left-by-a-program')")
    assert reached(sandbox, "open('/dev/null', 'w').write('x')")


@pytest.mark.parametrize(
    "use", ["open(file, 'w').close()", "open(file, 'w').close(), os.unlink(file)", "os.listdir('/tmp')"]
)
def test_a_program_finds_no_trace_of_an_earlier_one(use):
    looks = "import os\ndef f():\n    times = os.stat('/tmp')\n    file = '/tmp/left'\n"
    with in_tier("namespaces") as sandbox:
        assert sandbox.run(f"{looks}    return len([{use}])", ["assert f() > 0"]).accepted
        program = f"{looks}    return times.st_atime, times.st_mtime, os.listdir('/tmp')"
        for _ in range(2):
            assert sandbox.run(program, ["assert f() == (0, 0, [])"]).accepted


def test_a_program_has_three_descriptors_and_its_channel(sandbox):
    held = "[fd for fd in range(256) if os.path.exists(f'/dev/fd/{fd}') or not denied_fd(fd)]"
    program = TRY + (
        "def denied_fd(fd):\n    try:\n        os.fstat(fd)\n    except OSError:\n        return True\n"
        f"f = lambda: len({held})"
    )
    assert sandbox.run(program, ["assert f() == 4"]).accepted


@pytest.mark.parametrize(
    "loop",
    [
        pytest.param("sum(range(10**12))", marks=pytest.mark.slow),
        "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True: pass",
        "while True:\n    try:\n        while True: print('x' * 10**5)\n    except BaseException: pass",
    ],
)
def test_computing_without_end_is_a_timeout(sandbox, loop):
    verdict = sandbox.run(loop, ["assert f(1)"], limits=Limits(cpu=0.2, wall=60.0))
    assert (verdict.reason, verdict.detail) == ("timeout", "over 0.2 s of processor time")


@NEEDS_NUMPY
def test_of_all_packages_a_program_reads_numpy_alone(sandbox):
    folder = str(Path(host.numpy_folder()).parent)
    verdict = sandbox.run(
        "import numpy as np, os\nf = lambda v: np.linalg.det(np.array(v)).round(6)\ng = os.listdir",
        [
            "assert f([[2, 0], [0, 3]]) == 6.0",
            f"try:\n    names = g({folder!r})\nexcept PermissionError:\n    names = []",
            "assert all(name.startswith('numpy') for name in names)",
        ],
    )
    assert verdict.reason == "passed", verdict
    assert "No module named 'pytest'" in sandbox.run("import pytest", ["assert f(1)"]).detail


def test_a_program_may_signal_itself(sandbox):
    heard = (
        "signal.signal(signal.SIGUSR1, lambda *_: heard.append(1))\n    os.kill(os.getpid(), signal.SIGUSR1)"
    )
    program = f"import os, signal\ndef f(x):\n    heard = []\n    {heard}\n    return heard"
    assert sandbox.run(program, ["assert f(1) == [1]"]).accepted


@pytest.mark.slow
@pytest.mark.parametrize("wait", ["threading.Event().wait()", "time.sleep(99)", "os.read(os.pipe()[0], 1)"])
def test_waiting_is_a_timeout_too(sandbox, wait):
    limits = Limits(cpu=2.0, wall=0.6)
    verdict = sandbox.run(f"import os, threading, time\n{wait}", ["assert f(1)"], limits=limits)
    assert (verdict.reason, verdict.detail) == ("timeout", "waited for 0.3 s without computing")


def test_memory_files_and_threads_have_limits(sandbox):
    limits = Limits(memory=64 << 20, file=1 << 20)
    assert reached(sandbox, "bytearray(32 << 20)", limits=limits)
    assert not reached(sandbox, "bytearray(128 << 20)", limits=limits)
    assert not reached(sandbox, "open('/tmp/x', 'wb').write(bytes(2 << 20)) == 2 << 20", limits=limits)
    threads = (
        "import threading, time\n"
        "f = lambda: [threading.Thread(target=time.sleep, args=[9]).start() for _ in range(500)]"
    )
    assert "RuntimeError: can't start new thread" in sandbox.run(threads, ["assert f()"]).detail


@pytest.mark.parametrize(("tier", "warning"), [("seccomp", "read every file"), ("none", "UNPROTECTED")])
def test_a_lesser_tier_warns_in_every_verdict(tier, warning):
    with in_tier(tier) as sandbox:
        assert warning in sandbox.warning
        for program in (SOLVED, "f = 1", "while True: pass"):
            verdict = sandbox.run(program, ["assert f(1) == 1"], limits=Limits(cpu=0.1))
            assert warning in verdict.warning


def test_seccomp_alone_lets_nothing_be_changed_and_no_one_be_called():
    with in_tier("seccomp") as sandbox:
        assert not reached(sandbox, ELSEWHERE)
        for code in ("socket.socket()", "os.fork() or os._exit(0)", "os.execv('/bin/true', ['true'])"):
            assert not reached(sandbox, code)
        assert not reached(sandbox, "os.kill(os.getppid(), 0) is None")


def test_even_without_protection_what_a_program_starts_ends_with_it():
    with in_tier("none") as sandbox:
        program = "import os, time\npid = os.fork()\nif not pid:\n    time.sleep(60)\nf = lambda: pid"
        verdict = sandbox.run(program, ["assert f() == 0, f()"])
        child = int(verdict.detail.rpartition(" ")[2])
        assert within(60, lambda: child not in parents())


def test_namespaces_without_landlock_warn_in_every_verdict(monkeypatch):
    monkeypatch.setattr(pool, "landlock_version", lambda: 0)
    with in_tier("namespaces") as sandbox:
        assert "without Landlock" in sandbox.run(SOLVED, ["assert f(1) == 1"]).warning
    with in_tier("landlock") as sandbox:
        assert sandbox.warning == ""


def test_what_is_shown_is_pythons_library_and_never_the_whole_machine():
    shown = readable_paths()
    assert "/" not in shown
    assert not {"/etc", "/home", "/root", "/proc", "/var"} & set(shown)
    assert any(os.__file__.startswith(path + "/") for path in shown)
