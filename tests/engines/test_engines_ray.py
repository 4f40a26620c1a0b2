"""A Ray cluster of several nodes: cells and adapters arrive at the driver, also when a node is lost."""

import os
import threading
import time
from dataclasses import replace
from pathlib import Path

import engine_work
import pytest
from engine_work import CELLS, RECIPE

from erce.engines import FAILURE, Done, Work, open_engine
from erce.results import RESULT, cell_folder

pytest.importorskip("ray", reason="Ray is an extra: pip install 'erce[ray]'")
pytestmark = [
    pytest.mark.slow,
    # Of Ray's own process handling, and of its files that it leaves for the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def nodes(tmp_path, monkeypatch):
    """A head without room for cells, and two nodes with room for one each."""
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), str(Path.cwd())]))
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    started = [cluster.add_node(num_cpus=1) for _ in range(2)]
    cluster.wait_for_nodes()
    yield cluster, started
    cluster.shutdown()


def until(holds, seconds: float = 60.0) -> None:
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
        sweep.join()
    assert sorted(done.cell.name for done in ends) == sorted(cell.name for cell in CELLS)
    assert not any(done.failure for done in ends)
    assert {path.name.split("-on-")[0] for path in signs.glob(f"*-on-{two.node_id}")} >= lost
