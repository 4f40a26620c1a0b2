"""A process → the same process under Docker's default profile: 14 capabilities and a filter.

The profile is moby's default for a container without CAP_SYS_ADMIN, as far as a sandbox can notice: the calls
below fail with EPERM, `clone3` with ENOSYS, `clone` where it asks for a namespace. Landlock stays.
"""

import ctypes
import errno
import os
import platform
import struct

KEPT = (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31)  # the capabilities that Docker leaves
LAST_CAPABILITY = 40
REFUSED = {  # call → its number on x86-64 and on aarch64; None: not there
    "acct": (163, 89),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "lookup_dcookie": (212, 18),
    "mbind": (237, 235),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "move_pages": (279, 239),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "pivot_root": (155, 41),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "set_mempolicy": (238, 237),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "vhangup": (153, 58),
}
CLONE, CLONE3 = (56, 220), 435
NEW_ANYTHING = 0x7E020000  # every CLONE_NEW flag
AUDIT = (0xC000003E, 0xC00000B7)
_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x50000


def apply() -> None:
    """Put this process and its children under the profile; OSError if that fails."""
    libc = ctypes.CDLL(None, use_errno=True)
    code = _filter(platform.machine() == "aarch64")
    blob = ctypes.create_string_buffer(b"".join(code))
    program = struct.pack("HxxxxxxP", len(code), ctypes.addressof(blob))
    # Installed, if we may, with the right to administer: under Docker new privileges are not given up.
    if libc.prctl(22, 2, program, 0, 0) < 0:
        libc.prctl(38, 1, 0, 0, 0)
        if libc.prctl(22, 2, program, 0, 0) < 0:
            raise OSError(ctypes.get_errno(), "the profile's filter was refused")
    for capability in range(LAST_CAPABILITY + 1):
        if capability not in KEPT:
            libc.prctl(24, capability, 0, 0, 0)
    low = sum(1 << capability for capability in KEPT)
    held = struct.pack("6I", low, low, low, 0, 0, 0)
    if libc.capset(struct.pack("Ii", 0x20080522, 0), held) < 0 and os.geteuid() == 0:
        raise OSError(ctypes.get_errno(), "the profile's capabilities were refused")


def _filter(arm: bool) -> list[bytes]:
    def step(operation: int, constant: int, if_true: int = 0, if_false: int = 0) -> bytes:
        return struct.pack("HBBI", operation, if_true, if_false, constant)

    code = [
        step(_LOAD, 4),
        step(_EQUAL, AUDIT[arm], 1, 0),
        step(_RETURN, _ERRNO | errno.EPERM),
        step(_LOAD, 0),
    ]
    for numbers in REFUSED.values():
        number = numbers[arm]
        if number is not None:
            code += [step(_EQUAL, number, 0, 1), step(_RETURN, _ERRNO | errno.EPERM)]
    code += [step(_EQUAL, CLONE3, 0, 1), step(_RETURN, _ERRNO | errno.ENOSYS)]
    code += [step(_EQUAL, CLONE[arm], 1, 0), step(_RETURN, _ALLOW), step(_LOAD, 16)]
    return [
        *code,
        step(_ANY_BIT, NEW_ANYTHING, 0, 1),
        step(_RETURN, _ERRNO | errno.EPERM),
        step(_RETURN, _ALLOW),
    ]
