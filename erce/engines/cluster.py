"""A Ray cluster, running or started here → cells, wherever it has room. The only file that imports ray.

Nodes share nothing with the driver but Ray: a task gets the recipe, the problems and what the cell's folder
holds already, works in a temporary folder of its node, and sends the folder back. What a node needs is erce,
and the model under the recipe's name.
"""

import logging
import os
import re
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from erce.engines.cell import Caught, Done, Work, run_one
from erce.engines.parcel import pack, unpack
from erce.recipe import Cell
from erce.results import cell_folder

AGAIN = 3  # times that Ray starts a cell anew when its process or its node is lost
QUEUED = 64  # cells that wait in the cluster, so that one which grows on demand sees the demand


@contextmanager
def cluster(
    work: Work, jobs: int, address: str | None
) -> Iterator[Callable[[Sequence[Cell]], Iterator[Done]]]:
    """A function that runs cells on the cluster at `address`; None is the one in RAY_ADDRESS, a running one
    on this machine, or one that is started for the purpose and ends with the context."""
    if find_spec("ray") is None:
        raise ValueError("engine 'ray' needs Ray; run: pip install 'erce[ray]'")
    import ray

    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # A worker is warm for the next cell on a GPU too, where Ray's default is a fresh process a task.
    options = {
        "num_cpus": work.threads or 1,
        "num_gpus": work.gpus,
        "max_retries": AGAIN,
        "max_calls": 0,
        "scheduling_strategy": "SPREAD",
    }
    try:
        ray.init(address=address, log_to_driver=False, ignore_reinit_error=True, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, OSError) as error:
        where = address or os.environ.get("RAY_ADDRESS") or "this machine"
        raise ValueError(f"no Ray cluster at {where}: {str(error).splitlines()[0]}") from None
    try:
        shared: Any = ray.put(work)
        task = ray.remote(**options)(_in_a_task)
        yield lambda cells: _run(ray, task, shared, work, deque(cells), jobs or QUEUED)
    finally:
        ray.shutdown()


def _run(ray: Any, task: Any, shared: Any, work: Work, waiting: deque[Cell], most: int) -> Iterator[Done]:
    running: dict[Any, Cell] = {}
    while waiting or running:
        while waiting and len(running) < most:
            cell = waiting.popleft()
            packed = pack(cell_folder(work.root, work.recipe, cell))
            running[task.remote(shared, cell, packed)] = cell
        (ready,), _ = ray.wait(list(running), num_returns=1, fetch_local=False)
        yield _ended(ray, ready, running.pop(ready), work)


def _ended(ray: Any, ready: Any, cell: Cell, work: Work) -> Done:
    try:
        done, packed = ray.get(ready)
    except ray.exceptions.RayError as error:
        return Done(cell, _sentence(error))
    with Caught() as caught:
        unpack(packed, cell_folder(work.root, work.recipe, cell))
    return done._replace(failure=caught.line, hopeless=caught.hopeless) if caught.line else done


def _in_a_task(work: Work, cell: Cell, packed: bytes) -> tuple[Done, bytes]:
    with tempfile.TemporaryDirectory(prefix="erce-") as scratch:
        here = replace(work, root=Path(scratch))
        folder = cell_folder(here.root, here.recipe, cell)
        unpack(packed, folder)
        done = run_one(here, cell)
        return done, pack(folder)


def _sentence(error: Exception) -> str:
    """The last line of what Ray says, where the cause is, without its colours."""
    lines = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip().splitlines() or ["no message"]
    return f"{type(error).__name__}: {lines[-1].strip()}"[:500]
