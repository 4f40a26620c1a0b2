"""This machine → what each tier of the sandbox does here, as findings for `erce doctor`.

Beside what every worker tries before it is used (`erce.verify.sandbox.pool`), a program tries what else a
hostile one would. An attempt that succeeds changes nothing.
"""

import os
import sys
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from erce.verify.sandbox.host import ENVIRONMENT, TIERS, Job, Limits, SupervisedWorker, numpy_folder
from erce.verify.sandbox.pool import ATTEMPTS, AUTOMATIC, REFUSED, outcome_of, working_worker

FURTHER_ATTEMPTS = {
    "list the files of this user": (
        "return first(n for n in os.listdir({home!r}) "
        "if not any(p.startswith({home!r} + '/' + n) for p in {shown!r}))"
    ),
    "find a variable of the environment": "return first(n for n in os.environ if n not in {known!r})",
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
_HELPERS = """
import ctypes, gc, os
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
"""


class SandboxFinding(NamedTuple):
    """What was found of a tier (`kind` "tier"), or of an attempt ("attempt") in the tier that is "chosen".

    `good` means that the tier works, or the attempt was refused.
    """

    kind: str
    name: str
    good: bool
    detail: str


def examine(tier: str | None = None) -> list[SandboxFinding]:
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
    findings.append(SandboxFinding("chosen", chosen, True, "programs run in this tier"))
    with closing(SupervisedWorker(chosen)) as worker:
        if chosen != "none":
            findings += [_attempt(worker, name, ATTEMPTS[name]) for name in ATTEMPTS]
            findings += [_attempt(worker, name, _filled(FURTHER_ATTEMPTS[name])) for name in FURTHER_ATTEMPTS]
        endless = Job("while True: pass", ["assert f()"], limits=Limits(cpu=0.2, wall=4.0))
        verdict = worker.run(endless).verdict
    return [
        *findings,
        SandboxFinding("attempt", "compute for ever", verdict.reason == "timeout", verdict.detail),
    ]


def _tier(name: str) -> SandboxFinding:
    try:
        working_worker(name).close()
    except OSError as error:
        return SandboxFinding("tier", name, False, str(error))
    weaker = "" if name in AUTOMATIC else "; taken only if you name it, because it protects less"
    return SandboxFinding("tier", name, True, f"set up, and programs were verified rightly{weaker}")


def _attempt(worker: SupervisedWorker, name: str, attempt: str) -> SandboxFinding:
    outcome = outcome_of(worker, attempt, _HELPERS)
    return SandboxFinding("attempt", name, outcome.startswith(REFUSED), outcome)


def _filled(attempt: str) -> str:
    """Return an attempt with what a program may see in the place of its fields."""
    shown = sys.base_prefix, numpy_folder()
    return attempt.format(home=str(Path.home()), shown=shown, known=[*ENVIRONMENT, "LC_CTYPE"])
