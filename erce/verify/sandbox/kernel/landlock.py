"""Paths that may be read or written → a Landlock domain that allows nothing else.

Where the kernel knows it the domain also ends TCP and keeps signals and abstract sockets inside. Bits and
layouts: linux/landlock.h; what a kernel knows is its ABI version (1 in Linux 5.13).
"""

import os
import struct
from collections.abc import Sequence
from functools import cache

from erce.verify.sandbox.kernel import linux

_CREATE_VERSION = 1
_RULE_PATH_BENEATH = 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_FIRST_RIGHTS, _REFER, _TRUNCATE, _IOCTL_DEV = (1 << 13) - 1, 1 << 13, 1 << 14, 1 << 15
_ALL_TCP, _ALL_SCOPES = 3, 3


@cache
def version() -> int:
    """The kernel's Landlock ABI; 0 where there is none."""
    try:
        return linux.syscall("landlock_create_ruleset", None, 0, _CREATE_VERSION)
    except OSError:
        return 0


def restrict(readable: Sequence[str], writable: Sequence[str] = ()) -> None:
    """Only reading at and below `readable`, and everything but execution at and below `writable`, is left.

    Paths that do not exist are left out. The process must have given up new privileges before.
    """
    rights = _file_rights(version())
    domain = _domain(rights)
    for path in readable:
        _allow(domain, path, _READ_FILE | _READ_DIR)
    for path in writable:
        _allow(domain, path, rights & ~_EXECUTE)
    _enter(domain)


def stand_alone() -> None:
    """No signal and no trace leaves this process for those that are outside (Linux 6.12)."""
    if version() >= 6:
        _enter(_domain(0))


def _file_rights(abi: int) -> int:
    later = ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV))
    return _FIRST_RIGHTS | sum(right for since, right in later if abi >= since)


def _domain(rights: int) -> int:
    abi = version()
    fields = [rights, *([_ALL_TCP] if abi >= 4 else []), *([_ALL_SCOPES] if abi >= 6 else [])]
    layout = struct.pack(f"{len(fields)}Q", *fields)
    return linux.syscall("landlock_create_ruleset", layout, len(layout), 0)


def _allow(domain: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not os.path.isdir(path):  # noqa: PTH112 (os alone: this runs once a job)
        rights &= _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
    rights &= _file_rights(version())
    rule = struct.pack("=Qi", rights, descriptor)
    linux.syscall("landlock_add_rule", domain, _RULE_PATH_BENEATH, rule, 0)
    os.close(descriptor)


def _enter(domain: int) -> None:
    linux.syscall("landlock_restrict_self", domain, 0)
    os.close(domain)
