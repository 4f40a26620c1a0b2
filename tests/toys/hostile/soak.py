"""Many verdicts → what they leave: descriptors, processes, and memory of this process and its workers."""

import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

WARM_UP_VERDICTS = 50  # before the first look, to fill caches
SETTLING_SECONDS = 0.2  # in which the last candidate, already killed, ends
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Held:
    """The holdings of this process and its descendants; `supervisor` and `workers` are resident MB."""

    descriptors: int
    processes: int
    supervisor: float
    workers: float


def soaked(box, programs: list[dict], count: int) -> Iterator[dict]:
    """Yield what is held after some verdicts to warm up, and after `count` more on the programs in turn."""
    for rounds in (WARM_UP_VERDICTS, count):
        wrong = 0
        for i in range(rounds):
            program = programs[i % len(programs)]
            verdict = box.run(
                program["program"],
                tuple(program["tests"]),
                setup=tuple(program.get("setup", ())),
                entry_points=program.get("entry_points"),
            )
            wrong += verdict.accepted != (program["expect"] == "pass")
        time.sleep(SETTLING_SECONDS)
        yield {"verdicts": rounds, "wrong": wrong, **asdict(held())}


def held() -> Held:
    """Return what is held at this moment; zombies count as processes."""
    family = _descendants(os.getpid())
    return Held(
        descriptors=len(list(Path("/proc/self/fd").iterdir())),
        processes=len(family),
        supervisor=_resident(os.getpid()),
        workers=sum(map(_resident, family)),
    )


def _descendants(ancestor: int) -> list[int]:
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                after = (entry / "stat").read_text(encoding="utf-8", errors="replace").rsplit(")", 1)[1]
            except OSError:
                continue
            parents[int(entry.name)] = int(after.split()[1])
    family, new = set(), {ancestor}
    while new:
        new = {child for child, parent in parents.items() if parent in new} - family
        family |= new
    return sorted(family)


def _resident(number: int) -> float:
    """Return the MB of a process alone; pages shared with the process that forked it do not count."""
    try:
        pages = Path(f"/proc/{number}/statm").read_text(encoding="utf-8").split()
    except OSError:
        return 0.0
    return (int(pages[1]) - int(pages[2])) * PAGE_BYTES / (1 << 20)
