"""A cluster's address → its `RunCells`, with Ray in a process of its own that this one watches.

Ray's core ends the process that it is in, without a word to Python, when the head is lost while the driver
connects and whenever the driver's own raylet dies. Here that is a `ClusterLostError` like every lost head.
"""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from erce.errors import InputError, RunError, sendable
from erce.recipe import Cell
from erce.study.engines import ray as ray_engine
from erce.study.engines.one_cell import Done, RunCells, Work, one_line

EXIT_SECONDS = 30.0  # in which the process must cancel its tasks, leave the cluster and end
# The child needs sys.path to import the same modules; Ray finds a user's script by sys.argv and __file__.
BOOT = (
    "import pickle, sys; sys.path[:], sys.argv[:], main = pickle.load(sys.stdin.buffer); "
    "globals().update(main); from erce.study.engines.ray_process import serve; serve()"
)


@contextmanager
def watched_cluster(work: Work, jobs: int | None, address: str | None) -> Iterator[RunCells]:
    """Yield what `ray.cluster` yields, and raise what it raises, from a process of its own.

    If this process is connected to a cluster already, Ray stays in it, and no other process is started.
    """
    ray_engine.check_installed(address)
    if ray_engine.is_connected():
        with ray_engine.cluster(work, jobs, address) as run:
            yield run
        return
    command = [sys.executable, "-c", BOOT]
    # In a session of its own no Ctrl-C reaches the child but through us.
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    driver = _RayProcess(child)
    try:
        script = {name: value for name, value in vars(sys.modules["__main__"]).items() if name == "__file__"}
        driver.send((sys.path, sys.argv, script))
        driver.send((work, jobs, address, ray_engine.PATIENCE))
        driver.receive()
        yield driver.run
    finally:
        driver.end()


@dataclass(frozen=True)
class _RayProcess:
    """The process that talks to Ray, seen from the one that started it."""

    child: "subprocess.Popen[bytes]"

    def run(self, cells: Sequence[Cell]) -> Iterator[Done]:
        self.send(list(cells))
        while (done := self.receive()) is not None:
            yield done

    def send(self, message: Any) -> None:
        assert self.child.stdin is not None
        with suppress(BrokenPipeError):  # `receive` will tell why
            pickle.dump(message, self.child.stdin)
            self.child.stdin.flush()

    def receive(self) -> Done | None:
        """Return a cell's end, or None for "connected" and "all cells have ended"; raise a sent error."""
        assert self.child.stdout is not None
        try:
            message = pickle.load(self.child.stdout)
        except (EOFError, pickle.UnpicklingError):
            raise ray_engine.cluster_lost() from None
        if isinstance(message, BaseException):
            raise message
        return message

    def end(self) -> None:
        """Let the process cancel what still runs and leave the cluster; kill it if that takes too long."""
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        try:
            with suppress(BrokenPipeError):
                self.child.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self.child.wait(EXIT_SECONDS)
        finally:
            self.child.kill()
            self.child.wait()
            self.child.stdout.close()


def serve() -> None:
    """Run cells on the cluster for the parent process until it closes the pipe or dies."""
    messages, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what Ray prints is no answer
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by a study in the background
    threading.excepthook = _say_in_one_line

    def answer(message: Done | Exception | None) -> None:
        answers.write(pickle.dumps(message))
        answers.flush()

    work, jobs, address, patience = pickle.load(messages)
    requests, idle = SimpleQueue[list[Cell] | None](), threading.Event()
    threading.Thread(target=_listen, args=(messages, requests, idle), daemon=True).start()
    try:
        with ray_engine.cluster(work, jobs, address, patience=patience) as run:
            idle.set()
            answer(None)
            while (cells := requests.get()) is not None:
                for done in run(cells):
                    answer(done)
                idle.set()
                answer(None)
    except (KeyboardInterrupt, BrokenPipeError):
        pass  # the parent has stopped listening
    except Exception as error:  # of Ray or of a cell: the parent waits for an answer, and raises it
        idle.set()  # the parent closes the pipe at this answer, and Ray's own exit must not be interrupted
        answer(_to_send(error))
    finally:
        if "ray" in sys.modules:
            sys.modules["ray"].shutdown()
        sys.stderr.flush()
        os._exit(0)  # Python's own exit would wait for the lock of the pipe that `_listen` reads


def _listen(messages: Any, requests: "SimpleQueue[list[Cell] | None]", idle: threading.Event) -> None:
    """Hand the parent's cells on; interrupt whatever runs when the pipe ends."""
    with suppress(EOFError):
        while True:
            cells = pickle.load(messages)
            idle.clear()
            requests.put(cells)
    requests.put(None)
    if not idle.is_set():
        os.kill(os.getpid(), signal.SIGINT)
    time.sleep(EXIT_SECONDS)
    os._exit(1)


def _say_in_one_line(failure: threading.ExceptHookArgs) -> None:
    """Print no traceback for a thread of Ray's, which ends like this whenever it loses the head."""
    if failure.exc_value is not None:
        print(one_line(failure.exc_value), file=sys.stderr)


def _to_send(error: Exception) -> Exception:
    """Return the error in a form that can be pickled, with its traceback where it is not a sentence."""
    if not isinstance(error, InputError | RunError):
        error.add_note("".join(traceback.format_exception(error)))
    return sendable(error, one_line(error))
