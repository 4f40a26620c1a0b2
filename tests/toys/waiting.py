"""A condition → a return once it holds, with a deadline that only a hang exceeds."""

import time
from collections.abc import Callable

DEADLINE_SECONDS = 900.0  # a slow or busy machine must not fail a test


def until(holds: Callable[[], object]) -> None:
    """Return once `holds()` is true."""
    end = time.monotonic() + DEADLINE_SECONDS
    while not holds():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.02)


def within(seconds: float, holds: Callable[[], object]) -> bool:
    """Wait until `holds()` is true, or so long; return whether it is."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
