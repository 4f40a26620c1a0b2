"""Workers start, judge in parallel, die, and leave nothing behind."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from toys.process_trees import descendants
from toys.waiting import within

from erce.verify.sandbox import Job, Limits, Sandbox, SandboxUnavailable, host, pool

TESTS = ["assert f(1) == 1"]
MARK = "erce.verify.sandbox.worker"


@pytest.fixture(scope="module", params=["namespaces", pytest.param("landlock", marks=pytest.mark.slow)])
def tier(request):
    try:
        Sandbox(request.param).close()
    except SandboxUnavailable as none:
        pytest.skip(str(none))
    return request.param


def workers(root: int = 0) -> set[int]:
    """Return the live processes of sandboxes that descend from `root`, else from this process."""
    return {pid for pid in descendants(root or os.getpid()) if alive(pid)}


def gone(processes: set[int]) -> bool:
    """Return whether the processes end within a minute; on an idle machine they need milliseconds."""
    return within(60, lambda: not any(map(alive, processes)))


def alive(pid: int) -> bool:
    try:
        return MARK in Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
    except OSError:
        return False


def test_the_automatic_tier_is_the_first_that_works(monkeypatch):
    tried = []

    def works(tier):
        tried.append(tier)
        if tier == "namespaces":
            raise OSError("unshare: not here")
        return real(tier)

    real = pool.working_worker
    monkeypatch.setattr(pool, "working_worker", works)
    try:
        with Sandbox() as sandbox:
            assert (sandbox.tier, sandbox.warning) == ("landlock", "")
    except SandboxUnavailable as none:
        pytest.skip(str(none))
    assert tried == ["namespaces", "landlock"]


def test_no_tier_is_an_error_that_says_what_each_said_and_what_to_do(monkeypatch):
    def refuse(tier):
        raise OSError(f"{tier} is not to be had")

    monkeypatch.setattr(pool, "working_worker", refuse)
    with pytest.raises(SandboxUnavailable) as caught:
        Sandbox()
    for part in (
        "namespaces: namespaces is not",
        "landlock: landlock is not",
        "was not run",
        "ERCE_SANDBOX=none",
    ):
        assert part in str(caught.value)
    assert "seccomp: " not in str(caught.value)


@pytest.mark.parametrize(
    ("script", "sentence"),
    [("echo no interpreter today >&2", "no interpreter today"), ("exit 0", "the worker ended")],
)
def test_a_worker_that_does_not_start_says_why(monkeypatch, tmp_path, script, sentence):
    broken = tmp_path / "python"
    broken.write_text(f"#!/bin/sh\n{script}\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    with pytest.raises(SandboxUnavailable, match=sentence):
        Sandbox()
    monkeypatch.setattr(sys, "executable", str(tmp_path / "missing"))
    with pytest.raises(SandboxUnavailable, match="missing"):
        Sandbox()


@pytest.mark.parametrize(
    ("options", "sentence"), [({"tier": "docker"}, "no tier 'docker'"), ({"workers": 0}, "workers = 0")]
)
def test_what_cannot_be_is_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        Sandbox(**options)


def test_a_worker_that_is_killed_is_replaced_within_the_job(tier):
    before = workers()
    with Sandbox(tier) as sandbox, ThreadPoolExecutor(1) as thread:
        idle = workers()
        job = thread.submit(sandbox.run, "import time\ntime.sleep(0.8)\nf = lambda x: x", TESTS)
        assert within(60, lambda: job.done() or workers() - idle)  # the candidate runs
        for pid in workers() - before:
            with suppress(ProcessLookupError):  # it died with the one that was killed before
                os.kill(pid, signal.SIGKILL)
        assert job.result().reason == "passed"
        assert sandbox.run("f = lambda x: x", TESTS).accepted


def test_a_program_that_is_killed_from_outside_runs_once_more(tier):
    """As the kernel kills it where memory is short."""
    with Sandbox(tier) as sandbox, ThreadPoolExecutor(1) as thread:
        assert sandbox.run("f = lambda x: x", TESTS).accepted
        idle = workers()
        job = thread.submit(sandbox.run, "import time\ntime.sleep(0.8)\nf = lambda x: x", TESTS)
        assert within(60, lambda: job.done() or workers() - idle)  # the candidate runs, beside an old judge
        for pid in workers() - idle:
            os.kill(pid, signal.SIGKILL)
        assert job.result().reason == "passed"


KILLED = {
    "by_itself": "import os\nos.kill(os.getpid(), 9)",
    "by_a_limit_of_its_own": (
        "import resource\ntry:\n    resource.setrlimit(resource.RLIMIT_CPU, (1, 1))\n"
        "except (OSError, ValueError):\n    pass\nwhile True: pass"
    ),
}


@pytest.mark.parametrize("program", KILLED.values(), ids=KILLED)
def test_no_program_can_pass_as_killed_from_outside(tier, program):
    with Sandbox(tier) as sandbox:
        assert sandbox.run(program, TESTS, limits=Limits(cpu=1.5)).reason in ("failed", "timeout")


def test_without_protection_a_program_that_kills_itself_fails():
    with Sandbox("none") as sandbox:
        assert sandbox.run(KILLED["by_itself"], TESTS).reason == "failed"


@pytest.mark.slow
def test_a_program_that_waits_for_the_processor_does_not_count_as_idle(tier):
    """All processes stand still for longer than a program may wait, as on a machine that others use."""
    slow = (
        "import time\ntime.sleep(1)\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
    )
    with Sandbox(tier) as sandbox, ThreadPoolExecutor(1) as thread:
        idle = workers()
        job = thread.submit(sandbox.run, f"{slow}\nf = lambda x: x", TESTS)
        assert within(60, lambda: job.done() or workers() - idle)  # the candidate runs
        for number in (signal.SIGSTOP, signal.SIGCONT):
            for pid in workers():
                os.kill(pid, number)
            time.sleep(host.IDLE_SECONDS + 1 if number == signal.SIGSTOP else 0)
        assert job.result().reason == "passed"


def test_a_worker_that_dies_twice_is_an_error_and_not_the_programs_fault(tier, monkeypatch):
    def die(self, job):
        raise OSError("gone")

    with Sandbox(tier) as sandbox:
        monkeypatch.setattr(host.SupervisedWorker, "run", die)
        verdict = sandbox.run("f = lambda x: x", TESTS)
        assert (verdict.reason, verdict.detail) == ("error", "the sandbox broke twice: gone; gone")
        monkeypatch.undo()
        assert sandbox.run("f = lambda x: x", TESTS).accepted


def test_a_judge_that_its_tests_kill_is_their_fault(tier):
    crash = "import ctypes\ndef same(a):\n    return ctypes.string_at(0) if a else True"
    with Sandbox(tier) as sandbox:
        verdict = sandbox.run("f = lambda x: x", ["assert same(f(1))"], setup=[crash], entry_points=["f"])
        assert verdict.reason == "error"
        assert "signal 11" in verdict.detail
        assert sandbox.run("f = lambda x: x", TESTS).accepted


def test_an_interrupt_takes_the_worker_along_and_no_verdict_is_mixed_up(tier, monkeypatch):
    with Sandbox(tier) as sandbox:
        hear = host.SupervisedWorker._receive

        def interrupt(self):
            raise KeyboardInterrupt

        monkeypatch.setattr(host.SupervisedWorker, "_receive", interrupt)
        with pytest.raises(KeyboardInterrupt):
            sandbox.run("f = lambda x: 0", TESTS)
        monkeypatch.setattr(host.SupervisedWorker, "_receive", hear)
        assert sandbox.run("f = lambda x: x", TESTS).accepted


def test_the_judge_is_renewed_after_its_jobs_and_after_an_unclean_one(tier, monkeypatch):
    monkeypatch.setattr(host, "JOBS_PER_JUDGE", 3)
    born = []
    new_judge = host.SupervisedWorker._new_judge
    monkeypatch.setattr(
        host.SupervisedWorker, "_new_judge", lambda self: (born.append(1), new_judge(self))[1]
    )
    with Sandbox(tier) as sandbox:
        born.clear()
        for _ in range(6):
            sandbox.run("f = lambda x: x", TESTS)
        assert len(born) == 2
        monkeypatch.setattr(host, "JOBS_PER_JUDGE", 100)
        born.clear()
        for program, renewed in (
            ("f = lambda x: 0", 0),
            ("f = lambda x: object()", 1),
            ("import os\nos._exit(0)", 1),
        ):
            sandbox.run(program, TESTS)
            sandbox.run("f = lambda x: x", TESTS)
            assert len(born) == renewed, program
            born.clear()


def test_a_closed_sandbox_says_so_and_leaves_no_process(tier):
    before = workers()
    sandbox = Sandbox(tier, workers=2)
    sandbox.run("f = lambda x: x", TESTS)
    started = workers() - before
    assert started
    sandbox.close()
    sandbox.close()
    assert gone(started)
    with pytest.raises(ValueError, match="closed"):
        sandbox.run("f = 1", TESTS)


def resident_pages(processes: set[int]) -> list[int]:
    """Return the resident pages of each process; one that ends at this moment, as a candidate, has none."""
    pages = []
    for pid in processes:
        with suppress(OSError):
            pages.append(int(Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1]))
    return pages


def test_verdicts_leave_no_process_descriptor_or_memory(tier):
    def held():
        pages = resident_pages(workers() - before)
        return len(list(Path("/proc/self/fd").iterdir())), len(pages), sum(pages)

    before = workers()
    with Sandbox(tier) as sandbox:
        for number in range(60):
            sandbox.run(f"f = lambda x: x + {number % 2}", TESTS)
        # The worker, its judge and, with namespaces, the process that waits for the worker.
        assert within(60, lambda: held()[1] == (3 if tier == "namespaces" else 2))
        first = held()
        for number in range(200):
            sandbox.run(f"f = lambda x: x + {number % 2}", TESTS)
        assert within(60, lambda: held()[:2] == first[:2])  # the last candidate may be about to end
        last = held()
    assert last[2] - first[2] < 512  # pages: 2 MB


ENDLESS = """
import ctypes, os, sys, threading, time
from erce.verify.sandbox import Limits, Sandbox
sandbox = Sandbox(sys.argv[1], workers=2)
if not ctypes.CDLL(None).fork():  # as a library forks: none of Python's hooks runs
    time.sleep(90)
    os._exit(0)
long = Limits(cpu=60, wall=100)
run = lambda: sandbox.run("while True: pass", ["assert f(1)"], limits=long)
for _ in range(2):
    threading.Thread(target=run).start()
time.sleep(600)
"""


def test_killing_the_supervisor_leaves_no_process_even_if_a_fork_of_it_lives_on(tier):
    with subprocess.Popen([sys.executable, "-c", ENDLESS, tier]) as supervising:
        # At least a judge and a candidate of each worker.
        assert within(60, lambda: supervising.poll() is None and len(workers(supervising.pid)) >= 4)
        started = workers(supervising.pid)
        supervising.kill()
        assert gone(started)


FORKED = """
import os, sys
from erce.verify.program import run_program
passed = lambda: run_program("f = lambda x: x", ["assert f(1) == 1"]).accepted
assert passed()
child = os.fork()
assert passed()
if child:
    assert os.waitpid(child, 0)[1] == 0
    assert passed()
"""


def test_a_forked_process_has_a_shared_sandbox_of_its_own(tier):
    command = [sys.executable, "-W", "error", "-c", FORKED]
    done = subprocess.run(
        command, env={**os.environ, "ERCE_SANDBOX": tier}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_worker_loads_none_of_our_heavy_parts(tier):
    program = (
        "import sys\nf = lambda: [n for n in sys.modules if n.split('.')[0] in ('torch', 'numpy', 'erce')]"
    )
    tests = [
        "loaded = f()",
        "assert 'torch' not in loaded and 'numpy' not in loaded and 'erce.types' not in loaded",
        "assert 'erce.verify.sandbox.judge' in loaded",
    ]
    with Sandbox(tier) as sandbox:
        assert sandbox.run(program, tests).accepted


@pytest.mark.parametrize(
    "job",
    [
        {"program": b"", "tests": []},
        {"program": "", "tests": "assert f(1)"},
        {"program": "", "tests": [5]},
        {"program": "", "tests": ["assert f"], "setup": "import math"},
        {"program": "", "tests": ["assert f"], "entry_points": "f"},
        {"program": "", "tests": ["assert f"], "mode": "lenient"},
    ],
)
def test_what_is_no_text_is_a_sentence(job):
    with pytest.raises(ValueError, match=r"must be|no mode"):
        Job(**job)


@pytest.mark.parametrize(
    "limits",
    [
        *({"cpu": 0}, {"wall": 0}, {"memory": 0}, {"file": 0}, {"memory": 2e9}, {"memory": 1 << 70}),
        *({"cpu": float("nan")}, {"cpu": float("inf")}, {"wall": float("nan")}, {"cpu": "2"}, {"wall": None}),
    ],
)
def test_a_limit_is_a_number_above_zero_and_bytes_are_whole(limits):
    with pytest.raises(ValueError, match=f"{next(iter(limits))} .*(such a number|round it)"):
        Limits(**limits)
