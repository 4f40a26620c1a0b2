"""A warm process in its tier → one confined candidate a job, beside a judge that stays.

The supervisor starts it with nothing of its own memory. It forks a judge, which reads tests, and for each job
a candidate, which never was in a process that had read one. It keeps the clocks: a candidate over its budget
is killed here, so that no program can put off its own end. Where the supervisor ends, all of them end.
"""

import gc
import importlib
import json
import os
import select
import signal
import socket
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from erce.verify.sandbox import candidate
from erce.verify.sandbox.judge import trial
from erce.verify.sandbox.kernel import layers, linux
from erce.verify.sandbox.kernel.layers import Allowance, Place

PRELOADED = """
abc array ast base64 bisect calendar cmath collections collections.abc contextlib copy dataclasses datetime
decimal enum fractions functools hashlib heapq inspect io itertools json math numbers operator queue random re
statistics string struct textwrap threading time types typing unicodedata
"""
JUDGE = Allowance(cpu=float(1 << 30), memory=512 << 20, file=0)
GRACE = 2.0  # seconds that a judge has to rule when its candidate is dead
BROKEN = 70  # exit status of a process whose confinement failed
BUSY = 0.05  # seconds of processor time within half the wall budget: less is waiting, not computing


def main(control_descriptor: int, tier: str, without: list[str]) -> None:
    """Enters the tier, says how that went, and serves jobs until the supervisor is gone."""
    control = socket.socket(fileno=control_descriptor)
    supervisor = os.pidfd_open(os.getppid())
    os.environ.pop("MALLOC_ARENA_MAX", None)  # the C library has read it; programs have no use for it
    for name in PRELOADED.split():
        importlib.import_module(name)
    try:
        place = Place(tier, frozenset(without), layers.readable_paths())
        layers.prepare(place)
        proc = layers.enter(place)
        rooms = None if proc is None else _first_of_its_namespace(proc)
        linux.prctl(linux.PR_SET_DUMPABLE, 0)
    except OSError as error:
        control.send(json.dumps({"problem": error.strerror or str(error)}).encode())
        os._exit(1)
    os.dup2(1, 2)  # from here on nobody listens
    control.send(json.dumps({"problem": ""}).encode())
    gc.collect()
    gc.freeze()
    Worker(control, supervisor, place, rooms).serve()


def _first_of_its_namespace(proc: int) -> layers.Rooms:
    """Goes on in the first process of the new process namespace; this one waits for it and ends."""
    child = os.fork()
    if child:
        os.closerange(3, 1 << 16)
        os.waitpid(child, 0)
        os._exit(0)
    layers.die_with_parent()
    own = os.open("self/ns/pid", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
    os.close(proc)
    return layers.Rooms(own)


@dataclass
class _Child:
    """A process of this worker's; `ended` once it is seen to have ended by itself."""

    pid: int
    pidfd: int
    ended: bool = False

    def seconds(self) -> float:
        """Processor time so far, of all its threads."""
        return time.clock_gettime(~self.pid << 3 | 2)

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def reap(self) -> tuple[str, float]:
        """How it ended ("" where it was killed here), and its processor time."""
        self.kill()
        _, status, usage = os.wait4(self.pid, 0)
        os.close(self.pidfd)
        code = os.waitstatus_to_exitcode(status)
        how = f"signal {-code}" if code < 0 else f"exit status {code}"
        return how if self.ended else "", usage.ru_utime + usage.ru_stime


class _Budget:
    """The clocks of one job."""

    def __init__(self, limits: dict[str, float], program: _Child, ruler: _Child) -> None:
        self._cpu, self._wall = limits["cpu"], limits["wall"]
        self._program, self._ruler = program, ruler
        self._began, self._ruler_began = time.monotonic(), ruler.seconds()
        self._busy = (self._began, 0.0)

    def over(self) -> tuple[str, float]:
        """(which budget is used up, "" for none; seconds until the next look)"""
        now = time.monotonic()
        used = self._program.seconds()
        ruling = 0.0 if self._ruler.ended else self._ruler.seconds() - self._ruler_began
        if used + ruling - self._busy[1] >= BUSY:
            self._busy = (now, used + ruling)
        left = {
            "processor": self._cpu - used,
            "judge": self._cpu - ruling,
            "wall": self._wall - (now - self._began),
            "idle": self._wall / 2 - (now - self._busy[0]),
        }
        which = min(left, key=lambda name: left[name])
        # Two threads use up a budget in half its time.
        return (which, 0.0) if left[which] <= 0 else ("", max(0.005, min(left[which] / 2, 0.5)))


class Worker:
    """Serves one supervisor: `{"judge": true}` and `{"limits": …}`, each with a channel's descriptor."""

    def __init__(
        self, control: socket.socket, supervisor: int, place: Place, rooms: layers.Rooms | None
    ) -> None:
        self._control, self._supervisor = control, supervisor
        self._place, self._rooms = place, rooms
        self._judge: _Child | None = None

    def serve(self) -> None:
        while True:
            if self._supervisor in select.select([self._control, self._supervisor], [], [])[0]:
                os._exit(0)
            message, descriptors, _, _ = socket.recv_fds(self._control, 1 << 16, 1)
            if not message:
                os._exit(0)
            request = json.loads(message)
            with socket.socket(fileno=descriptors[0]) as channel:
                if "judge" in request:
                    self._new_judge(channel)
                    continue
                program = self._fork_candidate(channel, request["limits"])
            self._control.send(json.dumps(self._follow(program, request["limits"])).encode())

    def _new_judge(self, channel: socket.socket) -> None:
        if self._judge:
            self._judge.reap()
        if self._rooms:
            self._rooms.return_to_own()
        self._judge = self._fork(channel, JUDGE, judging=True)

    def _fork_candidate(self, channel: socket.socket, limits: dict[str, Any]) -> _Child:
        if self._rooms:
            self._rooms.open()
        allowance = Allowance(cpu=limits["cpu"], memory=limits["memory"], file=limits["file"])
        return self._fork(channel, allowance, judging=False)

    def _fork(self, channel: socket.socket, allowance: Allowance, *, judging: bool) -> _Child:
        pid = os.fork()
        if pid:
            return _Child(pid, os.pidfd_open(pid))
        try:
            layers.die_with_parent()
            if not self._rooms:
                os.setsid()
            layers.close_all_but(channel.fileno())
            layers.confine(self._place, allowance, judging=judging)
            (trial if judging else candidate).serve(channel)
            os._exit(0)
        finally:
            traceback.print_exc()
            os._exit(BROKEN)

    def _follow(self, program: _Child, limits: dict[str, float]) -> dict[str, Any]:
        """Waits for the supervisor's word that the ruling is there, and keeps the budgets meanwhile."""
        ruler = self._judge
        if ruler is None:
            raise AssertionError("a job came before a judge")
        budget, over, last = _Budget(limits, program, ruler), "", 0.0
        while True:
            which, nap = ("", GRACE) if over else budget.over()
            if which:
                over, last, nap = which, time.monotonic() + GRACE, GRACE
                program.kill()
            if over == "judge" or (over and time.monotonic() >= last):
                ruler.kill()
            if self._wait(program, ruler, nap):
                break
        ended, seconds = program.reap()
        if not self._rooms:
            _kill_group(program.pid)
        else:
            self._rooms.close()
        report = {"over": over, "cpu": seconds, "ended": "" if over else ended, "judge": ""}
        if ruler.ended:
            report["judge"], _ = ruler.reap()
            self._judge = None
        return report

    def _wait(self, program: _Child, ruler: _Child, seconds: float) -> bool:
        """Whether the supervisor said that the job is over."""
        alive = [child for child in (program, ruler) if not child.ended]
        watched = [self._control, self._supervisor, *(child.pidfd for child in alive)]
        ready = select.select(watched, [], [], seconds)[0]
        if self._supervisor in ready:
            os._exit(0)
        for child in alive:
            child.ended = child.pidfd in ready
        if self._control not in ready:
            return False
        word = self._control.recv(16)
        if not word:
            os._exit(0)
        if word == b"dead":
            program.ended = bool(select.select([program.pidfd], [], [], GRACE)[0])
        if word == b"gone":
            ruler.ended = bool(select.select([ruler.pidfd], [], [], GRACE)[0])
        return True


def _kill_group(leader: int) -> None:
    """Where the tier let the program fork, what it left in its session goes too."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
