"""A program and its tests → nothing if they hold in one interpreter, else an exception.

There nothing is hidden from the tests, but everything can be forged. The modes of a run:

- "strict": the judge runs the tests and calls the candidate over a socket, the border. Nothing here is used.
- "together": the candidate runs program, set-up and tests in one namespace. It decides nothing but whether a
  strict pass stands, as does the next.
- "apart": the same with a namespace for set-up and tests.
- "paper": as "together", under the paper's alarm. Here alone the outcome is the verdict.
"""

import importlib
import signal
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

PAPER_WALL_SECONDS = 2.0  # the paper's appendix "Execution-Based Evaluation"
Namespace = dict[str, Any]


class PaperAlarm(BaseException):
    """The end of the time that the paper's alarm allows."""


PAPER_ALARM = PaperAlarm.__name__  # the kind of exception by which the judge knows it


@contextmanager
def paper_alarm() -> Iterator[None]:
    """Raise PaperAlarm in the block after 2.0 s of wall time."""
    signal.signal(signal.SIGALRM, _raise_alarm)
    signal.setitimer(signal.ITIMER_REAL, PAPER_WALL_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def run(sources: Iterable[str], names: Namespace) -> None:
    """Execute the sources in one namespace."""
    for source in sources:
        exec(compile(source, "<test>", "exec"), names)


class ApartTests(NamedTuple):
    """Tests that get a namespace of their own, and what they share with the program."""

    setup: list[str]
    tests: list[str]
    entry_points: list[str]  # names of the program that the tests use
    modules: list[str]  # of Python's library, which the tests use without an import
    classes: list[str]  # of the set-up; if the program defines them, too, its own count


def run_apart(load: Callable[[Namespace], None], program: Namespace, tests: ApartTests) -> None:
    """Load the program and run set-up and tests in a namespace of their own.

    The set-up runs first, and the program sees its names. A source of it that raises a NameError needs the
    program, and is run again from its start once that is loaded.
    """
    sys.modules["tests"] = types.ModuleType("tests")
    names = sys.modules["tests"].__dict__
    for module in tests.modules:
        with suppress(ImportError):
            names[module] = importlib.import_module(module)
    needing_program = [source for source in tests.setup if not _runs_without_program(source, names)]
    program |= {name: value for name, value in names.items() if not name.startswith("__")}
    load(program)
    shared = {*tests.classes, *(name for name in tests.entry_points if name not in names)}
    names |= {name: program[name] for name in shared & program.keys()}
    run((*needing_program, *tests.tests), names)


def _runs_without_program(source: str, names: Namespace) -> bool:
    try:
        run([source], names)
    except NameError:
        return False
    return True


def _raise_alarm(number: int, frame: types.FrameType | None) -> None:
    raise PaperAlarm
