"""A tier and the layers taken out of it → the same process with less and less that it may do.

`enter` is called once in a worker, `confine` in each process that it forks for a job.
"""

import os
import resource
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from erce.verify.sandbox.kernel import landlock, linux, seccomp
from erce.verify.sandbox.kernel.syscalls import this_machine

LAYERS = ("namespaces", "root", "landlock", "seccomp", "rlimits", "capabilities", "split")
_SCRATCH = "size=32m,nr_inodes=2k,mode=1777"
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")


@dataclass(frozen=True)
class Place:
    """What surrounds a job: a tier, without the layers that a test has taken out."""

    tier: str
    without: frozenset[str] = frozenset()
    shown: tuple[str, ...] = field(default_factory=tuple)  # paths that stay readable

    def has(self, layer: str) -> bool:
        tiers = {
            "namespaces": ("namespaces",),
            "root": ("namespaces",),
            "landlock": ("namespaces", "landlock"),
            "seccomp": ("namespaces", "landlock", "seccomp"),
            "capabilities": ("namespaces", "landlock", "seccomp"),
        }.get(layer)
        needs = layer == "root" and "namespaces" in self.without
        return layer not in self.without and not needs and (tiers is None or self.tier in tiers)


@dataclass(frozen=True)
class Allowance:
    """Resource limits of a process; bytes and seconds."""

    cpu: float
    memory: int
    file: int


def readable_paths() -> tuple[str, ...]:
    """Where Python's library is and the shared libraries that it may load; links with their goals."""
    prefixes = {sys.base_prefix, sys.base_exec_prefix} - {"/usr"}
    wanted = {f"{prefix}/{lib}" for prefix in prefixes for lib in ("lib", "lib64")}
    wanted |= {"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/usr/share/zoneinfo"}
    wanted |= {path for path in sys.path if Path(path).is_dir()}
    with suppress(OSError):
        mapped = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
        wanted |= {str(Path(line.split()[-1]).parent) for line in mapped if ".so" in line and "/" in line}
    wanted |= {str(Path(path).resolve()) for path in wanted if Path(path).is_symlink()}
    there = sorted(path for path in wanted if path[:1] == "/" != path and Path(path).exists())
    return tuple(
        path for path in there if not any(path.startswith(above + "/") and above in there for above in there)
    )


def enter(place: Place) -> int | None:
    """Takes this process into the tier; a descriptor of /proc/self/ns where it has namespaces of its own.

    OSError, with the call that was refused, where the tier cannot be had here.
    """
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    if place.tier != "none":
        linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    if place.has("namespaces"):
        return _enter_namespaces(place)
    if place.tier == "landlock" and place.has("landlock"):
        if not landlock.version():
            raise OSError("Landlock is not in this kernel, or switched off at its start")
        landlock.restrict([*place.shown, *_DEVICES], ["/dev/null"])
    return None


def _enter_namespaces(place: Place) -> int:
    uid, gid = os.geteuid(), os.getegid()
    proc = os.open("/proc", os.O_PATH | os.O_CLOEXEC | os.O_DIRECTORY)
    if uid == 0:  # the view is made with root's rights, which are then given up for good
        linux.unshare(linux.CLONE_NEWNS)
        _make_view(place)
        uid = gid = linux.NOBODY
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
        linux.prctl(linux.PR_SET_DUMPABLE, 1)  # or our own uid_map belongs to root
        linux.unshare(linux.EVERY_NAMESPACE)
        _map_ids(proc, uid, gid)
    else:
        linux.unshare(linux.EVERY_NAMESPACE)
        _map_ids(proc, uid, gid)
        _make_view(place)
    return proc


def _make_view(place: Place) -> None:
    if place.has("root"):
        linux.build_root(place.shown)
    else:
        linux.make_mounts_private()


def _map_ids(proc: int, uid: int, gid: int) -> None:
    for name, text in (("setgroups", "deny"), ("uid_map", f"1000 {uid} 1"), ("gid_map", f"1000 {gid} 1")):
        descriptor = os.open(f"self/{name}", os.O_WRONLY | os.O_CLOEXEC, dir_fd=proc)
        try:
            os.write(descriptor, text.encode())
        except OSError as error:
            raise OSError(error.errno, f"writing {name}: {error.strerror}") from error
        finally:
            os.close(descriptor)


class Rooms:
    """A process namespace and an empty /tmp of its own for each job, where the tier has namespaces."""

    def __init__(self, own: int) -> None:
        self._own = own  # descriptor of the worker's own process namespace

    def open(self) -> None:
        """The next process forked is the first of a fresh namespace."""
        self.return_to_own()
        linux.unshare(linux.CLONE_NEWPID)
        linux.mount_scratch("/tmp", _SCRATCH)
        os.chdir("/tmp")

    def close(self) -> None:
        """Nothing of the job's files is left."""
        os.chdir("/")
        linux.unmount("/tmp")

    def return_to_own(self) -> None:
        """The next process forked lives beside the worker."""
        linux.setns(self._own, linux.CLONE_NEWPID)


def confine(place: Place, allowance: Allowance, *, judging: bool = False) -> None:
    """The last step before a job: only ever less is possible afterwards.

    A judge may also receive descriptors, and stays in the worker's own namespaces.
    """
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    if place.has("rlimits"):
        _limit(place, allowance)
    if place.has("capabilities"):
        linux.drop_capabilities()
    if place.has("landlock") and landlock.version():
        if place.has("namespaces"):
            landlock.restrict(["/"], ["/dev/null"] if judging else ["/dev/null", "/tmp"])
        else:
            landlock.stand_alone()
    if place.has("seccomp"):
        seccomp.install(read_only=_needs_read_only(place), receives_descriptors=judging)


def prepare(place: Place) -> None:
    """Works out beforehand what every job of a worker needs again."""
    address_space()
    landlock.version()
    machine = this_machine()
    if machine is not None and place.has("seccomp"):
        seccomp.assembled(machine, _needs_read_only(place), False)


def _needs_read_only(place: Place) -> bool:
    """Whether nothing but seccomp keeps files from being changed: before ABI 3 Landlock let them be cut."""
    ruled = place.has("landlock") and (place.tier == "landlock" or place.has("namespaces"))
    return not place.has("root") and not (ruled and landlock.version() >= 3)


def _limit(place: Place, allowance: Allowance) -> None:
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: 64,
        resource.RLIMIT_FSIZE: allowance.file,
        resource.RLIMIT_CPU: min(int(allowance.cpu) + 2, 1 << 30),  # the worker's clock comes first
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_STACK: 64 << 20,
        resource.RLIMIT_AS: address_space() + allowance.memory,
    }
    if place.has("namespaces"):
        limits[resource.RLIMIT_NPROC] = 64
    for kind, value in limits.items():
        hard = resource.getrlimit(kind)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (bound, bound))


@lru_cache(maxsize=1)
def address_space() -> int:
    """Bytes of address space at the first call, which `prepare` makes while there is a /proc."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    return int(pages) * resource.getpagesize()


def close_all_but(kept: int) -> None:
    """Leaves the three standard descriptors and one more."""
    os.closerange(3, kept)
    os.closerange(kept + 1, 1 << 16)


def die_with_parent() -> None:
    """The kernel kills this process when the one that forked it ends."""
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
