"""Names of system calls → a seccomp filter that refuses all others, on x86-64 and aarch64.

Refused calls fail with EPERM, so that a program may go on without them. The list has no calls for new
processes, programs, sockets, namespaces, signals to others, memory files, io_uring, bpf, keys and tracing.
"""

import ctypes
import errno
import os
import signal
import struct

from erce.verify.sandbox.kernel import linux
from erce.verify.sandbox.kernel.linux import Machine, this_machine

# Three tables of name=x86-64/aarch64: calls that are allowed, also those that are unless files are read-only,
# and those that are with certain arguments. "-": aarch64 has only the later `...at` form of the call.
ALLOWED = """
read=0/63 write=1/64 close=3/57 fstat=5/80 lseek=8/62 mmap=9/222 mprotect=10/226 munmap=11/215 brk=12/214
mremap=25/216 msync=26/227 mincore=27/232 madvise=28/233 pread64=17/67 pwrite64=18/68 readv=19/65
writev=20/66 preadv=295/69 pwritev=296/70 preadv2=327/286 pwritev2=328/287 copy_file_range=326/285
fsync=74/82 fdatasync=75/83 ftruncate=77/46 fadvise64=221/223 dup=32/23 dup2=33/- dup3=292/24 pipe=22/-
pipe2=293/59 select=23/- pselect6=270/72 poll=7/- ppoll=271/73 epoll_create=213/- epoll_create1=291/20
epoll_ctl=233/21 epoll_wait=232/- epoll_pwait=281/22 eventfd2=290/19 timerfd_create=283/85
timerfd_settime=286/86 timerfd_gettime=287/87 close_range=436/436 getdents64=217/61 access=21/-
faccessat=269/48 faccessat2=439/439 stat=4/- lstat=6/- newfstatat=262/79 statx=332/291 statfs=137/43
fstatfs=138/44 readlink=89/- readlinkat=267/78 getcwd=79/17 chdir=80/49 fchdir=81/50 umask=95/166
rt_sigaction=13/134 rt_sigprocmask=14/135 rt_sigreturn=15/139 rt_sigpending=127/136 rt_sigtimedwait=128/137
rt_sigsuspend=130/133 sigaltstack=131/132 pause=34/- alarm=37/- getitimer=36/102 setitimer=38/103
nanosleep=35/101 clock_nanosleep=230/115 clock_gettime=228/113 clock_getres=229/114 gettimeofday=96/169
time=201/- times=100/153 sched_yield=24/124 sched_getaffinity=204/123 sched_getparam=143/121
sched_getscheduler=145/120 sched_get_priority_max=146/125 sched_get_priority_min=147/126 getpid=39/172
getppid=110/173 gettid=186/178 getuid=102/174 geteuid=107/175 getgid=104/176 getegid=108/177
getgroups=115/158 getresuid=118/148 getresgid=120/150 getpgrp=111/- getpgid=121/155 getsid=124/156
getpriority=140/141 getrlimit=97/163 getrusage=98/165 sysinfo=99/179 uname=63/160 getcpu=309/168
getrandom=318/278 membarrier=324/283 rseq=334/293 arch_prctl=158/- futex=202/98 futex_waitv=449/449
set_robust_list=273/99 get_robust_list=274/100 set_tid_address=218/96 restart_syscall=219/128 wait4=61/260
waitid=247/95 exit=60/93 exit_group=231/94 recvfrom=45/207 recvmsg=47/212 shutdown=48/210 getsockname=51/204
getpeername=52/205 getsockopt=55/209
"""
WRITING = """
rename=82/- renameat=264/38 renameat2=316/276 mkdir=83/- mkdirat=258/34 rmdir=84/- link=86/- linkat=265/37
symlink=88/- symlinkat=266/36 unlink=87/- unlinkat=263/35 truncate=76/45 creat=85/- fallocate=285/47
"""
DECIDED = """
clone=56/220 clone3=435/435 openat2=437/437 openat=257/56 open=2/- ioctl=16/29 fcntl=72/25 kill=62/129
tgkill=234/131 prctl=157/167 prlimit64=302/261 socketpair=53/199 sendto=44/206
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
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
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

    def __init__(self, *, read_only: bool) -> None:
        program = assembled(this_machine(), read_only)
        self._code = ctypes.create_string_buffer(program, len(program))
        header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(self._code))
        self.install = linux.prepared("prctl", linux.PR_SET_SECCOMP, 2, header, 0, 0)
        constants = range(4, len(program), 8)
        self._own = [at for at in constants if program[at : at + 4] == struct.pack("I", _SELF)]

    def bind(self) -> None:
        """Let the filter allow signals to this process, which is about to install it."""
        for at in self._own:
            struct.pack_into("I", self._code, at, os.getpid())


def assembled(machine: Machine, read_only: bool) -> bytes:
    """Return the filter as the kernel reads it, 8 bytes per instruction."""
    code: Code = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_IF_EQUAL, 1, 0, machine.audit),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_IF_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _KILL),
    ]
    for number, block in _blocks(machine, read_only).items():
        code += [(_IF_EQUAL, 0, len(block), number), *block]
    code.append((_RETURN, 0, 0, _ERRNO | errno.EPERM))
    return b"".join(struct.pack("HBBI", *instruction) for instruction in code)


def _blocks(machine: Machine, read_only: bool) -> dict[int, Code]:
    """Return the code, which ends by returning, for the number of each call that is not always refused."""
    allow: Code = [(_RETURN, 0, 0, _ALLOW)]
    blocks = dict.fromkeys(machine.numbers(ALLOWED), allow)
    if read_only:
        refuse: Code = [(_RETURN, 0, 0, _ERRNO | errno.EROFS)]
        writes = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
        blocks |= {name: _by_bits(_low(flags), writes, refuse, allow) for name, flags in OPENING.items()}
    else:
        blocks |= dict.fromkeys((*machine.numbers(WRITING), *OPENING), allow)
    no_process: Code = [(_RETURN, 0, 0, _ERRNO | errno.EAGAIN)]
    thread = _by_bits(_low(0), _CLONE_THREAD, allow, no_process)
    blocks |= {
        "clone": _by_bits(_low(0), _ANY_NAMESPACE, no_process, thread),
        # A filter cannot read arguments in memory; ENOSYS makes libc fall back as on an older kernel.
        "clone3": [(_RETURN, 0, 0, _ERRNO | errno.ENOSYS)],
        "openat2": [(_RETURN, 0, 0, _ERRNO | errno.ENOSYS)],
        "ioctl": _if_among(_low(1), _ALLOWED_IOCTLS, allow, refusal=errno.ENOTTY),
        "fcntl": _if_among(_low(1), _ALLOWED_FCNTLS, allow),
        "kill": _if_among(_low(0), [_SELF], _unless_killing(1)),
        "tgkill": _if_among(_low(0), [_SELF], _unless_killing(2)),
        "prctl": _if_among(_low(0), _ALLOWED_PRCTLS, allow),
        # Not RLIMIT_CPU, which is 0: a program under it could be killed by signal 9.
        "prlimit64": _if_among(_low(0), [0, _SELF], _if_among(_low(1), [*range(1, 16)], allow)),
        # Datagram sockets could send to any socket that they can name.
        "socketpair": _if_among(_low(0), [_AF_UNIX], _if_among(_low(1), _STREAM_SOCKETS, allow)),
        # No address: both halves of the pointer are 0.
        "sendto": _if_among(_low(4), [0], _if_among(_low(4) + 4, [0], allow)),
    }
    numbers = machine.numbers(ALLOWED + WRITING + DECIDED)
    return {numbers[name]: block for name, block in blocks.items() if name in numbers}


def _low(argument: int) -> int:
    return _ARGUMENTS + 8 * argument


def _if_among(half: int, values: list[int], then: Code, *, refusal: int = errno.EPERM) -> Code:
    """Go on with `then` if half of an argument is among `values`."""
    code: Code = [(_LOAD, 0, 0, half)]
    code += [(_IF_EQUAL, len(values) - index, 0, value) for index, value in enumerate(values)]
    return [*code, (_RETURN, 0, 0, _ERRNO | refusal), *then]


def _unless_killing(argument: int) -> Code:
    """Allow all signals but SIGKILL, which ends the process: the first of a namespace would ignore it."""
    load: Code = [(_LOAD, 0, 0, _low(argument)), (_IF_EQUAL, 0, 1, signal.SIGKILL)]
    return [*load, (_RETURN, 0, 0, _KILL), (_RETURN, 0, 0, _ALLOW)]


def _by_bits(half: int, bits: int, if_any: Code, otherwise: Code) -> Code:
    return [(_LOAD, 0, 0, half), (_IF_ANY_BIT, 0, len(if_any), bits), *if_any, *otherwise]
