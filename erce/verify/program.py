"""A completion → its program → whether it passes its asserts, in a sandbox.

The asserts run in a process that never runs the program, and the program in one that never holds an expected
value; see `erce.verify.sandbox`. The paper's own protocol, program and asserts in one interpreter under an
alarm of 2.0 s, is the mode "paper", inside the same containment.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from erce.types import Completion, Problem, Verdict
from erce.verify.sandbox import Job, Limits, shared
from erce.verify.sandbox.compiled_tests import BrokenTestsError, require_asserts

LIMITS = Limits()  # 2.0 s, appendix "Execution-Based Evaluation", here of processor time
SLOWER = 5  # times the reference's own processor time that a program may use on a slow interpreter
_PATIENT = Limits(cpu=30.0, wall=150.0)  # for the reference itself


def run_program(
    program: str,
    tests: Sequence[str],
    *,
    setup: Sequence[str] = (),
    entry_points: Sequence[str] | None = None,
    limits: Limits = LIMITS,
    mode: str = "strict",
) -> Verdict:
    """Accepted where every assert of `tests` holds of the functions that `program` defines.

    `setup` (imports, helpers) runs before the tests; its import statements also before the program. The
    program has Python's library, no network, no other process, and no files but an empty /tmp (in the tier
    "landlock" not even that). `entry_points` is the closed list of names that the program answers:
    None stands for those that tests and set-up read and that neither they nor Python define. Arguments reach
    the program as copies of plain values; what a function that returns None did to its positional lists,
    dicts, sets and bytearrays is done to the test's own. An object that it returns may be called, read and
    iterated, but not compared.

    Reasons: "passed"; "failed" (an assert did not hold, or whatever the program did wrong, with the detail);
    "timeout" (over its processor time, or waiting); "opaque" (an object was compared that has no plain
    value); "error" (the tests or the machine are at fault). Never raises on what is in the texts; a
    ValueError where they are no texts. SandboxUnavailable where nothing isolates; the environment variable
    ERCE_SANDBOX names a lesser tier. Mode "paper" is the paper's protocol: an exception, or more than 2.0 s
    of wall time, is a failure, all else a pass; a program that is written to cheat passes.

    >>> run_program("def f(x):\\n    return x * x", ["assert f(3) == 9"]).reason
    'passed'
    """
    job = Job(program, tests, setup, entry_points, mode, limits)
    return shared().judge(job).verdict


def verify_program(problem: Problem, completion: Completion | str) -> Verdict:
    """Accepted where the completion's program passes the problem's tests, as `run_program` says.

    The program is the last block fenced as Python, else the last fenced block, else the whole text. It has
    2.0 s of processor time, raised to five times what the problem's demonstration uses here where that is
    more. A pair of program and problem runs once in our process; asked again, the same verdict comes back.

    Beside the reasons of `run_program`: "no answer" (nothing but space), and "truncated" for a completion
    that was cut off and did not pass. Tests without an assert, or that are not Python, are a ValueError.

    >>> square = Problem(id="1", prompt="", demonstration="", tests=("assert f(3) == 9",))
    >>> verify_program(square, "def f(x):\\n    return x * x").reason
    'passed'
    """
    return _verify(problem, completion, "strict")


def verify_program_paper(problem: Problem, completion: Completion | str) -> Verdict:
    """The same by the paper's protocol: one interpreter, 2.0 s of wall time; a cheat can pass."""
    return _verify(problem, completion, "paper")


def extract_program(text: str) -> str:
    """The last block fenced as Python, else the last fenced block, else the text.

    A fence that is not closed ends with the text.

    >>> extract_program("Sure:\\n```python\\nx = 1\\n```\\nDone.")
    'x = 1'
    """
    blocks: list[tuple[str, list[str]]] = []
    fenced = False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            if not fenced:
                blocks.append((line.strip().strip("`").strip().lower(), []))
            fenced = not fenced
        elif fenced:
            blocks[-1][1].append(line)
    python = [lines for language, lines in blocks if language in ("python", "python3", "py")]
    chosen = python or [lines for _, lines in blocks]
    return "\n".join(chosen[-1]) if chosen else text


def _verify(problem: Problem, completion: Completion | str, mode: str) -> Verdict:
    try:
        require_asserts(problem.tests, problem.setup)
    except BrokenTestsError as error:
        raise ValueError(f"problem {problem.id!r}: {error}") from error
    text = completion if isinstance(completion, str) else completion.text
    finished = isinstance(completion, str) or completion.finished
    program = extract_program(text)
    if not program.strip():
        return Verdict(False, "no answer" if finished else "truncated")
    verdict = _judged(program, problem, LIMITS, mode)[0]
    if verdict.reason == "timeout" and mode == "strict":
        limits = _slow_limits(problem)
        if limits.cpu > LIMITS.cpu:
            verdict = _judged(program, problem, limits, mode)[0]
    if not finished and not verdict.accepted and verdict.reason != "error":
        verdict = replace(verdict, reason="truncated")
    return replace(verdict, extracted=program)


def _slow_limits(problem: Problem) -> Limits:
    """Five times what the demonstration uses on this machine; the usual limits where it does not pass."""
    reference = extract_program(problem.demonstration)
    if not reference.strip():
        return LIMITS
    verdict, seconds = _judged(reference, problem, _PATIENT, "strict")
    if not verdict.accepted or SLOWER * seconds <= LIMITS.cpu:
        return LIMITS
    cpu = SLOWER * seconds
    return replace(LIMITS, cpu=cpu, wall=max(LIMITS.wall, SLOWER * cpu))


class _NotKeptError(Exception):
    """Carries a verdict past the cache: a fault of the machine may be gone the next time."""


def _judged(program: str, problem: Problem, limits: Limits, mode: str) -> tuple[Verdict, float]:
    """The verdict, and the processor time of the program in seconds."""
    try:
        return _kept(program, problem.tests, problem.setup, problem.entry_points, limits, mode)
    except _NotKeptError as fault:
        return fault.args[0], 0.0


@lru_cache(maxsize=65536)
def _kept(
    program: str,
    tests: tuple[str, ...],
    setup: tuple[str, ...],
    entry_points: tuple[str, ...] | None,
    limits: Limits,
    mode: str,
) -> tuple[Verdict, float]:
    outcome = shared().judge(Job(program, tests, setup, entry_points, mode, limits))
    if outcome.verdict.reason == "error":
        raise _NotKeptError(outcome.verdict)
    return outcome.verdict, outcome.cpu
