"""A Ray cluster, running or started here → cells, wherever it has room. The only file that imports ray.

Nodes share nothing with the driver but Ray: a task gets the recipe, the problems and what the cell's folder
holds already, works in a temporary folder of its node, and sends the folder back. What a node needs is erce,
and the model under the recipe's name.
"""

import json
import logging
import os
import socket
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from erce.errors import ClusterLostError, InputError
from erce.recipe import Cell
from erce.study.engines.locks import cell_lock
from erce.study.engines.one_cell import FAILURE, CellFailure, Done, RunCells, Work, one_line, run_one
from erce.study.engines.transfer import pack, unpack
from erce.study.folder import LOCKS, cell_folder

TASK_RETRIES = 3  # times that Ray starts a cell anew when its process or its node is lost
QUEUED_CELLS = 64  # that wait in the cluster, so that a cluster which grows on demand sees the demand
CONNECT_SECONDS = 5.0  # that a head may take to let a driver in
CONNECT_ATTEMPTS = 3  # of a client, whose server could not start a process for it
ARRIVAL_SECONDS = 600.0  # for one cell's folder to arrive
OOM_VARIABLE = "RAY_task_oom_retries"  # without it a cell too large for its node goes on for ever
CLIENT_SCHEME = "ray://"  # of an address that is reached through Ray's client server
WHERE_PRINTED = (
    "What it printed is on its node, in the logs of Ray's session (/tmp/ray/session_latest/logs).\n"
)


@dataclass(frozen=True)
class Patience:
    """How long a driver waits for the head."""

    poll_seconds: float = 2.0  # between two looks at whether the head is there
    silence_seconds: float = 30.0  # after which the head is given up; a head that is restarted needs fewer


PATIENCE = Patience()


def check_installed(address: str | None) -> None:
    """Raise an InputError if Ray, or what its client needs, is missing."""
    if find_spec("ray") is None:
        raise InputError("engine 'ray' needs Ray; run: pip install 'erce[ray]'")
    where = _where(address)
    if where.startswith(CLIENT_SCHEME) and find_spec("grpc") is None:
        raise InputError(
            f"{where} is reached through Ray's client, which needs grpcio, and that is not installed; run: "
            "pip install 'ray[client]', or use ray@HOST:6379 on a node of the cluster"
        )


def is_connected() -> bool:
    """Return True if this process is connected to a cluster."""
    return "ray" in sys.modules and sys.modules["ray"].is_initialized()


@contextmanager
def cluster(
    work: Work, jobs: int | None, address: str | None, *, patience: Patience = PATIENCE
) -> Iterator[RunCells]:
    """Connect to the cluster at `address` and yield the function that runs cells on it.

    None is the cluster in RAY_ADDRESS, a running one on this machine, or one that is started for the purpose
    and ends with the context. A process that is connected to a cluster already uses that one, and stays
    connected. A head that does not answer for `silence_seconds` is a `ClusterLostError`.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # After this time without a head, Ray itself ends this process at once.
    os.environ.setdefault("RAY_gcs_rpc_server_reconnect_timeout_s", str(int(4 * patience.silence_seconds)))
    os.environ.setdefault(OOM_VARIABLE, str(TASK_RETRIES))
    os.environ.setdefault("RAY_CLIENT_RECONNECT_GRACE_PERIOD", str(int(patience.silence_seconds)))
    import ray

    # A worker is warm for the next cell on a GPU too, where Ray's default is a fresh process a task.
    options = {
        "num_cpus": (work.threads or 1) * work.processes,
        "num_gpus": work.gpus,
        "max_retries": TASK_RETRIES,
        "max_calls": 0,
        "scheduling_strategy": "SPREAD",
    }
    with _connected(ray, address):
        _check_room(ray, options, grows=address is not None or "RAY_ADDRESS" in os.environ)
        task, shared = ray.remote(**options)(_in_a_task), ray.put(work)
        client = _is_client(ray)
        gone = _errors_when_gone(client)
        yield _Cluster(ray, task, shared, work, jobs or QUEUED_CELLS, patience, client, gone).run


def _is_client(ray: Any) -> bool:
    return ray.util.client.ray.is_connected()


def _errors_when_gone(client: bool) -> tuple[type[Exception], ...]:
    """Return the errors that Ray's calls raise once the head is gone; most calls only wait."""
    if not client:
        return (ConnectionError,)
    import grpc

    return ConnectionError, grpc.RpcError


def _check_room(ray: Any, options: dict[str, Any], *, grows: bool) -> None:
    """Raise an InputError if no node could ever hold a cell; Ray would wait for such a node in silence."""
    rooms = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    cpus, gpus = options["num_cpus"], options["num_gpus"]
    if grows or any(room.get("CPU", 0) >= cpus and room.get("GPU", 0) >= gpus for room in rooms):
        return
    raise InputError(
        f"a cell needs {cpus} cores and {gpus:g} GPUs ([resources] in the recipe), and no node of the Ray "
        "cluster has them; ask for less, or name a larger cluster with --engine ray@HOST:6379"
    )


def _where(address: str | None) -> str:
    return address or os.environ.get("RAY_ADDRESS") or ""


@contextmanager
def _connected(ray: Any, address: str | None) -> Iterator[None]:
    if ray.is_initialized():
        yield
        return
    where = _where(address)
    try:
        _reach(where)  # Ray would ask for minutes
        _connect(ray, address, client=where.startswith(CLIENT_SCHEME))
    except (ConnectionError, RuntimeError, OSError) as error:
        lines = str(error).strip().splitlines() or ["no message"]
        why = " ".join(dict.fromkeys((lines[0], lines[-1].strip())))  # of a traceback, its cause
        raise InputError(f"no Ray cluster at {where or 'this machine'}: {why}") from None
    try:
        yield
    finally:
        ray.shutdown()


def _connect(ray: Any, address: str | None, *, client: bool) -> None:
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if client:  # the client server hands the tasks out, in an environment of its own
        theirs = json.loads(os.environ.get("RAY_RUNTIME_ENV", "{}"))  # Ray reads it only if given none
        variables = {OOM_VARIABLE: os.environ[OOM_VARIABLE]} | theirs.get("env_vars", {})
        options["runtime_env"] = theirs | {"env_vars": variables}
    for attempt in range(1, CONNECT_ATTEMPTS + 1):
        try:
            ray.init(address=address, **options)
            return
        except ConnectionAbortedError:  # a client's process on the head may die in gRPC as it is forked
            if attempt == CONNECT_ATTEMPTS:
                raise


@dataclass(frozen=True)
class _Cluster:
    """A connected cluster, and what every task on it needs."""

    ray: Any
    task: Any  # _in_a_task, as Ray calls it
    shared: Any  # the work, where every node finds it
    work: Work
    most: int  # cells in the cluster at a time
    patience: Patience
    client: bool  # whether a client server holds the tasks
    gone: tuple[type[Exception], ...]  # the errors that Ray's calls raise once the head is gone

    def run(self, cells: Sequence[Cell]) -> Iterator[Done]:
        waiting, running = deque(cells), dict[Any, Cell]()
        try:
            while waiting or running:
                while waiting and len(running) < self.most:
                    failed = self._submit(waiting.popleft(), running)
                    if failed is not None:
                        yield failed
                if running:
                    task = self._ask(partial(self._first_ready, list(running)))
                    yield self._fetch(task, running[task])
                    del running[task]
        except ClusterLostError:
            running.clear()  # no head is left to cancel them
            raise
        finally:
            with suppress(*self.gone):
                for task in running:  # some are left only if this was stopped
                    self.ray.cancel(task, force=True)

    def _submit(self, cell: Cell, running: dict[Any, Cell]) -> Done | None:
        """Submit a cell; return its failure if its folder cannot be packed, else None."""
        folder, packed = cell_folder(self.work.root, self.work.recipe, cell), b""
        with CellFailure() as caught, cell_lock(self.work.root, folder.name):
            packed = pack(folder)
        if caught.line:
            return Done(cell, caught.line, caught.hopeless)

        def submit() -> None:  # to hash a task, a client asks its server; so the dict is filled in here too
            running[self.task.remote(self.shared, cell, packed)] = cell

        self._ask(submit)
        return None

    def _first_ready(self, running: list[Any]) -> Any:
        """Return a task that has ended; raise Ray's GetTimeoutError if none has within `poll_seconds`."""
        ready, _ = self.ray.wait(
            running, num_returns=1, timeout=self.patience.poll_seconds, fetch_local=False
        )
        if not ready:
            raise self.ray.exceptions.GetTimeoutError
        return ready[0]

    def _fetch(self, task: Any, cell: Cell) -> Done:
        """Fetch the folder of an ended cell, or keep Ray's error for a task that failed."""
        try:
            waits = (
                self.patience.poll_seconds * 2**n for n in range(9)
            )  # a slow transfer begins anew with each
            done, packed = self._ask(lambda: self.ray.get(task, timeout=next(waits, ARRIVAL_SECONDS)))
        except self.ray.exceptions.RayError as error:
            self._await_head()  # a task may fail because the head is gone, before we notice
            self._keep_failure(cell, error)
            return Done(cell, error_line(error))
        folder = cell_folder(self.work.root, self.work.recipe, cell)
        with CellFailure() as caught, cell_lock(self.work.root, folder.name):
            unpack(packed, folder, scratch=self.work.root / LOCKS)
        return done._replace(failure=caught.line, hopeless=caught.hopeless) if caught.line else done

    def _keep_failure(self, cell: Cell, error: Exception) -> None:
        """Write failure.txt for a task whose process or node is lost, and the cell's folder with it."""
        folder = cell_folder(self.work.root, self.work.recipe, cell)
        with CellFailure(), cell_lock(self.work.root, folder.name):
            folder.mkdir(parents=True, exist_ok=True)
            text = f"{type(error).__name__}: {error}\n\n{WHERE_PRINTED}"
            (folder / FAILURE).write_text(text, encoding="utf-8", errors="replace")

    def _ask(self, question: Callable[[], Any]) -> Any:
        """Return Ray's answer; ask again after each GetTimeoutError, for as long as the head is there."""
        heard = time.monotonic()
        while self._is_connected() and time.monotonic() - heard <= self.patience.silence_seconds:
            try:
                return question()
            except self.ray.exceptions.GetTimeoutError:
                if self._head_answers():
                    heard = time.monotonic()
            except self.ray.exceptions.RayError:  # also a ConnectionError that the task raised
                if self._is_connected():
                    raise
            except self.gone:
                break
        raise cluster_lost()

    def _await_head(self) -> None:
        """Return once the head answers; a ClusterLostError if it stays silent."""
        heard = time.monotonic()
        while self._is_connected() and time.monotonic() - heard <= self.patience.silence_seconds:
            if self._head_answers():
                return
            time.sleep(self.patience.poll_seconds)
        raise cluster_lost()

    def _is_connected(self) -> bool:
        """Return False for a client that has given up: Ray's next call would look for another cluster."""
        return not self.client or _is_client(self.ray)

    def _head_answers(self) -> bool:
        if self.client:
            return True  # Ray's client notices, after RAY_CLIENT_RECONNECT_GRACE_PERIOD
        try:
            _reach(self.ray.get_runtime_context().gcs_address)
        except OSError:
            return False
        return True


def cluster_lost() -> ClusterLostError:
    """Return the error of a driver whose cluster is gone."""
    return ClusterLostError(
        "the Ray cluster does not answer any more; start it again, and the same command goes on with the "
        "cells that had not arrived"
    )


def _reach(address: str) -> None:
    """Connect to HOST:PORT and leave; other addresses ("auto", "local", none) are Ray's to find."""
    host, _, port = address.removeprefix(CLIENT_SCHEME).rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_SECONDS).close()


def _in_a_task(work: Work, cell: Cell, packed: bytes) -> tuple[Done, bytes]:
    """Run a cell on its node, in a temporary folder; return its end and its packed folder."""
    if not work.gpus:  # Ray lets a task that asked for no device see all of its node's
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    with tempfile.TemporaryDirectory(prefix="erce-") as scratch:
        here = replace(work, root=Path(scratch))
        folder = cell_folder(here.root, here.recipe, cell)
        unpack(packed, folder, scratch=here.root)
        done = run_one(here, cell)
        return done, pack(folder)


def error_line(error: Exception) -> str:
    """Return the task's own exception where it had one, else the first line of what Ray says."""
    return one_line(getattr(error, "cause", None) or error)
