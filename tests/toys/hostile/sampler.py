"""The processes of a cage → peaks of their number, their memory and the supervisor's memory."""

import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

MEGABYTE = 1 << 20
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Peaks:
    """The peaks since `reset`: MB of other processes, of ours and shared; how many processes and threads."""

    memory: float = 0
    supervisor: float = 0
    processes: int = 0
    threads: int = 0
    shared: float = 0

    def raised(self, seen: "Peaks") -> None:
        for name in ("memory", "supervisor", "processes", "threads", "shared"):
            setattr(self, name, max(getattr(self, name), getattr(seen, name)))


class Sampler:
    """A thread that looks every few milliseconds until the process ends."""

    def __init__(self, every: float = 0.02) -> None:
        self._peaks, self._every = Peaks(), every
        threading.Thread(target=self._look, daemon=True).start()

    def reset(self) -> None:
        self._peaks = look()

    def peaks(self) -> Peaks:
        self._peaks.raised(look())
        return self._peaks

    def _look(self) -> None:
        while True:
            time.sleep(self._every)
            self._peaks.raised(look())


def look() -> Peaks:
    """Return the values of this moment."""
    peaks = Peaks(shared=_shared())
    for number in processes():
        try:
            statm = Path(f"/proc/{number}/statm").read_text(encoding="utf-8").split()
            threads = len(list(Path(f"/proc/{number}/task").iterdir()))
        except OSError:
            continue
        own = (int(statm[1]) - int(statm[2])) * PAGE / MEGABYTE
        if number == os.getpid():
            peaks.supervisor = own
        else:
            peaks.memory += own
        peaks.processes += 1
        peaks.threads += threads
    return peaks


def processes() -> list[int]:
    """Return the numbers of all processes in /proc, zombies included."""
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _shared() -> float:
    """Return the MB in tmpfs, shared mappings and nameless files of the whole machine."""
    with Path("/proc/meminfo").open(encoding="utf-8") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("Shmem:")) / 1024
