"""Jobs → their outcomes, from one worker process that the user's process starts, feeds and ends."""

import json
import os
import socket
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from erce.errors import InputError, RunError
from erce.types import REASONS, Verdict
from erce.verify.sandbox import wire
from erce.verify.sandbox.judge import ENDED
from erce.verify.sandbox.tests_text import BrokenTestsError, ReadTests, read_tests

TIERS = ("namespaces", "landlock", "seccomp", "none")
MODES = ("strict", "unproven", "script")
WALL_TIMES_CPU = 60  # wall time for each second of processor time, so that a load of 50 changes no verdict
BYTE_ORDER_MARK = "\ufeff"
IDLE_SECONDS = 5.0
JOBS_PER_JUDGE = 200
START_SECONDS = 60.0  # until a worker must be ready
Conversation = Callable[[socket.socket, float], dict[str, Any]]  # with a candidate, for so many seconds
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
main({descriptor}, {parent}, {tier!r}, {numpy!r})
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
_OVER = {
    "processor": "over {cpu:g} s of processor time",
    "judge": "comparing what it returned took over {cpu:g} s of processor time",
    "wall": "over {wall:g} s of wall time",
    "idle": "waited for {idle:g} s without computing",
}


@dataclass(frozen=True)
class Limits:
    """The limits on one program.

    `cpu` is processor time of all threads, so that a busy machine changes no verdict; comparing the results
    has an equal budget of its own. A program that computes for less than 0.05 s in 5 s (or in half of `wall`,
    if that is shorter) waits, and is stopped. `wall` itself is a last guard. `memory` comes on top of what a
    bare interpreter takes; `file` bounds the size of each file.
    """

    cpu: float = 2.0  # seconds
    wall: float = 120.0  # seconds
    memory: int = 1 << 30  # bytes
    file: int = 16 << 20  # bytes

    @property
    def idle(self) -> float:
        """The seconds that a program may wait without computing."""
        return min(IDLE_SECONDS, self.wall / 2)

    def __post_init__(self) -> None:
        for name, most in {"cpu": 1e9, "wall": 1e9, "memory": 1 << 60, "file": 1 << 60}.items():
            limit = getattr(self, name)
            if name in ("memory", "file") and not isinstance(limit, int):
                raise InputError(f"{name} counts bytes, and {limit!r} is not an int: round it")
            if not (isinstance(limit, int | float) and 0 < limit <= most):
                raise InputError(f"{name} = {limit!r} must be above 0 and up to {most:g}: give such a number")


@dataclass(frozen=True)
class Job:
    """One program with its tests, or in mode "script" with its standard input.

    `erce.verify.sandbox` says what the modes are. A byte-order mark before a text is not part of it.
    """

    program: str
    tests: Sequence[str] = ()
    setup: Sequence[str] = ()
    entry_points: Sequence[str] | None = None
    mode: str = "strict"
    limits: Limits = Limits()
    given: str = ""  # the standard input of a script

    def __post_init__(self) -> None:
        if not isinstance(self.program, str):
            raise InputError(f"a program must be a str, not {type(self.program).__name__}: decode it first")
        for name in ("tests", "setup", "entry_points"):
            texts = getattr(self, name)
            if texts is None and name == "entry_points":
                continue
            if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
                raise InputError(f"{name} must be a list of str, not {texts!r:.80}: write one")
            object.__setattr__(self, name, tuple(text.removeprefix(BYTE_ORDER_MARK) for text in texts))
        for name in ("program", "given"):
            object.__setattr__(self, name, getattr(self, name).removeprefix(BYTE_ORDER_MARK))
        if self.mode not in MODES:
            raise InputError(f"no mode {self.mode!r}; give {' or '.join(MODES)}")
        if self.mode == "script" and self.tests:
            raise InputError(f"mode 'script' does not run tests = {self.tests!r:.80}: use mode 'strict'")


@dataclass(frozen=True)
class Outcome:
    """A verdict, the processor time of the program in seconds, and what a script printed."""

    verdict: Verdict
    cpu: float
    printed: str = ""


class SandboxUnavailable(RunError):  # noqa: N818 (a state of the machine, not a mistake)
    """A machine on which no permitted tier works; the message says why, and what helps."""


class _Report(NamedTuple):
    """The lines of a worker's report on one job."""

    cpu: str  # seconds
    over: str  # the budget that is used up, or ""
    ended: str  # how the candidate ended, "" if it was ended
    judge: str  # how the judge ended, "" if it goes on


class SupervisedWorker:
    """One worker process, for one job at a time. Not thread-safe, and of no use after a fork."""

    def __init__(self, tier: str) -> None:
        self.owner, self._tier = os.getpid(), tier
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._judge: socket.socket | None = None
        self._judged = 0
        self._channels = [self._control]  # and later that of the judge
        try:
            with theirs:
                process = _start(theirs.fileno(), tier)
        except BaseException:
            self._control.close()
            raise
        self._end = weakref.finalize(self, _end, process, self._channels, self.owner)
        self._control.settimeout(START_SECONDS)
        assert process.stderr is not None
        with process.stderr as errors:
            try:
                problem = self._receive().removeprefix(wire.READY.decode())
            except OSError as error:
                process.kill()
                last_line = errors.read(4000).decode(errors="replace").strip().rpartition("\n")[2]
                problem = f"the worker did not start: {last_line or error}"
        if problem:
            self.close()
            raise OSError(problem)

    def close(self) -> None:
        """End the worker and everything that it started; in a forked process leave it to the parent."""
        self._end()

    def run(self, job: Job) -> Outcome:
        """Return the outcome of one job; OSError if the worker or its judge died, so that another may try."""
        tests, content = None, [job.setup, job.tests]
        try:
            if job.mode != "script":
                tests = read_tests(job.setup, job.tests, job.entry_points)
            if tests and job.mode == "strict":
                content = [tests.imports, tests.entry_points]
            program = wire.frame([job.mode, job.program, *content])
        except BrokenTestsError as error:
            return Outcome(Verdict(False, "error", detail=str(error)), 0.0)
        except wire.TooBigError as error:
            return Outcome(Verdict(False, "failed", detail=f"a program of {error}"), 0.0)
        try:
            if tests and job.mode == "strict":
                return self._run_judged(program, job, tests)
            if job.mode == "script":
                return self._run_script(program, job)
            return self._run_alone(program, job)
        except (OSError, ValueError, RecursionError, wire.TooBigError) as error:
            # What is left of a dead worker or judge, or of a judge that its tests have changed, makes these.
            raise OSError(f"{type(error).__name__}: {error}") from error

    def _run_judged(self, program: bytes, job: Job, tests: ReadTests) -> Outcome:
        """Let the judge run the tests, and the candidate answer its calls."""
        began = time.monotonic()
        if self._judge is None or self._judged >= JOBS_PER_JUDGE:
            self._judge = self._new_judge()
        request = json.dumps({"setup": job.setup, "tests": job.tests, **vars(tests)}).encode()
        ruling, report = self._exchange(program, job.limits, partial(_ruling_of, self._judge, request))
        self._judged += 1
        # Whether the tests may have left something is not asked of the judge, which they could have changed.
        if report.judge or report.over or not (ruling.get("clean", False) and tests.only_values):
            self._judged = JOBS_PER_JUDGE  # the next job gets a fresh judge
        if not ruling and not report.over:
            raise OSError(f"the judge ended ({report.judge or 'no ruling'})")
        reason, detail = ruling.get("reason", "failed"), ruling.get("detail", "")
        return _outcome(reason, detail, report, job.limits, began)

    def _run_script(self, program: bytes, job: Job) -> Outcome:
        """Run a program by itself; "passed" if it ended without an error, whatever it printed."""
        with (
            os.fdopen(os.memfd_create("in"), "w+b") as stdin,
            os.fdopen(os.memfd_create("out"), "w+b") as stdout,
        ):
            stdin.write(job.given.encode(errors="replace"))
            stdin.seek(0)
            outcome = self._run_alone(program, job, stdin.fileno(), stdout.fileno())
            printed = os.pread(stdout.fileno(), job.limits.file + 1, 0)
        return replace(outcome, printed=printed.decode(errors="replace"))

    def _run_alone(self, program: bytes, job: Job, *streams: int) -> Outcome:
        """Let the candidate's process say how its program went, which a program can forge."""
        began = time.monotonic()
        reply, report = self._exchange(program, job.limits, _last_words, *streams)
        word, _, detail = reply["detail"].partition("\n")
        if word == ENDED:
            by_exit = job.mode == "script" and report.ended == "exit status 0"  # as of os._exit(0)
            word, detail = ("passed", "") if by_exit else ("failed", ENDED)
        reason = "failed" if word != "passed" else "passed" if job.mode == "script" else "unproven"
        return _outcome(reason, detail, report, job.limits, began)

    def _new_judge(self) -> socket.socket:
        judge, theirs = socket.socketpair()
        for old in self._channels[1:]:
            old.close()
        self._channels[1:] = [judge]
        with theirs:
            socket.send_fds(self._control, [wire.NEW_JUDGE], [theirs.fileno()])
        self._judged = 0
        return judge

    def _exchange(
        self, job: bytes, limits: Limits, converse: Conversation, *streams: int
    ) -> tuple[dict[str, Any], _Report]:
        """Start a candidate and return what `converse` makes of its channel, and the worker's report.

        `streams` are the descriptors of its standard input and output, if it has any.
        """
        ours, theirs = socket.socketpair()
        seconds = limits.wall + SLACK_SECONDS
        with ours:
            with theirs:
                header = wire.LIMITS.pack(limits.cpu, limits.wall, limits.idle, limits.memory, limits.file)
                self._control.settimeout(seconds)
                socket.send_fds(self._control, [header], [theirs.fileno(), *streams])
            ours.settimeout(seconds)
            with suppress(BrokenPipeError, ConnectionResetError):  # the candidate is dead, as will be noticed
                ours.sendall(job)
            reply = converse(ours, seconds)
        # The candidate is "done", or "dead" if it closed its channel; "gone": the judge closed its own. A
        # channel closes a moment before its process ends, so for the last two the worker waits for that.
        ended = b"dead" if reply.get("detail") == ENDED else b"done"
        self._control.send(ended if reply else b"gone")
        report = _Report(*self._receive().split("\n"))
        if report.ended == "signal 9" and self._tier != "none" and float(report.cpu) < limits.cpu:
            # The program, or the kernel's limit on its processor time, cannot have done this.
            raise OSError("a program was killed from outside (signal 9), as where memory is short")
        return reply, report

    def _receive(self) -> str:
        message = self._control.recv(1 << 16)
        if not message:
            raise wire.ClosedError("the worker ended")
        return message.decode()


def _ruling_of(
    judge: socket.socket, request: bytes, channel: socket.socket, seconds: float
) -> dict[str, Any]:
    """Return the judge's ruling; {} if the judge ended instead."""
    judge.settimeout(seconds)
    channel.settimeout(None)  # the judge waits as long as it takes; the worker has the clock
    try:
        socket.send_fds(judge, [len(request).to_bytes(4, "little")], [channel.fileno()])
        channel.close()
        judge.sendall(request)
        ruling = wire.receive(judge)
    except (BrokenPipeError, ConnectionResetError, wire.ClosedError):
        return {}
    readable = type(ruling) is dict and ruling.get("reason") in REASONS
    if not readable or type(ruling.get("detail")) is not str:  # the tests changed their judge
        raise ValueError("the judge's ruling cannot be read")
    return ruling


def _last_words(channel: socket.socket, seconds: float) -> dict[str, Any]:
    """Return what a candidate says before its process ends, or that it ended without a word."""
    said = b""
    with suppress(ConnectionResetError):
        while (chunk := channel.recv(1000)) and len(said) < 1000:
            said += chunk
    return {"detail": said.decode(errors="replace") or ENDED}


def _outcome(reason: str, detail: str, report: _Report, limits: Limits, began: float) -> Outcome:
    elapsed, cpu = time.monotonic() - began, float(report.cpu)
    if report.over:
        detail = _OVER[report.over].format(cpu=limits.cpu, wall=limits.wall, idle=limits.idle)
        return Outcome(Verdict(False, "timeout", elapsed=elapsed, detail=detail), cpu)
    if report.ended and detail == ENDED:
        detail = f"{detail} ({report.ended})"
    line = "".join(letter if letter.isprintable() else " " for letter in detail)
    detail = " ".join(line.split()).removesuffix(":")
    accepted = reason in ("passed", "unproven")
    return Outcome(Verdict(accepted, reason, elapsed=elapsed, detail=detail), cpu)


def numpy_folder() -> str:
    """Return the folder of NumPy, the only package that programs may import; "" if it is not, or in /tmp."""
    spec = find_spec("numpy")
    folder = Path(spec.origin).resolve().parent if spec and spec.origin else None
    return "" if folder is None or folder.is_relative_to("/tmp") else str(folder)


def _start(descriptor: int, tier: str) -> "subprocess.Popen[bytes]":
    here = Path(__file__).resolve().parent
    folders = {"erce.verify.sandbox": here, "erce.verify": here.parent, "erce": here.parent.parent}
    packages = {name: str(folder) for name, folder in folders.items()}
    script = _WORKER_SCRIPT.format(
        packages=packages, descriptor=descriptor, parent=os.getpid(), tier=tier, numpy=numpy_folder()
    )
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


def _end(process: "subprocess.Popen[bytes]", channels: list[socket.socket], owner: int) -> None:
    for channel in channels:
        channel.close()
    if os.getpid() != owner:
        process.returncode = 0  # or Popen would wait for a process that is not a child of this one
        return
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
