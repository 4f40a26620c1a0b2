"""A warm process in its tier → one confined candidate for each job, beside a judge that stays.

The supervisor, in the user's process, starts the worker with nothing of its own memory. The worker forks a
judge, which reads tests, and for each job a candidate from a process that never read a test. The worker keeps
the clocks and kills a candidate that exceeds its budget, so no program can delay its own end. When the
supervisor ends, all of them end.
"""

import gc
import importlib
import os
import random
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, NoReturn

from erce.verify.sandbox import candidate, wire
from erce.verify.sandbox.judge import serve as judge_jobs
from erce.verify.sandbox.kernel import layers, linux
from erce.verify.sandbox.kernel.layers import Allowance, Confinement, Place
from erce.verify.sandbox.kernel.linux import Call, make
from erce.verify.sandbox.wire import LIMITS, NEW_JUDGE, READY

PRELOADED = """
abc ast bisect collections collections.abc contextlib copy dataclasses datetime decimal enum
fractions functools heapq io itertools json math numbers operator random re string struct threading time types
typing
"""  # the fewer, the better: each fork takes longer with every page of memory and every library of C
JUDGE = Allowance(cpu=float(1 << 30), memory=512 << 20, file=0)
RULING_SECONDS = 2.0  # that a judge has to rule after its candidate is dead
SHORTEST_NAP_MILLISECONDS = 5
_SPACE_OF_DESCRIPTORS = socket.CMSG_SPACE(3 * 4)  # the channel, and a script's input and output
CONFINEMENT_FAILED = 70  # an exit status
BUSY_CPU_SECONDS = 0.05  # a program that uses less in its idle time is waiting, not computing
REHEARSALS = 20  # after which Python has specialised the code of a candidate
_REHEARSED = """
import math
from collections import Counter
def f(values, start=0):
    counts = Counter()
    for index, value in enumerate(values):
        if value % 2 and not math.isnan(value):
            counts[str(value)] += start
    return sorted([x for x in values if x > start] + [len(counts)]), {"a": (1.5, None)}
"""
_CALLS = (
    ["f", [["l", [3, 1, 2]], 1], []],
    ["f", [["l", [5]]], []],
    ["f", [["l", [5]]], [["start", 2]]],
)


def main(control_descriptor: int, tier: str, without: list[str]) -> None:
    """Enter the tier, report how that went, and serve jobs until the supervisor is gone."""
    control = socket.socket(fileno=control_descriptor)
    supervisor = os.pidfd_open(os.getppid())
    for name in ("MALLOC_ARENA_MAX", "LD_BIND_NOW"):  # the C library has read them; programs do not need them
        os.environ.pop(name, None)
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
    _rehearse()
    random.seed(0)  # for every candidate: no verdict must depend on a seed that the system drew
    gc.collect()
    gc.freeze()
    worker.serve()


def _rehearse() -> None:
    """Run a program of our own as a candidate would, which fills Python's caches: forks copy fewer pages."""
    for _ in range(REHEARSALS):
        caller, own = socket.socketpair()
        with caller, own:
            for message in (["strict", _REHEARSED, [], ["f"]], *_CALLS):
                wire.send(caller, message)
            caller.shutdown(socket.SHUT_WR)
            candidate.Service().serve(own)
    del sys.modules["program"]


def _first_of_its_namespace(proc: int) -> layers.JobNamespaces:
    """Continue in the first process of the new process namespace; this process waits for it and ends."""
    child = os.fork()
    if child:
        os.closerange(3, 1 << 16)
        os.waitpid(child, 0)
        os._exit(0)
    make([linux.dying_with_parent()])
    own = os.open("self/ns/pid", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
    os.close(proc)
    return layers.JobNamespaces(own)


class _Child:
    """A judge or candidate of this worker."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def seconds(self) -> float:
        return _seconds_of(self.pid)

    def ends_within(self, seconds: float) -> bool:
        """Wait for the process to end by itself; return whether it did."""
        descriptor = os.pidfd_open(self.pid)
        ended = bool(select.select([descriptor], [], [], seconds)[0])
        os.close(descriptor)
        return ended

    def kill(self) -> None:
        """Kill the process; nothing happens if it has ended and was not yet reaped."""
        os.kill(self.pid, signal.SIGKILL)

    def reap(self) -> str:
        """Kill the process if it has not ended; return how it ended."""
        self.kill()
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return f"signal {-code}" if code < 0 else f"exit status {code}"


class _Limits(NamedTuple):
    """The limits of one job, in the order in which the supervisor sends them."""

    cpu: float  # seconds
    wall: float  # seconds
    idle: float  # seconds
    memory: int  # bytes
    file: int  # bytes


class _Budget:
    """The clocks of one job."""

    def __init__(self, limits: _Limits, program: _Child, judge: _Child | None) -> None:
        self._cpu, self._wall, self._idle = limits.cpu, limits.wall, limits.idle
        self._program, self._judge = program, judge
        self._began, self._judge_began = time.monotonic(), judge.seconds() if judge else 0.0
        self._busy = (self._began, 0.0)

    def over(self) -> tuple[str, float]:
        """Return the budget that is used up ("" for none), and the seconds until the next look."""
        now = time.monotonic()
        used = self._program.seconds()
        ruling = self._judge.seconds() - self._judge_began if self._judge else 0.0
        if used + ruling - self._busy[1] >= BUSY_CPU_SECONDS:
            self._busy = (now, used + ruling)
        left = {
            "processor": self._cpu - used,
            "judge": self._cpu - ruling,
            "wall": self._wall - (now - self._began),
            "idle": self._idle - (now - self._busy[0]),
        }
        budget = min(left, key=lambda name: left[name])
        if left[budget] <= 0:
            return budget, 0.0
        # Half of what is left, because two threads use up a budget in half its time.
        return "", max(SHORTEST_NAP_MILLISECONDS / 1000, min(left[budget] / 2, 0.5))


class Worker:
    """A worker for one supervisor, which sends `NEW_JUDGE` or packed limits, with a channel each.

    Between a fork and the end of the candidate it does little, for each memory page that it writes is copied.
    """

    def __init__(
        self, control: socket.socket, supervisor: int, place: Place, namespaces: layers.JobNamespaces | None
    ) -> None:
        self._control, self._supervisor = control, supervisor
        self._poll = select.poll()
        self._poll.register(supervisor, select.POLLIN)
        self._poll.register(control, select.POLLIN)
        self._namespaces = namespaces
        # The descriptor of this socket becomes the channel of each judge or candidate, else it is /dev/null.
        self._channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._kept, self._null = self._channel.fileno(), os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
        self._of_judges = Confinement(place, self._kept, judging=True)
        self._of_judges.allow(JUDGE)
        self._of_candidates = Confinement(place, self._kept)
        self._service = candidate.Service()
        self._judge: _Child | None = None
        self._streams: list[int] = []  # descriptors of a script's standard input and output

    def serve(self) -> None:
        packed, limits = b"", _Limits(*LIMITS.unpack(bytes(LIMITS.size)))
        while True:
            message = self._message()
            if message == NEW_JUDGE:
                self._new_judge()
                continue
            if message != packed:
                packed, limits = message, _Limits(*LIMITS.unpack(message))
                self._of_candidates.allow(Allowance(cpu=limits.cpu, memory=limits.memory, file=limits.file))
            self._run(limits)

    def _message(self) -> bytes:
        """Return the next message of the supervisor; take over the channel and streams that came with it."""
        self._is_control_ready(None)
        message, ancillary, _, _ = self._control.recvmsg(LIMITS.size, _SPACE_OF_DESCRIPTORS)
        if not message:
            os._exit(0)
        packed = ancillary[0][2]
        descriptor, *self._streams = struct.unpack(f"{len(packed) // 4}i", packed)
        os.dup2(descriptor, self._kept)
        os.close(descriptor)
        return message

    def _is_control_ready(self, milliseconds: float | None) -> bool:
        """Wait for a message of the supervisor, without a limit for None; without a supervisor, end."""
        ready = self._poll.poll(milliseconds)
        if ready and ready[0][0] == self._supervisor:
            os._exit(0)
        return bool(ready)

    def _new_judge(self) -> None:
        if self._judge:
            self._judge.reap()
        if self._namespaces:
            self._namespaces.return_to_own()
        pid = os.fork()
        if not pid:
            _become(self._of_judges.calls, judge_jobs, self._channel)
        os.dup2(self._null, self._kept)
        self._judge = _Child(pid)

    def _run(self, limits: _Limits) -> None:
        """Fork a candidate, enforce its budgets until the supervisor has the ruling, and report its time."""
        calls, serve, channel = self._of_candidates.calls, self._service.serve, self._channel
        if self._namespaces:
            self._namespaces.open()
        pid = os.fork()
        if not pid:
            for number, descriptor in enumerate(self._streams):
                os.dup2(descriptor, number)
            _become(calls, serve, channel)
        os.dup2(self._null, self._kept)
        for descriptor in self._streams:
            os.close(descriptor)
        over = ""
        if not self._is_control_ready(SHORTEST_NAP_MILLISECONDS):  # most jobs end before, and need no clocks
            over = self._enforce(pid, limits)
        word = self._control.recv(16)
        if word == b"done" and not over:
            os.kill(pid, signal.SIGKILL)
            self._control.send(b"%f" % _seconds_of(pid))  # the supervisor need not wait until it is gone
            os.waitpid(pid, 0)
        else:
            self._report_end(_Child(pid), word, over)
        if not self._namespaces:
            _kill_group(pid)
        elif self._namespaces.renew_scratch():
            self._of_candidates.rule_files()

    def _report_end(self, program: _Child, word: bytes, over: str) -> None:
        """Reap a program that went over a budget, or whose process or judge ended, and report that."""
        if not word:
            os._exit(0)
        judge = self._judge
        # A process that died closed its channel a moment before it ends.
        ended = word == b"dead" and program.ends_within(RULING_SECONDS)
        judge_ended = judge is not None and word == b"gone" and judge.ends_within(RULING_SECONDS)
        program.kill()
        seconds = program.seconds()
        end = program.reap()
        end_of_judge = ""
        if judge is not None and judge_ended:
            self._judge, end_of_judge = None, judge.reap()
        report = (seconds, over, end if ended and not over else "", end_of_judge)
        self._control.send("\n".join(map(str, report)).encode())

    def _enforce(self, pid: int, limits: _Limits) -> str:
        """Wait for a message of the supervisor; return the budget that is used up before, "" for none."""
        program, judge, over = _Child(pid), self._judge, ""
        budget = _Budget(limits, program, judge)
        while not over:
            over, nap = budget.over()
            if not over and self._is_control_ready(1000 * nap):
                return ""
        program.kill()
        if over == "judge" or not self._is_control_ready(1000 * RULING_SECONDS):
            if judge:
                judge.kill()
            self._is_control_ready(None)
        return over


def _become(calls: list[Call], serve: Callable[[socket.socket], None], channel: socket.socket) -> NoReturn:
    """Be a judge or a candidate until its work is done; the exit status says whether that failed."""
    try:
        make(calls)
        serve(channel)
        os._exit(0)
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
    finally:
        os._exit(CONFINEMENT_FAILED)


def _seconds_of(pid: int) -> float:
    """Return the processor time of a process so far, of all its threads."""
    return time.clock_gettime(~pid << 3 | 2)  # the CPU clock of a process: clock_getcpuclockid(3)


def _kill_group(leader: int) -> None:
    """Kill what a program left in its session, if the tier let it fork."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
