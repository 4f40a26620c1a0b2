"""Signs of life: what a cell does at the moment, told by its stages → whoever listens in this process.

A stage begins, then advances: by optimizer steps in training, else by completions. In a child process a
listener sends the events on, and the parent passes them to its own listener with `tell`.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple


class Event(NamedTuple):
    """How far the stage is that a cell is in; `tokens` were read or written by this process."""

    cell: str = ""
    stage: str = ""
    done: int = 0
    total: int = 0  # 0: the stage has no steps
    tokens: int = 0
    loss: float | None = None
    seconds: float = 0.0  # since the stage began

    def in_words(self) -> str:
        """Return what the cell does.

        >>> Event("a", "training", 4, 60, tokens=80, loss=0.6124, seconds=40.0).in_words()
        'training, step 4 of 60, loss 0.612, 2 tokens/s'
        """
        parts = [self.stage]
        if self.total:
            amount = f"{self.done:,} of {self.total:,}"
            parts.append(f"step {amount}" if self.stage == "training" else amount)
        if self.loss is not None:
            parts.append(f"loss {self.loss:.3f}")
        if self.tokens and self.seconds > 0:
            parts.append(f"{self.tokens / self.seconds:,.0f} tokens/s")
        return ", ".join(parts)


_now, _began = Event(), 0.0
_listener: Callable[[Event], None] | None = None


@contextmanager
def listening(listener: Callable[[Event], None]) -> Iterator[None]:
    """Call the listener with every event of the block."""
    global _listener  # noqa: PLW0603 - the stages need not know who listens
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before


def begin(stage: str, total: int = 0, *, done: int = 0, cell: str | None = None) -> None:
    """Tell that a stage begins, with `done` of its `total` done before; None is the last stage's cell."""
    global _began  # noqa: PLW0603
    _began = time.monotonic()
    tell(Event(_now.cell if cell is None else cell, stage, done, total))


def advance(done: int = 0, *, tokens: int = 0, loss: float | None = None) -> None:
    """Tell what has been done since the last call, and how things stand."""
    done, tokens = _now.done + done, _now.tokens + tokens
    tell(_now._replace(done=done, tokens=tokens, loss=loss, seconds=time.monotonic() - _began))


def tell(event: Event) -> None:
    """Pass an event to the listener, and count on from it."""
    global _now  # noqa: PLW0603
    _now = event
    if _listener is not None:
        _listener(event)
