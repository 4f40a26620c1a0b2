"""A warm process in its tier → one confined candidate for each job, beside a judge that stays.

The supervisor, in the user's process, starts the worker with nothing of its own memory. The worker forks a
judge, which reads tests, and for each job a candidate from a process that never read a test. The worker keeps
the clocks and kills a candidate that exceeds its budget, so no program can delay its own end. When the
supervisor ends, all of them end.
"""

import gc
import importlib
import os
import select
import signal
import socket
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import NamedTuple

from erce.verify.sandbox import candidate
from erce.verify.sandbox.frames import LIMITS, NEW_JUDGE, READY
from erce.verify.sandbox.judge import trial
from erce.verify.sandbox.kernel import layers, linux
from erce.verify.sandbox.kernel.layers import Allowance, Confinement, Place

PRELOADED = """
abc array ast bisect cmath collections collections.abc contextlib copy dataclasses datetime decimal enum
fractions functools heapq io itertools json math numbers operator random re string struct threading time types
typing
"""  # not hashlib and its like: every fork costs time for each page of memory
JUDGE = Allowance(cpu=float(1 << 30), memory=512 << 20, file=0)
RULING_SECONDS = 2.0  # that a judge has to rule after its candidate is dead
SHORTEST_NAP_SECONDS = 0.005
CONFINEMENT_FAILED = 70  # an exit status
BUSY_CPU_SECONDS = 0.05  # a program that uses less in its idle time is waiting, not computing


def main(control_descriptor: int, tier: str, without: list[str]) -> None:
    """Enter the tier, report how that went, and serve jobs until the supervisor is gone."""
    control = socket.socket(fileno=control_descriptor)
    supervisor = os.pidfd_open(os.getppid())
    os.environ.pop("MALLOC_ARENA_MAX", None)  # the C library has read it, and programs do not need it
    for name in PRELOADED.split():
        importlib.import_module(name)
    try:
        place = Place(tier, frozenset(without), layers.readable_paths())
        proc = layers.enter(place)
        namespaces = None if proc is None else _first_of_its_namespace(proc)
        linux.prctl(linux.PR_SET_DUMPABLE, 0)  # also for the children
        worker = Worker(control, supervisor, place, namespaces)
    except OSError as error:
        control.send((error.strerror or str(error)).encode())
        os._exit(1)
    os.dup2(1, 2)  # nobody reads standard error from here on
    control.send(READY)
    gc.collect()
    gc.freeze()
    worker.serve()


def _first_of_its_namespace(proc: int) -> layers.JobNamespaces:
    """Continue in the first process of the new process namespace; this process waits for it and ends."""
    child = os.fork()
    if child:
        os.closerange(3, 1 << 16)
        os.waitpid(child, 0)
        os._exit(0)
    layers.die_with_parent()
    own = os.open("self/ns/pid", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
    os.close(proc)
    return layers.JobNamespaces(own)


@dataclass
class _Child:
    """A judge or candidate of this worker; `ended` means that it was seen to end by itself."""

    pid: int
    pidfd: int
    ended: bool = False

    def seconds(self) -> float:
        """Return the processor time so far, of all threads."""
        return time.clock_gettime(~self.pid << 3 | 2)  # the CPU clock of a process: clock_getcpuclockid(3)

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def reap(self) -> str:
        """Return how the process ended; "" if it was killed here."""
        self.kill()
        _, status = os.waitpid(self.pid, 0)
        os.close(self.pidfd)
        code = os.waitstatus_to_exitcode(status)
        end = f"signal {-code}" if code < 0 else f"exit status {code}"
        return end if self.ended else ""


class _Limits(NamedTuple):
    """The limits of one job, in the order in which the supervisor sends them."""

    cpu: float  # seconds
    wall: float  # seconds
    idle: float  # seconds
    memory: int  # bytes
    file: int  # bytes


class _Budget:
    """The clocks of one job."""

    def __init__(self, limits: _Limits, program: _Child, judge: _Child) -> None:
        self._cpu, self._wall, self._idle = limits.cpu, limits.wall, limits.idle
        self._program, self._judge = program, judge
        self._began, self._judge_began = time.monotonic(), judge.seconds()
        self._busy = (self._began, 0.0)

    def over(self) -> tuple[str, float]:
        """Return the budget that is used up ("" for none), and the seconds until the next look."""
        now = time.monotonic()
        used = self._program.seconds()
        ruling = 0.0 if self._judge.ended else self._judge.seconds() - self._judge_began
        if used + ruling - self._busy[1] >= BUSY_CPU_SECONDS:
            self._busy = (now, used + ruling)
        left = {
            "processor": self._cpu - used,
            "judge": self._cpu - ruling,
            "wall": self._wall - (now - self._began),
            "idle": self._idle - (now - self._busy[0]),
        }
        budget = min(left, key=lambda name: left[name])
        # Half of what is left, because two threads use up a budget in half its time.
        return (
            (budget, 0.0)
            if left[budget] <= 0
            else ("", max(SHORTEST_NAP_SECONDS, min(left[budget] / 2, 0.5)))
        )


class Worker:
    """A worker for one supervisor, which sends `NEW_JUDGE` or packed limits, with a channel each."""

    def __init__(
        self, control: socket.socket, supervisor: int, place: Place, namespaces: layers.JobNamespaces | None
    ) -> None:
        self._control, self._supervisor = control, supervisor
        self._namespaces = namespaces
        self._of_judges, self._of_candidates = Confinement(place, judging=True), Confinement(place)
        self._service = candidate.Service()
        self._judge: _Child | None = None

    def serve(self) -> None:
        while True:
            if self._supervisor in select.select([self._control, self._supervisor], [], [])[0]:
                os._exit(0)
            message, descriptors, _, _ = socket.recv_fds(self._control, LIMITS.size, 1)
            if not message:
                os._exit(0)
            with socket.socket(fileno=descriptors[0]) as channel:
                if message == NEW_JUDGE:
                    self._new_judge(channel)
                    continue
                limits = _Limits(*LIMITS.unpack(message))
                program = self._fork_candidate(channel, limits)
            self._follow(program, limits)

    def _new_judge(self, channel: socket.socket) -> None:
        if self._judge:
            self._judge.reap()
        if self._namespaces:
            self._namespaces.return_to_own()
        pid = os.fork()
        if not pid:
            with _ending():
                os.chdir("/")
                self._confine(self._of_judges, JUDGE, channel)
                trial.serve(channel)
        self._judge = _Child(pid, os.pidfd_open(pid))

    def _fork_candidate(self, channel: socket.socket, limits: _Limits) -> _Child:
        if self._namespaces:
            self._namespaces.open()
        allowance = Allowance(cpu=limits.cpu, memory=limits.memory, file=limits.file)
        pid = os.fork()
        if not pid:
            with _ending():
                self._confine(self._of_candidates, allowance, channel)
                self._service.serve(channel)
        return _Child(pid, os.pidfd_open(pid))

    def _confine(self, confinement: Confinement, allowance: Allowance, channel: socket.socket) -> None:
        layers.die_with_parent()
        if not self._namespaces:
            os.setsid()
        confinement.impose(allowance, channel.fileno())

    def _follow(self, program: _Child, limits: _Limits) -> None:
        """Enforce the budgets until the supervisor has the ruling, and report what the program used."""
        judge = self._judge
        if judge is None:
            raise AssertionError("a job came before a judge")
        budget, over, deadline, nap = _Budget(limits, program, judge), "", 0.0, SHORTEST_NAP_SECONDS
        while not (word := self._wait(program, judge, nap)):
            if not over:
                over, nap = budget.over()
                if over:
                    deadline, nap = time.monotonic() + RULING_SECONDS, RULING_SECONDS
                    program.kill()
            if over == "judge" or (over and time.monotonic() >= deadline):
                judge.kill()
        program.kill()
        seconds, ordinary = program.seconds(), word == b"done" and not over and not judge.ended
        if ordinary:  # the supervisor need not wait until the process is gone
            self._report(seconds)
        ended = program.reap()
        if not self._namespaces:
            _kill_group(program.pid)
        elif self._namespaces.renew_scratch():
            self._of_candidates.rule_files()
        if not ordinary:
            self._report(seconds, over, "" if over else ended, self._end_of_judge())

    def _report(self, *fields: object) -> None:
        """Send the program's seconds, the budget that it went over, how it ended, how its judge ended."""
        self._control.send("\n".join(map(str, fields)).encode())

    def _end_of_judge(self) -> str:
        if self._judge is None or not self._judge.ended:
            return ""
        judge, self._judge = self._judge, None
        return judge.reap()

    def _wait(self, program: _Child, judge: _Child, seconds: float) -> bytes:
        """Wait at most `seconds` for the supervisor to end the job; return its message, b"" if none came."""
        alive = [child for child in (program, judge) if not child.ended]
        watched = [self._control, self._supervisor, *(child.pidfd for child in alive)]
        ready = select.select(watched, [], [], seconds)[0]
        if self._supervisor in ready:
            os._exit(0)
        for child in alive:
            child.ended = child.pidfd in ready
        if self._control not in ready:
            return b""
        word = self._control.recv(16)
        if not word:
            os._exit(0)
        if word == b"dead":
            program.ended = bool(select.select([program.pidfd], [], [], RULING_SECONDS)[0])
        if word == b"gone":
            judge.ended = bool(select.select([judge.pidfd], [], [], RULING_SECONDS)[0])
        return word


@contextmanager
def _ending() -> Iterator[None]:
    """End this process after the block; its exit status says whether the block failed."""
    try:
        yield
        os._exit(0)
    finally:
        traceback.print_exc()
        os._exit(CONFINEMENT_FAILED)


def _kill_group(leader: int) -> None:
    """Kill what a program left in its session, if the tier let it fork."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
