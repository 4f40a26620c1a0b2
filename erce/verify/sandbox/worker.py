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
from functools import partial
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from types import SimpleNamespace
from typing import NoReturn

from erce.verify.sandbox import candidate
from erce.verify.sandbox.judge import serve as judge_jobs
from erce.verify.sandbox.kernel import layers, linux
from erce.verify.sandbox.kernel.layers import Confinement
from erce.verify.sandbox.kernel.linux import Call, make
from erce.verify.sandbox.wire import LIMITS, NEW_JUDGE, READY

PRELOADED = """
abc ast bisect collections collections.abc contextlib copy dataclasses datetime decimal enum
fractions functools heapq io itertools json math numbers operator random re string struct threading time types
typing
"""  # the fewer, the better: each fork takes longer with every page of memory and every library of C
JUDGE_MEMORY = 512 << 20  # bytes
RULING_SECONDS = 2.0  # that a judge has to rule after its candidate is dead
SHORTEST_NAP_MILLISECONDS = 5
_SPACE_OF_DESCRIPTORS = socket.CMSG_SPACE(3 * 4)  # the channel, and a script's input and output
CONFINEMENT_FAILED = 70  # an exit status
BUSY_CPU_SECONDS = 0.05  # a program that uses less in its idle time is waiting, not computing


def main(control_descriptor: int, supervisor_pid: int, tier: str, numpy: str) -> None:
    """Enter the tier, report how that went, and serve jobs until the supervisor is gone.

    `numpy` is the folder of that package, or "".
    """
    control = socket.socket(fileno=control_descriptor)
    supervisor = os.pidfd_open(supervisor_pid)  # its parent by now may be another, if it was killed early
    for name in ("MALLOC_ARENA_MAX", "LD_BIND_NOW"):  # the C library has read them; programs do not need them
        os.environ.pop(name, None)
    for name in PRELOADED.split():
        importlib.import_module(name)
    if numpy:
        sys.meta_path.append(SimpleNamespace(find_spec=partial(_find_numpy, numpy)))  # pyright: ignore
    try:
        proc = layers.enter(tier, [numpy, f"{numpy}.libs"] if numpy else [])
        namespaces = None if proc is None else _first_of_its_namespace(proc)
        linux.prctl(linux.PR_SET_DUMPABLE, 0)  # also for the children
        worker = Worker(control, supervisor, tier, namespaces)
    except OSError as error:
        control.send(str(error).encode())
        os._exit(1)
    os.dup2(1, 2)  # nobody reads standard error from here on
    control.send(READY)
    random.seed(0)  # for every candidate: no verdict must depend on a seed that the system drew
    gc.collect()
    gc.freeze()
    worker.serve()


def _find_numpy(folder: str, name: str, *_: object) -> ModuleSpec | None:
    """Return where NumPy is, and no package beside it: the one method of a finder of modules."""
    if name == "numpy":
        return spec_from_file_location(name, f"{folder}/__init__.py", submodule_search_locations=[folder])
    return None


def _first_of_its_namespace(proc: int) -> layers.JobNamespaces:
    """Continue in the first process of the new process namespace; this process waits for it and ends."""
    child = os.fork()
    if child:
        os.closerange(3, 1 << 16)
        os.waitpid(child, 0)
        os._exit(0)
    make([linux.die_with_parent()])
    own = os.open("self/ns/pid", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
    os.close(proc)
    return layers.JobNamespaces(own)


class Worker:
    """A worker for one supervisor. While a candidate lives it writes little: each page is copied then."""

    def __init__(
        self, control: socket.socket, supervisor: int, tier: str, namespaces: layers.JobNamespaces | None
    ) -> None:
        self._control, self._supervisor = control, supervisor
        self._poll = select.poll()
        self._poll.register(supervisor, select.POLLIN)
        self._poll.register(control, select.POLLIN)
        self._namespaces = namespaces
        # The descriptor of this socket becomes the channel of each judge or candidate, else it is /dev/null.
        self._channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._kept, self._null = self._channel.fileno(), os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
        self._of_judges = Confinement(tier, self._kept, judging=True)
        self._of_judges.allow(cpu=1 << 30, memory=JUDGE_MEMORY, file=0)
        self._of_candidates = Confinement(tier, self._kept)
        self._service = candidate.Service()
        self._judge = 0  # its process id; 0: there is none
        self._streams: list[int] = []  # descriptors of a script's standard input and output

    def serve(self) -> None:
        allowed = None
        while True:
            message = self._message()
            if message == NEW_JUDGE:
                self._new_judge()
                continue
            cpu, wall, idle, memory, file = LIMITS.unpack(message)
            if allowed != (allowed := (cpu, memory, file)):
                self._of_candidates.allow(cpu=cpu, memory=memory, file=file)
            self._run(cpu, wall, idle)

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
            os.kill(self._judge, signal.SIGKILL)
            os.waitpid(self._judge, 0)
        if self._namespaces:
            make(self._namespaces.own)
        self._judge = os.fork()
        if not self._judge:
            _become(self._of_judges.calls, judge_jobs, self._channel)
        os.dup2(self._null, self._kept)

    def _run(self, cpu: float, wall: float, idle: float) -> None:
        """Fork a candidate, enforce its budgets in seconds until the supervisor has a ruling, and report."""
        calls, serve, channel = self._of_candidates.calls, self._service.serve, self._channel
        if self._namespaces:
            make(self._namespaces.fresh)
        program = os.fork()
        if not program:
            null = os.open("/dev/null", os.O_RDWR)  # its own, whose flags no later program sees
            for number, descriptor in enumerate((*self._streams, null, null, null)[:3]):
                os.dup2(descriptor, number)
            _become(calls, serve, channel)
        os.dup2(self._null, self._kept)
        for descriptor in self._streams:
            os.close(descriptor)
        over = ""
        if not self._is_control_ready(SHORTEST_NAP_MILLISECONDS):  # most jobs end before, and need no clocks
            over = self._enforce(program, cpu, wall, idle)
        self._report(program, over)
        if not self._namespaces:
            with suppress(ProcessLookupError, PermissionError):  # what it left, if the tier let it fork
                os.killpg(program, signal.SIGKILL)
        else:
            self._namespaces.renew_scratch()
            self._of_candidates.rule_files()

    def _enforce(self, program: int, cpu: float, wall: float, idle: float) -> str:
        """Wait for a message of the supervisor; return the budget that is used up before, "" for none."""
        judge = self._judge
        judged_before = _seconds_of(judge) if judge else 0.0
        began = time.monotonic()
        busy = waited = 0.0  # seconds of processor time when it last computed, and of our naps since then
        while True:
            now, used = time.monotonic(), _seconds_of(program)
            judging = _seconds_of(judge) - judged_before if judge else 0.0
            if used + judging - busy >= BUSY_CPU_SECONDS:
                busy, waited = used + judging, 0.0
            left = {
                "processor": cpu - used,
                "judge": cpu - judging,
                "wall": wall - (now - began),
                "idle": idle - waited,
            }
            over = min(left, key=lambda name: left[name])
            if left[over] <= 0:
                break
            # Half of what is left, because two threads use up a budget in half its time.
            nap = max(SHORTEST_NAP_MILLISECONDS, min(500 * left[over], 500.0))
            if self._is_control_ready(nap):
                return ""
            waited += nap / 1000  # and no more if we wake up late, as the program waits for the processor too
        os.kill(program, signal.SIGKILL)
        if over == "judge" or not self._is_control_ready(1000 * RULING_SECONDS):
            if judge:
                os.kill(judge, signal.SIGKILL)
            self._is_control_ready(None)
        return over

    def _report(self, program: int, over: str) -> None:
        """Tell the supervisor the program's seconds, the budget it went over, and which process ended how."""
        word = self._control.recv(16)
        if not word:
            os._exit(0)
        # A process that died closed its channel a moment before it ends.
        end = _end_of(program) if word == b"dead" and not over else ""
        end_of_judge = _end_of(self._judge) if word == b"gone" and self._judge else ""
        if end_of_judge:
            os.waitpid(self._judge, 0)
            self._judge = 0
        os.kill(program, signal.SIGKILL)
        report = f"{_seconds_of(program)}\n{over}\n{end}\n{end_of_judge}"
        self._control.send(report.encode())  # before the program is gone, for which nobody needs to wait
        os.waitpid(program, 0)


def _become(calls: list[Call], serve: Callable[[socket.socket], None], channel: socket.socket) -> NoReturn:
    """Be a judge or a candidate until its work is done; the exit status says whether that failed."""
    try:
        make(calls)
        serve(channel)
        os._exit(0)
    finally:
        os._exit(CONFINEMENT_FAILED)


def _seconds_of(pid: int) -> float:
    """Return the processor time of a process so far, of all its threads."""
    return time.clock_gettime(~pid << 3 | 2)  # the CPU clock of a process: clock_getcpuclockid(3)


def _end_of(pid: int) -> str:
    """Wait up to `RULING_SECONDS` and return how the process ended, "" if it did not; do not reap it."""
    descriptor = os.pidfd_open(pid)
    ended = select.select([descriptor], [], [], RULING_SECONDS)[0]
    os.close(descriptor)
    status = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT) if ended else None
    if status is None:
        return ""
    exited = status.si_code == os.CLD_EXITED
    return f"{'exit status' if exited else 'signal'} {status.si_status}"
