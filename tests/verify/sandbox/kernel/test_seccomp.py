"""The filter, walked as the kernel walks it, on both machines."""

import errno
import re
import resource
import struct
from pathlib import Path

import pytest

from erce.verify.sandbox.kernel import linux, seccomp
from erce.verify.sandbox.kernel.linux import MACHINES
from erce.verify.sandbox.kernel.seccomp import assembled

ALLOW, KILL = 0x7FFF0000, 0x80000000
PROCESS = 0x5E1F5E1F  # stands for the process's own id until the filter is installed


def refused(number: int) -> int:
    return 0x50000 | number


def numbers(machine: str) -> dict[str, int]:
    return MACHINES[machine].numbers(seccomp.ALLOWED + seccomp.WRITING + seccomp.DECIDED + linux.CALLS)


def answer(machine: str, call: str | int, *arguments: int, read_only: bool = False, audit: int = 0) -> int:
    """Return the filter's answer to one call; a name is looked up in the machine's table."""
    table = MACHINES[machine]
    number = call if isinstance(call, int) else numbers(machine)[call]
    words = [*arguments, *[0] * (6 - len(arguments))]
    call_words = struct.pack("IIQ6Q", number, audit or table.audit, 0, *words)
    program = assembled(table, read_only)
    code = [struct.unpack_from("HBBI", program, place) for place in range(0, len(program), 8)]
    place = accumulator = 0
    while True:
        operation, if_true, if_false, constant = code[place]
        place += 1
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("I", call_words, constant)
        elif operation == 0x06:
            return constant
        else:
            held = {
                0x15: accumulator == constant,
                0x35: accumulator >= constant,
                0x45: accumulator & constant != 0,
            }
            place += if_true if held[operation] else if_false


@pytest.mark.parametrize("machine", MACHINES)
def test_every_call_on_the_list_is_allowed_and_every_other_number_is_not(machine):
    table = numbers(machine)
    decided = {
        *("clone", "clone3", "openat2", "ioctl", "fcntl", "kill", "tgkill", "prctl", "prlimit64"),
        *("socketpair", "sendto"),
    }
    plain = MACHINES[machine].numbers(seccomp.ALLOWED + seccomp.WRITING).keys() | seccomp.OPENING.keys()
    allowed = {table[name] for name in plain & table.keys()}
    for number in range(500):
        if number in allowed:
            assert answer(machine, number) == ALLOW
        elif number not in {table[name] for name in decided}:
            assert answer(machine, number) == refused(errno.EPERM), number


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("call", "arguments", "outcome"),
    [
        ("clone", (0x50F00,), ALLOW),  # the flags of pthread_create: VM, FS, FILES, SIGHAND, THREAD, SYSVSEM
        ("clone", (17,), refused(errno.EAGAIN)),  # fork
        ("clone", (0x10000 | 0x10000000,), refused(errno.EAGAIN)),  # a thread in a user namespace
        ("clone3", (), refused(errno.ENOSYS)),
        ("kill", (PROCESS, 10), ALLOW),
        ("kill", (PROCESS, 9), KILL),
        ("tgkill", (PROCESS, 1, 9), KILL),
        ("kill", (0, 9), refused(errno.EPERM)),
        ("tgkill", (1, 1, 9), refused(errno.EPERM)),
        ("fcntl", (3, 1), ALLOW),
        ("fcntl", (3, 8), refused(errno.EPERM)),  # F_SETOWN: signals without kill
        ("ioctl", (0, 0x5401), ALLOW),
        ("ioctl", (0, 0x5412), refused(errno.ENOTTY)),  # TIOCSTI: input for the terminal
        ("prctl", (15,), ALLOW),
        ("prctl", (22,), refused(errno.EPERM)),
        ("prlimit64", (0, 7), ALLOW),
        ("prlimit64", (1, 7), refused(errno.EPERM)),
        ("prlimit64", (0, resource.RLIMIT_CPU), refused(errno.EPERM)),
        ("socketpair", (1, 1), ALLOW),
        ("socketpair", (1, 0x80001), ALLOW),  # SOCK_CLOEXEC, as Python asks
        ("socketpair", (1, 2), refused(errno.EPERM)),  # datagrams go to any socket that has a name
        ("socketpair", (2, 1), refused(errno.EPERM)),
        ("sendto", (3, 1, 1, 0, 0, 0), ALLOW),
        ("sendto", (3, 1, 1, 0, 4096, 16), refused(errno.EPERM)),
        ("sendto", (3, 1, 1, 0, 1 << 32, 16), refused(errno.EPERM)),
        ("recvmsg", (3,), ALLOW),  # there is nobody who could send a descriptor
    ],
)
def test_arguments_decide_where_a_call_can_do_both(machine, call, arguments, outcome):
    assert answer(machine, call, *arguments) == outcome


@pytest.mark.parametrize("machine", MACHINES)
def test_another_architecture_and_another_table_of_numbers_are_the_end(machine):
    assert answer(machine, "read", audit=0x40000003) == KILL  # 32-bit x86
    assert answer(machine, 0x40000000 + numbers(machine)["read"]) == KILL  # x32


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("flags", "outcome"),
    [(0, ALLOW), (0o2000000, ALLOW), *[(flags, refused(errno.EROFS)) for flags in (1, 0o102, 0o1000)]],
)
def test_read_only_opens_nothing_for_writing_and_changes_no_name(machine, flags, outcome):
    assert answer(machine, "openat", 0, 0, flags, read_only=True) == outcome
    for name in MACHINES[machine].numbers(seccomp.WRITING):
        if name in numbers(machine):
            assert answer(machine, name, read_only=True) == refused(errno.EPERM)


@pytest.mark.parametrize(
    ("machine", "headers"),
    [
        ("x86_64", ["/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"]),
        ("aarch64", ["/usr/include/asm-generic/unistd.h"]),
    ],
)
def test_numbers_are_those_of_the_kernels_headers(machine, headers):
    header = next((Path(path) for path in headers if Path(path).exists()), None)
    if header is None:
        pytest.skip("the kernel's headers are not installed")
    text = header.read_text(encoding="utf-8")
    known = {name: int(number) for name, number in re.findall(r"#define __NR(?:3264)?_(\w+) (\d+)", text)}
    known.setdefault("newfstatat", known.get("fstatat", -1))
    ours = numbers(machine)
    assert {name: known[name] for name in ours if name in known} == {
        name: number for name, number in ours.items() if name in known
    }
    assert len([name for name in ours if name in known]) > 0.97 * len(ours)
