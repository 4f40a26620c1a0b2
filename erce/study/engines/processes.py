"""Fresh interpreters on this machine that stay warm → cells, shared out one by one.

Not `concurrent.futures`: there one killed process takes the whole pool with it, and nobody can say which cell
it had. Here a process that ends costs only its cell, and another process takes its place.
"""

import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import TracebackType

from erce import events
from erce.errors import InputError, counted
from erce.recipe import Cell
from erce.study.engines import LOG, Done, Work, run_one
from erce.study.folder import LOCKS

IDLE_EXIT_SECONDS = 5.0  # in which an idle process must end by itself
EVENT_SECONDS = 1.0  # between two events of a stage that a process sends
# glibc gives freed memory back to the kernel and asks for it again: 100,000 page faults per small cell.
# Huge pages spare most misses of the address cache where the kernel leaves the choice to the program.
KEPT_MEMORY = {
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(256 << 20),
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}


@dataclass
class _Worker:
    """A process of the pool, and the cell that it works on."""

    process: BaseProcess
    pipe: Connection
    place: int  # 0 … jobs − 1, which decides its devices
    cell: Cell | None = None


class WorkerPool:
    """`jobs` processes that are started when cells need them and end with the context."""

    def __init__(self, work: Work, jobs: int) -> None:
        self.work, self.jobs = work, jobs
        gpus = work.recipe.resources.gpus
        self.devices = devices_of(jobs, gpus=gpus, visible=visible_devices() if gpus else [])
        self.workers: list[_Worker] = []

    def __enter__(self) -> "WorkerPool":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let idle workers leave by themselves and clean up behind them; kill all others."""
        for worker in self.workers:
            worker.pipe.close()
        for worker in self.workers:
            if worker.cell is None and error is None:
                worker.process.join(IDLE_EXIT_SECONDS)
            worker.process.kill()
        for worker in self.workers:
            worker.process.join()

    def run(self, cells: Sequence[Cell]) -> Iterator[Done]:
        """Yield each cell's end as it comes; a process that ended before its cell did is a failed cell."""
        waiting = deque(cells)
        try:
            while waiting or any(worker.cell for worker in self.workers):
                self._hand_out(waiting)
                busy = {worker.pipe: worker for worker in self.workers if worker.cell}
                for pipe in wait(list(busy)):
                    assert isinstance(pipe, Connection)
                    done = self._answer_of(busy[pipe])
                    if done is not None:
                        yield done
        finally:
            for worker in [worker for worker in self.workers if worker.cell]:  # only if this was stopped
                worker.process.kill()
                self._remove(worker)

    def _hand_out(self, waiting: deque[Cell]) -> None:
        """Give a cell to every idle worker, as long as cells wait; start workers up to `jobs`."""
        idle_workers = [worker for worker in self.workers if worker.cell is None]
        for worker in idle_workers:
            if not worker.process.is_alive():  # it was killed while it had nothing to do
                self._remove(worker)
        while waiting:
            idle = next((worker for worker in self.workers if worker.cell is None), None)
            if idle is None and len(self.workers) < self.jobs:
                idle = self._start()
            if idle is None:
                return
            idle.cell = waiting.popleft()
            with suppress(ConnectionError):  # the worker has died; reading from its pipe will tell
                idle.pipe.send(idle.cell)

    def _start(self) -> _Worker:
        place = min(set(range(self.jobs)) - {worker.place for worker in self.workers})
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self.work), daemon=False)
        kept_memory = {name: value for name, value in KEPT_MEMORY.items() if name not in os.environ}
        threads = self.work.recipe.resources.threads or max(1, (os.cpu_count() or 1) // self.jobs)
        variables = {"OMP_NUM_THREADS": str(threads)} | kept_memory
        devices = self.devices[place]
        if devices is not None:
            variables["CUDA_VISIBLE_DEVICES"] = devices
        with _environment(variables):
            process.start()
        theirs.close()
        self.workers.append(_Worker(process, ours, place))
        return self.workers[-1]

    def _answer_of(self, worker: _Worker) -> Done | None:
        """Read the end of the worker's cell, or find out why there is none; pass an event on."""
        cell = worker.cell
        assert cell is not None
        try:
            answer: Done | events.Event = worker.pipe.recv()
        except (EOFError, OSError):  # OSError: in the middle of its answer
            self._remove(worker)
        else:
            if isinstance(answer, events.Event):
                events.tell(answer)
                return None
            worker.cell = None
            return answer
        if self.work.is_done(cell):
            return Done(cell)  # only the answer was lost
        _keep_log(self.work, cell)
        return Done(cell, _why_ended(worker.process.exitcode))

    def _remove(self, worker: _Worker) -> None:
        """Wait for the end of a process that has died or was killed, and take it from the pool."""
        worker.process.join()
        worker.pipe.close()
        self.workers.remove(worker)


def _why_ended(exit_code: int | None) -> str:
    if exit_code is None or exit_code >= 0:
        return f"its process ended with exit code {exit_code}"
    name = signal.Signals(-exit_code).name
    why = ": killed, or out of memory (fewer --jobs need less)" if name == "SIGKILL" else ""
    return f"its process was ended by {name}{why}"


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Set environment variables for a child that the block starts, then restore the old values.

    The child finds them at its start: its first import of torch, in a script of the user's, reads them.
    """
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _serve(pipe: Connection, work: Work) -> None:
    """Run cells from the pipe and send back how each ended, until the driver closes the pipe or dies."""
    # Ctrl-C is the driver's to answer, which then ends us; SIG_IGN would pass on to the candidates' programs.
    signal.signal(signal.SIGINT, lambda number, frame: None)
    threading.Thread(target=_exit_with_the_driver, daemon=True).start()
    while True:
        try:
            cell = pipe.recv()
        except EOFError:
            return
        driver = parent_process()
        if driver is not None and not driver.is_alive():  # it was killed after it had handed the cell out
            return
        with _output_to(_log(work, cell)), events.listening(_sender(pipe)):
            done = run_one(work, cell)
        if done.failure:
            _keep_log(work, cell)
        else:
            with suppress(OSError):
                _log(work, cell).unlink()
        pipe.send(done)


def _sender(pipe: Connection) -> Callable[[events.Event], None]:
    """Return a listener that sends the driver every new stage, and of each at most one event per second."""
    stage, sent = "", 0.0

    def send(event: events.Event) -> None:
        nonlocal stage, sent
        now = time.monotonic()
        if event.stage != stage or now - sent >= EVENT_SECONDS:
            stage, sent = event.stage, now
            with suppress(OSError):  # a driver that has died ends this process by other means
                pipe.send(event)

    return send


def _log(work: Work, cell: Cell) -> Path:
    """Return the log of a running cell: not in the cell's folder, where a kill would leave it for good."""
    return work.root / LOCKS / f"{work.folder(cell).name}.log"


def _keep_log(work: Work, cell: Cell) -> None:
    """Move the log into the folder of the cell that failed."""
    with suppress(OSError):
        work.folder(cell).mkdir(parents=True, exist_ok=True)
        _log(work, cell).replace(work.folder(cell) / LOG)


def _exit_with_the_driver() -> None:
    driver = parent_process()
    if driver is not None:
        wait([driver.sentinel])
        os._exit(1)


@contextmanager
def _output_to(path: Path) -> Iterator[None]:
    """Send all output of the process to a file, also what C libraries print.

    Where the file cannot be made, nothing is redirected: a missing log does not stop a cell.
    """
    copies: dict[int, int] = {}  # descriptor → a copy of its old target
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            _flush()
            for descriptor in (1, 2):
                copies[descriptor] = os.dup(descriptor)
                os.dup2(file.fileno(), descriptor)
    try:
        yield
    finally:
        with suppress(OSError):
            _flush()
        for descriptor, copy in copies.items():
            os.dup2(copy, descriptor)
            os.close(copy)


def _flush() -> None:
    sys.stdout.flush()
    sys.stderr.flush()


def visible_devices() -> list[str]:
    """Return the CUDA devices of this process, by the names that CUDA_VISIBLE_DEVICES would give them."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return [name for name in named.split(",") if name and name != "-1"]
    import torch

    return [str(index) for index in range(torch.cuda.device_count())]  # asks the driver, makes no context


def devices_of(jobs: int, *, gpus: float, visible: list[str]) -> list[str | None]:
    """Return CUDA_VISIBLE_DEVICES for each of `jobs` processes; None leaves the variable as it is.

    >>> devices_of(3, gpus=0.5, visible=["0", "1"])
    ['0', '0', '1']

    More devices than there are is an InputError; without `gpus`, nothing is set.
    """
    if gpus == 0:
        return [None] * jobs
    sharing = int(1 / gpus + 1e-9)  # cells on one device
    room = len(visible) * sharing
    if jobs > room:
        raise InputError(
            f"jobs = {jobs} with gpus = {gpus:g} per cell need more than {counted(len(visible), 'device')}; "
            + (f"use --jobs {room}" if room else "use gpus = 0 to compute on the CPU")
        )
    return [visible[job // sharing] for job in range(jobs)]
