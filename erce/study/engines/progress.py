"""Cells as they end → a bar with the time left in a terminal, a line a cell where output goes to a file."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from erce.study.engines.one_cell import Done


@contextmanager
def progress(
    total: int, missing: int, *, messages: Sequence[str] = (), started: float | None = None
) -> Iterator[Callable[[Done], None]]:
    """Print the messages, then yield the function to call with each cell's end.

    `missing` of the `total` cells are to run, in this round or a later one. `started` is when the run began,
    by `time.monotonic`; None is this moment.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)

    def say(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    for text in messages:
        say(text)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("{task.fields[left]}"), console=console) as bars:
        bar, pace = bars.add_task("cells", total=total, completed=total - missing, left=""), Pace(missing)
        began = pace.started if started is None else started

        def advance(done: Done) -> None:
            if done.failure:
                say(f"failed: {done.cell.name}: {done.failure}")
                return
            left = pace.after_another()
            bars.update(bar, advance=1, description=done.cell.name, left=left)
            if not console.is_terminal:
                count = f"{bars.tasks[bar].completed:g} of {total}"
                passed = f"{time.monotonic() - began:.0f} s so far"
                say(f"done: {done.cell.name} in {done.seconds:.1f} s, {count}, {passed}{left and ', '}{left}")

        yield advance


@dataclass
class Pace:
    """The time that the missing cells still take at the pace of this run; earlier runs do not count.

    The pace is in wall time, so it holds for cells that run side by side too.
    """

    missing: int
    clock: Callable[[], float] = time.monotonic
    done: int = 0
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    def after_another(self) -> str:
        """Count one more cell as done and return the time left, in words; "" after the last.

        >>> ticks = iter([0.0, 30.0, 90.0, 95.0])
        >>> pace = Pace(3, clock=lambda: next(ticks))
        >>> [pace.after_another() for _ in range(3)]
        ['about 1 min left', 'about 45 s left', '']
        """
        self.done += 1
        seconds_a_cell = (self.clock() - self.started) / self.done
        return in_words(seconds_a_cell * (self.missing - self.done))


def in_words(seconds: float) -> str:
    """Return a time that is left in words, rounded.

    >>> [in_words(seconds) for seconds in (0, 0.2, 59, 600, 9000, 200_000)]
    ['', 'about 1 s left', 'about 59 s left', 'about 10 min left', 'about 2.5 h left', 'about 2.3 days left']
    """
    if seconds <= 0:
        return ""
    if seconds < 60:
        return f"about {max(1, round(seconds))} s left"
    if seconds < 3600:
        return f"about {round(seconds / 60)} min left"
    return (
        f"about {seconds / 3600:.1f} h left"
        if seconds < 172_800
        else f"about {seconds / 86_400:.1f} days left"
    )
