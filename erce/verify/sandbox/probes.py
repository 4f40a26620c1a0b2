"""This machine → what each tier does here, as findings, which `erce doctor` prints.

No setting of the kernel is believed: each tier is set up and runs a program, and in the tier that is chosen
a program tries what a hostile one would try. An attempt that succeeds changes nothing; the tier "none", which
refuses nothing, is not tried.
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from erce.verify.sandbox.host import ENVIRONMENT, TIERS, Limits, numpy_folder
from erce.verify.sandbox.pool import AUTOMATIC, Sandbox, working_worker

ATTEMPTS = {  # what is tried → Python that returns what it reached
    "read /etc/passwd": "return open('/etc/passwd').readline()",
    "list the files of this user": (
        "return first(n for n in os.listdir({home!r}) "
        "if not any(p.startswith({home!r} + '/' + n) for p in {shown!r}))"
    ),
    "find a variable of the environment": "return first(n for n in os.environ if n not in {known!r})",
    "write outside its own /tmp": (
        "p = {outside!r} + '/erce-probe'; open(p, 'w').close(); os.unlink(p); return p"
    ),
    "make an internet socket": "return socket.socket(socket.AF_INET)",
    "start a process": "return os.fork() or os._exit(0)",
    "signal its parent": "return os.kill(os.getppid(), 0)",
    "see other processes": "return first(p for p in os.listdir('/proc') if p.isdigit())",
    "trace a process": "return called('ptrace', 16, NO_PROCESS, 0, 0)",
    "make namespaces": "return called('unshare', 0x10000000)",
    "mount a file system": "return called('mount', None, b'/', b'no such kind', 0, None)",
    "allocate 2 GiB": "return len(bytearray(2 << 30))",
    "open 100 files": "return [os.dup(0) for _ in range(100)][-1]",
    "find a test in its memory": (
        "return first(o for o in gc.get_objects() if type(o) is list and 'ass' + 'ert' in str(o))"
    ),
}
UNCOVERED = (
    "faults of the kernel, and side channels of the processor",
    "a program that returns the answers in its prompt, or passes tests that are too weak",
    "tests that hand the expected value to the program",
    "hostile tests: they run confined as well, but decide the verdict",
)
UNCOVERED_BY = {
    "namespaces": (),
    "landlock": (
        "programs that need a temporary file: nothing can be written",
        "whether a file exists, and its size: Landlock does not hide these",
    ),
    "seccomp": ("reading: every file that this user can read", "temporary files: nothing can be written"),
    "none": ("everything: programs run with this user's rights, and can leave processes behind",),
}
_PROGRAM = """
import ctypes, gc, os, socket
NO_PROCESS = 1 << 30
def called(name, *values):
    getattr(ctypes.CDLL(None, use_errno=True), name)(*values)
    if ctypes.get_errno() == 1:
        raise PermissionError(1, os.strerror(1))
    return name + " would be allowed"
def first(results):
    for result in results:
        return result
    raise LookupError("there is none")
def reach():
    {attempt}
def attempt():
    try:
        return "reached: " + repr(reach())[:60]
    except BaseException as error:
        return "refused: " + (type(error).__name__ + ": " + str(error))[:80]
"""


@dataclass(frozen=True)
class ProbeResult:
    """What a probe of this machine has found; `kind` is "tier", "attempt" or "uncovered".

    `good` means that the tier works, or the attempt was refused.
    """

    kind: str
    name: str
    good: bool
    detail: str


def examine(tier: str | None = None) -> list[ProbeResult]:
    """Return findings on the tiers, and on attempts in the chosen tier and its gaps.

    The chosen tier is `tier`, else that of ERCE_SANDBOX, else the first that works.
    """
    findings = [_tier(name) for name in TIERS]
    works = {finding.name for finding in findings if finding.good}
    wanted = tier or os.environ.get("ERCE_SANDBOX") or "auto"
    tiers = AUTOMATIC if wanted == "auto" else (wanted,)
    chosen = next((name for name in tiers if name in works), None)
    if chosen is None:
        return findings
    with Sandbox(chosen) as sandbox:
        findings += [_attempt(sandbox, name) for name in ATTEMPTS if chosen != "none"]
        verdict = sandbox.run("while True: pass", ["assert f()"], limits=Limits(cpu=0.2, wall=4.0))
        ends = verdict.reason == "timeout"
        findings.append(ProbeResult("attempt", "compute for ever", ends, verdict.detail))
    return findings + [
        ProbeResult("uncovered", chosen, False, text) for text in (*UNCOVERED_BY[chosen], *UNCOVERED)
    ]


def _tier(name: str) -> ProbeResult:
    try:
        working_worker(name).close()
    except OSError as error:
        return ProbeResult("tier", name, False, str(error))
    weaker = "" if name in AUTOMATIC else "; taken only if you name it, because it protects less"
    return ProbeResult("tier", name, True, f"set up, and two probes were verified rightly{weaker}")


def _attempt(sandbox: Sandbox, name: str) -> ProbeResult:
    shown = sys.base_prefix, numpy_folder()
    line = ATTEMPTS[name].format(
        home=str(Path.home()), shown=shown, known=[*ENVIRONMENT, "LC_CTYPE"], outside="/var/tmp"
    )
    verdict = sandbox.run(_PROGRAM.format(attempt=line), ["assert not attempt(), attempt()"])
    outcome = verdict.detail.partition("AssertionError: ")[2] or verdict.detail
    return ProbeResult("attempt", name, outcome.startswith("refused: "), outcome)
