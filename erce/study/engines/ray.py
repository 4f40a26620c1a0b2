"""A Ray cluster, running or started here → cells, wherever it has room. The only file that imports ray.

Nodes share nothing with the driver but Ray: a task gets the recipe, the problems and what the cell's folder
holds already, works in a temporary folder of its node, and sends the folder back. What a node needs is erce,
and the model under the recipe's name.
"""

import json
import logging
import os
import socket
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

from erce.errors import ClusterLostError
from erce.recipe import Cell
from erce.study.engines.locks import cell_lock
from erce.study.engines.one_cell import FAILURE, Caught, Done, Work, one_line, run_one
from erce.study.engines.transfer import pack, unpack
from erce.study.folder import LOCKS, cell_folder

AGAIN = 3  # times that Ray starts a cell anew when its process or its node is lost
QUEUED = 64  # cells that wait in the cluster, so that one which grows on demand sees the demand
CONNECTED = 5.0  # seconds that a head may take to let one in
CONNECTIONS = 3  # attempts of a client, whose server could not start a process for it
LONGEST = 600.0  # seconds for one cell's folder to arrive
POLL = 2.0  # seconds between two looks at whether the head is there
SILENCE = 30.0  # seconds without it, after which it is given up; a head that is restarted needs fewer
OOM = "RAY_task_oom_retries"  # without it a cell too large for its node goes on for ever
CLIENT = "ray://"  # of an address that is reached through Ray's client server
PRINTED = "What it printed is on its node, in the logs of Ray's session (/tmp/ray/session_latest/logs).\n"

Run = Callable[[Sequence[Cell]], Iterator[Done]]


@contextmanager
def cluster(work: Work, jobs: int | None, address: str | None) -> Iterator[Run]:
    """A function that runs cells on the cluster at `address`; None is the one in RAY_ADDRESS, a running one
    on this machine, or one that is started for the purpose and ends with the context.

    A process that is connected to a cluster already uses that one, and stays connected. A head that does not
    answer for `SILENCE` seconds is a `ClusterLostError`.
    """
    if find_spec("ray") is None:
        raise ValueError("engine 'ray' needs Ray; run: pip install 'erce[ray]'")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Ray's own answer to a lost head, after so many seconds, is to end this process where it stands.
    os.environ.setdefault("RAY_gcs_rpc_server_reconnect_timeout_s", str(int(4 * SILENCE)))
    os.environ.setdefault(OOM, str(AGAIN))
    os.environ.setdefault("RAY_CLIENT_RECONNECT_GRACE_PERIOD", str(int(SILENCE)))
    import ray

    # A worker is warm for the next cell on a GPU too, where Ray's default is a fresh process a task.
    options = {
        "num_cpus": (work.threads or 1) * work.processes,
        "num_gpus": work.gpus,
        "max_retries": AGAIN,
        "max_calls": 0,
        "scheduling_strategy": "SPREAD",
    }
    with _connected(ray, address):
        _check_room(ray, options, grows=address is not None or "RAY_ADDRESS" in os.environ)
        task, shared = ray.remote(**options)(_in_a_task), ray.put(work)
        client = _is_client(ray)
        yield _Cluster(ray, task, shared, work, jobs or QUEUED, client, _gone(client)).run


def _is_client(ray: Any) -> bool:
    return ray.util.client.ray.is_connected()


def _gone(client: bool) -> tuple[type[Exception], ...]:
    """What Ray's calls raise where the head is gone; most of them only wait."""
    if not client:
        return (ConnectionError,)
    import grpc

    return ConnectionError, grpc.RpcError


def _check_room(ray: Any, options: dict[str, Any], *, grows: bool) -> None:
    """A ValueError where no node could ever hold a cell; Ray would wait for one, and say nothing."""
    rooms = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    cpus, gpus = options["num_cpus"], options["num_gpus"]
    if grows or any(room.get("CPU", 0) >= cpus and room.get("GPU", 0) >= gpus for room in rooms):
        return
    raise ValueError(
        f"a cell needs {cpus} cores and {gpus:g} GPUs ([resources] in the recipe), and no node of the Ray "
        "cluster has them; ask for less, or name a larger cluster with --engine ray@HOST:6379"
    )


@contextmanager
def _connected(ray: Any, address: str | None) -> Iterator[None]:
    if ray.is_initialized():
        yield
        return
    given = address or os.environ.get("RAY_ADDRESS") or ""
    if given.startswith(CLIENT) and find_spec("grpc") is None:
        raise ValueError(
            f"{given} is reached through Ray's client, which needs grpcio, and that is not installed; run: "
            "pip install 'ray[client]', or use ray@HOST:6379 on a node of the cluster"
        )
    try:
        _reach(given)  # Ray would ask for minutes
        _connect(ray, address, client=given.startswith(CLIENT))
    except (ConnectionError, RuntimeError, OSError) as error:
        where = given or "this machine"
        lines = str(error).strip().splitlines() or ["no message"]
        why = " ".join(dict.fromkeys((lines[0], lines[-1].strip())))  # of a traceback, its cause
        raise ValueError(f"no Ray cluster at {where}: {why}") from None
    try:
        yield
    finally:
        ray.shutdown()


def _connect(ray: Any, address: str | None, *, client: bool) -> None:
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if client:  # its server hands the tasks out, in an environment of its own
        theirs = json.loads(os.environ.get("RAY_RUNTIME_ENV", "{}"))  # which Ray reads where it is given none
        options["runtime_env"] = theirs | {"env_vars": {OOM: os.environ[OOM]} | theirs.get("env_vars", {})}
    for left in reversed(range(CONNECTIONS)):
        try:
            ray.init(address=address, **options)
            return
        except ConnectionAbortedError:  # a client's process on the head may die as it is forked, in gRPC
            if not left:
                raise


@dataclass(frozen=True)
class _Cluster:
    ray: Any
    task: Any  # _in_a_task, as Ray calls it
    shared: Any  # the work, where every node finds it
    work: Work
    most: int  # cells in the cluster at a time
    client: bool  # of a client server, which holds its tasks
    gone: tuple[type[Exception], ...]

    def run(self, cells: Sequence[Cell]) -> Iterator[Done]:
        waiting, running = deque(cells), dict[Any, Cell]()
        try:
            while waiting or running:
                while waiting and len(running) < self.most:
                    yield from self._hand_out(waiting.popleft(), running)
                if running:
                    ready = self._patiently(partial(self._next, list(running)))
                    yield self._ended(ready, running[ready])
                    del running[ready]
        except ClusterLostError:
            running.clear()  # nobody is there to be told
            raise
        finally:
            with suppress(*self.gone):
                for task in running:  # none are left but where this was stopped
                    self.ray.cancel(task, force=True)

    def _hand_out(self, cell: Cell, running: dict[Any, Cell]) -> Iterator[Done]:
        """Yields only the end of a cell whose folder cannot be read."""
        folder, packed = cell_folder(self.work.root, self.work.recipe, cell), b""
        with Caught() as caught, cell_lock(self.work.root, folder.name):
            packed = pack(folder)
        if caught.line:
            yield Done(cell, caught.line, caught.hopeless)
            return

        def hand_out() -> None:  # a client asks the server when its task is hashed
            running[self.task.remote(self.shared, cell, packed)] = cell

        self._patiently(hand_out)

    def _next(self, running: list[Any]) -> Any:
        ready, _ = self.ray.wait(running, num_returns=1, timeout=POLL, fetch_local=False)
        if not ready:
            raise self.ray.exceptions.GetTimeoutError
        return ready[0]

    def _ended(self, ready: Any, cell: Cell) -> Done:
        try:
            waits = (POLL * 2**n for n in range(9))  # a slow transfer begins anew with each
            done, packed = self._patiently(lambda: self.ray.get(ready, timeout=next(waits, LONGEST)))
        except self.ray.exceptions.RayError as error:
            self._patiently(self._heard)  # a task may fail for want of the head, before that is missed
            self._keep(cell, error)
            return Done(cell, _sentence(error))
        folder = cell_folder(self.work.root, self.work.recipe, cell)
        with Caught() as caught, cell_lock(self.work.root, folder.name):
            unpack(packed, folder, scratch=self.work.root / LOCKS)
        return done._replace(failure=caught.line, hopeless=caught.hopeless) if caught.line else done

    def _keep(self, cell: Cell, error: Exception) -> None:
        """All that is known of a task whose process, or whose node, has taken the cell's folder with it."""
        folder = cell_folder(self.work.root, self.work.recipe, cell)
        with Caught(), cell_lock(self.work.root, folder.name):
            folder.mkdir(parents=True, exist_ok=True)
            text = f"{type(error).__name__}: {error}\n\n{PRINTED}"
            (folder / FAILURE).write_text(text, encoding="utf-8", errors="replace")

    def _patiently(self, ask: Callable[[], Any]) -> Any:
        """What Ray answers, asked again every `POLL` seconds for as long as its head is there."""
        heard = time.monotonic()
        while self._connected():
            try:
                return ask()
            except self.ray.exceptions.GetTimeoutError:
                heard = time.monotonic() if self._head_answers() else heard
            except self.ray.exceptions.RayError:  # which a ConnectionError of the task is too
                if self._connected():
                    raise
            except self.gone:
                break
            if time.monotonic() - heard > SILENCE:
                break
        raise ClusterLostError(
            "the Ray cluster does not answer any more; start it again, and the same command goes on with the "
            "cells that had not arrived"
        )

    def _connected(self) -> bool:
        """False of a client that has given up: a call of Ray's would then look for another cluster."""
        return not self.client or _is_client(self.ray)

    def _heard(self) -> None:
        if not self._head_answers():
            time.sleep(POLL)
            raise self.ray.exceptions.GetTimeoutError

    def _head_answers(self) -> bool:
        if self.client:
            return True  # its client says so, after RAY_CLIENT_RECONNECT_GRACE_PERIOD
        try:
            _reach(self.ray.get_runtime_context().gcs_address)
        except OSError:
            return False
        return True


def _reach(address: str) -> None:
    """Connects to HOST:PORT and leaves; other addresses ("auto", "local", none) are Ray's to find."""
    host, _, port = address.removeprefix(CLIENT).rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECTED).close()


def _in_a_task(work: Work, cell: Cell, packed: bytes) -> tuple[Done, bytes]:
    if not work.gpus:  # Ray leaves a task that asked for no device all those of its node
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    with tempfile.TemporaryDirectory(prefix="erce-") as scratch:
        here = replace(work, root=Path(scratch))
        folder = cell_folder(here.root, here.recipe, cell)
        unpack(packed, folder, scratch=here.root)
        done = run_one(here, cell)
        return done, pack(folder)


def _sentence(error: Exception) -> str:
    """What stopped the task: its own exception where it had one, else the first line of what Ray says."""
    return one_line(getattr(error, "cause", None) or error)
