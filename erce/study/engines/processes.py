"""Fresh interpreters on this machine that stay warm → cells, shared out one by one.

Not `concurrent.futures`: there one killed process takes the whole pool with it, and nobody can say which cell
it had. A process that ends costs only its cell, and another takes its place.
"""

import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import TracebackType

from erce.recipe import Cell
from erce.study.engines.devices import devices_of, visible_devices
from erce.study.engines.one_cell import LOG, Done, Work, run_one
from erce.study.folder import LOCKS, cell_folder, is_done

FAREWELL = 5.0  # seconds that an idle process has to leave by itself


@dataclass
class _Worker:
    process: BaseProcess
    pipe: Connection
    place: int  # 0 … jobs − 1, which decides its devices
    cell: Cell | None = None


class Pool:
    """`jobs` processes that are started when cells need them and end with the context."""

    def __init__(self, work: Work, jobs: int) -> None:
        if jobs < 1:
            raise ValueError(f"jobs = {jobs}: at least one process is needed")
        self.work, self.jobs = work, jobs
        self.devices = devices_of(jobs, gpus=work.gpus, visible=visible_devices() if work.gpus else [])
        self.workers: list[_Worker] = []

    def __enter__(self) -> "Pool":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Idle workers leave by themselves, and clean up behind them; all others are ended."""
        for worker in self.workers:
            worker.pipe.close()
        for worker in self.workers:
            if worker.cell is None and error is None:
                worker.process.join(FAREWELL)
            worker.process.kill()
        for worker in self.workers:
            worker.process.join()

    def run(self, cells: Sequence[Cell]) -> Iterator[Done]:
        """Each cell's end as it comes; a process that ended before its cell did is that cell's failure."""
        waiting = deque(cells)
        try:
            while waiting or any(worker.cell for worker in self.workers):
                self._hand_out(waiting)
                busy = {worker.pipe: worker for worker in self.workers if worker.cell}
                for pipe in wait(list(busy)):
                    assert isinstance(pipe, Connection)
                    yield self._ended(busy[pipe])
        finally:
            for worker in [each for each in self.workers if each.cell]:  # none but where this was stopped
                worker.process.kill()
                self._bury(worker)

    def _hand_out(self, waiting: deque[Cell]) -> None:
        for worker in [each for each in self.workers if each.cell is None and not each.process.is_alive()]:
            self._bury(worker)  # it was killed while it had nothing to do
        while waiting:
            idle = next((worker for worker in self.workers if worker.cell is None), None)
            if idle is None and len(self.workers) < self.jobs:
                idle = self._started()
            if idle is None:
                return
            idle.cell = waiting.popleft()
            with suppress(ConnectionError):  # it has died; its end of the pipe tells
                idle.pipe.send(idle.cell)

    def _started(self) -> _Worker:
        place = min(set(range(self.jobs)) - {worker.place for worker in self.workers})
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        settings = _Settings(self._threads(), self.devices[place])
        process = context.Process(target=_serve, args=(theirs, self.work), daemon=False)
        with _environment(settings):
            process.start()
        theirs.close()
        self.workers.append(_Worker(process, ours, place))
        return self.workers[-1]

    def _threads(self) -> int:
        return self.work.threads or max(1, (os.cpu_count() or 1) // self.jobs)

    def _ended(self, worker: _Worker) -> Done:
        cell, worker.cell = worker.cell, None
        assert cell is not None
        try:
            return worker.pipe.recv()
        except (EOFError, OSError):  # OSError: in the middle of its answer
            self._bury(worker)
        if is_done(self.work.root, self.work.recipe, cell):
            return Done(cell)  # all that was lost is the answer
        _keep_log(self.work, cell)
        return Done(cell, _epitaph(worker.process.exitcode))

    def _bury(self, worker: _Worker) -> None:
        worker.process.join()
        worker.pipe.close()
        self.workers.remove(worker)


def _epitaph(code: int | None) -> str:
    if code is None or code >= 0:
        return f"its process ended with exit code {code}"
    name = signal.Signals(-code).name
    why = ": killed, or out of memory (fewer --jobs need less)" if name == "SIGKILL" else ""
    return f"its process was ended by {name}{why}"


@dataclass(frozen=True)
class _Settings:
    threads: int
    devices: str | None


@contextmanager
def _environment(settings: _Settings) -> Iterator[None]:
    """Ours as a new process is to find it: its first import of torch, in a script of the user's, reads it."""
    given = {"OMP_NUM_THREADS": str(settings.threads)}
    if settings.devices is not None:
        given["CUDA_VISIBLE_DEVICES"] = settings.devices
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _serve(pipe: Connection, work: Work) -> None:
    """A worker's life: cells come, ends go, until the driver closes the pipe or dies."""
    # Ctrl-C is the driver's to answer, who then ends us; SIG_IGN would pass on to programs that are judged.
    signal.signal(signal.SIGINT, lambda number, frame: None)
    threading.Thread(target=_leave_with_the_driver, daemon=True).start()
    while True:
        try:
            cell = pipe.recv()
        except EOFError:
            return
        driver = parent_process()
        if driver is not None and not driver.is_alive():  # it was killed after it had handed the cell out
            return
        with _Logged(_log(work, cell)):
            done = run_one(work, cell)
        if done.failure:
            _keep_log(work, cell)
        else:
            with suppress(OSError):
                _log(work, cell).unlink()
        pipe.send(done)


def _log(work: Work, cell: Cell) -> Path:
    """Where it is written: not in the cell's folder, which a kill must leave without it once it is done."""
    return work.root / LOCKS / f"{cell_folder(work.root, work.recipe, cell).name}.log"


def _keep_log(work: Work, cell: Cell) -> None:
    """Puts it into the folder of the cell that failed."""
    folder = cell_folder(work.root, work.recipe, cell)
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        _log(work, cell).replace(folder / LOG)


def _leave_with_the_driver() -> None:
    driver = parent_process()
    if driver is not None:
        wait([driver.sentinel])
        os._exit(1)


class _Logged:
    """What the process prints goes to a file meanwhile, also what its libraries print beneath Python.

    Where the file cannot be made, nothing is redirected: a log is no reason to stop.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.kept: list[tuple[int, int]] = []

    def __enter__(self) -> None:
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("wb") as file:
                sys.stdout.flush()
                sys.stderr.flush()
                for descriptor in (1, 2):
                    self.kept.append((descriptor, os.dup(descriptor)))
                    os.dup2(file.fileno(), descriptor)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        for descriptor, kept in self.kept:
            os.dup2(kept, descriptor)
            os.close(kept)
        self.kept.clear()
