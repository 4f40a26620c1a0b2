"""Three processes that are started once, run functions together over gloo and return what each found."""

import multiprocessing
import warnings
from collections.abc import Callable
from datetime import timedelta
from multiprocessing.pool import Pool
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

WORLD = 3
DEADLOCK_SECONDS = 600.0  # that a collective waits for the others
_groups: dict[int, Any] = {}


class Processes:
    """Killed on leaving. A function that they run is a module's, and takes their group first."""

    def __init__(self, folder: Path) -> None:
        server = multiprocessing.get_context("forkserver")  # which imports once for all of them
        server.set_forkserver_preload(["toys.shared_heads"])
        self._pools = [server.Pool(1, _join, (rank, str(folder / "meeting"))) for rank in range(WORLD)]

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *exception: object) -> None:
        for pool in self._pools:
            pool.terminate()

    def run(self, function: Callable[..., Any], *args: Any, size: int = WORLD) -> list[Any]:
        """Return the function's results in the last `size` processes; an exception there is raised here."""
        pools: list[Pool] = self._pools[WORLD - size :]
        results = [pool.apply_async(_run, (function, size, args)) for pool in pools]
        return [x.get(timeout=2 * DEADLOCK_SECONDS) for x in results]


def _join(rank: int, meeting: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=WORLD)
    for size in range(1, WORLD + 1):  # the group's ranks are not the world's
        ranks = list(range(WORLD - size, WORLD))
        _groups[size] = dist.new_group(ranks, timeout=timedelta(seconds=DEADLOCK_SECONDS))


def _run(function: Callable[..., Any], size: int, args: tuple) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return function(_groups[size], *args)
