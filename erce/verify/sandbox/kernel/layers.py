"""A tier → a process that may do less and less.

`enter` is called once in a worker; each process that it forks makes the calls of a `Confinement`. Bits and
layouts of Landlock are those of linux/landlock.h; what a kernel can do follows from its ABI version (1 in
Linux 5.13). If the kernel can, a domain also blocks TCP and keeps signals and abstract sockets inside.
"""

import os
import resource
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path

from erce.verify.sandbox.kernel import linux, seccomp
from erce.verify.sandbox.kernel.linux import Call, prepared, syscall

_SCRATCH_OPTIONS = "size=32m,nr_inodes=2k,mode=1777"
_NO_CAPABILITIES = struct.pack("Ii", 0x20080522, 0), bytes(24)  # a header of version 3, and three empty sets
_COMMON_LIMITS = {
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_NOFILE: 64,
    resource.RLIMIT_MEMLOCK: 0,
    resource.RLIMIT_STACK: 64 << 20,
}
_CREATE_VERSION = 1
_RULE_PATH_BENEATH = 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_FIRST_RIGHTS, _REFER, _TRUNCATE, _IOCTL_DEV = (1 << 13) - 1, 1 << 13, 1 << 14, 1 << 15
_ALL_TCP, _ALL_SCOPES = 3, 3


def readable_paths(packages: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the paths of Python's library, packages and shared libraries, with the targets of links."""
    prefixes = {sys.base_prefix, sys.base_exec_prefix} - {"/usr"}
    wanted = {f"{prefix}/{lib}" for prefix in prefixes for lib in ("lib", "lib64")}
    wanted |= {"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/usr/share/zoneinfo"}
    wanted |= {path for path in (*sys.path, *packages) if Path(path).is_dir()}
    with suppress(OSError):
        mapped = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
        wanted |= {str(Path(line.split()[-1]).parent) for line in mapped if ".so" in line and "/" in line}
    wanted |= {str(Path(path).resolve()) for path in wanted if Path(path).is_symlink()}
    absolute = (path for path in wanted if path.startswith("/") and path != "/")
    existing = sorted(path for path in absolute if Path(path).exists())
    return tuple(path for path in existing if not any(path.startswith(f"{above}/") for above in existing))


def enter(tier: str, packages: Sequence[str]) -> int | None:
    """Take this process into the tier; return a descriptor of /proc if it got namespaces of its own.

    Programs may read the folders `packages`. OSError, with the refused call, if the tier does not work here.
    """
    proc = None
    address_space()
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    if tier != "none":
        linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    if tier == "namespaces":
        proc = _enter_namespaces(readable_paths(packages))
    elif tier == "landlock":
        if not landlock_version():
            raise OSError("Landlock is not in this kernel, or switched off at its start")
        domain = _domain([*readable_paths(packages), *linux.DEVICES], ["/dev/null"])
        syscall("landlock_restrict_self", domain, 0)
        os.close(domain)
    for kind, value in _COMMON_LIMITS.items():
        resource.setrlimit(kind, _bounds(kind, value))
    return proc


def _enter_namespaces(shown: Sequence[str]) -> int:
    proc = os.open("/proc", os.O_PATH | os.O_CLOEXEC | os.O_DIRECTORY)
    uid, gid = os.geteuid(), os.getegid()
    as_root = uid == 0
    if as_root:  # build the view with root's rights, then give them up for good
        syscall("unshare", linux.CLONE_NEWNS)
        linux.build_root(shown)
        uid = gid = linux.NOBODY
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
        linux.prctl(linux.PR_SET_DUMPABLE, 1)  # else uid_map of this process belongs to root
    syscall("unshare", linux.EVERY_NAMESPACE)
    for name, text in (("setgroups", "deny"), ("uid_map", f"1000 {uid} 1"), ("gid_map", f"1000 {gid} 1")):
        descriptor = os.open(f"self/{name}", os.O_WRONLY | os.O_CLOEXEC, dir_fd=proc)
        try:
            os.write(descriptor, text.encode())
        except OSError as error:
            raise OSError(f"writing {name}: {error.strerror}") from error
        finally:
            os.close(descriptor)
    if not as_root:
        linux.build_root(shown)
    return proc


class JobNamespaces:
    """A process namespace for each job, and a /tmp that is empty when it begins, in the tier "namespaces".

    The next process that is forked after the calls of `fresh` is the first of a new namespace; after those of
    `own` it joins the worker's.
    """

    def __init__(self, descriptor: int) -> None:
        """Take the descriptor of the worker's own process namespace."""
        self.own = [prepared("setns", descriptor, linux.CLONE_NEWPID)]
        self.fresh = [*self.own, prepared("unshare", linux.CLONE_NEWPID)]
        _enter_scratch()

    def renew_scratch(self) -> None:
        """Replace /tmp after a job, whose processes are gone."""
        os.chdir("/")
        linux.unmount("/tmp")
        _enter_scratch()


def _enter_scratch() -> None:
    linux.mount_scratch("/tmp", _SCRATCH_OPTIONS)
    os.chdir("/tmp")
    os.utime("/tmp", (0, 0))  # else it would tell when the job before ended


class Confinement:
    """What takes all rights from the judges or the candidates of a worker, made ready before it forks.

    `calls` take them, in this order, and nothing gives them back. Of the descriptors a process keeps the
    standard ones and `kept`. A judge may also receive descriptors, and stays in the worker's own namespaces.
    """

    def __init__(self, tier: str, kept: int, *, judging: bool = False) -> None:
        self._tier, self._kept, self._judging = tier, kept, judging
        self._limits: list[Call] = []
        self._filter: seccomp.Filter | None = None
        if tier != "none":
            # Before version 3 Landlock lets a program truncate a file.
            read_only = tier == "seccomp" or (tier == "landlock" and landlock_version() < 3)
            self._filter = seccomp.Filter(read_only=read_only)
        self._domain: int | None = None
        self.rule_files()

    def rule_files(self) -> None:
        """Make the Landlock domain, which knows the file systems that are mounted at this moment."""
        if self._domain is not None:
            os.close(self._domain)
            self._domain = None
        if self._tier == "namespaces" and landlock_version():
            self._domain = _domain(["/"], ["/dev/null"] if self._judging else ["/dev/null", "/tmp"])
        elif self._tier == "landlock":
            # Before version 6 no domain can keep signals inside.
            self._domain = _empty_domain(0) if landlock_version() >= 6 else None
        self._prepare()

    def allow(self, *, cpu: float, memory: int, file: int) -> None:
        """Set the limits, in seconds and bytes, of the processes that are forked from here on."""
        limits = {
            resource.RLIMIT_FSIZE: file,
            # A backstop: the worker's clock is earlier.
            resource.RLIMIT_CPU: min(int(cpu) + 2, 1 << 30),
            resource.RLIMIT_AS: address_space() + memory,
        }
        if self._tier == "namespaces":  # where no other process of the user counts
            limits[resource.RLIMIT_NPROC] = 64
        self._limits = [
            prepared("prlimit64", 0, kind, struct.pack("QQ", *_bounds(kind, value)), 0)
            for kind, value in limits.items()
        ]
        self._prepare()

    def _prepare(self) -> None:
        calls: list[Call] = []
        if self._tier != "namespaces":  # with which the worker's end is that of all its processes
            calls += [linux.die_with_parent(), partial(linux.end_without, os.getpid()), os.setsid]
        elif self._judging:
            calls.append(partial(os.chdir, "/"))
        calls += self._limits
        if self._tier != "none":
            # None can come back after PR_SET_NO_NEW_PRIVS.
            calls.append(prepared("capset", *_NO_CAPABILITIES))
        if self._domain is not None:
            calls.append(prepared("landlock_restrict_self", self._domain, 0))
        calls += [partial(os.closerange, 3, self._kept), partial(os.closerange, self._kept + 1, 1 << 16)]
        if self._filter:
            calls += [self._filter.bind, self._filter.install]
        self.calls = calls


def _bounds(kind: int, value: int) -> tuple[int, int]:
    """Return a soft and a hard limit, no higher than the hard limit of this process."""
    hard = resource.getrlimit(kind)[1]
    bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
    return bound, bound


@cache
def address_space() -> int:
    """Return the bytes of address space at the first call, which `enter` makes while /proc is visible."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    return int(pages) * resource.getpagesize()


@cache
def landlock_version() -> int:
    """Return the version of the kernel's Landlock ABI; 0 without Landlock."""
    try:
        return syscall("landlock_create_ruleset", None, 0, _CREATE_VERSION)
    except OSError:
        return 0


def _domain(readable: Sequence[str], writable: Sequence[str]) -> int:
    """Return a descriptor of a Landlock domain that reads at and below some paths and writes below others.

    It runs no program. Missing paths are skipped.
    """
    later = ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV))
    rights = _FIRST_RIGHTS | sum(right for since, right in later if landlock_version() >= since)
    domain = _empty_domain(rights)
    for path in (*readable, *writable):
        with suppress(FileNotFoundError, PermissionError):
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
            allowed = rights & ~_EXECUTE if path in writable else _READ_FILE | _READ_DIR
            if not Path(path).is_dir():
                allowed &= rights & (_WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV)
            rule = struct.pack("=Qi", allowed, descriptor)
            syscall("landlock_add_rule", domain, _RULE_PATH_BENEATH, rule, 0)
            os.close(descriptor)
    return domain


def _empty_domain(rights: int) -> int:
    abi = landlock_version()
    fields = [rights, *([_ALL_TCP] if abi >= 4 else []), *([_ALL_SCOPES] if abi >= 6 else [])]
    layout = struct.pack(f"{len(fields)}Q", *fields)
    return syscall("landlock_create_ruleset", layout, len(layout), 0)
