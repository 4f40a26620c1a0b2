"""Events of running cells → what happens now and how long cells take: lines, a live view in a terminal."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from statistics import fmean
from typing import TYPE_CHECKING

from erce.events import Event, listening
from erce.study.engines import Done

if TYPE_CHECKING:
    from rich.text import Text

SILENCE_SECONDS = 30.0  # after which a line says what runs now, where there is no terminal
NAME_WIDTH = 44  # of a cell's name in a terminal; a longer one keeps its end, which has λ and the seed


class Display:
    """A line for each cell that ends, and what runs now; of the study's `total` cells `n_done` are done."""

    total = n_done = 0

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        from rich.console import Console

        self.console, self.clock = Console(stderr=True), clock
        self.started = clock()
        self.said = self.started - SILENCE_SECONDS
        self.running: dict[str, tuple[Event, float]] = {}  # cell → its last event, when the stage began
        self.seconds: list[float] = []  # of each cell that ended
        self.trained: list[float] = []  # of those that trained
        self.lock = threading.Lock()

    def say(self, text: str) -> None:
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def hear(self, event: Event) -> None:
        """Note how far a cell is; say where a stopped training goes on.

        Without a terminal, say what runs where no line has come for long.
        """
        with self.lock:
            before, began = self.running.get(event.cell, (Event(), 0.0))
            now = self.clock()
            self.running[event.cell] = (event, began if before.stage == event.stage else now)
            if event.stage == "training" != before.stage and event.done:
                self.say(f"resumed: {event.cell}: training, from step {event.done:,} of {event.total:,}")
            if not self.console.is_terminal and now - self.said >= SILENCE_SECONDS:
                self.said = now
                for cell, (last, began) in self.running.items():
                    self.say(": ".join(filter(None, ("now", cell, in_words(last, now - began)))))

    def ended(self, done: Done, *, accuracy: str = "", again: bool = False) -> None:
        """Print the line of a cell that has ended; `again`: it was done, but for further temperatures."""
        name = done.cell.name
        with self.lock:
            self.running.pop(name, None)
            if done.failure:
                self.say(f"failed: {name}: {done.failure}")
                return
            self.n_done += not again
            self.seconds.append(done.seconds)
            self.trained += [done.seconds] if done.cell.is_trained and not again else []
            took = f"done: {name}{' at further temperatures' if again else ''} in {duration(done.seconds)}"
            count = f"{self.n_done} of {self.total} cells"
            self.say(", ".join(filter(None, [took, accuracy, count, self.left()])))
            self.said = self.clock()

    def left(self) -> str:
        """Return the time that the missing cells take if each takes as long as a trained one has so far."""
        missing, elapsed = self.total - self.n_done, self.clock() - self.started
        if not self.trained or missing <= 0:
            return ""
        side_by_side = max(1.0, len(self.running) + 1, sum(self.seconds) / max(elapsed, 1e-9))
        return f"about {duration(missing * fmean(self.trained) / side_by_side)} left"

    def rows(self) -> "Text":
        """Return a line on the study, if there is one, and on each running cell, within the terminal."""
        from rich.text import Text

        with self.lock:
            now = self.clock()
            cells = f"{self.n_done} of {self.total} cells, " if self.total else ""
            lines = [f"{cells}{duration(now - self.started)} so far"]
            for cell, (event, began) in self.running.items():
                name = cell if len(cell) <= NAME_WIDTH else f"…{cell[1 - NAME_WIDTH :]}"
                lines.append(": ".join(filter(None, (name, in_words(event, now - began)))))
        return Text("\n".join(lines), no_wrap=True, overflow="ellipsis")


def in_words(event: Event, seconds: float) -> str:
    """Return what a cell does; `seconds` is how long its stage has taken.

    >>> in_words(Event("a", "training", 4, 60, tokens=80, loss=0.6124), 40.0)
    'training, step 4 of 60, loss 0.612, 2 tokens/s'
    """
    parts = [event.stage]
    if event.total:
        amount = f"{event.done:,} of {event.total:,}"
        parts.append(f"step {amount}" if event.stage == "training" else amount)
    if event.loss is not None:
        parts.append(f"loss {event.loss:.3f}")
    if event.tokens and seconds > 0:
        parts.append(f"{event.tokens / seconds:,.0f} tokens/s")
    return ", ".join(parts)


@contextmanager
def progress() -> Iterator[Display]:
    """Show what runs until the block ends, which calls `ended` with each cell's end if there are cells."""
    from rich.live import Live

    display = Display()
    live = Live(get_renderable=display.rows, console=display.console, refresh_per_second=1, transient=True)
    with live if display.console.is_terminal else nullcontext(), listening(display.hear):
        yield display


def duration(seconds: float) -> str:
    """Return a time in words, rounded.

    >>> [duration(seconds) for seconds in (0, 0.2, 59, 600, 9000, 200_000)]
    ['0 s', '1 s', '59 s', '10 min', '2.5 h', '2.3 days']
    """
    if seconds < 60:
        return f"{max(1, round(seconds)) if seconds > 0 else 0} s"
    if seconds < 3600:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.1f} days"
