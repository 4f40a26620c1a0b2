"""Ctrl-C and SIGTERM → one sentence and the exit code that shells expect."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

KEPT_ON_RAY = "finished cells"
KEPT = f"{KEPT_ON_RAY}, finished batches of completions and each training's last checkpoint"


class Terminated(KeyboardInterrupt):
    """SIGTERM, which then ends a command as Ctrl-C does: workers are stopped, nothing is half written."""


@contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """Raise `Terminated` in the block on SIGTERM; where the signal is ignored it stays so."""
    on_main_thread = threading.current_thread() is threading.main_thread()
    if not on_main_thread or signal.getsignal(signal.SIGTERM) is signal.SIG_IGN:
        yield
        return
    before = signal.signal(signal.SIGTERM, _raise_terminated)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _raise_terminated(number: int, frame: FrameType | None) -> None:
    raise Terminated


def say_stopped(stop: KeyboardInterrupt, *, kept: str) -> int:
    """Print how the command was stopped and what is `kept`; return the exit code, 143 or 130."""
    word, code = ("terminated", 143) if isinstance(stop, Terminated) else ("interrupted", 130)
    way_on = f"; {kept} are kept, and the same command goes on from there" if kept else ""
    print(f"erce: {word}{way_on}", file=sys.stderr)
    return code
