"""A cage → a scene with files, listeners, a victim and a secret; and what was harmed of them."""

import os
import selectors
import signal
import socket
import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

CANARY = Path("/tmp/canary")
SECRET = "canary-of-the-environment"
WATCHED = (CANARY, Path("/dev/shm"), Path("/var/tmp"), Path("/run"), Path("/tmp"))
TCP, UDP = 18888, 18889
CATCHABLE = set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}


class Scene:
    """What programs can harm, set up once in a cage; `changes()` names what was harmed since."""

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        os.environ.update(dict.fromkeys(["CANARY_SECRET", *secrets], SECRET))
        self.kept = {"canary_object": SECRET}
        self._signals: list[int] = []
        for number in CATCHABLE:
            signal.signal(number, lambda received, _: self._signals.append(received))
        self._lay_out()
        self._selector = selectors.DefaultSelector()
        for listener, name in _listeners().items():
            self._selector.register(listener, selectors.EVENT_READ, name)
        self._before = _pictures()
        self.victim = _victim()

    def changes(self) -> Iterator[str]:
        """Yield a line for each effect: its name, a colon, and what was seen."""
        now = _pictures()
        if now != self._before:
            different = [
                path for path in now.keys() | self._before.keys() if now.get(path) != self._before.get(path)
            ]
            yield f"file changed: {', '.join(sorted(different)[:5])}"
            self._before = now
        for name in self._reached():
            yield f"network: {name}"
        while self._signals:
            yield f"supervisor harmed: signal {self._signals.pop()}"
        if _state(self.victim) not in ("S", "R"):
            yield f"victim harmed: {_state(self.victim) or 'gone'}"
            self.end()
            self.victim = _victim()

    def end(self) -> None:
        try:
            os.kill(self.victim, signal.SIGKILL)
            os.waitpid(self.victim, 0)
        except (ProcessLookupError, ChildProcessError):
            pass

    def _lay_out(self) -> None:
        for folder in ("folder/inner", "home/.local/lib", "locked"):
            (CANARY / folder).mkdir(parents=True)
        (CANARY / "victim.txt").write_text("untouched", encoding="utf-8")
        (CANARY / "folder" / "inner" / "leaf.txt").write_text("leaf", encoding="utf-8")
        (CANARY / "secret.txt").write_text("the canary of the files", encoding="utf-8")
        os.mkfifo(CANARY / "fifo")
        (CANARY / "locked" / "inner.txt").touch()
        (CANARY / "locked").chmod(0)

    def _reached(self) -> Iterator[str]:
        """Return the names of the listeners that something reached; the kernel keeps what arrived."""
        while ready := self._selector.select(0):
            for key, _ in ready:
                yield key.data
                listener = key.fileobj
                if not isinstance(listener, socket.socket):
                    os.read(key.fd, 1 << 16)
                elif listener.type == socket.SOCK_STREAM:
                    listener.accept()[0].close()
                else:
                    listener.recv(1 << 16)


def _listeners() -> dict[socket.socket | int, str]:
    tcp, udp = socket.socket(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    tcp.bind(("127.0.0.1", TCP))
    udp.bind(("127.0.0.1", UDP))
    file = socket.socket(socket.AF_UNIX)
    file.bind(str(CANARY / "socket"))
    (CANARY / "socket").chmod(0o777)
    post = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    post.bind(str(CANARY / "post"))
    (CANARY / "post").chmod(0o777)
    for stream in (tcp, file):
        stream.listen()
    fifo = os.open(CANARY / "fifo", os.O_RDWR)
    return {tcp: "tcp", udp: "udp", file: "socket file", post: "post", fifo: "fifo"}


def _victim() -> int:
    child = os.fork()
    if child == 0:
        for number in CATCHABLE:
            signal.signal(number, signal.SIG_DFL)
        while True:
            time.sleep(60)
    return child


def _state(number: int) -> str:
    try:
        return Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""


def _pictures() -> dict[str, tuple]:
    """Return what is below the watched folders: kind, rights, owner, size, time, and short contents."""
    return {str(path): _picture(path) for folder in WATCHED for path in _below(folder)}


def _below(folder: Path) -> Iterator[Path]:
    """Yield what is below a folder, save what the cage shows of other file systems."""
    try:
        entries = [entry for entry in folder.iterdir() if entry.lstat().st_dev == folder.stat().st_dev]
    except OSError:
        return
    for entry in entries:
        if entry not in WATCHED:
            yield entry
            if entry.is_dir() and not entry.is_symlink():
                yield from _below(entry)


def _picture(path: Path) -> tuple:
    try:
        seen = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(seen.st_mode) and seen.st_size < 1 << 16 else b""
    except OSError as error:
        return (str(error),)
    times = () if stat.S_ISDIR(seen.st_mode) else (seen.st_mtime_ns,)
    return (seen.st_mode, seen.st_uid, seen.st_gid, seen.st_size, content, *times)
