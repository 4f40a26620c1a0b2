"""Jobs → their outcomes, from one worker process that the user's process starts, feeds and ends."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from erce.types import REASONS, Verdict
from erce.verify.sandbox import frames
from erce.verify.sandbox.compiled_tests import BrokenTestsError, called_with_literals, definitions_of
from erce.verify.sandbox.jobs import Job, Limits, Outcome
from erce.verify.sandbox.judge.peer import ENDED
from erce.verify.sandbox.plain_tests import leaves_nothing

JOBS_PER_JUDGE = 200
START_SECONDS = 60.0  # until a worker must be ready
SLACK_SECONDS = 10.0  # of silence beyond the wall limit, after which a worker counts as dead

# Parent packages are empty stubs, so that the worker loads no files but those of the sandbox. It has one
# thread and every job starts from seed 0, so its forks can leave out the slow hooks of threading and random.
# Without `site`, Python lacks `exit` and `quit`, which programs and tests may call.
_WORKER_SCRIPT = """
import builtins, os, sys, types
builtins.exit = builtins.quit = sys.exit
register, os.register_at_fork = os.register_at_fork, lambda **hooks: None
for name, folder in {packages!r}.items():
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [folder]
from erce.verify.sandbox.worker import main
os.register_at_fork = register
main({descriptor}, {tier!r}, {without!r})
"""
ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "LC_ALL": "C.UTF-8",
    "HOME": "/tmp",
    "OMP_NUM_THREADS": "1",
    "LD_BIND_NOW": "1",  # else every fork looks up the functions of the C library that it calls
    "MALLOC_ARENA_MAX": "1",  # every further arena takes 64 MB or more of the address space
    "PATH": "/nonexistent",
}
_CRASHES = {f"signal {number:d}" for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE)}
_OVER = {
    "processor": "over {cpu:g} s of processor time",
    "judge": "comparing what it returned took over {cpu:g} s of processor time",
    "wall": "over {wall:g} s of wall time",
    "idle": "waited for {idle:g} s without computing",
}


class _Report(NamedTuple):
    """The lines of a worker's report on one job."""

    cpu: str  # seconds
    over: str = ""  # the budget that is used up
    ended: str = ""  # how the candidate ended, "" if it was ended
    judge: str = ""  # how the judge ended, "" if it goes on


class WorkerDiedError(Exception):
    """The death of a worker or its judge; another worker may judge the job.

    `crashed`: the judge died of a fault such as a segmentation fault.
    """

    def __init__(self, message: str, *, crashed: bool = False) -> None:
        super().__init__(message)
        self.crashed = crashed


class SupervisedWorker:
    """One worker process, for one job at a time. Not thread-safe.

    `without` names layers to leave out, so that tests can show what each stops; without "split" program and
    tests share a process.
    """

    def __init__(self, tier: str, without: Iterable[str] = ()) -> None:
        self._without = sorted(without)
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._judge: socket.socket | None = None
        self._judged = 0
        with theirs, _closing_on_error(self._control):
            process = _start(theirs.fileno(), tier, [name for name in self._without if name != "split"])
        self._end = weakref.finalize(self, _end, process, self._control, os.getpid())
        _alive.add(self)
        problem = self._start_problem(process)
        if problem:
            self.close()
            raise OSError(problem)

    def close(self) -> None:
        """End the worker and everything that it started."""
        if self._judge:
            self._judge.close()
        self._end()

    def forget(self) -> None:
        """Leave the worker to the process that started it; called in the child of a fork."""
        detached = self._end.detach()
        if detached:
            process = detached[2][0]
            process.returncode = 0  # or Popen would wait for a process that is no child of this one
        self._control.close()
        if self._judge:
            self._judge.close()

    def run(self, job: Job, limits: Limits) -> Outcome:
        """Return the outcome of one job, or raise WorkerDiedError.

        Tests that go beyond values are run again, in one interpreter with the program (`one_interpreter`).
        """
        outcome, again = self._run_once(job, limits, job.mode)
        if not again:
            return outcome
        longer = replace(limits, cpu=2 * limits.cpu)  # the tests' own computation counts against it, too
        second, _ = self._run_once(job, longer, "together")
        if second.verdict.reason == "failed":  # perhaps because program and tests have names in common
            apart, _ = self._run_once(job, longer, "apart")
            second = apart if apart.verdict.accepted else second
        return Outcome(_of_both(outcome.verdict, second.verdict), max(outcome.cpu, second.cpu))

    def _run_once(self, job: Job, limits: Limits, mode: str) -> tuple[Outcome, bool]:
        """Return the outcome in a fresh process, and whether a second run is to decide."""
        began = time.monotonic()
        if mode == "strict" and "split" in self._without:
            mode = "together"
        try:
            definitions = definitions_of(tuple(job.setup))
            program = frames.frame([job.program, definitions, _imports_of(job.tests), mode])
        except frames.TooBigError as error:
            return Outcome(Verdict(False, "failed", detail=f"a program of {error}"), 0.0), False
        try:
            if self._judge is None or self._judged >= JOBS_PER_JUDGE:
                self._renew_judge()
            ruling, report = self._exchange(program, job, mode, limits)
        except (OSError, ValueError, RecursionError, frames.TooBigError) as error:
            raise WorkerDiedError(f"{type(error).__name__}: {error}") from error
        self._judged += 1
        if report.judge or report.over or not ruling.get("clean", False):
            self._judged = JOBS_PER_JUDGE  # the next job gets a fresh judge
        if not ruling and not report.over:
            end = report.judge or "no ruling"
            raise WorkerDiedError(f"the judge ended ({end})", crashed=end in _CRASHES)
        verdict = _verdict(ruling, report, limits, time.monotonic() - began)
        return Outcome(verdict, float(report.cpu)), ruling.get("again") is True and not report.over

    def _renew_judge(self) -> None:
        if self._judge:
            self._judge.close()
        self._judge, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self._control, [frames.NEW_JUDGE], [theirs.fileno()])
        self._judged = 0

    def _exchange(
        self, program: bytes, job: Job, mode: str, limits: Limits
    ) -> tuple[dict[str, Any], _Report]:
        """Return the judge's ruling and the worker's report."""
        ours, theirs = socket.socketpair()
        seconds = limits.wall + SLACK_SECONDS
        with ours:
            with theirs:
                header = frames.LIMITS.pack(limits.cpu, limits.wall, limits.idle, limits.memory, limits.file)
                _set_timeout(self._control, seconds)
                socket.send_fds(self._control, [header], [theirs.fileno()])
            if len(program) > frames.WRITTEN_AT_ONCE_BYTES:
                ours.settimeout(seconds)
            with suppress(BrokenPipeError, ConnectionResetError):  # the judge notices a dead candidate
                ours.sendall(program)
            if len(program) > frames.WRITTEN_AT_ONCE_BYTES:
                ours.settimeout(None)
            ruling = self._ask_judge(ours, job, mode, seconds)
        # The candidate is "done", or "dead" if it closed its channel; "gone": the judge closed its own. A
        # channel closes a moment before its process ends, so for the last two the worker waits for that.
        ended = b"dead" if ruling.get("detail") == ENDED else b"done"
        self._control.send(ended if ruling else b"gone")
        return ruling, _Report(*self._receive().split("\n"))

    def _ask_judge(self, channel: socket.socket, job: Job, mode: str, seconds: float) -> dict[str, Any]:
        """Return the judge's ruling; {} if the judge ended instead."""
        judge = self._judge
        if judge is None:
            raise AssertionError("a job came before a judge")
        _set_timeout(judge, seconds)
        request = _request(job, mode)  # read while the worker forks
        try:
            sent = socket.send_fds(judge, [request], [channel.fileno()])
            channel.close()
            if sent < len(request):
                judge.sendall(request[sent:])
            clean = _leaves_nothing(job)  # computed while the judge works
            ruling = frames.receive(judge)
        except (BrokenPipeError, ConnectionResetError, frames.ClosedError):
            return {}
        readable = type(ruling) is dict and ruling.get("reason") in REASONS
        if not readable or type(ruling.get("detail")) is not str:  # the tests changed their judge
            raise ValueError("the judge's ruling cannot be read")
        return ruling | {"clean": clean and ruling.get("clean", False)}

    def _start_problem(self, process: "subprocess.Popen[bytes]") -> str:
        """Return why the worker cannot serve, or ""."""
        if process.stderr is None:
            raise AssertionError("the worker was started without its pipe")
        self._control.settimeout(START_SECONDS)
        with process.stderr as pipe:
            try:
                return self._receive().removeprefix(frames.READY.decode())
            except OSError as error:
                self._control.close()
                process.kill()
                last_line = pipe.read(4000).decode(errors="replace").strip().rpartition("\n")[2]
                return f"the worker did not start: {last_line or error}"

    def _receive(self) -> str:
        message = self._control.recv(1 << 16)
        if not message:
            raise frames.ClosedError("the worker ended")
        return message.decode()


def _imports_of(tests: Sequence[str]) -> list[str]:
    """Return the imports and types of tests, which a program sees when it is called."""
    importing = tuple(test for test in tests if "import" in test)
    return [source for source, kind in definitions_of(importing) if not kind] if importing else []


def _set_timeout(channel: socket.socket, seconds: float) -> None:
    if channel.gettimeout() != seconds:  # or it would be a system call for nothing
        channel.settimeout(seconds)


def _request(job: Job, mode: str) -> bytes:
    closed = None if job.entry_points is None else list(job.entry_points)
    request = {"setup": list(job.setup), "tests": list(job.tests), "entry_points": closed, "mode": mode}
    request["literal"] = _called_with_literals(job)
    text = json.dumps(request).encode()
    return len(text).to_bytes(4, "little") + text


def _called_with_literals(job: Job) -> list[str]:
    """Return the functions that the tests call if these are literal asserts, else []."""
    try:
        return list(called_with_literals(tuple(job.setup), tuple(job.tests)))
    except BrokenTestsError:
        return []


def _leaves_nothing(job: Job) -> bool:
    """Return whether the job's tests provably leave the judge as it was; never asked of the judge itself."""
    if job.mode == "paper":  # whose tests never run in the judge
        return True
    closed = None if job.entry_points is None else tuple(job.entry_points)
    return leaves_nothing(tuple(job.setup), tuple(job.tests), closed)


def _verdict(ruling: dict[str, Any], report: _Report, limits: Limits, elapsed: float) -> Verdict:
    reason, detail = ruling.get("reason", "failed"), ruling.get("detail", "")
    if report.over:
        detail = _OVER[report.over].format(cpu=limits.cpu, wall=limits.wall, idle=limits.idle)
        return Verdict(False, "timeout", elapsed=elapsed, detail=detail)
    if report.ended and detail == ENDED:
        detail = f"{detail} ({report.ended})"
    return Verdict(reason == "passed", reason, elapsed=elapsed, detail=detail)


def _of_both(strict: Verdict, together: Verdict) -> Verdict:
    """Return the verdict of a run across the border and one in a single interpreter.

    A program passes if it passes both. If it passes in one interpreter alone, either the border hid something
    from the tests or the program forges, which is "opaque".
    """
    elapsed = strict.elapsed + together.elapsed
    if strict.accepted == together.accepted:
        return replace(strict, elapsed=elapsed)
    if together.accepted:
        detail = f"{strict.detail}; it passes with the tests in one process, where a program could cheat"
        return replace(strict, reason="opaque", elapsed=elapsed, detail=detail)
    return replace(together, elapsed=elapsed, detail=f"with the tests in one process: {together.detail}")


@contextmanager
def _closing_on_error(channel: socket.socket) -> Iterator[None]:
    """Close the channel if the block fails."""
    try:
        yield
    except BaseException:
        channel.close()
        raise


def _start(descriptor: int, tier: str, without: list[str]) -> "subprocess.Popen[bytes]":
    here = Path(__file__).resolve().parents[1]
    folders = {"erce.verify.sandbox": here, "erce.verify": here.parent, "erce": here.parent.parent}
    packages = {name: str(folder) for name, folder in folders.items()}
    script = _WORKER_SCRIPT.format(packages=packages, descriptor=descriptor, tier=tier, without=without)
    # Isolated like `python -I`, but -I would also ignore PYTHONHASHSEED.
    return subprocess.Popen(
        [sys.executable, "-P", "-s", "-S", "-B", "-c", script],
        env=ENVIRONMENT,
        pass_fds=[descriptor],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        cwd="/",
    )


def _end(process: "subprocess.Popen[bytes]", control: socket.socket, owner: int) -> None:
    control.close()
    if os.getpid() != owner:
        return
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


_alive: "weakref.WeakSet[SupervisedWorker]" = weakref.WeakSet()


def _after_fork() -> None:
    for worker in list(_alive):
        worker.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
