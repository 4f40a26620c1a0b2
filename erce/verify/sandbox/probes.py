"""A tier → a worker in it that verified programs rightly, and refused them what it should.

No setting of the kernel is believed: programs whose verdicts are known run in the tier, and a program tries
there what a hostile one would try. An attempt that succeeds changes nothing; the tier "none", which refuses
nothing, is not tried.
"""

import sys

from erce.verify.sandbox.host import Job, SupervisedWorker

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
