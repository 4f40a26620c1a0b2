"""Events of running cells → bars in a terminal, or lines in a file, each with the time that is left."""

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from erce.events import Event, listening
from erce.study.engines import Done

SILENCE_SECONDS = 30.0  # after which a line says what runs now, where there is no terminal
TICK_SECONDS = 1.0
QUIET_SECONDS, SPOKEN_SECONDS = 2.0, 10.0  # before the first line of a command without cells, and between two
SHOWN_CELLS = 4  # that run side by side
UNITS = {"generation": "completions", "verification": "completions"}  # what a stage counts, if not rows


@dataclass
class Running:
    """The stage that a cell is in: its first and its last event, and when the first came."""

    first: Event
    last: Event
    since: float

    def in_words(self, now: float) -> str:
        """Return what the cell does and the time that the stage still takes at the pace so far."""
        event, seconds = self.last, now - self.since
        parts = [event.stage]
        if event.stage == "training" and event.total:
            parts.append(f"step {event.done} of {event.total}")
        elif event.total:
            parts.append(f"{event.done:,} of {event.total:,} {UNITS.get(event.stage, 'rows')}")
        if event.loss is not None:
            parts.append(f"loss {event.loss:.3f}")
        if event.tokens and seconds > 0:
            parts.append(f"{event.tokens / seconds:,.0f} tokens/s")
        done = event.done + event.begun - self.first.done
        left = event.total - event.done - event.begun
        if done > 0 and left > 0:
            parts.append(f"about {duration(left * seconds / done)} left of it")
        return ", ".join(parts)


def running_after(event: Event, before: Running | None, now: float) -> Running:
    """Return the stage that a cell is in after an event; a stage of another name begins with it."""
    if before is None or before.last.stage != event.stage:
        return Running(event, event, now)
    return Running(before.first, event, before.since)


@contextmanager
def progress(
    total: int, missing: int, *, messages: Sequence[str] = (), started: float | None = None
) -> Iterator["Display"]:
    """Print the messages, then show what runs until the block ends; it calls `ended` with each cell's end.

    `missing` of the `total` cells are to run, in this round or a later one. `started` is when the run began,
    by `time.monotonic`; None is this moment.
    """
    display = Display(total, missing, started=started)

    def tick() -> float:
        display.tick()
        return TICK_SECONDS

    for text in messages:
        display.say(text)
    with display.bars, listening(display.hear), _ticking(tick, first=TICK_SECONDS):
        yield display


@contextmanager
def spoken() -> Iterator[None]:
    """Print a line on what a command without cells does: after two seconds, then every ten."""
    running: Running | None = None

    def hear(event: Event) -> None:
        nonlocal running
        running = running_after(event, running, time.monotonic())

    def tick() -> float:
        if running is None:
            return QUIET_SECONDS
        print(f"now: {running.in_words(time.monotonic())}", file=sys.stderr, flush=True)
        return SPOKEN_SECONDS

    with listening(hear), _ticking(tick, first=QUIET_SECONDS):
        yield


@contextmanager
def _ticking(tick: Callable[[], float], *, first: float) -> Iterator[None]:
    """Call `tick` in another thread until the block ends; it returns the seconds until its next call."""
    leave = threading.Event()

    def loop() -> None:
        seconds = first
        while not leave.wait(seconds):
            seconds = tick()

    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    try:
        yield
    finally:
        leave.set()
        thread.join()


class Display:
    """The bars of a round, and its lines: a line for each cell's end, and at least one in 30 seconds."""

    def __init__(
        self,
        total: int,
        missing: int,
        *,
        started: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self.console, self.clock, self.total, self.missing = Console(stderr=True), clock, total, missing
        columns = (TextColumn("{task.description}"), BarColumn(10), MofNCompleteColumn(), TimeElapsedColumn())
        self.bars = Progress(*columns, TextColumn("{task.fields[left]}"), console=self.console)
        self.bar = self.bars.add_task("cells", total=total, completed=total - missing, left="")
        self.cells: dict[str, Any] = {}  # the bars of running cells
        self.running: dict[str, Running] = {}
        self.begun, self.ended_here = clock(), 0
        self.started = self.begun if started is None else started
        self.lock, self.silent_since = threading.Lock(), -SILENCE_SECONDS + self.begun

    def say(self, text: str) -> None:
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def hear(self, event: Event) -> None:
        with self.lock:
            self.running[event.cell] = running_after(event, self.running.get(event.cell), self.clock())
        self.tick(bars=False)

    def ended(self, done: Done, *, accuracy: str = "") -> None:
        """Print the line of a cell that has ended."""
        name = done.cell.name
        with self.lock:
            self.running.pop(name, None)
            if name in self.cells:
                self.bars.remove_task(self.cells.pop(name))
            if done.failure:
                self.say(f"failed: {name}: {done.failure}")
                return
            self.ended_here += 1
            self.bars.update(self.bar, advance=1, left=self._left())
            count = f"{self.total - self.missing + self.ended_here} of {self.total}"
            passed = f"{self.clock() - self.started:.0f} s so far"
            parts = [f"done: {name} in {done.seconds:.1f} s", accuracy, count, passed, self._left()]
            self.say(", ".join(filter(None, parts)))
            self.silent_since = self.clock()

    def _left(self) -> str:
        """Return the time that the missing cells take if cells go on to end as often as in this round."""
        left = self.missing - self.ended_here
        if left <= 0:
            return ""
        return f"about {duration(left * (self.clock() - self.begun) / self.ended_here)} left"

    def tick(self, *, bars: bool = True) -> None:
        """Bring the bars up to date; without a terminal, say what runs where no line has come for long."""
        with self.lock:
            now = self.clock()
            if self.console.is_terminal and bars:
                for cell, running in self.running.items():
                    event = running.last
                    if cell not in self.cells:
                        self.cells[cell] = self.bars.add_task(cell, total=None, left="")
                    known = {"completed": event.done, "total": event.total or None}
                    self.bars.update(self.cells[cell], left=running.in_words(now), **known)
            elif not self.console.is_terminal and self.running and now - self.silent_since >= SILENCE_SECONDS:
                self.silent_since = now
                for cell, running in list(self.running.items())[:SHOWN_CELLS]:
                    self.say(f"now: {cell}: {running.in_words(now)}")
                if (more := len(self.running) - SHOWN_CELLS) > 0:
                    self.say(f"now: and {more} more cells")


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
