"""A Ray cluster of several nodes: cells and adapters arrive at the driver, also when a node is lost."""

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from toys import FINDS_TOYS, engine_work, ray_nodes
from toys.engine_work import CELLS, RECIPE
from toys.waiting import DEADLINE_SECONDS, until

from erce.study.engines import FAILURE, Done, Work, open_engine
from erce.study.engines.locks import cell_lock
from erce.study.folder import RESULT, cell_folder

pytest.importorskip("ray", reason="Ray is an extra: pip install 'erce[ray]'")
pytestmark = [pytest.mark.slow, *ray_nodes.RAYS_OWN_WARNINGS]


@pytest.fixture
def nodes():
    """A head without room for cells, and two nodes with room for one each."""
    with ray_nodes.cluster(1, 1, num_cpus=0) as started:
        yield started


@pytest.fixture
def engine(nodes):
    return f"ray@{nodes[0].address}"


def work(root: Path, run, signs: Path) -> Work:
    root.mkdir(exist_ok=True)
    signs.mkdir(exist_ok=True)
    return Work(root, replace(RECIPE, data=str(signs)), run)


def test_cells_and_failures_arrive_from_nodes_that_share_no_folder_with_the_driver(tmp_path, engine):
    work_to_do = work(tmp_path / "study", engine_work.fail_at_lam_one, tmp_path / "signs")
    with open_engine(work_to_do, engine=engine) as run:
        failures = {done.cell: done.failure for done in run(CELLS)}
    for cell in CELLS:
        folder = cell_folder(work_to_do.root, work_to_do.recipe, cell)
        left = {FAILURE} if cell.lam == 1.0 else {"adapter", "runs", RESULT}
        assert {path.name for path in folder.iterdir()} == left
        assert bool(failures[cell]) == (cell.lam == 1.0)
        if cell.lam == 0.0:
            assert (folder / "adapter" / "weights").stat().st_size == 256 * (1 + cell.seed)


def test_a_node_that_is_lost_costs_nothing_but_time(tmp_path, nodes):
    cluster, (one, two) = nodes
    signs = tmp_path / "signs"
    work_to_do = work(tmp_path / "study", engine_work.wait_for_a_sign, signs)
    with open_engine(work_to_do, engine=f"ray@{cluster.address}") as run:
        ends: list[Done] = []
        running = threading.Thread(target=lambda: ends.extend(run(CELLS)), daemon=True)
        running.start()
        until(lambda: len({path.name.split("-on-")[1] for path in signs.glob("toy*")}) == 2)
        lost = {path.name.split("-on-")[0] for path in signs.glob(f"*-on-{one.node_id}")}
        assert lost
        cluster.remove_node(one, allow_graceful=False)
        (signs / "go").touch()
        running.join(DEADLINE_SECONDS)
        assert not running.is_alive()
    assert sorted(done.cell.name for done in ends) == sorted(cell.name for cell in CELLS)
    assert not any(done.failure for done in ends)
    assert {path.name.split("-on-")[0] for path in signs.glob(f"*-on-{two.node_id}")} >= lost


def test_a_process_that_dies_on_its_node_leaves_what_is_known_with_its_cell(tmp_path, engine):
    work_to_do = work(tmp_path / "study", engine_work.speak_and_die, tmp_path / "signs")
    with open_engine(work_to_do, engine=engine) as run:
        ends = list(run(CELLS[:1]))
    assert [done.failure.split(":")[0] for done in ends] == ["WorkerCrashedError"]
    text = (cell_folder(work_to_do.root, work_to_do.recipe, CELLS[0]) / FAILURE).read_text()
    assert text.startswith("WorkerCrashedError: The worker died unexpectedly")
    assert "the logs of Ray's session" in text


def test_a_folder_that_another_process_keeps_is_its_cells_failure_alone(tmp_path, nodes):
    """After `ORPHAN_WAIT_SECONDS`, in the process that Ray is in."""
    work_to_do = work(tmp_path / "study", engine_work.leave_a_result, tmp_path / "signs")
    held = cell_folder(work_to_do.root, work_to_do.recipe, CELLS[0]).name
    with cell_lock(work_to_do.root, held), open_engine(work_to_do, engine=f"ray@{nodes[0].address}") as run:
        failed = [(done.cell, done.failure) for done in run(CELLS) if done.failure]
    assert [cell for cell, _ in failed] == CELLS[:1]
    assert f"another process has worked on {held}" in failed[0][1]


@pytest.mark.parametrize(
    ("gpus", "devices"),
    [(0, ["", "", "", ""]), (0.5, ["0", "0", "1", "1"]), (1, ["0", "1"])],
)
def test_cells_at_one_time_share_out_the_devices_as_they_asked(tmp_path, gpus, devices, capsys):
    """As many cells as there is room for say at one time which devices they see; no others have begun."""
    signs = tmp_path / "signs"
    asked = work(tmp_path / "study", engine_work.wait_for_a_sign, signs)
    resources = replace(asked.recipe.resources, gpus=gpus)
    work_to_do = replace(asked, recipe=replace(asked.recipe, resources=resources))
    with (
        ray_nodes.cluster(num_cpus=4, num_gpus=2) as (cluster, _),
        open_engine(work_to_do, engine=f"ray@{cluster.address}") as run,
    ):
        ends: list[Done] = []
        running = threading.Thread(target=lambda: ends.extend(run(CELLS)), daemon=True)
        running.start()
        until(lambda: len(list(signs.glob("toy*"))) >= len(devices))
        time.sleep(2)  # in which a cell too many would begin
        assert sorted(path.read_text() for path in signs.iterdir()) == devices
        (signs / "go").touch()
        running.join(DEADLINE_SECONDS)
    assert [done.failure for done in ends] == [""] * len(CELLS)
    assert ("The cluster has GPUs, but cells use none" in capsys.readouterr().err) == (gpus == 0)


DRIVER = """
import sys
from pathlib import Path
from toys import engine_work
from dataclasses import replace
from erce.study.engines import Work, open_engine, ray

ray.POLL_SECONDS, ray.SILENCE_SECONDS = 0.5, 3.0
recipe = replace(engine_work.RECIPE, data=sys.argv[3])
with open_engine(Work(Path(sys.argv[2]), recipe, engine_work.wait_for_a_sign), engine=sys.argv[1]) as run:
    assert not any(done.failure for done in run(engine_work.CELLS))
"""


def start_driver(engine: str, root: Path, signs: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", DRIVER, engine, str(root), str(signs)]
    return subprocess.Popen(command, env=os.environ | FINDS_TOYS, stderr=subprocess.PIPE, text=True)


def test_a_driver_that_loses_its_head_says_so_and_the_next_one_goes_on(tmp_path):
    root, signs = tmp_path / "study", tmp_path / "signs"
    signs.mkdir()
    with ray_nodes.head() as head:
        driver = start_driver(f"ray@{head.address}", root, signs)
        until(lambda: list(signs.iterdir()))
        os.kill(head.gcs, signal.SIGKILL)
        _, printed = driver.communicate(timeout=DEADLINE_SECONDS)
    assert driver.returncode
    assert "start it again, and the same command goes on" in printed
    (signs / "go").touch()
    with ray_nodes.head() as head:
        driver = start_driver(f"ray@{head.address}", root, signs)
        _, printed = driver.communicate(timeout=DEADLINE_SECONDS)
    assert driver.returncode == 0, printed
    assert all((cell_folder(root, RECIPE, cell) / RESULT).is_file() for cell in CELLS)


@pytest.mark.parametrize(
    ("engine", "sentence"),
    [
        ("ray@127.0.0.1:9", r"no Ray cluster at 127.0.0.1:9: .*refused"),
        ("ray://head:10001", r"no engine 'ray://head:10001'; .* for a cluster .* ray@HOST:PORT"),
    ],
)
def test_an_address_without_a_cluster_and_a_client_servers_are_refused(tmp_path, engine, sentence):
    work_to_do = work(tmp_path / "study", engine_work.leave_a_result, tmp_path / "signs")
    with pytest.raises(ValueError, match=sentence), open_engine(work_to_do, engine=engine):
        pass


def test_the_handler_of_sigterm_stays_what_it_was(tmp_path, engine):
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        handler = signal.getsignal(signal.SIGTERM)
        with open_engine(work(tmp_path / "study", engine_work.fail_at_lam_one, tmp_path), engine=engine):
            assert signal.getsignal(signal.SIGTERM) is handler
    finally:
        signal.signal(signal.SIGTERM, before)
