"""Kernel calls that Python's library lacks, as functions that raise an OSError which names the call.

Namespaces, mounts, privileges and limits, through libc alone; and the numbers of the system calls.
"""

import ctypes
import os
import signal
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
EVERY_NAMESPACE = (
    CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP
)
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
NOBODY = 65534  # the overflow user of every kernel
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")

_MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REC, _MS_PRIVATE = 2, 4, 8, 0x4000, 0x40000
_MNT_DETACH = 2
_AT_FDCWD, _AT_EMPTY_PATH, _AT_RECURSIVE = -100, 0x1000, 0x8000
_OPEN_TREE_CLONE, _MOVE_EMPTY_PATH = 1, 4
_ATTR_RDONLY, _ATTR_NOSUID, _ATTR_NODEV = 1, 2, 4
_CAPABILITY_VERSION_3 = 0x20080522
# name=x86-64/aarch64; "-": aarch64 has only the later `...at` form of the call.
_NUMBERS = """
access=21/- alarm=37/- arch_prctl=158/- brk=12/214 capset=126/91 chdir=80/49 clock_getres=229/114
clock_gettime=228/113 clock_nanosleep=230/115 clone3=435/435 clone=56/220 close=3/57 close_range=436/436
copy_file_range=326/285 creat=85/- dup2=33/- dup3=292/24 dup=32/23 epoll_create1=291/20 epoll_create=213/-
epoll_ctl=233/21 epoll_pwait=281/22 epoll_wait=232/- eventfd2=290/19 exit=60/93 exit_group=231/94
faccessat2=439/439 faccessat=269/48 fadvise64=221/223 fallocate=285/47 fchdir=81/50 fcntl=72/25
fdatasync=75/83 fstat=5/80 fstatfs=138/44 fsync=74/82 ftruncate=77/46 futex=202/98 futex_waitv=449/449
get_robust_list=274/100 getcpu=309/168 getcwd=79/17 getdents64=217/61 getegid=108/177 geteuid=107/175
getgid=104/176 getgroups=115/158 getitimer=36/102 getpeername=52/205 getpgid=121/155 getpgrp=111/-
getpid=39/172 getppid=110/173 getpriority=140/141 getrandom=318/278 getresgid=120/150 getresuid=118/148
getrlimit=97/163 getrusage=98/165 getsid=124/156 getsockname=51/204 getsockopt=55/209 gettid=186/178
gettimeofday=96/169 getuid=102/174 ioctl=16/29 kill=62/129 landlock_add_rule=445/445
landlock_create_ruleset=444/444 landlock_restrict_self=446/446 link=86/- linkat=265/37 lseek=8/62 lstat=6/-
madvise=28/233 membarrier=324/283 mincore=27/232 mkdir=83/- mkdirat=258/34 mmap=9/222 mount=165/40
mount_setattr=442/442 move_mount=429/429 mprotect=10/226 mremap=25/216 msync=26/227 munmap=11/215
nanosleep=35/101 newfstatat=262/79 open=2/- open_tree=428/428 openat2=437/437 openat=257/56 pause=34/-
pipe2=293/59 pipe=22/- pivot_root=155/41 poll=7/- ppoll=271/73 prctl=157/167 pread64=17/67 preadv2=327/286
preadv=295/69 prlimit64=302/261 pselect6=270/72 pwrite64=18/68 pwritev2=328/287 pwritev=296/70 read=0/63
readlink=89/- readlinkat=267/78 readv=19/65 recvfrom=45/207 recvmsg=47/212 rename=82/- renameat2=316/276
renameat=264/38 restart_syscall=219/128 rmdir=84/- rseq=334/293 rt_sigaction=13/134 rt_sigpending=127/136
rt_sigprocmask=14/135 rt_sigreturn=15/139 rt_sigsuspend=130/133 rt_sigtimedwait=128/137
sched_get_priority_max=146/125 sched_get_priority_min=147/126 sched_getaffinity=204/123
sched_getparam=143/121 sched_getscheduler=145/120 sched_yield=24/124 select=23/- sendmsg=46/211
sendto=44/206 set_robust_list=273/99 set_tid_address=218/96 setitimer=38/103 setns=308/268 setsockopt=54/208
shutdown=48/210 sigaltstack=131/132 socketpair=53/199 stat=4/- statfs=137/43 statx=332/291 symlink=88/-
symlinkat=266/36 sysinfo=99/179 tgkill=234/131 time=201/- timerfd_create=283/85 timerfd_gettime=287/87
timerfd_settime=286/86 times=100/153 truncate=76/45 umask=95/166 umount2=166/39 uname=63/160 unlink=87/-
unlinkat=263/35 unshare=272/97 wait4=61/260 waitid=247/95 write=1/64 writev=20/66
"""

_libc = ctypes.CDLL(None, use_errno=True)
Call = Callable[[], int | None]  # a prepared call, which answers -1 or raises an OSError if it is refused


@dataclass(frozen=True, eq=False)
class Machine:
    """One architecture: its identity in a seccomp filter, and its call numbers."""

    audit: int  # AUDIT_ARCH_*, linux/audit.h
    numbers: dict[str, int]


def _column(index: int) -> dict[str, int]:
    pairs = (entry.partition("=")[::2] for entry in _NUMBERS.split())
    cells = ((name, numbers.split("/")[index]) for name, numbers in pairs)
    return {name: int(cell) for name, cell in cells if cell != "-"}


MACHINES = {"x86_64": Machine(0xC000003E, _column(0)), "aarch64": Machine(0xC00000B7, _column(1))}


def this_machine() -> Machine:
    """Return the table of the machine that runs this code; OSError for other architectures.

    >>> MACHINES["aarch64"].numbers["openat"], MACHINES["x86_64"].numbers["openat"]
    (56, 257)
    """
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
    return partial(_libc.syscall, this_machine().numbers[name], *values)


def make(calls: Iterable[Call]) -> None:
    """Make prepared calls, in order; OSError at the first that the kernel refuses."""
    for call in calls:
        if call() == -1:
            _checked(-1, str(call))


def prctl(option: int, value: int) -> int:
    """Change a setting of this process."""
    answer = _libc.prctl(option, ctypes.c_ulong(value), *[ctypes.c_ulong(0)] * 3)
    return _checked(answer, f"prctl({option})")


def limiting(kind: int, soft: int, hard: int) -> Call:
    """Return a prepared call that sets a resource limit."""
    return prepared("prlimit64", 0, kind, struct.pack("QQ", soft, hard), 0)


def dying_with_parent() -> Call:
    """Return a prepared call after which the kernel kills this process when its parent ends."""
    return prepared("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def dropping_capabilities() -> Call:
    """Return a prepared call that drops all capabilities; after PR_SET_NO_NEW_PRIVS none can come back."""
    return prepared("capset", struct.pack("Ii", _CAPABILITY_VERSION_3, 0), struct.pack("6I", *([0] * 6)))


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
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
    return answer
