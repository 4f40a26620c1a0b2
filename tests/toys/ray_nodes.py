"""Ray nodes on this machine, each with processes of its own.

python -m toys.ray_nodes    starts a small head, says in JSON where it is, and ends with its standard input
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from unittest.mock import patch

import pytest

from toys import FINDS_TOYS
from toys.waiting import DEADLINE_SECONDS

ATTEMPTS = 20
RAYS_OWN_WARNINGS = [  # of its process handling, and of files that it leaves for the garbage collector
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
SMALL = {"num_cpus": 1, "include_dashboard": False, "include_log_monitor": False, "no_monitor": True}


@contextmanager
def cluster(*rooms: int, **head):
    """A head, made with `head`, and a node with room for so many cells for each of `rooms`; ends with them.

    Its processes find the files beside this one. What has not started after Ray's 30 s, as on a machine with
    much else to do, is started again.
    """
    before = signal.getsignal(signal.SIGTERM)  # Ray leaves a handler that exits with 1
    made, nodes = _started(rooms, head, attempts=ATTEMPTS)
    try:
        yield made, nodes
    finally:
        made.shutdown()
        signal.signal(signal.SIGTERM, before)


def _started(rooms, head, *, attempts: int):
    from ray.cluster_utils import Cluster

    made = Cluster()
    try:
        with patch.dict(os.environ, FINDS_TOYS):
            made.add_node(**head)
            nodes = [made.add_node(num_cpus=room) for room in rooms]
        made.wait_for_nodes()
        return made, nodes
    except Exception as error:  # Ray raises bare Exception where a node is too slow to start
        made.shutdown()
        if attempts == 1 or "timed out" not in str(error).lower():
            raise
    return _started(rooms, head, attempts=attempts - 1)


@dataclass
class Head:
    """Where it is, and the process of its GCS."""

    address: str
    gcs: int


@contextmanager
def head() -> Iterator[Head]:
    """A small head, of processes that may be killed: one of their own has started them."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    command = [sys.executable, "-m", "toys.ray_nodes"]
    with subprocess.Popen(command, text=True, env=os.environ | FINDS_TOYS, **pipes) as parent:
        yield Head(**json.loads(parent.stdout.readline()))
        parent.communicate(timeout=DEADLINE_SECONDS)


if __name__ == "__main__":
    with cluster(**SMALL) as (made, _):
        gcs = made.head_node.all_processes["gcs_server"][0].process.pid
        print(json.dumps({"address": made.address, "gcs": gcs}), flush=True)
        sys.stdin.read()
