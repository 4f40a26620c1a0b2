"""A module → the same module in a place where it can harm nobody: the outer cage.

Fresh user, mount, pid, net, ipc and uts namespaces; a root of the interpreter's folders and the system's, all
read-only; a /tmp and a /dev/shm of its own; limits on processes, address space and file size; a wall limit.
As root, the cage's users are 65,536 numbers that nobody on the machine has, so that even "root" inside owns
nothing outside. The module that runs inside is a driver of ours, `inside.py`, which makes the sandbox.
"""

import json
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from erce.verify.sandbox.kernel import linux
from erce.verify.sandbox.kernel.linux import syscall

ROOT = Path(__file__).parents[3]
TESTS = Path(__file__).parents[2]
DRIVER = "toys.hostile.inside"
FIRST_NUMBER = 1_700_000_000  # of the cage's users on the machine, where root makes the cage
BIND, RECURSIVE, PRIVATE = 4096, 0x4000, 0x40000  # of mount(2)
LIMITS = {
    resource.RLIMIT_NPROC: 400,
    resource.RLIMIT_AS: 5 << 30,
    resource.RLIMIT_FSIZE: 600 << 20,
    resource.RLIMIT_CORE: 0,
}


class CageError(Exception):
    """A cage that cannot be made here, or a driver that did not report."""


def caged(order: dict, *, seconds: float = 1800.0) -> list[dict]:
    """Return the lines that `inside.py` reports for `order`; a run that was cut off lacks the line "end"."""
    environment = {
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "PATH": os.environ.get("PATH", ""),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(TESTS)]),
    }
    command = [sys.executable, "-m", "toys.hostile.cage", DRIVER]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd=ROOT, env=environment
    ) as made:
        try:
            out, errors = made.communicate(json.dumps(order), timeout=seconds)
        except subprocess.TimeoutExpired:
            made.kill()  # the first process of the cage dies with its parent, and all of the cage with it
            out, errors = made.communicate()
    lines = [json.loads(line) for line in out.splitlines() if line.startswith("{") and line.endswith("}")]
    if not lines:
        raise CageError(f"the cage ended with {made.returncode}: {errors.strip()[-500:] or 'no word'}")
    return lines


@lru_cache(maxsize=1)
def why_no_cage() -> str:
    """Return the reason why no cage can be made here, or ""."""
    try:
        caged({"do": "nothing"}, seconds=600)
    except CageError as error:
        return f"no outer cage here: {error}"
    return ""


def main(module: str) -> int:
    """Make the cage around a child, and end as the child does."""
    ready, go = socket.socketpair()
    child = os.fork()
    if child == 0:
        _die_with_parent()
        ready.close()
        os._exit(_enter(module, go))
    go.close()  # or a child that ends early would be waited for
    if ready.recv(1) == b"u":
        try:
            _map_users(child)
        except OSError as error:
            print(f"users: {error}", file=sys.stderr)
            os.kill(child, signal.SIGKILL)
        ready.send(b"m")
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _enter(module: str, go: socket.socket) -> int:
    as_root = os.geteuid() == 0
    if as_root:
        syscall("unshare", linux.CLONE_NEWNS)
        _build_root()
    syscall("unshare", linux.EVERY_NAMESPACE)
    go.send(b"u")
    if go.recv(1) != b"m":
        return 1
    if as_root:
        os.setresgid(0, 0, 0)
        os.setresuid(0, 0, 0)
    else:
        _build_root()
    socket.sethostname("cage")
    first = os.fork()
    if first:
        return abs(os.waitstatus_to_exitcode(os.waitpid(first, 0)[1]))
    _die_with_parent()
    os._exit(_first_process(module))


def _first_process(module: str) -> int:
    """Collect orphans as process 1 of the cage until the driver ends, which ends the cage."""
    syscall("mount", b"proc", b"/proc", b"proc", 0, None)
    _raise_loopback()
    for kind, most in LIMITS.items():
        hard = resource.getrlimit(kind)[1]
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (bound, bound))
    os.environ["HOME"] = "/tmp"
    driver = os.fork()
    if driver == 0:
        _die_with_parent()
        os.execv(sys.executable, [sys.executable, "-m", module])
    while True:
        number, status = os.wait()
        if number == driver:
            return abs(os.waitstatus_to_exitcode(status))


def _build_root() -> None:
    """Make a root in a tmpfs, with the folders of Python, of the system's libraries and of this project."""
    syscall("mount", None, b"/", None, RECURSIVE | PRIVATE, None)
    shown = [(path, os.open(path, os.O_PATH)) for path in _shown()]
    new = "/tmp"
    linux.mount_scratch(new, "size=64m,mode=755")
    Path(new, "proc").mkdir()
    for folder in ("tmp", "dev/shm", "var/tmp", "run"):
        Path(new, folder).mkdir(parents=True)
        linux.mount_scratch(f"{new}/{folder}", "size=400m,mode=1777")
    for path, opened in shown:
        _bind(path, opened, new)
    os.chdir(new)
    syscall("pivot_root", b".", b".")
    linux.unmount(".")
    os.chdir("/")


def _bind(path: str, opened: int, new: str) -> None:
    target = Path(new + path)
    if path != "/proc" and Path(f"/proc/self/fd/{opened}").is_dir():
        target.mkdir(parents=True, exist_ok=True)
    elif path != "/proc":
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    syscall("mount", f"/proc/self/fd/{opened}".encode(), bytes(target), None, BIND | RECURSIVE, None)
    if path != "/proc" and not path.startswith("/dev/"):
        read_only = struct.pack("4Q", 1 | 2 | 4, 0, 0, 0)
        syscall("mount_setattr", -100, bytes(target), 0x8000, read_only, len(read_only))
    os.close(opened)


def _shown() -> Iterator[str]:
    """Yield the shown folders, none of which is inside another."""
    python = [sys.base_prefix, sys.prefix, str(Path(sys.prefix).resolve()), str(ROOT)]
    system = ["/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc"]
    devices = [f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom")]
    folders = sorted({path for path in (*python, *system) if Path(path).exists()}, key=len)
    kept: list[str] = []
    for path in folders:
        if not any(Path(path).is_relative_to(above) for above in kept):
            kept.append(path)
    yield from (*kept, *(path for path in devices if Path(path).exists()), "/proc")


def _map_users(child: int) -> None:
    as_root = os.geteuid() == 0
    for kind, own in (("uid", os.geteuid()), ("gid", os.getegid())):
        line = f"0 {FIRST_NUMBER} 65536" if as_root else f"{own} {own} 1"
        if kind == "gid" and not as_root:
            Path(f"/proc/{child}/setgroups").write_text("deny", encoding="ascii")
        Path(f"/proc/{child}/{kind}_map").write_text(line, encoding="ascii")


def _raise_loopback() -> None:
    import fcntl

    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP


def _die_with_parent() -> None:
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
