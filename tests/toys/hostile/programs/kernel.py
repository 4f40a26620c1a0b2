"""Probes of the kernel's doors: sockets, namespaces, mounts, identities. Right where all stayed shut."""

from toys.hostile.corpus import Family, probe

kernel = Family("escape", "pass")

CALLS = """
import ctypes, errno, os, platform
libc = ctypes.CDLL(None, use_errno=True)
x86 = platform.machine() == "x86_64"
def call(x86_number, arm_number, *arguments):
    return libc.syscall(ctypes.c_long(x86_number if x86 else arm_number), *arguments)
"""


def door(name: str, attempt: str, **more):
    return probe(kernel, name, CALLS + attempt, **more)


def family(name: str, families: str):
    return door(
        f"socket_{name}",
        f"""
import socket
for family, kind in {families}:
    try:
        socket.socket(family, kind)
        reached = True
    except OSError:
        pass
""",
    )


PROGRAMS = [
    family("inet", "[(2, 1), (2, 2), (2, 3)]"),
    family("netlink", "[(16, 3), (16, 2)]"),
    family(
        "others", "[(f, k) for f in (3, 4, 5, 9, 21, 29, 31, 38, 40, 41, 43, 44, 45) for k in (1, 2, 3, 5)]"
    ),
    door(
        "new_user_namespace",
        """
for flag in (0x10000000, 0x20000, 0x40000000, 0x20000000, 0x8000000, 0x4000000, 0x2000000):
    reached = reached or libc.unshare(flag) == 0
""",
    ),
    door(
        "clone_into_a_namespace",
        """
for flags in (0x10000000 | 17, 0x20000000 | 17, 0x10000 | 0x800 | 0x100 | 0x10000000):
    made = call(56, 220, ctypes.c_long(flags), None, None, None, None)
    if made == 0:
        os._exit(0)
    reached = reached or made > 0
""",
    ),
    door(
        "forks",
        """
signal = ctypes.c_long(17)
for make in (
    os.fork,
    lambda: call(57, 220, signal),
    lambda: call(56, 220, signal, None, None, None, None),
):
    made = -1
    try:
        made = make()
    except OSError:
        pass
    if made == 0:
        os._exit(0)
    reached = reached or made > 0
""",
    ),
    door(
        "mounts",
        """
for kind in (b"tmpfs", b"proc", b"ramfs", b"sysfs", b"overlay"):
    reached = reached or libc.mount(kind, b"/tmp", kind, 0, None) == 0
reached = reached or libc.mount(b"/", b"/tmp", None, 4096, None) == 0 or libc.umount2(b"/tmp", 2) == 0
reached = reached or call(428, 428, -100, b"/", 1) >= 0 or call(430, 430, b"tmpfs", 0) >= 0
""",
    ),
    door(
        "becomes_someone_else",
        """
some = lambda i: os.setgroups([i])
all_three = lambda i: os.setresuid(i, i, i)
for change in (os.setuid, os.setgid, os.seteuid, os.setegid, some, all_three):
    for identity in (0, 12345):
        try:
            change(identity)
            reached = True
        except OSError:
            pass
""",
    ),
    door(
        "gets_capabilities",
        """
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
held = (ctypes.c_uint32 * 6)()
if libc.capget(header, held) == 0:
    reached = any(held)
full = (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 6)
reached = reached or libc.capset(header, full) == 0
""",
    ),
    door(
        "has_the_capability_to_write",
        """
path = b"/tmp/shut"
number = libc.open(path, 0o102, 0o400)
libc.close(number)
reached = number >= 0 and libc.open(path, 1) >= 0
""",
        tiers=("namespaces",),
    ),
    door(
        "writes_to_a_device",
        "reached = libc.open(b'/dev/urandom', 1) >= 0 or libc.open(b'/dev/zero', 2) >= 0",
    ),
    door(
        "looks_into_a_locked_folder",
        "reached = os.stat('/tmp/canary/locked/inner.txt').st_size == 0",
    ),
    door(
        "uses_the_keyring",
        """
reached = call(250, 219, 0, -3, 1) >= 0 or call(248, 217, b"user", b"kept", b"x", 1, -3) >= 0
reached = reached or call(249, 218, b"user", b"kept", None, -3) >= 0
""",
    ),
    door(
        "runs_another_program",
        """
made = os.fork()
if made == 0:
    os.execv("/bin/true", ["true"])
reached = os.waitpid(made, 0)[1] == 0
""",
    ),
    door(
        "has_no_limits",
        """
import resource
for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
    reached = reached or resource.getrlimit(kind)[1] == resource.RLIM_INFINITY
""",
    ),
    door(
        "undoes_its_filter",
        "changes = ((22, 0), (38, 0), (4, 1))\n"
        "reached = any(libc.prctl(option, value, 0, 0, 0) == 0 for option, value in changes)",
    ),
]
