"""Events of running cells → what runs now and how long it takes: lines, and a live view in a terminal."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from statistics import fmean

from rich.console import Console
from rich.live import Live
from rich.text import Text

from erce.errors import duration
from erce.events import Event, listening
from erce.study.engines import Done

SILENCE_SECONDS = 30.0  # after which a line says what runs now, where there is no terminal
NAME_WIDTH = 44  # of a cell's name in a terminal; a longer one keeps its end, which has λ and the seed


class Display:
    """A line for each cell that ends, and what runs now; of the study's `total` cells `n_done` are done."""

    total = n_done = 0

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.console = Console(stderr=True, markup=False, highlight=False, soft_wrap=True)
        self.clock, self.say = clock, self.console.print
        self.started = clock()
        self.said = self.started - SILENCE_SECONDS
        self.running: dict[str, Event] = {}  # the last one of each cell, by its name
        self.seconds: list[float] = []  # of each cell that ended
        self.trained: list[float] = []  # of those that trained
        self.lock = threading.Lock()

    def hear(self, event: Event) -> None:
        """Note how far a cell is; say where a stopped training goes on and, without a terminal, what runs."""
        with self.lock:
            before = self.running.get(event.cell, Event())
            self.running[event.cell] = event
            if event.stage == "training" != before.stage and event.done:
                self.say(f"resumed: {event.cell}: training, from step {event.done:,} of {event.total:,}")
            if not self.console.is_terminal and self.clock() - self.said >= SILENCE_SECONDS:
                self.said = self.clock()
                for cell, last in self.running.items():
                    self.say(": ".join(filter(None, ("now", cell, last.in_words()))))

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

    def rows(self) -> Text:
        """Return a line on the study, if there is one, and on each running cell, within the terminal."""
        with self.lock:
            cells = f"{self.n_done} of {self.total} cells, " if self.total else ""
            lines = [f"{cells}{duration(self.clock() - self.started)} so far"]
            for cell, event in self.running.items():
                name = cell if len(cell) <= NAME_WIDTH else f"…{cell[1 - NAME_WIDTH :]}"
                lines.append(": ".join(filter(None, (name, event.in_words()))))
        return Text("\n".join(lines), no_wrap=True, overflow="ellipsis")


@contextmanager
def progress() -> Iterator[Display]:
    """Show what runs until the block ends, which calls `ended` with each cell's end if there are cells."""
    display = Display()
    live = Live(get_renderable=display.rows, console=display.console, refresh_per_second=1, transient=True)
    with live if display.console.is_terminal else nullcontext(), listening(display.hear):
        yield display
