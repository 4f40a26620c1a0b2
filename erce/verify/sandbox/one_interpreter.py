"""A program and its tests → nothing if they hold in one interpreter, else an exception.

In one interpreter nothing is lost and everything can be forged. So this is the paper's verdict, and it may
turn down a program that passed across the border, but never accept one.
"""

import builtins
import importlib
import signal
import sys
import types
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

PAPER_WALL_SECONDS = 2.0  # appendix "Execution-Based Evaluation"
Names = dict[str, Any]  # of a module
_OF_EVERY_MODULE = {"__name__", "__builtins__", *dir(builtins)}


class PaperAlarm(BaseException):
    """The end of the time that the paper's alarm allows."""


PAPER_ALARM = PaperAlarm.__name__


def run_as_in_paper(load: Callable[[Names], None], names: Names, sources: Sequence[str]) -> None:
    """Load the program and run set-up and tests among its own names, under one alarm of 2.0 s."""
    signal.signal(signal.SIGALRM, _raise_alarm)
    signal.setitimer(signal.ITIMER_REAL, PAPER_WALL_SECONDS)
    try:
        load(names)
        for source in sources:
            _run(source, names)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


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
    program |= {name: value for name, value in names.items() if name not in _OF_EVERY_MODULE}
    load(program)
    seen = {*classes, *(name for name in entry_points if name not in names)}
    names |= {name: program[name] for name in seen & program.keys()}
    for source in (*waiting, *tests):
        _run(source, names)


def _runs_without_program(source: str, names: Names) -> bool:
    try:
        _run(source, names)
    except NameError:
        return False
    return True


def _run(source: str, names: Names) -> None:
    exec(compile(source, "<test>", "exec"), names)


def _raise_alarm(number: int, frame: types.FrameType | None) -> None:
    raise PaperAlarm
