"""Names of system calls → a seccomp filter that refuses all others, on x86-64 and aarch64.

Refused calls fail with EPERM, so that a program may go on without them. The list has no calls for new
processes, programs, sockets, namespaces, signals to others, memory files, io_uring, bpf, keys and tracing.
The filter finds a call by binary search on its number: the kernel walks the filter once for every number when
it is installed.
"""

import ctypes
import errno
import os
import signal
import struct

from erce.verify.sandbox.kernel import linux
from erce.verify.sandbox.kernel.linux import Machine, this_machine

ALLOWED = """
read write close fstat lseek mmap mprotect munmap brk mremap msync mincore madvise pread64 pwrite64 readv
writev preadv pwritev preadv2 pwritev2 copy_file_range fsync fdatasync ftruncate fadvise64 dup dup2 dup3 pipe
pipe2 select pselect6 poll ppoll epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait eventfd2
timerfd_create timerfd_settime timerfd_gettime close_range getdents64 access faccessat faccessat2 stat lstat
newfstatat statx statfs fstatfs readlink readlinkat getcwd chdir fchdir umask
rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigsuspend sigaltstack pause alarm
getitimer setitimer nanosleep clock_nanosleep clock_gettime clock_getres gettimeofday time times
sched_yield sched_getaffinity sched_getparam sched_getscheduler sched_get_priority_max sched_get_priority_min
getpid getppid gettid getuid geteuid getgid getegid getgroups getresuid getresgid getpgrp getpgid getsid
getpriority getrlimit getrusage sysinfo uname getcpu getrandom membarrier rseq arch_prctl
futex futex_waitv set_robust_list get_robust_list set_tid_address restart_syscall wait4 waitid exit exit_group
recvfrom shutdown getsockname getpeername getsockopt
"""
WRITING = """
rename renameat renameat2 mkdir mkdirat rmdir link linkat symlink symlinkat unlink unlinkat truncate creat
fallocate
"""
OPENING = {"openat": 2, "open": 1}  # call → index of the argument with its flags

_ANY_NAMESPACE = linux.EVERY_NAMESPACE | 0x80  # and CLONE_NEWTIME
_CLONE_THREAD = 0x10000
_ALLOWED_IOCTLS = [0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451]  # TCGETS .. FIOCLEX
_ALLOWED_FCNTLS = [0, 1, 2, 3, 4, 1030, 1032]  # F_DUPFD .. F_SETFL, F_DUPFD_CLOEXEC, F_GETPIPE_SZ
_ALLOWED_PRCTLS = [15, 16, 39, 0x53564D41]  # PR_SET_NAME, PR_GET_NAME, PR_GET_NO_NEW_PRIVS, PR_SET_VMA
_AF_UNIX = 1
_STREAM_SOCKETS = [1, 0x801, 0x80001, 0x80801]  # SOCK_STREAM, also with SOCK_NONBLOCK and SOCK_CLOEXEC

_KILL, _ERRNO, _ALLOW = 0x80000000, 0x50000, 0x7FFF0000
_LOAD, _JUMP, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x05, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_X32 = 0x40000000
_SELF = 0x5E1F5E1F  # stands for the process id until the filter is installed

Code = list[tuple[int, int, int, int]]  # operation, jump if true, jump if false, constant


class Filter:
    """A filter that a worker makes before it forks, so that its children need only install it.

    `install` is a prepared call that restricts a process and its threads to the calls on the list, for good.
    `read_only` also refuses to open files for writing, to make, to rename and to remove them; it is needed if
    no other layer protects files.
    """

    def __init__(self, *, read_only: bool, receives_descriptors: bool = False) -> None:
        program = assembled(this_machine(), read_only, receives_descriptors)
        self._code = ctypes.create_string_buffer(program, len(program))
        header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(self._code))
        self.install = linux.prepared("prctl", linux.PR_SET_SECCOMP, 2, header, 0, 0)
        constants = range(4, len(program), 8)
        self._own = [at for at in constants if program[at : at + 4] == struct.pack("I", _SELF)]
        self._allow_signals_to(1)  # a process that is the first of its namespace

    def bind(self) -> None:
        """Let the filter allow signals to this process, which is about to install it."""
        self._allow_signals_to(os.getpid())

    def _allow_signals_to(self, process: int) -> None:
        for at in self._own:
            struct.pack_into("I", self._code, at, process)


def assembled(machine: Machine, read_only: bool, receives_descriptors: bool) -> bytes:
    """Return the filter as the kernel reads it, 8 bytes per instruction."""
    blocks = _blocks(machine, read_only, receives_descriptors)
    code: Code = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_IF_EQUAL, 1, 0, machine.audit),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        *_search(_intervals(blocks)),
    ]
    return b"".join(struct.pack("HBBI", *instruction) for instruction in code)


def _blocks(machine: Machine, read_only: bool, receives_descriptors: bool) -> dict[int, Code]:
    """Return the code for the number of each call that is not always refused."""
    allow: Code = [(_RETURN, 0, 0, _ALLOW)]
    blocks = dict.fromkeys(ALLOWED.split(), allow)
    if read_only:
        blocks |= {name: _refuse_to_write(argument) for name, argument in OPENING.items()}
    else:
        blocks |= dict.fromkeys((*WRITING.split(), *OPENING), allow)
    if receives_descriptors:
        blocks["recvmsg"] = allow
    blocks |= {
        "clone": _threads_alone(),
        # A filter cannot read arguments in memory; ENOSYS makes libc fall back as on an older kernel.
        "clone3": [(_RETURN, 0, 0, _ERRNO | errno.ENOSYS)],
        "openat2": [(_RETURN, 0, 0, _ERRNO | errno.ENOSYS)],
        "ioctl": _one_of(1, _ALLOWED_IOCTLS, errno.ENOTTY),
        "fcntl": _one_of(1, _ALLOWED_FCNTLS, errno.EPERM),
        "kill": _signal_to_self(1),
        "tgkill": _signal_to_self(2),
        "prctl": _one_of(0, _ALLOWED_PRCTLS, errno.EPERM),
        "prlimit64": _one_of(0, [0, _SELF], errno.EPERM),
        "socketpair": _pair_of_streams(),
        "sendto": _without_address(4),
    }
    return {machine.numbers[name]: block for name, block in blocks.items() if name in machine.numbers}


def _one_of(argument: int, values: list[int], refusal: int) -> Code:
    """Allow the call if the lower half of an argument is among `values`."""
    code: Code = [(_LOAD, 0, 0, _ARGUMENTS + 8 * argument)]
    code += [(_IF_EQUAL, len(values) - index, 0, value) for index, value in enumerate(values)]
    return [*code, (_RETURN, 0, 0, _ERRNO | refusal), (_RETURN, 0, 0, _ALLOW)]


def _signal_to_self(argument: int) -> Code:
    """Allow signals to the process itself.

    SIGKILL ends it here, because the first process of a namespace ignores a SIGKILL from itself.
    """
    return [
        (_LOAD, 0, 0, _ARGUMENTS),
        (_IF_EQUAL, 1, 0, _SELF),
        (_RETURN, 0, 0, _ERRNO | errno.EPERM),
        (_LOAD, 0, 0, _ARGUMENTS + 8 * argument),
        (_IF_EQUAL, 0, 1, signal.SIGKILL),
        (_RETURN, 0, 0, _KILL),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _pair_of_streams() -> Code:
    """Allow a pair of stream sockets; datagram sockets could send to any socket that they can name."""
    types = _one_of(1, _STREAM_SOCKETS, errno.EPERM)
    return [
        (_LOAD, 0, 0, _ARGUMENTS),
        (_IF_EQUAL, 1, 0, _AF_UNIX),
        (_RETURN, 0, 0, _ERRNO | errno.EPERM),
        *types,
    ]


def _without_address(argument: int) -> Code:
    """Allow the call if a pointer is null in both its halves."""
    return [
        (_LOAD, 0, 0, _ARGUMENTS + 8 * argument),
        (_IF_EQUAL, 0, 2, 0),
        (_LOAD, 0, 0, _ARGUMENTS + 8 * argument + 4),
        (_IF_EQUAL, 1, 0, 0),
        (_RETURN, 0, 0, _ERRNO | errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _threads_alone() -> Code:
    return [
        (_LOAD, 0, 0, _ARGUMENTS),
        (_IF_ANY_BIT, 2, 0, _ANY_NAMESPACE),
        (_IF_ANY_BIT, 0, 1, _CLONE_THREAD),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _ERRNO | errno.EAGAIN),
    ]


def _refuse_to_write(argument: int) -> Code:
    return [
        (_LOAD, 0, 0, _ARGUMENTS + 8 * argument),
        (_IF_ANY_BIT, 0, 1, os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC),
        (_RETURN, 0, 0, _ERRNO | errno.EROFS),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _intervals(blocks: dict[int, Code]) -> list[tuple[int, Code]]:
    """Return (first number, code) in order, where neighbours have different code."""
    refuse: Code = [(_RETURN, 0, 0, _ERRNO | errno.EPERM)]
    intervals: list[tuple[int, Code]] = []
    for number in range(max(blocks) + 2):
        block = blocks.get(number, refuse)
        if not intervals or intervals[-1][1] != block:
            intervals.append((number, block))
    return [*intervals, (_X32, [(_RETURN, 0, 0, _KILL)])]


def _search(intervals: list[tuple[int, Code]]) -> Code:
    """Return comparisons that lead to the code for the number in the accumulator."""
    if len(intervals) == 1:
        return intervals[0][1]
    middle = len(intervals) // 2
    lower, upper = _search(intervals[:middle]), _search(intervals[middle:])
    first = intervals[middle][0]
    if len(lower) < 256:
        return [(_IF_AT_LEAST, len(lower), 0, first), *lower, *upper]
    return [(_IF_AT_LEAST, 0, 1, first), (_JUMP, 0, 0, len(lower)), *lower, *upper]
