"""Completion → its program → whether it passes its asserts, in a sandbox.

The asserts run in a process that never runs the program, and the program in a process that never holds an
expected value; see `erce.verify.sandbox`. Mode "paper" is the paper's own protocol in the same containment:
program and asserts in one interpreter, under an alarm of 2.0 s.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from erce.errors import InputError
from erce.types import Completion, Problem, Verdict
from erce.verify.extract import extract_program, is_finished, text_of
from erce.verify.sandbox import Job, Limits, shared
from erce.verify.sandbox.compiled_tests import BrokenTestsError, require_asserts
from erce.verify.sandbox.jobs import WALL_TIMES_CPU

LIMITS = Limits()  # 2.0 s of processor time; the appendix "Execution-Based Evaluation" has 2.0 s of wall time
_NAME = re.compile(r"[^\W\d]\w*")
TIMES_REFERENCE = 5  # a program may use this many times the processor time of the demonstration
_REFERENCE_LIMITS = Limits(cpu=30.0, wall=30.0 * WALL_TIMES_CPU)


def run_program(
    program: str,
    tests: Sequence[str],
    *,
    setup: Sequence[str] = (),
    entry_points: Sequence[str] | None = None,
    limits: Limits = LIMITS,
    mode: str = "strict",
) -> Verdict:
    """Accept a program whose functions make every assert of `tests` hold.

    `setup` (imports, helpers) runs before the tests; the program sees its imports, types and classes. The
    program has Python's library, no network, no other process, and no files but an empty /tmp (in the tier
    "landlock" not even that). `entry_points` is the closed list of names that the tests get from the program;
    None means the names that tests and set-up read and that neither they nor Python define. Arguments reach
    the program as copies of plain values. If a function returns None, its changes to lists, dicts, sets and
    bytearrays are copied back to the test. The test may call, read and iterate an object that the program
    returns, but not compare it.

    Reasons: "passed"; "failed" (an assert did not hold, or the program did something else wrong, which the
    detail names); "timeout" (too much processor time, or waiting); "opaque" (an object without a plain value
    was compared); "error" (the tests or the machine are at fault). No content of a text makes this function
    raise; what is not text is an InputError. SandboxUnavailable if nothing isolates here; the environment
    variable ERCE_SANDBOX names a weaker tier. Mode "paper" is the paper's protocol: an exception, or more
    than 2.0 s of wall time, is a failure and everything else a pass, so a program made to cheat passes.

    >>> run_program("def f(x):\\n    return x * x", ["assert f(3) == 9"]).reason
    'passed'
    """
    job = Job(program, tests, setup, entry_points, mode, limits)
    return shared().judge(job).verdict


def verify_program(problem: Problem, completion: Completion | str) -> Verdict:
    """Accept a completion whose program passes the problem's tests; see `run_program`.

    The program is the last block fenced as Python, else the last fenced block, else the whole text. It may
    use 2.0 s of processor time, or five times what the problem's demonstration uses on this machine if that
    is more. Each process remembers its verdicts, so that a program runs only once for a problem.

    Reasons beside those of `run_program`: "no answer" (nothing but space), and "truncated" for a completion
    that was cut off and did not pass. InputError if the tests are not Python or have no assert.

    >>> square = Problem(id="1", prompt="", demonstration="", tests=("assert f(3) == 9",))
    >>> verify_program(square, "def f(x):\\n    return x * x").reason
    'passed'
    """
    return _verify(problem, completion, "strict")


def verify_program_paper(problem: Problem, completion: Completion | str) -> Verdict:
    """Judge by the paper's protocol, in one interpreter with 2.0 s of wall time; a cheat can pass."""
    return _verify(problem, completion, "paper")


def _verify(problem: Problem, completion: Completion | str, mode: str) -> Verdict:
    try:
        require_asserts(problem.tests, problem.setup)
    except BrokenTestsError as error:
        raise InputError(f"problem {problem.id!r}: {error}") from error
    finished = is_finished(completion)
    program = extract_program(text_of(completion), _names(problem))
    if not program.strip():
        return Verdict(False, "no answer" if finished else "truncated")
    verdict = _verdict_and_seconds(program, problem, LIMITS, mode)[0]
    if verdict.reason == "timeout" and mode == "strict":
        limits = _limits_from_demonstration(problem)
        if limits.cpu > LIMITS.cpu:
            verdict = _verdict_and_seconds(program, problem, limits, mode)[0]
    if not finished and not verdict.accepted and verdict.reason != "error":
        verdict = replace(verdict, reason="truncated")
    return replace(verdict, extracted=program)


def _names(problem: Problem) -> Iterable[str]:
    """Return the names that the problem's program may have to define: those that its tests mention."""
    return problem.entry_points or set(_NAME.findall("\n".join(problem.tests)))


def _limits_from_demonstration(problem: Problem) -> Limits:
    """Return limits of five times what the demonstration uses here, at least the usual ones.

    A demonstration that does not pass raises nothing.
    """
    reference = extract_program(problem.demonstration, _names(problem))
    if not reference.strip():
        return LIMITS
    verdict, seconds = _verdict_and_seconds(reference, problem, _REFERENCE_LIMITS, "strict")
    if not verdict.accepted or TIMES_REFERENCE * seconds <= LIMITS.cpu:
        return LIMITS
    cpu = TIMES_REFERENCE * seconds
    return replace(LIMITS, cpu=cpu, wall=max(LIMITS.wall, WALL_TIMES_CPU * cpu))


class _UncachedError(Exception):
    """A verdict that is not to be remembered: a fault of the machine may be gone the next time."""


def _verdict_and_seconds(program: str, problem: Problem, limits: Limits, mode: str) -> tuple[Verdict, float]:
    """Return the verdict and the processor time of the program in seconds."""
    try:
        return _remembered(program, problem.tests, problem.setup, problem.entry_points, limits, mode)
    except _UncachedError as fault:
        return fault.args[0], 0.0


@lru_cache(maxsize=65536)
def _remembered(
    program: str,
    tests: tuple[str, ...],
    setup: tuple[str, ...],
    entry_points: tuple[str, ...] | None,
    limits: Limits,
    mode: str,
) -> tuple[Verdict, float]:
    outcome = shared().judge(Job(program, tests, setup, entry_points, mode, limits))
    if outcome.verdict.reason == "error":
        raise _UncachedError(outcome.verdict)
    return outcome.verdict, outcome.cpu
