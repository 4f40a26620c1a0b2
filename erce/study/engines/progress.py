"""Events of running cells → bars in a terminal, or lines in a file, each with the time that is left."""

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from erce.events import Event, listening
from erce.study.engines import Done

STAGES = ("training", "generation", "verification")  # in the order in which a cell goes through them
SILENCE_SECONDS = 30.0  # after which a line says what runs now, where there is no terminal
TICK_SECONDS = 1.0
QUIET_SECONDS, SPOKEN_SECONDS = 2.0, 10.0  # before the first line of a command without cells, and between two
SHOWN_CELLS = 4  # that run side by side
Amounts = Mapping[str, int]  # stage → steps or completions of one cell that are left; no training: the base


@dataclass
class Running:
    """The stage that a cell is in: its last event, when it began, and from what on its pace is taken."""

    last: Event
    began: float
    since: float
    amount: float  # steps or completions at `since`
    advanced: bool = False


@dataclass
class Forecast:
    """The time that the `missing` cells (by name) still take, at the pace of the newest cell of each kind.

    The base model's completions have a pace of their own: it may write on where a trained policy ends.
    """

    missing: dict[str, Amounts]
    clock: Callable[[], float] = time.monotonic
    running: dict[str, Running] = field(default_factory=dict)
    pace: dict[tuple[str, bool], float] = field(default_factory=dict)  # (stage, base?) → seconds per unit
    unheard: float = 0.0  # seconds of the cells that ended without an event, as on Ray
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    def hear(self, event: Event) -> None:
        now, known = self.clock(), self.running.get(event.cell)
        if known is None or known.last.stage != event.stage:
            self.running[event.cell] = known = Running(event, now, now, event.done)
        known.last = event
        amount = event.done + event.begun
        if amount > known.amount:
            pace = (now - known.since) / (amount - known.amount)
            self.pace[event.stage, self._is_base(event.cell)] = pace
            if not known.advanced:  # until here something may have been compiled or read, once
                known.since, known.amount, known.advanced = now, amount, True

    def end(self, cell: str, seconds: Mapping[str, float], *, failed: bool = False) -> None:
        """Count a cell as ended; `seconds` a stage tell the pace of a cell that said nothing."""
        heard, amounts = self.running.pop(cell, None), self.missing.get(cell, {})
        if heard is None:
            self.unheard += sum(seconds.values())
            for stage in seconds.keys() & {name for name, amount in amounts.items() if amount}:
                self.pace[stage, self._is_base(cell)] = seconds[stage] / amounts[stage]
        if not failed:
            self.missing.pop(cell, None)

    def left(self, cell: str) -> dict[str, float | None]:
        """Return stage → seconds that a cell needs, for the stages it needs; None where no pace is known."""
        amounts: dict[str, float] = dict(self.missing.get(cell, {}))
        if cell in self.running and (now := self.running[cell].last).stage in STAGES:
            amounts |= dict.fromkeys(STAGES[: STAGES.index(now.stage)], 0)
            amounts[now.stage] = now.total - now.done - now.begun if now.total else amounts.get(now.stage, 0)
        return self._seconds(amounts, base=self._is_base(cell))

    def in_all(self) -> dict[str, float | None]:
        """Return stage → seconds until the last cell has ended, for the stages that any cell needs."""
        alike = Counter(tuple(self.missing[cell].items()) for cell in self.missing.keys() - self.running)
        lefts = [(1, self.left(cell)) for cell in self.running]
        lefts += [(n, self._seconds(dict(x), base="training" not in dict(x))) for x, n in alike.items()]
        side_by_side = max(1.0, len(self.running), self.unheard / max(self.clock() - self.started, 1e-9))
        by_stage: dict[str, float | None] = {}
        for stage in STAGES:
            seconds = [(n, left[stage]) for n, left in lefts if stage in left]
            known = [n * s / side_by_side for n, s in seconds if s is not None]
            if seconds:
                by_stage[stage] = sum(known) if known else None
        return by_stage

    def _seconds(self, amounts: Mapping[str, float], *, base: bool) -> dict[str, float | None]:
        paces = {stage: self.pace.get((stage, base), self.pace.get((stage, not base))) for stage in amounts}
        needed = {stage: amount for stage, amount in amounts.items() if amount}
        return {stage: None if (pace := paces[stage]) is None else n * pace for stage, n in needed.items()}

    def now(self, cell: str) -> str:
        """Return what a running cell does and the time that it needs, in words."""
        running = self.running[cell]
        event, seconds = running.last, self.clock() - running.began
        parts = [event.stage]
        if event.stage == "training" and event.total:
            parts.append(f"step {event.done} of {event.total}")
        elif event.total:
            unit = "completions" if event.stage in STAGES else "rows"
            parts.append(f"{event.done:,} of {event.total:,} {unit}")
        if event.loss is not None:
            parts.append(f"loss {event.loss:.3f}")
        if event.tokens and seconds > 0:
            parts.append(f"{event.tokens / seconds:,.0f} tokens/s")
        if left := in_words(self.left(cell)):
            parts.append(f"{left} in this cell" if cell else left)
        return ", ".join(parts)

    def _is_base(self, cell: str) -> bool:
        return "training" not in self.missing.get(cell, {"training": 0})


@contextmanager
def progress(
    total: int,
    missing: Mapping[str, Amounts],
    *,
    messages: Sequence[str] = (),
    started: float | None = None,
) -> Iterator["Display"]:
    """Print the messages, then show what runs until the block ends; it calls `ended` with each cell's end.

    `missing` of the `total` cells are to run, in this round or a later one. `started` is when the run began,
    by `time.monotonic`; None is this moment.
    """
    display = Display(total, Forecast(dict(missing)), started=started)

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
    forecast = Forecast({})

    def tick() -> float:
        if "" not in forecast.running:
            return QUIET_SECONDS
        print(f"now: {forecast.now('')}", file=sys.stderr, flush=True)
        return SPOKEN_SECONDS

    with listening(forecast.hear), _ticking(tick, first=QUIET_SECONDS):
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

    def __init__(self, total: int, forecast: Forecast, *, started: float | None = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self.console, self.forecast, self.total = Console(stderr=True), forecast, total
        columns = (TextColumn("{task.description}"), BarColumn(10), MofNCompleteColumn(), TimeElapsedColumn())
        self.bars = Progress(*columns, TextColumn("{task.fields[left]}"), console=self.console)
        done = total - len(forecast.missing)
        self.bar = self.bars.add_task("cells", total=total, completed=done, left="")
        self.cells: dict[str, Any] = {}  # the bars of running cells
        self.started = forecast.started if started is None else started
        self.lock, self.silent_since = threading.Lock(), -SILENCE_SECONDS + forecast.started

    def say(self, text: str) -> None:
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def hear(self, event: Event) -> None:
        with self.lock:
            self.forecast.hear(event)
        self.tick(bars=False)

    def ended(self, done: Done, *, accuracy: str = "", seconds: Mapping[str, float] | None = None) -> None:
        """Print the line of a cell that has ended; `seconds` maps each of its stages to the time it took."""
        name = done.cell.name
        with self.lock:
            self.forecast.end(name, seconds or {}, failed=bool(done.failure))
            if name in self.cells:
                self.bars.remove_task(self.cells.pop(name))
            if done.failure:
                self.say(f"failed: {name}: {done.failure}")
                return
            self.bars.update(self.bar, advance=1)
            count = f"{self.bars.tasks[0].completed:g} of {self.total}"
            passed = f"{self.forecast.clock() - self.started:.0f} s so far"
            left = in_words(self.forecast.in_all())
            parts = [f"done: {name} in {done.seconds:.1f} s", accuracy, count, passed, left]
            self.say(", ".join(filter(None, parts)))
            self.silent_since = self.forecast.clock()

    def tick(self, *, bars: bool = True) -> None:
        """Bring the bars up to date; without a terminal, say what runs where no line has come for long."""
        with self.lock:
            running, now = list(self.forecast.running), self.forecast.clock()
            if self.console.is_terminal and bars:
                self.bars.update(self.bar, left=in_words(self.forecast.in_all()))
                for cell in running:
                    event = self.forecast.running[cell].last
                    if cell not in self.cells:
                        self.cells[cell] = self.bars.add_task(cell, total=None, left="")
                    known = {"completed": event.done, "total": event.total or None}
                    self.bars.update(self.cells[cell], left=self.forecast.now(cell), **known)
            elif not self.console.is_terminal and running and now - self.silent_since >= SILENCE_SECONDS:
                self.silent_since = now
                for cell in running[:SHOWN_CELLS]:
                    self.say(f"now: {cell}: {self.forecast.now(cell)}")
                if (more := len(running) - SHOWN_CELLS) > 0:
                    self.say(f"now: and {more} more cells")
                left = self.forecast.in_all()
                if len(self.forecast.missing) > 1 and in_words(left):
                    parts = ", ".join(f"{stage} {duration(seconds)}" for stage, seconds in left.items())
                    self.say(f"     {in_words(left)} in all: {parts}")


def in_words(by_stage: Mapping[str, float | None]) -> str:
    """Return the time that is left over all stages; "" where nothing is known.

    >>> in_words({"training": 600.0, "generation": 1200.0}), in_words({"training": 60.0, "generation": None})
    ('about 30 min left', 'over 1 min left')
    """
    known = [seconds for seconds in by_stage.values() if seconds is not None]
    if not sum(known):
        return ""
    return f"{'about' if len(known) == len(by_stage) else 'over'} {duration(sum(known))} left"


def duration(seconds: float | None) -> str:
    """Return a time in words, rounded.

    >>> [duration(seconds) for seconds in (None, 0, 0.2, 59, 600, 9000, 200_000)]
    ['not known yet', '0 s', '1 s', '59 s', '10 min', '2.5 h', '2.3 days']
    """
    if seconds is None:
        return "not known yet"
    if seconds < 60:
        return f"{max(1, round(seconds)) if seconds > 0 else 0} s"
    if seconds < 3600:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.1f} days"
