"""Ray nodes on this machine, each with processes of its own."""

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

ATTEMPTS = 4
FINDS_US = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])}


@contextmanager
def cluster(*rooms: int, **head):
    """A head, made with `head`, and a node with room for so many cells for each of `rooms`; ends with them.

    Its processes find the files beside this one. What has not started after Ray's 30 s, as on a machine with
    much else to do, is started again.
    """
    made, nodes = _started(rooms, head, attempts=ATTEMPTS)
    try:
        yield made, nodes
    finally:
        made.shutdown()


def _started(rooms, head, *, attempts: int):
    from ray.cluster_utils import Cluster

    made = Cluster()
    try:
        with patch.dict(os.environ, FINDS_US):
            made.add_node(**head)
            nodes = [made.add_node(num_cpus=room) for room in rooms]
        made.wait_for_nodes()
        return made, nodes
    except Exception as error:  # Ray raises bare Exception where a node is too slow to start
        made.shutdown()
        if attempts == 1 or "timed out" not in str(error):
            raise
    return _started(rooms, head, attempts=attempts - 1)
