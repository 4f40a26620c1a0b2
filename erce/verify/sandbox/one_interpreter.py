"""A program beside its tests, or alone as a script → the outcome, from inside the program's own process.

Nothing here can be proven: the program shares the interpreter with its tests and can forge the outcome. So a
pass in mode "unproven" is called that; mode "paper" is the paper's protocol, with its alarm. Mode "script"
runs a program by itself, whose standard output is compared in the user's process.
"""

import signal
import sys
import types
from contextlib import suppress
from typing import Any

from erce.verify.sandbox import wire

PAPER_WALL_SECONDS = 2.0  # the paper's appendix "Execution-Based Evaluation"


class PaperAlarm(BaseException):
    """The end of the time that the paper's alarm allows."""


def outcome(mode: str, program: str, setup: list[str], tests: list[str]) -> bytes:
    """Return "passed", or "failed" or "timeout" with a line that says why."""
    if mode == "script":
        word, detail = _script(program)
    else:
        if mode == "paper":
            signal.signal(signal.SIGALRM, _raise_alarm)
            signal.setitimer(signal.ITIMER_REAL, PAPER_WALL_SECONDS)
        try:
            word, detail = _together(program, setup, tests)
            signal.setitimer(signal.ITIMER_REAL, 0)
        except PaperAlarm:
            word, detail = "timeout", f"over the paper's {PAPER_WALL_SECONDS} s of wall time"
    return f"{word}\n{detail}".encode(errors="replace")[:1000]


def _raise_alarm(number: int, frame: types.FrameType | None) -> None:
    raise PaperAlarm


def _together(program: str, setup: list[str], tests: list[str]) -> tuple[str, str]:
    """Run set-up, program, set-up and tests in one namespace.

    The set-up comes twice: a program may need its classes, and it may need the program's. An exception of the
    first run is left to the second.
    """
    names = _namespace("program")
    where = "the program raised "
    try:
        for source in setup:
            with suppress(Exception):
                exec(compile(source, "<setup>", "exec"), names)
        exec(compile(program, "<program>", "exec"), names)
        for source in (*setup, *tests):
            where = f"{' '.join(source.split())[:120]}: "
            exec(compile(source, "<test>", "exec"), names)
    except PaperAlarm:
        raise
    except BaseException as error:
        return "failed", where + wire.described(error)
    return "passed", ""


def _script(program: str) -> tuple[str, str]:
    """Run a program as `python program.py` does, with the standard streams of this process."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))
    try:
        exec(compile(program, "<program>", "exec"), _namespace("__main__"))
    except SystemExit as end:
        if end.code not in (None, 0):
            return "failed", f"ended with status {end.code!r:.80}"
    except BaseException as error:
        return "failed", f"raised {wire.described(error)}"
    finally:
        with suppress(BaseException):
            sys.stdout.flush()
    return "passed", ""


def _namespace(name: str) -> dict[str, Any]:
    sys.modules[name] = types.ModuleType(name)
    return sys.modules[name].__dict__
