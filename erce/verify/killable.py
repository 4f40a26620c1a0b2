"""sympy and Math-Verify, each in a process of its own that is killed when it is late.

Both run for hours on some short texts, in C code that no signal handler and no thread interrupts. The two are
imported in these processes only, which run this file: `python -m erce.verify.killable sympy DESCRIPTOR`.
"""

import atexit
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from erce.types import Completion, Verdict
from erce.verify.answers.expression import parse_scalar
from erce.verify.answers.limits import TooLargeError, UnparsedError
from erce.verify.answers.tree import Tree

if TYPE_CHECKING:
    import sympy

ROOT = Path(__file__).parents[2]
START_SECONDS = 60.0  # in which a fresh process must have imported what it needs
MATH_VERIFY_SECONDS = 10.0  # Math-Verify's own limits are 5 s for reading and 5 s for comparing
MEMORY_BYTES = 2 << 30  # of a process's address space
GRACE_SECONDS = 2  # of processor time beyond the limit, after which a process that nobody killed ends itself
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
    """A warm process of one of `WORKERS` for one request at a time, started again after a kill or fork."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._running: tuple[subprocess.Popen[bytes], Connection] | None = None
        self._owner = 0
        atexit.register(self._stop)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._unlock)

    @property
    def pid(self) -> int | None:
        return self._running[0].pid if self._running else None

    def ask(self, *operands: Any, seconds: float) -> Any:
        """Return the worker's answer, `TIMEOUT` after `seconds`, or `DIED` if the process ended."""
        with self._lock:
            if self._running and (self._owner != os.getpid() or self._running[0].poll() is not None):
                self._stop()
            if not self._running:
                self._start()
            return self._exchange(json.dumps([*operands, seconds]).encode(), seconds)

    def _start(self) -> None:
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        ours, theirs = Pipe()
        with theirs:
            process = subprocess.Popen(
                # -P: a sympy.py in the current directory is not sympy
                [sys.executable, "-P", "-m", "erce.verify.killable", self._name, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONHASHSEED": "0"},
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is for the parent alone
            )
        self._running, self._owner = (process, ours), os.getpid()
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

    def _unlock(self) -> None:
        # In the child of a fork, where the thread that may have held the lock does not exist.
        self._lock = threading.Lock()

    def _stop(self) -> None:
        """End the process; in the child of a fork leave it to the parent."""
        if self._running:
            process, channel = self._running
            self._running = None
            channel.close()
            if self._owner == os.getpid():
                process.kill()
                process.wait()
            else:
                process.returncode = 0  # or Popen would wait for what is no child of this process


SYMPY, MATH_VERIFY = KillableProcess("sympy"), KillableProcess("math_verify")


# Inside such a process


def serve(answer: Callable[..., object], channel: Connection) -> None:
    """Say "ready", then reply to each request with `answer(*operands)` until the channel closes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if soft == resource.RLIM_INFINITY or soft > MEMORY_BYTES:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, hard))
    channel.send_bytes(json.dumps(READY).encode())
    while True:
        try:
            *operands, seconds = json.loads(channel.recv_bytes())
        except EOFError:
            return
        # This timer's signal ends the process. Math-Verify uses the ordinary alarm itself.
        signal.setitimer(signal.ITIMER_PROF, seconds + GRACE_SECONDS)
        channel.send_bytes(json.dumps(answer(*operands)).encode())
        signal.setitimer(signal.ITIMER_PROF, 0)


def _difference(left: str, right: str) -> str:
    """Return "zero" if sympy simplifies `left - right` to 0, else "other", or why sympy cannot tell."""
    import sympy

    try:
        trees = parse_scalar(left), parse_scalar(right)
        left_side, right_side = map(expression, trees)
        return "zero" if sympy.simplify(left_side - right_side) == 0 else "other"
    except (TooLargeError, MemoryError):
        return "too large"
    except UnparsedError:
        return "unparsed"
    except Exception:  # parts of sympy raise errors of a dozen kinds when they give up
        return "undecided"


def expression(tree: Tree) -> "sympy.Expr":  # noqa: PLR0911 (one for each kind of node)
    """Return a tree of `parse_scalar` as sympy's expression, in which symbols are complex.

    It is built node by node: no text reaches sympy's parser, which is an `eval`.
    """
    import sympy

    match tree:
        case ("num" | "dec", value):
            return sympy.Rational(value)
        case ("sym", name):
            return sympy.Symbol(name)
        case ("const", name):
            return {"pi": sympy.pi, "e": sympy.E, "i": sympy.I, "inf": sympy.oo}[name]
        case ("deg",):
            return sympy.pi / 180
        case ("neg", negated):
            return -expression(negated)
        case ("add", terms):
            return sympy.Add(*map(expression, terms))
        case ("mul", factors):
            return sympy.Mul(*map(expression, factors))
        case ("frac", above, below):
            return expression(above) / expression(below)
        case ("pow", base, exponent):
            return expression(base) ** expression(exponent)
        case ("root", radicand, degree):
            return expression(radicand) ** (1 / expression(degree))
        case ("call", "log", (base, argument)):
            return sympy.log(expression(argument), expression(base))
        case ("call", name, arguments):
            names = {"ln": "log", "abs": "Abs", "fact": "factorial", "binom": "binomial"}
            function = names.get(name) or name.replace("arc", "a")
            return getattr(sympy, function)(*map(expression, arguments))
    raise ValueError(f"no kind of node: {tree[0]!r}")


def _verdict(answer: str, text: str) -> bool | str:
    """Return whether Math-Verify accepts `text`, or a sentence that names the exception it raised."""
    package = import_module("math_verify")
    try:
        gold = package.parse(f"${answer}$", extraction_config=[package.LatexExtractionConfig()])
        return bool(package.verify(gold, package.parse(text)))
    except Exception as error:  # whatever it is, the text alone caused it
        return f"it raised {type(error).__name__}"


WORKERS: dict[str, Callable[..., object]] = {"sympy": _difference, "math_verify": _verdict}

if __name__ == "__main__":
    import_module(sys.argv[1])  # before the first request, whose time is limited
    serve(WORKERS[sys.argv[1]], Connection(int(sys.argv[2])))
