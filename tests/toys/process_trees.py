"""The live processes of this machine: who started whom."""

from pathlib import Path


def parents() -> dict[int, int]:
    """Return each live process with the one that started it."""
    started = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            except (OSError, UnicodeDecodeError):
                continue
            if stat[0] != "Z":
                started[int(folder.name)] = int(stat[1])
    return started


def descendants(root: int) -> set[int]:
    family, started = {root}, parents()
    while more := {pid for pid, parent in started.items() if parent in family} - family:
        family |= more
    return family - {root}
