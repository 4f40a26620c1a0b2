"""A module that answers requests → its answer within a time limit, from a process that can be killed."""

import atexit
import json
import os
import select
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
START_SECONDS = 60.0  # in which a fresh process must have imported what it needs
TIMEOUT, DIED = "timeout", "died"


class KillableProcess:
    """One warm process that answers one request at a time, started again after a kill and after a fork.

    `module` is run with `python -m` and calls `erce.verify.killable.serving.serve`.
    """

    def __init__(self, module: str) -> None:
        self._module = module
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        _PROCESSES.add(self)

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def ask(self, *operands: Any, seconds: float) -> Any:
        """Return the module's answer, `TIMEOUT` after `seconds`, or `DIED` if the process ended.

        Requests of several threads wait for one another. The time counts from the start of the request
        itself, not of the process. OSError if no process can be started.
        """
        request = json.dumps([*operands, seconds]).encode() + b"\n"
        with self._lock:
            process = self._started()
            reply = DIED
            try:
                reply = _exchange(process, request, seconds)
            finally:
                # Also on Ctrl-C: the reply to this request must not be taken for that to the next one.
                if reply in (TIMEOUT, DIED):
                    self._stop()
            return reply

    def close(self) -> None:
        """End the process; the next request starts another."""
        with self._lock:
            self._stop()

    def forget(self) -> None:
        """Leave the process to the parent; called in the child of a fork."""
        process, self._process, self._lock = self._process, None, threading.Lock()
        if process:
            process.returncode = 0  # or Popen would wait for a process that is no child of this one
            _close_pipes(process)

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self._stop()
        if self._process is None:
            self._process = _start(self._module)
            if _line(self._process, START_SECONDS) != "ready":
                self._stop()
                raise OSError(f"the process {self._module} did not start: check what it imports")
        return self._process

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process:
            process.kill()
            process.wait()
            _close_pipes(process)


def _start(module: str) -> subprocess.Popen[bytes]:
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONHASHSEED": "0"}
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module],  # -P: a sympy.py in the current directory is not sympy
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        bufsize=0,
        start_new_session=True,  # Ctrl-C is for the parent alone
    )


def _exchange(process: subprocess.Popen[bytes], request: bytes, seconds: float) -> Any:
    assert process.stdin is not None
    try:
        process.stdin.write(request)
    except BrokenPipeError:
        return DIED
    return _line(process, seconds)


def _line(process: subprocess.Popen[bytes], seconds: float) -> Any:
    """Return the next reply, `TIMEOUT` if there is none in time, or `DIED` if the process ended."""
    assert process.stdout is not None
    end, received, output = time.monotonic() + seconds, b"", process.stdout.fileno()
    poll = select.poll()
    poll.register(output, select.POLLIN)
    while not received.endswith(b"\n"):
        left = end - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            return TIMEOUT
        piece = os.read(output, 4096)
        if not piece:
            return DIED
        received += piece
    return json.loads(received)


def _close_pipes(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe:
            pipe.close()


_PROCESSES: "weakref.WeakSet[KillableProcess]" = weakref.WeakSet()


def _close_all() -> None:
    for process in list(_PROCESSES):
        process.close()


def _forget_all() -> None:
    for process in list(_PROCESSES):
        process.forget()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
