"""The processes of a cage → peaks of their number, their memory and the supervisor's memory."""

import os
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

EVERY_SECONDS = 0.02
PAGES_PER_MEGABYTE = (1 << 20) // os.sysconf("SC_PAGE_SIZE")


@dataclass
class Peaks:
    """MB of other processes, of ours, and in shared files; how many processes and threads."""

    memory: float = 0
    supervisor: float = 0
    shared: float = 0
    processes: int = 0
    threads: int = 0


class Sampler:
    """A thread that looks every few milliseconds, and keeps the peaks since `reset`."""

    def __init__(self) -> None:
        self._peaks = look()
        threading.Thread(target=self._watch, daemon=True).start()

    def reset(self) -> None:
        self._peaks = look()

    def peaks(self) -> Peaks:
        return self._peaks

    def _watch(self) -> None:
        while True:
            time.sleep(EVERY_SECONDS)
            for name, value in asdict(look()).items():
                setattr(self._peaks, name, max(value, getattr(self._peaks, name)))


def look() -> Peaks:
    """Return the values of this moment."""
    peaks = Peaks()
    with Path("/proc/meminfo").open(encoding="utf-8") as lines:  # "Shmem": of the whole machine
        peaks.shared = next(int(line.split()[1]) for line in lines if line.startswith("Shmem:")) / 1024
    for number in processes():
        try:
            statm = Path(f"/proc/{number}/statm").read_text(encoding="utf-8").split()
            peaks.threads += len(list(Path(f"/proc/{number}/task").iterdir()))
        except OSError:
            continue
        own = (int(statm[1]) - int(statm[2])) / PAGES_PER_MEGABYTE
        if number == os.getpid():
            peaks.supervisor = own
        else:
            peaks.memory += own
        peaks.processes += 1
    return peaks


def processes() -> list[int]:
    """Return the numbers of all processes in /proc, zombies included."""
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
