"""A program that reads standard input and prints → whether it prints what is expected, in a sandbox.

Each case runs the program in a fresh process, which gets the input alone. What it printed is compared here,
after that process has ended: the program never holds an expected output.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from erce.errors import InputError
from erce.types import Verdict
from erce.verify.extract import text_of
from erce.verify.fences import extract_program
from erce.verify.sandbox import Job, Limits, Outcome, shared
from erce.verify.sandbox.host import BYTE_ORDER_MARK

Cases = Iterable[tuple[str, str]]  # (standard input, expected output)
_SHOWN_LETTERS = 60  # of a line, in a detail
_NUMBER = re.compile(r"[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?", re.ASCII)


def verify_io(
    program: str, cases: Cases, *, tolerance: float | None = None, limits: Limits | None = None
) -> Verdict:
    """Accept a program that prints the expected output for each (input, expected output) of `cases`.

    The program runs as a script and may end by `sys.exit()`, but a status other than 0 is "failed". What it
    can reach is said under `run_program`.

    Args:
        program: The source, or a text with it (`extract_program`); no text makes this raise.
        cases: Pairs of standard input and expected output, compared by their words, so spaces and line ends
            do not matter. The first case that fails decides.
        tolerance: Two words are also equal if both are numbers, of digits, a point and an exponent, and
            differ by at most tolerance · max(1, |expected|).
        limits: Of time and memory, for each case.

    Returns:
        A verdict, whose reasons docs/sandbox.md explains; the detail names the case and what went wrong.

    Raises:
        InputError: `cases` could not refuse a program.

    >>> square = "n = int(input())\\nprint(n * n)"
    >>> verify_io(square, [("3", "9"), ("4", "16")]).reason
    'passed'
    >>> verify_io(square, [("3", "9"), ("4", "15\\n")]).detail
    "wrong output in case 2 of 2: line 1 is '16', not '15'"
    """
    program = extract_program(text_of(program))
    return verify_cases(program, cases, tolerance, limits or Limits()).verdict


def verify_cases(program: str, cases: Cases, tolerance: float | None, limits: Limits) -> Outcome:
    """Return the verdict, and the most processor time that a case took in seconds."""
    cases = _checked(cases, tolerance)
    verdict, elapsed, seconds = Verdict(True, "passed"), 0.0, 0.0
    for number, (given, expected) in enumerate(cases, start=1):
        outcome = shared().verify_job(Job(program, mode="script", given=given, limits=limits))
        verdict, seconds = outcome.verdict, max(seconds, outcome.cpu)
        elapsed += verdict.elapsed
        case = f"case {number} of {len(cases)}"
        if not verdict.accepted:
            verdict = replace(verdict, detail=f"{case}: {verdict.detail}")
            break
        if difference := first_difference(outcome.printed, expected, tolerance):
            detail = f"wrong output in {case}: {difference}"
            verdict = replace(verdict, accepted=False, reason="failed", detail=detail)
            break
    return Outcome(replace(verdict, elapsed=elapsed), seconds)


def first_difference(printed: str, expected: str, tolerance: float | None = None) -> str:
    """Return a sentence on the first line that differs; "" if all words are equal.

    >>> first_difference("1 2\\n\\n3", "1\\n2 3"), first_difference("0.3333", "0.33334", tolerance=1e-3)
    ('', '')
    >>> first_difference("1\\n2\\n", "1\\n2\\n3\\n")
    "line 3 is missing, which should be '3'"
    """
    printed, expected = (text.removeprefix(BYTE_ORDER_MARK) for text in (printed, expected))
    if _same(printed.split(), expected.split(), tolerance):
        return ""
    lines = [[line for line in text.splitlines() if line.strip()] for text in (printed, expected)]
    for number, (mine, wanted) in enumerate(zip_longest(*lines), start=1):
        if mine is None:
            return f"line {number} is missing, which should be {_shown(wanted)}"
        if wanted is None:
            return f"line {number} is {_shown(mine)}, where the output should have ended"
        if not _same(mine.split(), wanted.split(), tolerance):
            return f"line {number} is {_shown(mine)}, not {_shown(wanted)}"
    raise AssertionError("texts with equal lines have equal words")


def _same(printed: list[str], expected: list[str], tolerance: float | None) -> bool:
    if tolerance is None or len(printed) != len(expected):
        return printed == expected
    pairs = zip(printed, expected, strict=True)
    return all(mine == wanted or _near(mine, wanted, tolerance) for mine, wanted in pairs)


def _near(mine: str, wanted: str, tolerance: float) -> bool:
    if not (_NUMBER.fullmatch(mine) and _NUMBER.fullmatch(wanted)):
        return False
    value, target = float(mine), float(wanted)
    return math.isfinite(target) and abs(value - target) <= tolerance * max(1.0, abs(target))


def _shown(line: str) -> str:
    line = line.strip()
    return repr(line if len(line) <= _SHOWN_LETTERS else f"{line[:_SHOWN_LETTERS]}…")


def _checked(cases: Any, tolerance: float | None) -> list[tuple[str, str]]:
    pairs = list(cases) if isinstance(cases, Iterable) else [cases]
    if not all(
        isinstance(case, tuple | list) and len(case) == 2 and all(isinstance(text, str) for text in case)
        for case in pairs
    ):
        raise InputError(f"cases must be pairs of texts (input, expected output), not {pairs!r:.80}")
    if not any(expected.strip() for _, expected in pairs):
        raise InputError("no case expects an output, so any program would pass: give at least one that does")
    if tolerance is not None and not 0 <= tolerance < math.inf:
        raise InputError(f"tolerance = {tolerance!r} is not a finite number of 0 or more")
    return pairs
