"""Paths that may be read or written → a Landlock domain that allows nothing else.

If the kernel can, the domain also blocks TCP and keeps signals and abstract sockets inside. Bits and layouts
are those of linux/landlock.h; what a kernel can do follows from its ABI version (1 in Linux 5.13).
"""

import os
import struct
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from erce.verify.sandbox.kernel import linux

_CREATE_VERSION = 1
_RULE_PATH_BENEATH = 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_FIRST_RIGHTS, _REFER, _TRUNCATE, _IOCTL_DEV = (1 << 13) - 1, 1 << 13, 1 << 14, 1 << 15
_ALL_TCP, _ALL_SCOPES = 3, 3


@cache
def version() -> int:
    """Return the version of the kernel's Landlock ABI; 0 without Landlock."""
    try:
        return linux.syscall("landlock_create_ruleset", None, 0, _CREATE_VERSION)
    except OSError:
        return 0


def domain(readable: Sequence[str], writable: Sequence[str] = ()) -> int:
    """Return a descriptor of a domain: it reads at and below `readable`, and runs nothing below `writable`.

    At and below `writable` everything else is allowed. Missing paths are skipped.
    """
    rights = _file_rights(version())
    made = _empty_domain(rights)
    for path in readable:
        _allow(made, path, _READ_FILE | _READ_DIR)
    for path in writable:
        _allow(made, path, rights & ~_EXECUTE)
    return made


def domain_of_one() -> int | None:
    """Return a domain that signals and traces no process outside it; None before Linux 6.12."""
    return _empty_domain(0) if version() >= 6 else None


def entering(domain: int) -> linux.Call:
    """Return a prepared call that enters a domain for good.

    The process that calls it must have set PR_SET_NO_NEW_PRIVS before.
    """
    return linux.prepared("landlock_restrict_self", domain, 0)


def _file_rights(abi: int) -> int:
    later = ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV))
    return _FIRST_RIGHTS | sum(right for since, right in later if abi >= since)


def _empty_domain(rights: int) -> int:
    abi = version()
    fields = [rights, *([_ALL_TCP] if abi >= 4 else []), *([_ALL_SCOPES] if abi >= 6 else [])]
    layout = struct.pack(f"{len(fields)}Q", *fields)
    return linux.syscall("landlock_create_ruleset", layout, len(layout), 0)


def _allow(domain: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not Path(path).is_dir():
        rights &= _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
    rights &= _file_rights(version())
    rule = struct.pack("=Qi", rights, descriptor)
    linux.syscall("landlock_add_rule", domain, _RULE_PATH_BENEATH, rule, 0)
    os.close(descriptor)
