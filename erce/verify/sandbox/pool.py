"""Programs and tests → verdicts, in the best tier that works here.

No setting of the kernel is believed: programs whose verdicts are known run in a tier, and one tries what
a hostile program would. A weaker tier must be named by the user, and its warning is in all verdicts.
"""

import os
import queue
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from erce.errors import InputError
from erce.types import Verdict
from erce.verify.sandbox.host import TIERS, Job, Outcome, SandboxUnavailable, SupervisedWorker
from erce.verify.sandbox.kernel.layers import landlock_version
from erce.verify.sandbox.tests_text import free_names

AUTOMATIC = ("namespaces", "landlock")  # the tiers that isolate, best first
READ = "read /etc/passwd"  # the one attempt that the tier "seccomp" alone does not refuse
ATTEMPTS = {  # what a program tries → Python that returns what it reached
    READ: "return open('/etc/passwd').readline()",
    "make an internet socket": "return socket.socket(socket.AF_INET)",
    "start a process": "return os.fork() or os._exit(0)",
    "write outside its own /tmp": "p = '/var/tmp/erce-probe'; open(p, 'w').close(); os.unlink(p); return p",
}
REFUSED = "refused: "
_PROGRAM = """
import os, socket
def reach():
    {attempt}
def attempt():
    try:
        return "reached: " + repr(reach())[:60]
    except BaseException as error:
        return "refused: " + (type(error).__name__ + ": " + str(error))[:80]
"""
_WARNINGS = {
    "seccomp": "verified in the tier 'seccomp': a program could read every file that this user can read",
    "none": "verified in the tier 'none': programs ran UNPROTECTED, with this user's rights",
}


class Sandbox:
    """A pool of workers that verify programs: `with Sandbox() as sandbox: sandbox.run(program, tests)`.

    `tier` "auto" is the first of "namespaces" and "landlock" that works here; "seccomp" and "none" protect
    less and must be named. `workers` processes verify in parallel; each starts when it is first needed.
    SandboxUnavailable if the tier does not work here. Threads may share a sandbox.
    """

    def __init__(self, tier: str = "auto", *, workers: int = 1) -> None:
        if tier != "auto" and tier not in TIERS:
            raise InputError(f"no tier {tier!r}; give auto, {', '.join(TIERS[:-1])} or {TIERS[-1]}")
        if workers < 1:
            raise InputError(f"workers = {workers}; give 1 or more")
        self.workers = workers
        self._closed = False
        self.tier, first = _first_that_works(AUTOMATIC if tier == "auto" else (tier,))
        self.warning = _WARNINGS.get(self.tier, "")
        if self.tier == "namespaces" and not landlock_version():
            self.warning = (
                "verified without Landlock, which this kernel lacks: one layer less around the programs"
            )
        self._idle: queue.LifoQueue[SupervisedWorker | None] = queue.LifoQueue()
        for worker in (*[None] * (workers - 1), first):
            self._idle.put(worker)

    def run(self, program: str, tests: Sequence[str], **options: Any) -> Verdict:
        """Return the verdict on one program, as `run_program` does; `options` are other fields of a `Job`."""
        return self.verify_job(Job(program, tests, **options)).verdict

    def verify_job(self, job: Job) -> Outcome:
        """Return the verdict on one job and the processor time of its program."""
        deaths = []
        while len(deaths) < 2:
            try:
                outcome = self._verify_once(job)
            except OSError as death:
                deaths.append(str(death))
            else:
                warning = "; ".join(filter(None, (self.warning, _warning_of_oracle(job, outcome.verdict))))
                return replace(outcome, verdict=replace(outcome.verdict, warning=warning))
        detail = f"the sandbox broke twice: {deaths[0]}; {deaths[1]}"
        return Outcome(Verdict(False, "error", detail=detail, warning=self.warning), 0.0)

    def _verify_once(self, job: Job) -> Outcome:
        worker, reusable = self._idle.get(), None
        try:
            if self._closed:
                raise InputError("this sandbox is closed: make another")
            if worker and worker.owner != os.getpid():  # this process was forked
                worker.close()
                worker = None
            worker = worker or SupervisedWorker(self.tier)
            outcome = worker.run(job)
            reusable = worker
            return outcome
        finally:
            # After any exception, also Ctrl-C, the worker's next message might belong to this job.
            if worker and not reusable:
                worker.close()
            self._idle.put(reusable)

    def close(self) -> None:
        """End the workers as soon as their jobs are done."""
        if self._closed:
            return
        self._closed = True
        for worker in [self._idle.get() for _ in range(self.workers)]:
            if worker:
                worker.close()
            self._idle.put(None)

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _first_that_works(tiers: Sequence[str]) -> tuple[str, SupervisedWorker]:
    problems = ""
    for tier in tiers:
        try:
            return tier, working_worker(tier)
        except OSError as error:
            problems += f"  {tier}: {error}\n"
    raise SandboxUnavailable(
        f"No sandbox is available here, so model-written code was not run.\n{problems}"
        "  What helps: any Linux container whose kernel has Landlock (Docker's default profile will do); "
        "or, as root, sysctl kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu); or "
        "ERCE_SANDBOX=seccomp, where programs can read this user's files; or ERCE_SANDBOX=none, which runs "
        "programs UNPROTECTED; --sandbox sets it for one command."
    )


def working_worker(tier: str) -> SupervisedWorker:
    """Return a worker of the tier that verified programs rightly and refused what it should; else OSError."""
    if sys.platform != "linux":
        raise OSError(f"needs Linux, and this is {sys.platform}")
    worker = SupervisedWorker(tier)
    try:
        for returned in (1, 2):
            verdict = worker.run(Job("def f(): return 1", [f"assert f() == {returned}"])).verdict
            if verdict.accepted is not (returned == 1):
                raise OSError(f"a program that should {'pass' if returned == 1 else 'fail'}: {verdict}")
        for name, attempt in ATTEMPTS.items() if tier != "none" else ():  # which would let them do it
            outcome = outcome_of(worker, attempt)
            if outcome.startswith(REFUSED) is (tier == "seccomp" and name == READ):
                raise OSError(f"a program tried to {name}: {outcome}")
    except OSError:
        worker.close()
        raise
    return worker


def outcome_of(worker: SupervisedWorker, attempt: str, helpers: str = "") -> str:
    """Return what came of an attempt, in one line that begins with "reached: " or `REFUSED`."""
    job = Job(helpers + _PROGRAM.format(attempt=attempt), ["assert not attempt(), attempt()"])
    detail = worker.run(job).verdict.detail
    return detail.partition("AssertionError: ")[2] or detail


def _warning_of_oracle(job: Job, verdict: Verdict) -> str:
    """Return what to say of a pass in which the program may have supplied what it was checked with."""
    if verdict.reason != "passed" or job.entry_points is not None or job.mode != "strict":
        return ""
    names = free_names(job.setup, job.tests)
    functions = [name for name in names if not (name[0].isupper() and not name.isupper())]  # not classes
    if len(functions) < 2:
        return ""
    return (
        f"the program itself answered the tests' calls to {', '.join(functions)}: "
        "give entry_points, and define in setup what checks it"
    )


_shared: list[Sandbox] = []  # the one sandbox of this process, whose workers end with it
_lock = threading.Lock()


def shared() -> Sandbox:
    """Return the one sandbox of this process, of the tier in ERCE_SANDBOX, else "auto"."""
    with _lock:
        if not _shared:
            _shared.append(Sandbox(os.environ.get("ERCE_SANDBOX") or "auto", workers=os.cpu_count() or 1))
        return _shared[0]


def _forget_shared() -> None:
    """Leave the sandbox to the parent; called in the child of a fork, which holds the lock."""
    _shared.clear()
    _lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_forget_shared)
