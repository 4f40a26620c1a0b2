"""A Ray cluster, running or started here → cells, wherever it has room. The only file that imports ray.

Nodes share nothing with the driver but Ray: a task gets the recipe, the problems and what the cell's folder
holds already, works in a temporary folder of its node, and sends the folder back. What a node needs is erce,
and the model under the recipe's name. Ray itself starts lost tasks again and shares out cores and devices.
"""

import logging
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from erce.errors import ClusterLostError, InputError, first_line
from erce.recipe import Cell
from erce.study.engines import FAILURE, CellFailure, Done, RunCells, Work, one_line, run_one
from erce.study.engines.locks import cell_lock, pack, unpack
from erce.study.folder import LOCKS

TASK_RETRIES = 3  # times that Ray starts a cell anew when its process or its node is lost
QUEUED_CELLS = 64  # that wait in the cluster, so that a cluster which grows on demand sees the demand
CONNECT_SECONDS = 5.0  # that a head may take to let a driver in
POLL_SECONDS = 2.0  # between two looks at whether the head is there
SILENCE_SECONDS = 30.0  # after which the head is given up; a head that is restarted needs fewer


@contextmanager
def cluster(work: Work, jobs: int | None, address: str | None) -> Iterator[RunCells]:
    """Connect to the cluster at `address` and yield the function that runs cells on it.

    None is the cluster in RAY_ADDRESS, a running one on this machine, or one that is started for the purpose
    and ends with the context. A head that does not answer for `SILENCE_SECONDS` is a `ClusterLostError`. A
    process that is connected to a cluster already is an InputError.
    """
    if find_spec("ray") is None:
        raise InputError("engine 'ray' needs Ray; run: pip install 'erce[ray]'")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # After this time without a head, Ray itself ends this process at once.
    os.environ.setdefault("RAY_gcs_rpc_server_reconnect_timeout_s", str(int(4 * SILENCE_SECONDS)))
    # Without it a cell too large for its node goes on for ever.
    os.environ.setdefault("RAY_task_oom_retries", str(TASK_RETRIES))
    import ray

    resources = work.recipe.resources
    # A worker is warm for the next cell on a GPU too, where Ray's default is a fresh process per task.
    options = {
        "num_cpus": resources.threads or 1,
        "num_gpus": resources.gpus,
        "max_retries": TASK_RETRIES,
        "max_calls": 0,
        "scheduling_strategy": "SPREAD",
    }
    with _connected(ray, address):
        _check_room(ray, options, grows=address is not None or "RAY_ADDRESS" in os.environ)
        task, shared = ray.remote(**options)(_in_a_task), ray.put(work)
        yield _Cluster(ray, task, shared, work, jobs or QUEUED_CELLS).run


@contextmanager
def _connected(ray: Any, address: str | None) -> Iterator[None]:
    where, handler = address or os.environ.get("RAY_ADDRESS") or "", signal.getsignal(signal.SIGTERM)
    try:
        _reach(where)  # Ray would ask for minutes
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, OSError) as error:
        raise InputError(f"no Ray cluster at {where or 'this machine'}: {first_line(error)}") from None
    if handler is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, handler)  # Ray's own would end the process without a word
    try:
        yield
    finally:
        ray.shutdown()


def _reach(address: str) -> None:
    """Connect to HOST:PORT and leave; other addresses ("auto", "local", none) are Ray's to find."""
    host, _, port = address.rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_SECONDS).close()


def _check_room(ray: Any, options: dict[str, Any], *, grows: bool) -> None:
    """Raise an InputError if no node could ever hold a cell; print a sentence if GPUs would stay unused."""
    rooms = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    cpus, gpus = options["num_cpus"], options["num_gpus"]
    if not gpus and any(room.get("GPU") for room in rooms):
        print("The cluster has GPUs, but cells use none; to use them: [resources] gpus = 1", file=sys.stderr)
    if grows or any(room.get("CPU", 0) >= cpus and room.get("GPU", 0) >= gpus for room in rooms):
        return
    raise InputError(
        f"a cell needs {cpus} cores and {gpus:g} GPUs ([resources] in the recipe), and no node of the Ray "
        "cluster has them; ask for less, or name a larger cluster with --engine ray@HOST:6379"
    )


@dataclass(frozen=True)
class _Cluster:
    """A connected cluster, and what every task on it needs."""

    ray: Any
    task: Any  # _in_a_task, as Ray calls it
    shared: Any  # the work, where every node finds it
    work: Work
    most: int  # cells in the cluster at a time

    def run(self, cells: Sequence[Cell]) -> Iterator[Done]:
        waiting, running = deque(cells), dict[Any, Cell]()
        read = dict.fromkeys(map(self.work.recipe.source, cells))
        sources = {cell: self.ray.put(pack(self.work.folder(cell))) for cell in read if cell is not None}
        try:
            while waiting or running:
                while waiting and len(running) < self.most:
                    failed = self._submit(waiting.popleft(), running, sources)
                    if failed is not None:
                        yield failed
                if running:
                    task = self._while_head_answers(lambda: self._first_ready(list(running)))
                    yield self._fetch(task, running[task])
                    del running[task]
        except ClusterLostError:
            running.clear()  # no head is left to cancel them
            raise
        finally:
            with suppress(ConnectionError):
                for task in running:  # some are left only if this was stopped
                    self.ray.cancel(task, force=True)

    def _submit(self, cell: Cell, running: dict[Any, Cell], sources: dict[Cell, Any]) -> Done | None:
        """Submit a cell; return its failure if its folder cannot be packed, else None."""
        folder, packed = self.work.folder(cell), b""
        with CellFailure() as caught, cell_lock(self.work.root, folder.name):
            packed = pack(folder)
        if caught.line:
            return Done(cell, caught.line, caught.fatal)
        source = self.work.recipe.source(cell)
        running[self.task.remote(self.shared, cell, packed, sources[source] if source else b"")] = cell
        return None

    def _first_ready(self, running: list[Any]) -> Any:
        """Return a task whose folder is here, or that failed; raise GetTimeoutError after `POLL_SECONDS`."""
        ready, _ = self.ray.wait(running, num_returns=1, timeout=POLL_SECONDS, fetch_local=True)
        if not ready:
            raise self.ray.exceptions.GetTimeoutError
        return ready[0]

    def _fetch(self, task: Any, cell: Cell) -> Done:
        """Unpack the folder of an ended cell, or keep Ray's error for a task that failed."""
        folder = self.work.folder(cell)
        try:
            done, packed = self.ray.get(task)
        except self.ray.exceptions.RayError as error:
            self._while_head_answers(self._hear)  # a task also fails where the head is gone
            with CellFailure(), cell_lock(self.work.root, folder.name):
                folder.mkdir(parents=True, exist_ok=True)
                text = (
                    f"{type(error).__name__}: {error}\n\nWhat it printed is on its node, in the logs of "
                    "Ray's session (/tmp/ray/session_latest/logs).\n"
                )
                (folder / FAILURE).write_text(text, encoding="utf-8", errors="replace")
            return Done(cell, one_line(getattr(error, "cause", None) or error))
        with CellFailure() as caught, cell_lock(self.work.root, folder.name):
            unpack(packed, folder, scratch=self.work.root / LOCKS)
        return done._replace(failure=caught.line, fatal=caught.fatal) if caught.line else done

    def _while_head_answers(self, question: Callable[[], Any]) -> Any:
        """Return Ray's answer; ask again after each GetTimeoutError, for as long as the head is there."""
        heard = time.monotonic()
        while time.monotonic() - heard <= SILENCE_SECONDS:
            try:
                return question()
            except self.ray.exceptions.GetTimeoutError:
                with suppress(OSError):
                    _reach(self.ray.get_runtime_context().gcs_address)
                    heard = time.monotonic()
            except ConnectionError:
                break
        raise ClusterLostError(
            "the Ray cluster does not answer any more; start it again, and the same command goes on with the "
            "cells that had not arrived"
        )

    def _hear(self) -> None:
        try:
            _reach(self.ray.get_runtime_context().gcs_address)
        except OSError:
            time.sleep(POLL_SECONDS)
            raise self.ray.exceptions.GetTimeoutError from None


def _in_a_task(work: Work, cell: Cell, packed: bytes, read: bytes) -> tuple[Done, bytes]:
    """Run a cell on its node, in a temporary folder, beside the folder that it `read`s (`Recipe.source`).

    Return its end and its packed folder.
    """
    if not work.recipe.resources.gpus:  # Ray lets a task that asked for no device see all of its node's
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    with tempfile.TemporaryDirectory(prefix="erce-") as scratch:
        here = replace(work, root=Path(scratch))
        folder = here.folder(cell)
        unpack(packed, folder, scratch=here.root)
        if source := here.recipe.source(cell):
            unpack(read, here.folder(source), scratch=here.root)
        done = run_one(here, cell)
        return done, pack(folder)
