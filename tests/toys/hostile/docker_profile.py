"""A process → the same process under Docker's default profile: 14 capabilities and a filter.

The profile is moby's default for a container without CAP_SYS_ADMIN, as far as a sandbox can notice: the calls
below fail with EPERM, `clone3` with ENOSYS, `clone` where it asks for a namespace. Landlock stays.
"""

import ctypes
import errno
import os
import struct

from erce.verify.sandbox.kernel.linux import (
    CALLS,
    PR_SET_NO_NEW_PRIVS,
    PR_SET_SECCOMP,
    prctl,
    syscall,
    this_machine,
)
from erce.verify.sandbox.kernel.seccomp import DECIDED

KEPT = (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31)  # the capabilities that Docker leaves
LAST_CAPABILITY = 40
REFUSED = ("mount", "mount_setattr", "move_mount", "open_tree", "pivot_root", "setns", "umount2", "unshare")
NEW_ANYTHING = 0x7E020000  # every CLONE_NEW flag
_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x50000


def apply() -> None:
    """Put this process and its children under the profile; OSError if that fails."""
    code = _filter()
    blob = ctypes.create_string_buffer(b"".join(code))
    program = struct.pack("HxxxxxxP", len(code), ctypes.addressof(blob))
    # Installed, if we may, with the right to administer: under Docker new privileges are not given up.
    try:
        syscall("prctl", PR_SET_SECCOMP, 2, program, 0, 0)
    except OSError:
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        syscall("prctl", PR_SET_SECCOMP, 2, program, 0, 0)
    if os.geteuid() != 0:
        return
    for capability in set(range(LAST_CAPABILITY + 1)) - set(KEPT):
        prctl(24, capability)  # PR_CAPBSET_DROP
    low = sum(1 << capability for capability in KEPT)
    syscall("capset", struct.pack("Ii", 0x20080522, 0), struct.pack("6I", low, low, low, 0, 0, 0))


def _filter() -> list[bytes]:
    def step(operation: int, constant: int, if_true: int = 0, if_false: int = 0) -> bytes:
        return struct.pack("HBBI", operation, if_true, if_false, constant)

    numbers = this_machine().numbers(CALLS + DECIDED)
    code = [step(_LOAD, 0)]
    for name in REFUSED:
        code += [step(_EQUAL, numbers[name], 0, 1), step(_RETURN, _ERRNO | errno.EPERM)]
    code += [step(_EQUAL, numbers["clone3"], 0, 1), step(_RETURN, _ERRNO | errno.ENOSYS)]
    code += [step(_EQUAL, numbers["clone"], 1, 0), step(_RETURN, _ALLOW), step(_LOAD, 16)]
    code += [step(_ANY_BIT, NEW_ANYTHING, 0, 1), step(_RETURN, _ERRNO | errno.EPERM), step(_RETURN, _ALLOW)]
    return code
