"""A program and its tests → nothing if they hold in one interpreter, else an exception.

In one interpreter nothing is lost and everything can be forged. So this is the paper's verdict, and it may
turn down a program that passed across the border, but never accept one.
"""

import importlib
import signal
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

PAPER_WALL_SECONDS = 2.0  # appendix "Execution-Based Evaluation"
Names = dict[str, Any]  # of a module


class PaperAlarm(BaseException):
    """The end of the time that the paper's alarm allows."""


PAPER_ALARM = PaperAlarm.__name__


@contextmanager
def paper_alarm() -> Iterator[None]:
    """Raise PaperAlarm in the block after 2.0 s of wall time."""
    signal.signal(signal.SIGALRM, _raise_alarm)
    signal.setitimer(signal.ITIMER_REAL, PAPER_WALL_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def run(sources: Iterable[str], names: Names) -> None:
    """Run texts among these names."""
    for source in sources:
        exec(compile(source, "<test>", "exec"), names)


def run_with_own_names(
    load: Callable[[Names], None], program: Names, sources: list[list[str]], shared: Iterable[Iterable[str]]
) -> None:
    """Run set-up and tests as a judge would, with names of their own, but on the program's own objects.

    `sources` are the texts of both. `shared` are the program's names that the tests use, the modules that
    they use without an import, and the set-up's classes, which a program may define anew.
    """
    (setup, tests), (entry_points, modules, classes) = sources, shared
    sys.modules["tests"] = types.ModuleType("tests")
    names = sys.modules["tests"].__dict__
    for module in modules:
        with suppress(ImportError):
            names[module] = importlib.import_module(module)
    waiting = [source for source in setup if not _runs_without_program(source, names)]
    program |= {name: value for name, value in names.items() if not name.startswith("__")}
    load(program)
    seen = {*classes, *(name for name in entry_points if name not in names)}
    names |= {name: program[name] for name in seen & program.keys()}
    run((*waiting, *tests), names)


def _runs_without_program(source: str, names: Names) -> bool:
    try:
        run([source], names)
    except NameError:
        return False
    return True


def _raise_alarm(number: int, frame: types.FrameType | None) -> None:
    raise PaperAlarm
