"""Kernel calls that Python's library lacks, as functions that raise an OSError which names the call.

Namespaces, mounts, privileges and limits, through libc alone.
"""

import ctypes
import os
import signal
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

CLONE_NEWNS, CLONE_NEWPID = 0x20000, 0x20000000
EVERY_NAMESPACE = 0x7E020000  # users, mounts, processes, network, IPC, host name, cgroups
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
NOBODY = 65534  # the overflow user of every kernel
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")

_MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REC, _MS_PRIVATE = 2, 4, 8, 0x4000, 0x40000
_MNT_DETACH = 2
_AT_FDCWD, _AT_EMPTY_PATH, _AT_RECURSIVE = -100, 0x1000, 0x8000
_OPEN_TREE_CLONE, _MOVE_EMPTY_PATH = 1, 4
_ATTR_RDONLY, _ATTR_NOSUID, _ATTR_NODEV = 1, 2, 4
# What this package itself calls: name=x86-64/aarch64.
CALLS = """
capset=126/91 landlock_add_rule=445/445 landlock_create_ruleset=444/444 landlock_restrict_self=446/446
mount=165/40 mount_setattr=442/442 move_mount=429/429 open_tree=428/428 pivot_root=155/41 setns=308/268
umount2=166/39 unshare=272/97 prctl=157/167 prlimit64=302/261
"""
_libc = ctypes.CDLL(None, use_errno=True)
Call = Callable[[], int | None]  # a prepared call, which answers -1 or raises an OSError if it is refused


@dataclass(frozen=True)
class Machine:
    """One architecture: its identity in a seccomp filter, and its column in tables of system calls."""

    audit: int  # AUDIT_ARCH_*, linux/audit.h
    column: int

    def numbers(self, table: str) -> dict[str, int]:
        """Return the number of each call of a table that this architecture has; "-" stands for none."""
        entries = (entry.partition("=")[::2] for entry in table.split())
        cells = ((name, numbers.split("/")[self.column]) for name, numbers in entries)
        return {name: int(cell) for name, cell in cells if cell != "-"}


MACHINES = {"x86_64": Machine(0xC000003E, 0), "aarch64": Machine(0xC00000B7, 1)}


def this_machine() -> Machine:
    """Return the machine that runs this code; OSError for other architectures."""
    name = os.uname().machine
    if name not in MACHINES:
        raise OSError(f"no table of system calls for {name}")
    return MACHINES[name]


def syscall(name: str, *values: int | bytes | None) -> int:
    """Make a system call; return the kernel's answer."""
    return _checked(prepared(name, *values)() or 0, name)


def prepared(name: str, *values: int | bytes | None) -> Call:
    """Return a function that makes a system call and answers -1 if the kernel refuses; `make` raises then.

    It runs no Python: in a forked process every function of Python writes to memory pages of its own.
    """
    return partial(_libc.syscall, this_machine().numbers(CALLS)[name], *values)


def make(calls: Iterable[Call]) -> None:
    """Make prepared calls, in order; OSError at the first that the kernel refuses."""
    for call in calls:
        if call() == -1:
            _checked(-1, str(call))


def prctl(option: int, value: int) -> int:
    """Change a setting of this process."""
    answer = _libc.prctl(option, ctypes.c_ulong(value), *[ctypes.c_ulong(0)] * 3)
    return _checked(answer, f"prctl({option})")


def die_with_parent() -> Call:
    """Return a prepared call after which the kernel kills this process when its parent ends."""
    return prepared("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def end_without(parent: int) -> None:
    """End this process if its parent has ended already: the kernel kills it at later deaths alone."""
    if os.getppid() != parent:
        os._exit(1)


def mount_scratch(target: str, options: str) -> None:
    """Mount an empty file system in memory, without devices, set-uid files or programs."""
    _mount("tmpfs", target, "tmpfs", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, options)


def unmount(target: str) -> None:
    """Detach the uppermost file system at `target`, even while a file of it is open."""
    syscall("umount2", target.encode(), _MNT_DETACH)


def build_root(shown: Sequence[str], *, scratch: str = "/tmp") -> None:
    """Replace the root by one with only the paths `shown`, `DEVICES` and an empty /tmp, all read-only.

    Needs mount_setattr (Linux 5.12). Symbolic links stay links.
    """
    _mount(None, "/", None, _MS_REC | _MS_PRIVATE)  # or the mounts below would show outside
    copies: list[tuple[str, int | str]] = []
    for path in [*shown, *DEVICES]:
        if Path(path).is_symlink():
            copies.append((path, str(Path(path).readlink())))
        elif Path(path).exists():
            copies.append((path, _read_only_copy(path)))
    _mount("tmpfs", scratch, "tmpfs", _MS_NOSUID | _MS_NODEV, "size=1m,mode=755")
    for path, copy in copies:
        _show(Path(scratch + path), copy)
    Path(scratch, "tmp").mkdir(mode=0o755, exist_ok=True)
    os.chdir(scratch)
    syscall("pivot_root", b".", b".")
    unmount(".")
    os.chdir("/")
    _set_attributes(_AT_FDCWD, b"/", 0, _ATTR_RDONLY | _ATTR_NOSUID | _ATTR_NODEV)


def _show(target: Path, copy: int | str) -> None:
    target.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    if isinstance(copy, str):
        target.symlink_to(copy)
        return
    if os.path.isdir(f"/proc/self/fd/{copy}"):  # noqa: PTH112 (a descriptor, not a path of ours)
        target.mkdir(mode=0o755, exist_ok=True)
    else:
        target.touch()
    syscall("move_mount", copy, b"", _AT_FDCWD, str(target).encode(), _MOVE_EMPTY_PATH)
    os.close(copy)


def _read_only_copy(path: str) -> int:
    """Return a descriptor of a detached, read-only copy of the mounts at and below `path`."""
    flags = _OPEN_TREE_CLONE | os.O_CLOEXEC | _AT_RECURSIVE
    copy = syscall("open_tree", _AT_FDCWD, path.encode(), flags)
    wanted = _ATTR_RDONLY | _ATTR_NOSUID | (0 if path.startswith("/dev/") else _ATTR_NODEV)
    _set_attributes(copy, b"", _AT_EMPTY_PATH | _AT_RECURSIVE, wanted)
    return copy


def _set_attributes(descriptor: int, path: bytes, flags: int, wanted: int) -> None:
    attributes = struct.pack("4Q", wanted, 0, 0, 0)
    syscall("mount_setattr", descriptor, path, flags, attributes, len(attributes))


def _mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    texts = [None if text is None else text.encode() for text in (source, target, kind, options)]
    syscall("mount", texts[0], texts[1], texts[2], flags, texts[3])


def _checked(answer: int, call: str) -> int:
    if answer < 0:
        raise OSError(f"{call}: {os.strerror(ctypes.get_errno())}")
    return answer
