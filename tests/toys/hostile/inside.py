"""An order on standard input → a line of JSON for each program that was run: its verdict and its effects.

It runs inside the outer cage. The order names the tier, the user and what to do.
"""

import contextlib
import json
import os
import signal
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from erce.verify.sandbox import Limits, Sandbox
from erce.verify.sandbox.kernel import linux
from toys.hostile.scene import Scene

USUAL_PROCESSES = 5  # the first of the cage, this one, the scene's victim, the worker and its judge
LATE_SECONDS = 30.0  # past the wall limit
SETTLE_SECONDS = 10.0  # within which processes must be gone; milliseconds on an idle machine


@dataclass
class Order:
    do: str
    tier: str = "auto"
    uid: int | None = None
    docker: bool = False
    programs: list[dict] = field(default_factory=list)
    limits: dict = field(default_factory=dict)
    count: int = 0
    secrets: list[str] = field(default_factory=list)


def main() -> None:
    order = Order(**json.load(sys.stdin))
    if order.docker:
        from toys.hostile.docker_profile import apply

        apply()
    if order.uid is not None:
        os.setgroups([])
        os.setresgid(order.uid, order.uid, order.uid)
        os.setresuid(order.uid, order.uid, order.uid)
        linux.prctl(linux.PR_SET_DUMPABLE, 1)  # or /proc/self stays unreadable
    ORDERS[order.do](order)
    say(end=True)


def say(**line) -> None:
    print(json.dumps(line), flush=True)


def _nothing(order: Order) -> None:
    say(uid=os.geteuid())


def _programs(order: Order) -> None:
    """Run each program `repeat` times, and report its last verdict and the effects of all runs."""
    scene = Scene(order.secrets)
    with sandbox(order) as box:
        say(tier=box.tier, warning=box.warning)
        run(box, {"program": "def f():\n    return 1\n", "tests": ["assert f() == 1"]}, order)
        usual = USUAL_PROCESSES + (box.tier == "namespaces")  # whose worker is two processes
        list(_left(usual))  # a verdict comes before its program is gone
        list(scene.changes())
        for program in order.programs:
            say(start=program["name"])
            begun = time.monotonic()
            verdicts = [run(box, program, order) for _ in range(program.get("repeat", 1))]
            took = time.monotonic() - begun
            late = [f"time: {took:.1f} s"] if took > order.limits["wall"] + LATE_SECONDS else []
            effects = [*late, *_left(usual), *scene.changes()]
            say(
                name=program["name"],
                accepted=verdicts[-1].accepted,
                reason=verdicts[-1].reason,
                detail=verdicts[-1].detail,
                elapsed=took,
                effects=effects,
            )
    scene.end()
    say(closed=list(_left(2)))  # the first process of the cage, and this one


def sandbox(order: Order, *, workers: int = 1):
    return Sandbox(order.tier, workers=workers)


def run(box, program: dict, order: Order):
    tests, entry_points = tuple(program["tests"]), program.get("entry_points")
    limits = Limits(**order.limits)
    return box.run(program["program"], tests, entry_points=entry_points, limits=limits)


def processes() -> list[int]:
    """Return the numbers of all processes in the cage, zombies included."""
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _left(usual: int):
    end = time.monotonic() + SETTLE_SECONDS
    while len(processes()) > usual and time.monotonic() < end:
        time.sleep(0.005)
    more = len(processes()) - usual
    if more > 0:
        yield f"left process: {more}"


def _orphans(order: Order) -> None:
    """Kill a supervisor during its jobs, and report which processes it leaves behind."""
    supervisor = os.fork()
    if supervisor == 0:
        _keep_busy(order)
    while len(processes()) < order.count:
        time.sleep(0.01)
    time.sleep(0.3)
    most = len(processes())
    os.kill(supervisor, signal.SIGKILL)
    os.waitpid(supervisor, 0)
    list(_left(2))  # the first process of the cage, and this one
    say(most=most, left=[number for number in processes() if number not in (1, os.getpid())])


def _keep_busy(order: Order) -> None:
    loop = {"program": "def f():\n    while True:\n        pass\n", "tests": ["assert f() == 1"]}
    with sandbox(order, workers=2) as box:
        threads = [threading.Thread(target=run, args=(box, loop, order)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


ORDERS = {"nothing": _nothing, "programs": _programs, "orphans": _orphans}

if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        main()
