"""An answer and a completion → the verdict of the package Math-Verify, which `erce verify` shows beside ours.

Math-Verify runs for hours on some short texts, in C code that no signal handler and no thread interrupts. So
it runs in a process of its own, which is killed when it is late.
"""

import resource
import signal
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import get_context
from multiprocessing.connection import Connection, Pipe
from multiprocessing.process import BaseProcess
from typing import Any

from erce.types import Completion, Verdict

START_SECONDS = 60.0  # in which a fresh process must have imported Math-Verify
SECONDS = 10.0  # Math-Verify's own limits are 5 s for reading and 5 s for comparing
MEMORY_BYTES = 2 << 30  # of the process's address space
_running: list[tuple[BaseProcess, Connection]] = []  # at most one


def math_verify_is_installed() -> bool:
    return find_spec("math_verify") is not None


def math_verify(answer: str, completion: Completion | str, *, bare: bool = False) -> Verdict:
    """Return Math-Verify's verdict on a completion or, with `bare`, on an answer alone.

    Math-Verify is called as in its own reward functions, one check at a time. Reasons: "structural"
    (accepted), "different", "timeout", "error" (it raised, its process ended, or it cannot be imported).
    """
    text = completion if isinstance(completion, str) else completion.text
    try:
        channel = _running[0][1] if _running else _start()
        channel.send((answer, f"${text}$" if bare else text))
        reply = channel.recv() if channel.poll(SECONDS) else None
    except (EOFError, OSError):
        reply = "its process ended"
    if isinstance(reply, tuple):
        return Verdict(reply[0], reply[1], text, detail=reply[2])
    _running.pop()[0].kill()
    return Verdict(False, "error" if reply else "timeout", text, detail=reply or f"over {SECONDS:g} s")


def _start() -> Connection:
    context = get_context("spawn")
    ours, theirs = Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    theirs.close()
    _running.append((process, ours))
    if ours.poll(START_SECONDS):
        ours.recv()  # that it is ready
    return ours


def _serve(channel: Connection) -> None:
    """Answer requests until the other side closes the channel; then, or after a while, end by itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asks
    package = import_module("math_verify")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))
    channel.send("ready")
    with suppress(EOFError):
        while True:
            channel.send(_verdict(package, *channel.recv()))


def _verdict(package: Any, answer: str, text: str) -> tuple[bool, str, str]:
    """Ask Math-Verify; return whether it accepts the text, a reason for the verdict, and a detail."""
    # In processor time, for a process that nobody is left to kill; Math-Verify uses the alarm itself.
    signal.setitimer(signal.ITIMER_PROF, 2 * SECONDS)
    try:
        gold = package.parse(f"${answer}$", extraction_config=[package.LatexExtractionConfig()])
        same = bool(package.verify(gold, package.parse(text)))
    except Exception as error:  # whatever it is, the text alone caused it
        return False, "error", f"it raised {type(error).__name__}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return same, "structural" if same else "different", ""
