"""Our programs of every kind in one table: what each is, and its verdict."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import dedent

DOUBLE = ("assert double(4) == 8", "assert double(21) == 42", "assert double(0) == 0")
CATEGORIES = ("honest", "wrong", "forgery", "abuse", "escape")
FILES = ("plain", "lies", "inside", "protocol", "abuse", "escapes", "probes", "kernel")


@dataclass(frozen=True, kw_only=True)
class Program:
    """One program with its tests. A probe passes exactly if its attempt was prevented.

    A `slow` program uses up a limit. `repeat` runs the program that often in one sandbox and judges the last
    run. `tiers` names the tiers that promise the verdict, () all of them.
    """

    name: str
    category: str
    program: str
    tests: tuple[str, ...] = DOUBLE
    expect: str = "fail"
    entry_points: tuple[str, ...] | None = None
    slow: bool = False
    repeat: int = 1
    tiers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Family:
    """A maker of programs that share a category and an expectation."""

    category: str
    expect: str

    def __call__(self, name: str, program: str, *tests: str, **more) -> Program:
        given = {"expect": self.expect, **more}
        if tests:
            given["tests"] = tests
        return Program(name=name, category=self.category, program=dedent(program).lstrip("\n"), **given)


def probe(family: Family, name: str, attempt: str, **more) -> Program:
    """Return a program that is right exactly if `attempt` leaves `reached` false or raises."""
    body = "".join(f"    {line}\n" for line in dedent(attempt).strip().splitlines())
    program = (
        "reached = False\n"
        f"try:\n{body}"
        "except BaseException:\n    reached = False\n"
        "def double(n):\n    return None if reached else n + n\n"
    )
    return family(name, program, **more)


def corpus() -> Mapping[str, Program]:
    """Return every program by its name, in the order of `FILES`."""
    files = (importlib.import_module(f"toys.hostile.programs.{file}") for file in FILES)
    programs = [program for file in files for program in file.PROGRAMS]
    named = {program.name: program for program in programs}
    assert len(named) == len(programs), "two programs share a name"
    return named
