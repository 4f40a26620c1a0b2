"""Escapes: to files outside, the network, other processes, the next job. Their effects are measured."""

from toys.hostile.corpus import Family

escape = Family("escape", "any")
RIGHT = "\ndef double(n):\n    return n + n\n"


def attempt(name: str, body: str):
    """A right answer whatever came of the attempt, which is made where the module is run."""
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    return escape(name, f"try:\n{lines}except BaseException:\n    pass\n{RIGHT}")


PROGRAMS = [
    attempt("changes_a_file", "open('/tmp/canary/victim.txt', 'r+').write('changed')"),
    attempt(
        "writes_beside_the_next_job",
        """
import os
for folder in ("/tmp", "/dev/shm", "/var/tmp", "/run", "/", os.path.expanduser("~"), os.getcwd()):
    try:
        open(folder + "/left-behind", "w").write("x")
    except OSError:
        pass
""",
    ),
    attempt("removes_a_tree", "import shutil\nshutil.rmtree('/tmp/canary/folder', ignore_errors=True)"),
    attempt(
        "changes_rights",
        """
import ctypes, os
libc = ctypes.CDLL(None)
path = b"/tmp/canary/victim.txt"
libc.chmod(path, 0o777)
libc.fchmodat(-100, path, 0o777, 0)
libc.chown(path, 12345, 12345)
libc.lchown(path, 12345, 12345)
libc.utimensat(-100, path, None, 0)
libc.setxattr(path, b"user.canary", b"x", 1, 0)
os.utime(path, (1, 1))
""",
    ),
    attempt(
        "spawns_by_every_road",
        """
import ctypes, os, subprocess
command = ["/bin/sh", "-c", "touch /tmp/canary/spawned; sleep 30"]
for road in (
    lambda: os.posix_spawn(command[0], command, {}),
    lambda: subprocess.Popen(command, start_new_session=True),
    lambda: os.popen("touch /tmp/canary/popen"),
    lambda: ctypes.CDLL(None).system(b"touch /tmp/canary/libc"),
    lambda: ctypes.CDLL(None).popen(b"touch /tmp/canary/popen2", b"r"),
):
    try:
        road()
    except BaseException:
        pass
""",
    ),
    attempt(
        "becomes_a_daemon",
        """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 256)
        time.sleep(30)
    os._exit(0)
os.wait()  # or the verdict could come before it has left
""",
    ),
    attempt(
        "connects_over_tcp",
        "import socket\ns = socket.create_connection(('127.0.0.1', 18888), 0.5)\ns.sendall(b'x')",
    ),
    attempt(
        "sends_over_udp",
        "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 18889))",
    ),
    attempt(
        "connects_to_a_socket_file",
        "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('/tmp/canary/socket')\ns.sendall(b'x')",
    ),
    attempt(
        "sends_through_a_pair_to_a_file",
        """
import socket
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
for path in ("/tmp/canary/post", "/dev/log", "/run/systemd/journal/socket"):
    try:
        a.sendto(b"x", path)
    except OSError:
        pass
""",
    ),
    attempt(
        "writes_into_a_fifo",
        "import os\nos.write(os.open('/tmp/canary/fifo', os.O_WRONLY | os.O_NONBLOCK), b'x')",
    ),
    attempt(
        "kills_everything",
        """
import os, signal
for target in (-1, 0, os.getppid(), 1):
    for kind in (signal.SIGCONT, signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(target, kind)
        except OSError:
            pass
""",
    ),
    attempt(
        "kills_by_number",
        """
import os
for number in range(1, 400):
    if number != os.getpid():
        try:
            os.kill(number, 15)
        except OSError:
            pass
""",
    ),
    attempt(
        "signals_by_other_calls",
        """
import ctypes, os, platform, struct
libc = ctypes.CDLL(None)
arm = platform.machine() == "aarch64"
tkill, tgkill, queue, pidfd_open, pidfd_send = (130, 131, 138, 434, 424) if arm else (200, 234, 129, 434, 424)
info = struct.pack("iii", 15, 0, -1) + bytes(116)
for number in range(1, 200):
    if number != os.getpid():
        libc.syscall(tkill, number, 15)
        libc.syscall(tgkill, number, number, 15)
        libc.syscall(queue, number, 15, info)
        handle = libc.syscall(pidfd_open, number, 0)
        if handle >= 0:
            libc.syscall(pidfd_send, handle, 15, None, 0)
""",
    ),
]
