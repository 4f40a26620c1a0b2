"""Does a program pass its asserts? It runs in a child process with limits, which is no sandbox.

What this promises: nothing of the candidate runs in our process; loops, floods of output and memory bombs end
at a limit; the ordinary ways of leaving early (`sys.exit`, `os._exit`, an uncaught exception) are never a
pass, because a pass is a nonce that the child sends back after the last assert, not an exit status.

What it does not promise: the asserts run in the candidate's own interpreter, so a program that is written to
cheat can pass (objects that equal everything, changed frames, the nonce read from its descriptor). The child
has the user's rights: it reads and writes their files, uses the network and can leave processes of its own
behind.
"""

import ast
import marshal
import os
import secrets
import select
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from functools import lru_cache

from erce.types import Completion, Problem, Verdict

SECONDS = 2.0  # wall time from the first line of the program, appendix "Execution-Based Evaluation"
START_SECONDS = 60.0  # for the child to be ready; a machine that needs longer is an accident
LIMITS = {  # resource limits: no core, seconds of processor time (for what is left behind), bytes
    "CORE": 0,
    "CPU": 10,
    "AS": 1 << 30,
    "FSIZE": 1 << 20,
}


def verify_program(problem: Problem, completion: Completion | str) -> Verdict:
    """Accepted where every assert of `problem.tests` held after the completion's program had run.

    The program is the last block fenced as Python, else the last fenced block, else the whole text. It sees
    the standard library alone, has 2 seconds of wall time and 1 GiB of memory, and its output goes nowhere. A
    pair of program and tests runs once in our process; asked again, the same verdict comes back.

    Reasons: "passed", "failed" (an assert did not hold), "error" (no valid program, another exception, an
    early exit, a crash), "timeout", "no answer" (nothing but space), and "truncated" for a completion that
    was cut off and did not pass. `elapsed` is the wall time of the run, the start of the child included.
    Never raises on model text. Tests without an assert, or that are not Python, are a ValueError; a
    child that does not start is a RuntimeError or OSError.

    >>> square = Problem(id="1", prompt="", demonstration="", tests=("assert f(3) == 9",))
    >>> verify_program(square, "def f(x):\\n    return x * x").reason
    'passed'
    """
    _check(problem)
    text = completion if isinstance(completion, str) else completion.text
    finished = isinstance(completion, str) or completion.finished
    program = extract_program(text)
    if not program.strip():
        return Verdict(False, "no answer" if finished else "truncated")
    reason, elapsed = _run(program, problem.tests)
    if reason in ("failed", "error") and not finished:
        reason = "truncated"
    return Verdict(reason == "passed", reason, program, elapsed)


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


def _check(problem: Problem) -> None:
    asserting = [_asserts(test) for test in problem.tests]
    if not any(asserting):
        raise ValueError(f"problem {problem.id!r} has no assert, so any program would pass: give it tests")


@lru_cache(maxsize=4096)
def _asserts(test: str) -> bool:
    """Whether there is an assert in it; other lines of a test are set-up."""
    try:
        return any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(test)))
    except SyntaxError as error:
        raise ValueError(
            f"the test {test[:80]!r} is not Python ({error.msg}): correct it in the task"
        ) from error


# The child. It reads the program and the tests from its first pipe and leaves the nonce there until the last
# assert has held. It reports on its second pipe, which the candidate's output does not reach: "+", then 32
# bytes.
_CHILD = """
import marshal, os, resource, sys

def run():
    size = int(os.read(0, 16))
    job = b""
    while len(job) < size:
        job += os.read(0, size - len(job)) or sys.exit("the job is incomplete")
    program, tests, limits = marshal.loads(job)
    checks = [compile(test, "test", "exec") for test in tests]
    for name, value in limits.items():
        which = getattr(resource, "RLIMIT_" + name)
        hard = resource.getrlimit(which)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        if name != "AS" or sys.platform == "linux":
            resource.setrlimit(which, (value, value))
    module = type(sys)("program")
    sys.modules["program"] = module
    proof, report, nothing = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(nothing, standard)
    read, write, leave, execute, names = os.read, os.write, os._exit, exec, vars(module)
    write(report, b"+")
    try:
        execute(compile(program, "program", "exec"), names)
        for check in checks:
            execute(check, names)
        write(report, read(proof, 32))
    except AssertionError:
        write(report, b"failed".ljust(32))
    except BaseException:
        write(report, b"error".ljust(32))
    finally:
        leave(0)

run()
"""


@lru_cache(maxsize=65536)
def _run(program: str, tests: tuple[str, ...]) -> tuple[str, float]:
    """The reason, and the seconds it took."""
    began = time.perf_counter()
    nonce = secrets.token_hex(16).encode()
    job = marshal.dumps((program, tests, LIMITS), 4)
    with tempfile.TemporaryDirectory(prefix="erce-", ignore_cleanup_errors=True) as folder:
        # Isolated like `python -I`, which would also ignore our fixed order of sets: a verdict repeats.
        child = subprocess.Popen(
            [sys.executable, "-s", "-P", "-S", "-B", "-c", _CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={"PYTHONHASHSEED": "0"},
            start_new_session=True,
            bufsize=0,
        )
        with child:
            try:
                reason = _follow(child, b"%16d" % len(job) + job + nonce, nonce)
            finally:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.kill()
    return reason, time.perf_counter() - began


def _follow(child: "subprocess.Popen[bytes]", job: bytes, nonce: bytes) -> str:
    """Hands the job over and returns the reason that the child's report amounts to."""
    if child.stdin is None or child.stdout is None or child.stderr is None:
        raise AssertionError("the child was opened without its pipes")
    with suppress(BrokenPipeError):  # it ended already, and its report tells
        while job:
            job = job[os.write(child.stdin.fileno(), job) :]
    if _read(child.stdout.fileno(), 1, START_SECONDS) != b"+":
        said = _read(child.stderr.fileno(), 4000, 1.0) or b""
        last = said.decode(errors="replace").strip().rpartition("\n")[2] or "it said nothing"
        raise RuntimeError(
            f"the child process that runs programs did not start ({last}); it needs Linux or macOS"
        )
    told = _read(child.stdout.fileno(), 32, SECONDS)
    if told is None:
        return "timeout"
    return "passed" if told == nonce else "failed" if told.startswith(b"failed") else "error"


def _read(pipe: int, size: int, seconds: float) -> bytes | None:
    """Up to `size` bytes, fewer at the end of the pipe; None where neither comes in time."""
    deadline = time.monotonic() + seconds
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    told = b""
    while len(told) < size:
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            return None
        more = os.read(pipe, size - len(told))
        if not more:
            break
        told += more
    return told
