"""Completion → its program → whether it passes its tests, in a sandbox (`erce.verify.sandbox`)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from erce.errors import InputError
from erce.types import Completion, Problem, Verdict
from erce.verify.extract import is_finished, text_of
from erce.verify.fences import extract_program
from erce.verify.io import verify_cases
from erce.verify.sandbox import Job, Limits, Outcome, shared
from erce.verify.sandbox.host import WALL_TIMES_CPU
from erce.verify.sandbox.tests_text import BUILTINS, BrokenTestsError, require_asserts

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
    """Accept a program whose functions make every assert of `tests` hold; prose and fences may be around it.

    The program has Python's library, NumPy where it is installed, no network, no other process, and no files
    but an empty /tmp (in the tier "landlock" not even that). Calls carry plain values, both ways
    (`erce.verify.sandbox` lists them).

    Args:
        program: The source, or a text with it (`extract_program`); no text makes this raise.
        tests: Statements such as "assert f(3) == 9".
        setup: Imports and helpers that run before the tests; the program sees the imports of both.
        entry_points: The closed list of names that the tests get from the program; None means the names
            that tests and set-up read and that neither they nor Python define.
        limits: Of time and memory.
        mode: "strict"; "unproven" runs tests that look at the program's own objects in one interpreter with
            the program, which can forge its pass there.

    Returns:
        A verdict, whose reasons docs/sandbox.md explains.

    Raises:
        SandboxUnavailable: Nothing isolates here; the environment variable ERCE_SANDBOX names a weaker tier.

    >>> run_program("def f(x):\\n    return x * x", ["assert f(3) == 9"]).reason
    'passed'
    """
    job = Job(program, tests, setup, entry_points, mode, limits)
    return shared().verify_job(replace(job, program=extract_program(program, _names(job)))).verdict


def verify_program(problem: Problem, completion: Completion | str) -> Verdict:
    """Accept a completion whose program passes the problem's tests, or prints the problem's `outputs`.

    See `run_program` and `verify_io`. The program is all of the text, or the last block that defines what the
    tests call, with those of its helpers; `extract_program` has the rule. It may use 2.0 s of processor time,
    or five times what the problem's demonstration uses on this machine if that is more. If the demonstration
    passes the tests only in one interpreter with them, the problem's programs run there, too, and a pass has
    the reason "unproven": the problem decides this, never the program. Each process remembers its verdicts,
    so that a program runs only once for a problem.

    Reasons beside those of `run_program`: "no answer" (nothing but space), and "truncated" for a completion
    that was cut off and did not pass. InputError if tests are not Python, without assert or beside inputs.

    >>> square = Problem(id="1", prompt="", demonstration="", tests=("assert f(3) == 9",))
    >>> verify_program(square, "def f(x):\\n    return x * x").reason
    'passed'
    """
    program = extract_program(text_of(completion), _names(problem))
    finished = is_finished(completion)
    try:
        if not problem.inputs:
            require_asserts(problem.tests, problem.setup)
        elif problem.tests or len(problem.inputs) != len(problem.outputs):
            counts = {name: len(getattr(problem, name)) for name in ("tests", "inputs", "outputs")}
            raise BrokenTestsError(f"{counts}: give it tests alone, or as many outputs as inputs")
    except BrokenTestsError as error:
        raise InputError(f"problem {problem.id!r}: {error}") from error
    if not program.strip():
        return Verdict(False, "no answer" if finished else "truncated")
    verdict = _run_tests(program, problem, LIMITS, "strict").verdict
    if not verdict.accepted:
        mode, limits = _needs_of_demonstration(problem)
        verdict = _run_tests(program, problem, limits, mode).verdict
    if not finished and not verdict.accepted and verdict.reason != "error":
        verdict = replace(verdict, reason="truncated")
    return replace(verdict, extracted=program)


def _names(problem: Problem | Job) -> Iterable[str]:
    """Return the problem's entry points; without them, every name that its tests mention and Python lacks."""
    return problem.entry_points or set(_NAME.findall("\n".join(problem.tests))) - BUILTINS


def _needs_of_demonstration(problem: Problem) -> tuple[str, Limits]:
    """Return the mode that a problem's programs need, and limits of five times what its demonstration uses.

    The mode is "unproven" if the demonstration is opaque or fails in two processes and passes in that mode.
    """
    reference = extract_program(problem.demonstration, _names(problem))
    for mode in ("strict", "unproven") if reference.strip() else ():
        outcome = _run_tests(reference, problem, _REFERENCE_LIMITS, mode)
        if mode == "strict" and outcome.verdict.reason not in ("passed", "opaque", "failed"):
            break  # a fault of the tests or the machine, or too slow: no reason to trust less
        if outcome.verdict.accepted:
            cpu = max(LIMITS.cpu, TIMES_REFERENCE * outcome.cpu)
            return mode, replace(LIMITS, cpu=cpu, wall=max(LIMITS.wall, WALL_TIMES_CPU * cpu))
    return "strict", LIMITS


def _run_tests(program: str, problem: Problem, limits: Limits, mode: str) -> Outcome:
    outcome = _remembered(program, problem, limits, mode)
    if outcome.verdict.reason == "error":
        _remembered.cache_clear()  # a fault of the machine may be gone the next time
    return outcome


@lru_cache(maxsize=65536)
def _remembered(program: str, problem: Problem, limits: Limits, mode: str) -> Outcome:
    if problem.inputs:
        return verify_cases(program, zip(problem.inputs, problem.outputs, strict=True), None, limits)
    return shared().verify_job(Job(program, problem.tests, problem.setup, problem.entry_points, mode, limits))
