"""A Ray cluster of several nodes: cells and adapters arrive at the driver, also when a node is lost."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import engine_work
import pytest
import ray_nodes
from engine_work import CELLS, RECIPE

from erce.engines import FAILURE, Done, Work, open_engine
from erce.engines.cluster import _sentence
from erce.results import RESULT, cell_folder

pytest.importorskip("ray", reason="Ray is an extra: pip install 'erce[ray]'")
pytestmark = [
    pytest.mark.slow,
    # Of Ray's own process handling, and of its files that it leaves for the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def nodes():
    """A head without room for cells, and two nodes with room for one each."""
    with ray_nodes.cluster(1, 1, num_cpus=0) as started:
        yield started


def until(holds, seconds: float = 180.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.05)


def work(root: Path, run, signs: Path) -> Work:
    root.mkdir(exist_ok=True)
    signs.mkdir(exist_ok=True)
    return Work(root, replace(RECIPE, data=str(signs)), run)


def test_cells_arrive_from_nodes_that_share_no_folder_with_the_driver(tmp_path, nodes):
    given = work(tmp_path / "study", engine_work.leave_a_result, tmp_path / "signs")
    with open_engine(given, engine=f"ray@{nodes[0].address}") as run:
        assert not any(done.failure for done in run(CELLS))
    for cell in CELLS:
        folder = cell_folder(given.root, given.recipe, cell)
        assert {path.name for path in folder.iterdir()} == {"adapter", "runs", RESULT}
        assert (folder / "adapter" / "weights").stat().st_size == 256 * (1 + cell.seed)


def test_a_killed_process_is_replaced(tmp_path, nodes):
    given = work(tmp_path / "study", engine_work.die_once, tmp_path / "signs")
    with open_engine(given, engine=f"ray@{nodes[0].address}") as run:
        assert not any(done.failure for done in run(CELLS))
    assert len(list((tmp_path / "signs").iterdir())) == 2


def test_a_cell_that_fails_brings_its_traceback_home(tmp_path, nodes):
    given = work(tmp_path / "study", engine_work.fail_at_lam_one, tmp_path / "signs")
    with open_engine(given, engine=f"ray@{nodes[0].address}") as run:
        failures = {done.cell: done.failure for done in run(CELLS)}
    for cell, failure in failures.items():
        assert bool(failure) == (cell.lam == 1.0)
        assert (cell_folder(given.root, given.recipe, cell) / FAILURE).exists() == (cell.lam == 1.0)


def test_a_node_that_is_lost_costs_nothing_but_time(tmp_path, nodes):
    cluster, (one, two) = nodes
    signs = tmp_path / "signs"
    given = work(tmp_path / "study", engine_work.wait_for_a_sign, signs)
    with open_engine(given, engine=f"ray@{cluster.address}") as run:
        ends: list[Done] = []
        sweep = threading.Thread(target=lambda: ends.extend(run(CELLS)), daemon=True)
        sweep.start()
        until(lambda: len({path.name.split("-on-")[1] for path in signs.iterdir()}) == 2)
        lost = {path.name.split("-on-")[0] for path in signs.glob(f"*-on-{one.node_id}")}
        assert lost
        cluster.remove_node(one, allow_graceful=False)
        (signs / "go").touch()
        sweep.join(180)
        assert not sweep.is_alive()
    assert sorted(done.cell.name for done in ends) == sorted(cell.name for cell in CELLS)
    assert not any(done.failure for done in ends)
    assert {path.name.split("-on-")[0] for path in signs.glob(f"*-on-{two.node_id}")} >= lost


def test_cells_run_on_a_cluster_at_the_address_of_its_client_server(tmp_path):
    pytest.importorskip("grpc", reason="a client needs it: pip install 'ray[client]'")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with ray_nodes.cluster(num_cpus=1, ray_client_server_port=port):
        given = work(tmp_path / "study", engine_work.leave_a_result, tmp_path / "signs")
        with open_engine(given, engine=f"ray://127.0.0.1:{port}") as run:
            assert not any(done.failure for done in run(CELLS))
    assert all((cell_folder(given.root, given.recipe, cell) / RESULT).is_file() for cell in CELLS)


DRIVER = """
import sys
from pathlib import Path
import engine_work
from dataclasses import replace
from erce.engines import Work, open_engine

recipe = replace(engine_work.RECIPE, data=sys.argv[3])
with open_engine(Work(Path(sys.argv[2]), recipe, engine_work.beat), engine=sys.argv[1]) as run:
    list(run(engine_work.CELLS))
"""


def test_no_task_outlives_a_driver_that_is_killed(tmp_path, nodes):
    signs = tmp_path / "signs"
    given = work(tmp_path / "study", engine_work.beat, signs)
    command = [sys.executable, "-c", DRIVER, f"ray@{nodes[0].address}", str(given.root), str(signs)]
    driver = subprocess.Popen(command, env=os.environ | ray_nodes.FINDS_US)
    try:
        until(lambda: len(list(signs.iterdir())) == 2)
    finally:
        driver.send_signal(signal.SIGKILL)
        driver.wait()
    until(lambda: all(time.time() - path.stat().st_mtime > 5 for path in signs.iterdir()))


def test_what_stopped_a_task_is_said_in_a_line():
    from ray.exceptions import RayTaskError, WorkerCrashedError

    cause = ModuleNotFoundError("No module named 'erce'")
    wrapped = RayTaskError("task", "Traceback:\n  in a file\nNo module named 'erce'", cause)
    assert _sentence(wrapped) == "ModuleNotFoundError: No module named 'erce'"
    assert _sentence(WorkerCrashedError()).startswith("WorkerCrashedError: The worker died unexpectedly")
    assert "\n" not in _sentence(WorkerCrashedError())


@pytest.mark.parametrize("engine", ["ray@127.0.0.1:9", "ray://127.0.0.1:9"])
def test_an_address_without_a_cluster_is_one_sentence(tmp_path, engine):
    given = work(tmp_path / "study", engine_work.leave_a_result, tmp_path / "signs")
    sentence = r"no Ray cluster at (ray://)?127.0.0.1:9: .*refused"
    with pytest.raises(ValueError, match=sentence), open_engine(given, engine=engine):
        pass
