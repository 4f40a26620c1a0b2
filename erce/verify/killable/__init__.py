"""sympy and Math-Verify, each in a process of its own that is killed when it is late.

Both run for hours on some short texts, in C code that no signal handler and no thread interrupts. `workers`
is the inside of these processes; sympy and Math-Verify are imported nowhere else.
"""

import atexit
import json
import os
import subprocess
import sys
import threading
import time
from importlib.util import find_spec
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from erce.types import Completion, Verdict

ROOT = Path(__file__).parents[3]
START_SECONDS = 60.0  # in which a fresh process must have imported what it needs
MATH_VERIFY_SECONDS = 10.0  # Math-Verify's own limits are 5 s for reading and 5 s for comparing
READY, TIMEOUT, DIED = "ready", "timeout", "died"


def symbolic_difference(left: str, right: str, *, seconds: float) -> str:
    r"""Return "zero" or "other" for what `left - right` simplifies to, else why there is no answer.

    The other replies are "undecided" (sympy gave up), "unparsed", "too large" (also if sympy used up its
    2 GiB of memory) and "timeout" after `seconds`. All threads share one process and wait for one another.
    OSError if the process cannot be started.

    >>> symbolic_difference(r"\sqrt{12}", r"2\sqrt{3}", seconds=5)
    'zero'
    """
    reply = SYMPY.ask(left, right, seconds=seconds)
    if reply == DIED:  # killed from outside, or by this very check, of which it then dies again
        reply = SYMPY.ask(left, right, seconds=seconds)
    return "too large" if reply == DIED else reply


def math_verify_is_installed() -> bool:
    return find_spec("math_verify") is not None


def math_verify(answer: str, completion: Completion | str, *, bare: bool = False) -> Verdict:
    """Return Math-Verify's verdict on a completion or, with `bare`, on an answer alone.

    Math-Verify is called as in its own reward functions. Reasons: "structural" (accepted), "different",
    "timeout", "error" (it raised, or its process ended). OSError if the package is not installed.
    """
    text = completion if isinstance(completion, str) else completion.text
    start = time.perf_counter()
    reply = MATH_VERIFY.ask(answer, f"${text}$" if bare else text, seconds=MATH_VERIFY_SECONDS)
    elapsed = time.perf_counter() - start
    if isinstance(reply, bool):
        return Verdict(reply, "structural" if reply else "different", text, elapsed)
    reason = "timeout" if reply == TIMEOUT else "error"
    return Verdict(False, reason, text, elapsed, "its process ended" if reply == DIED else str(reply))


class KillableProcess:
    """One warm process of `workers.WORKERS` for one request at a time, started again after a kill or fork."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._running: tuple[subprocess.Popen[bytes], Connection] | None = None
        atexit.register(self.close)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    @property
    def pid(self) -> int | None:
        return self._running[0].pid if self._running else None

    def ask(self, *operands: Any, seconds: float) -> Any:
        """Return the worker's answer, `TIMEOUT` after `seconds`, or `DIED` if the process ended."""
        with self._lock:
            if self._running and self._running[0].poll() is not None:
                self._stop()
            if not self._running:
                self._start()
            return self._exchange(json.dumps([*operands, seconds]).encode(), seconds)

    def close(self) -> None:
        """End the process; the next request starts another."""
        with self._lock:
            self._stop()

    def _start(self) -> None:
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        ours, theirs = Pipe()
        with theirs:
            work = ["erce.verify.killable.workers", self._name, str(theirs.fileno())]
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", *work],  # -P: a sympy.py in the current directory is not sympy
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONHASHSEED": "0"},
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is for the parent alone
            )
        self._running = process, ours
        if self._exchange(b"", START_SECONDS) != READY:
            raise OSError(f"the process of {self._name} did not start: check that it can be imported")

    def _exchange(self, request: bytes, seconds: float) -> Any:
        assert self._running is not None
        channel, reply = self._running[1], DIED
        try:
            if request:
                channel.send_bytes(request)
            reply = json.loads(channel.recv_bytes()) if channel.poll(seconds) else TIMEOUT
        except (EOFError, OSError):
            reply = DIED
        finally:
            # Also on Ctrl-C: the reply to this request must not be taken for that to the next one.
            if reply in (TIMEOUT, DIED):
                self._stop()
        return reply

    def _stop(self) -> None:
        if self._running:
            process, channel = self._running
            self._running = None
            process.kill()
            process.wait()
            channel.close()

    def _forget(self) -> None:
        """Leave the process to the parent; called in the child of a fork."""
        self._lock = threading.Lock()
        if self._running:
            self._running[0].returncode = 0  # it is no child of this process, which `_stop` leaves alone then
            self._stop()


SYMPY, MATH_VERIFY = KillableProcess("sympy"), KillableProcess("math_verify")
