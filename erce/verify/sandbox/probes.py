"""This machine → a worker whose tier works here, and what each tier does, as findings for `erce doctor`.

No setting of the kernel is believed: each tier is set up and runs programs whose verdicts are known, and a
program tries there what a hostile one would try. An attempt that succeeds changes nothing; the tier "none",
which refuses nothing, is not tried.
"""

import os
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from erce.verify.sandbox.host import ENVIRONMENT, TIERS, Job, Limits, SupervisedWorker, numpy_folder

AUTOMATIC = ("namespaces", "landlock")  # the tiers that isolate, best first
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
# What every worker tries before it is used, and the tier "seccomp" alone does not refuse the first of.
DECISIVE = ("read /etc/passwd", "make an internet socket", "start a process", "write outside its own /tmp")
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
    """What was found of a tier (`kind` "tier"), or of an attempt ("attempt") in the tier that is "chosen".

    `good` means that the tier works, or the attempt was refused.
    """

    kind: str
    name: str
    good: bool
    detail: str


def examine(tier: str | None = None) -> list[ProbeResult]:
    """Return findings on the tiers, and on attempts in the chosen tier.

    The chosen tier is `tier`, else that of ERCE_SANDBOX, else the first that works.
    """
    findings = [_tier(name) for name in TIERS]
    works = {finding.name for finding in findings if finding.good}
    wanted = tier or os.environ.get("ERCE_SANDBOX") or "auto"
    tiers = AUTOMATIC if wanted == "auto" else (wanted,)
    chosen = next((name for name in tiers if name in works), None)
    if chosen is None:
        return findings
    findings.append(ProbeResult("chosen", chosen, True, "programs run in this tier"))
    with closing(SupervisedWorker(chosen)) as worker:
        findings += [_attempt(worker, name) for name in ATTEMPTS if chosen != "none"]
        endless = Job("while True: pass", ["assert f()"], limits=Limits(cpu=0.2, wall=4.0))
        verdict = worker.run(endless).verdict
    return [
        *findings,
        ProbeResult("attempt", "compute for ever", verdict.reason == "timeout", verdict.detail),
    ]


def working_worker(tier: str) -> SupervisedWorker:
    """Return a worker of the tier that verified programs rightly and refused them what it should.

    OSError says why there is none.
    """
    if sys.platform != "linux":
        raise OSError(f"needs Linux, and this is {sys.platform}")
    worker = SupervisedWorker(tier)
    try:
        for returned in (1, 2):
            verdict = worker.run(Job("def f(): return 1", [f"assert f() == {returned}"])).verdict
            if verdict.accepted is not (returned == 1):
                raise OSError(f"a program that should {'pass' if returned == 1 else 'fail'}: {verdict}")
        for name in DECISIVE if tier != "none" else ():  # which would let them do it
            attempt = _attempt(worker, name)
            if attempt.good is (tier == "seccomp" and name == DECISIVE[0]):
                raise OSError(f"a program tried to {name}: {attempt.detail}")
    except OSError:
        worker.close()
        raise
    return worker


def _tier(name: str) -> ProbeResult:
    try:
        working_worker(name).close()
    except OSError as error:
        return ProbeResult("tier", name, False, str(error))
    weaker = "" if name in AUTOMATIC else "; taken only if you name it, because it protects less"
    return ProbeResult("tier", name, True, f"set up, and programs were verified rightly{weaker}")


def _attempt(worker: SupervisedWorker, name: str) -> ProbeResult:
    shown = sys.base_prefix, numpy_folder()
    line = ATTEMPTS[name].format(
        home=str(Path.home()), shown=shown, known=[*ENVIRONMENT, "LC_CTYPE"], outside="/var/tmp"
    )
    job = Job(_PROGRAM.format(attempt=line), ["assert not attempt(), attempt()"])
    verdict = worker.run(job).verdict
    outcome = verdict.detail.partition("AssertionError: ")[2] or verdict.detail
    return ProbeResult("attempt", name, outcome.startswith("refused: "), outcome)
