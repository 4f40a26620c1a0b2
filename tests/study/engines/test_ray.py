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

from erce.errors import ClusterLostError, InputError
from erce.recipe import Decoding, Recipe, Resources, Training
from erce.study.engines import FAILURE, Done, Work, open_engine
from erce.study.engines import ray as ray_engine
from erce.study.engines.locks import cell_lock
from erce.study.engines.ray import error_line
from erce.study.folder import LOCKS, RESULT, TIMING, cell_folder
from erce.study.run import run as run_study

pytest.importorskip("ray", reason="Ray is an extra: pip install 'erce[ray]'")
pytestmark = [pytest.mark.slow, *ray_nodes.RAYS_OWN_WARNINGS]

STUDY = Recipe(  # of three cells
    task="mini-sums",
    lams=(0.0, 1.0),
    seeds=(0,),
    n_train=16,
    n_validation=2,
    n_test=3,
    training=Training(epochs=1.0, learning_rate=1e-3),
    decoding=Decoding(samples=2),
    resources=Resources(threads=1),
)


@pytest.fixture
def nodes():
    """A head without room for cells, and two nodes with room for one each."""
    with ray_nodes.cluster(1, 1, num_cpus=0) as started:
        yield started


@pytest.fixture(params=["ray@", "ray://"])
def engine(request, monkeypatch):
    """The same nodes by the address of their head, and by that of its client server."""
    if request.param == "ray@":
        with ray_nodes.cluster(1, 1, num_cpus=0) as (cluster, _):
            yield f"ray@{cluster.address}"
        return
    pytest.importorskip("grpc", reason="a client needs it: pip install 'ray[client]'")
    monkeypatch.setenv("RAY_CLIENT_RECONNECT_GRACE_PERIOD", "3")
    with ray_nodes.client_server(1, 1, num_cpus=0) as (address, _):
        yield address


def work(root: Path, run, signs: Path) -> Work:
    root.mkdir(exist_ok=True)
    signs.mkdir(exist_ok=True)
    return Work(root, replace(RECIPE, data=str(signs)), run)


def test_cells_arrive_from_nodes_that_share_no_folder_with_the_driver(tmp_path, engine):
    work_to_do = work(tmp_path / "study", engine_work.leave_a_result, tmp_path / "signs")
    with open_engine(work_to_do, engine=engine) as run:
        assert not any(done.failure for done in run(CELLS))
    for cell in CELLS:
        folder = cell_folder(work_to_do.root, work_to_do.recipe, cell)
        assert {path.name for path in folder.iterdir()} == {"adapter", "runs", RESULT}
        assert (folder / "adapter" / "weights").stat().st_size == 256 * (1 + cell.seed)


def test_a_killed_process_is_replaced(tmp_path, engine):
    work_to_do = work(tmp_path / "study", engine_work.die_once, tmp_path / "signs")
    with open_engine(work_to_do, engine=engine) as run:
        assert not any(done.failure for done in run(CELLS))
    assert len(list((tmp_path / "signs").iterdir())) == 2


def test_a_cell_that_fails_brings_its_traceback_home(tmp_path, engine):
    work_to_do = work(tmp_path / "study", engine_work.fail_at_lam_one, tmp_path / "signs")
    with open_engine(work_to_do, engine=engine) as run:
        failures = {done.cell: done.failure for done in run(CELLS)}
    for cell, failure in failures.items():
        assert bool(failure) == (cell.lam == 1.0)
        assert (cell_folder(work_to_do.root, work_to_do.recipe, cell) / FAILURE).exists() == (cell.lam == 1.0)


def test_a_node_that_is_lost_costs_nothing_but_time(tmp_path, nodes):
    cluster, (one, two) = nodes
    signs = tmp_path / "signs"
    work_to_do = work(tmp_path / "study", engine_work.wait_for_a_sign, signs)
    with open_engine(work_to_do, engine=f"ray@{cluster.address}") as run:
        ends: list[Done] = []
        sweep = threading.Thread(target=lambda: ends.extend(run(CELLS)), daemon=True)
        sweep.start()
        until(lambda: len({path.name.split("-on-")[1] for path in signs.iterdir()}) == 2)
        lost = {path.name.split("-on-")[0] for path in signs.glob(f"*-on-{one.node_id}")}
        assert lost
        cluster.remove_node(one, allow_graceful=False)
        (signs / "go").touch()
        sweep.join(DEADLINE_SECONDS)
        assert not sweep.is_alive()
    assert sorted(done.cell.name for done in ends) == sorted(cell.name for cell in CELLS)
    assert not any(done.failure for done in ends)
    assert {path.name.split("-on-")[0] for path in signs.glob(f"*-on-{two.node_id}")} >= lost


def test_a_study_through_a_client_server_has_the_bytes_of_one_that_ran_here(tmp_path):
    pytest.importorskip("grpc", reason="a client needs it: pip install 'ray[client]'")
    run_study(STUDY, out=tmp_path / "here", engine="here")
    with ray_nodes.client_server(num_cpus=2) as (address, _):
        run_study(STUDY, out=tmp_path / "client", engine=address)
    here, client = (
        {
            path.relative_to(root): path.read_bytes()
            for path in root.rglob("*")
            if path.is_file() and path.name != TIMING and LOCKS not in path.parts
        }
        for root in (tmp_path / "here", tmp_path / "client")
    )
    assert sum(path.name == RESULT for path in here) == 3
    assert client == here


def test_a_client_that_loses_its_head_says_so_and_the_next_one_goes_on(tmp_path, monkeypatch):
    pytest.importorskip("grpc", reason="a client needs it: pip install 'ray[client]'")
    monkeypatch.setenv("RAY_CLIENT_RECONNECT_GRACE_PERIOD", "3")
    signs = tmp_path / "signs"
    work_to_do = work(tmp_path / "study", engine_work.wait_for_a_sign, signs)
    with ray_nodes.client_server(num_cpus=1) as (address, cluster):

        def kill() -> None:
            until(lambda: list(signs.iterdir()))
            cluster.head_node.kill_all_processes(check_alive=False, allow_graceful=False, wait=True)

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        with (
            pytest.raises(ClusterLostError, match="start it again"),
            open_engine(work_to_do, engine=address) as run,
        ):
            list(run(CELLS))
        killer.join()
    (signs / "go").touch()
    with ray_nodes.client_server(num_cpus=1) as (address, _), open_engine(work_to_do, engine=address) as run:
        assert not any(done.failure for done in run(CELLS))
    assert all((cell_folder(work_to_do.root, work_to_do.recipe, cell) / RESULT).is_file() for cell in CELLS)


@pytest.mark.parametrize("lost", ["raylet", "gcs_server"])
def test_a_driver_that_ray_ends_says_so_and_the_next_one_goes_on(tmp_path, lost, monkeypatch):
    """Ray ends the process that it is in when its raylet dies, and after a while without a head."""
    monkeypatch.setattr(ray_engine, "PATIENCE", ray_engine.Patience(silence_seconds=600.0))
    monkeypatch.setenv("RAY_gcs_rpc_server_reconnect_timeout_s", "5")
    signs = tmp_path / "signs"
    started = work(tmp_path / "study", engine_work.wait_for_a_sign, signs)
    with ray_nodes.heads() as heads:
        head = next(heads)

        def kill() -> None:
            until(lambda: list(signs.iterdir()))
            os.kill(head.processes[lost], signal.SIGKILL)

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        with (
            pytest.raises(ClusterLostError, match="start it again"),
            open_engine(started, engine=f"ray@{head.address}") as run,
        ):
            list(run(CELLS))
        killer.join()
        (signs / "go").touch()
        monkeypatch.undo()  # a busy head may be silent for longer than that
        with open_engine(started, engine=f"ray@{next(heads).address}") as run:
            assert not any(done.failure for done in run(CELLS))


def test_a_head_that_is_killed_while_a_driver_connects_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_gcs_rpc_server_reconnect_timeout_s", "5")
    connecting = work(tmp_path / "study", engine_work.leave_a_result, tmp_path / "signs")
    with ray_nodes.heads() as heads:
        head = next(heads)
        os.kill(head.processes["gcs_server"], signal.SIGSTOP)  # it takes connections and answers none
        killer = threading.Timer(8, os.kill, (head.processes["gcs_server"], signal.SIGKILL))
        killer.start()
        with (
            pytest.raises((InputError, ClusterLostError), match="Ray cluster"),
            open_engine(connecting, engine=f"ray@{head.address}"),
        ):
            pass
        killer.cancel()


def test_a_process_that_is_connected_already_stays_connected(tmp_path, nodes):
    import ray

    done = work(tmp_path / "study", engine_work.leave_a_result, tmp_path / "signs")
    ray.init(nodes[0].address, log_to_driver=False)
    try:
        with open_engine(done, engine="ray@no-such-host:1") as run:
            assert not any(end.failure for end in run(CELLS))
        assert ray.is_initialized()
    finally:
        ray.shutdown()


def test_a_cell_too_large_for_its_node_is_given_up_through_a_client_too(tmp_path, monkeypatch):
    pytest.importorskip("grpc", reason="a client needs it: pip install 'ray[client]'")
    for name, value in {"usage_threshold": "0.001", "monitor_refresh_ms": "200"}.items():
        monkeypatch.setenv(f"RAY_memory_{name}", value)
    monkeypatch.setenv("RAY_task_oom_retries", "0")  # where the driver is; the server's own are without end
    work_to_do = work(tmp_path / "study", engine_work.wait_for_a_sign, tmp_path / "signs")
    with ray_nodes.client_server(num_cpus=1) as (address, _), open_engine(work_to_do, engine=address) as run:
        (done,) = run(CELLS[:1])
    assert done.failure.startswith("OutOfMemoryError: ")
    text = (cell_folder(work_to_do.root, work_to_do.recipe, done.cell) / FAILURE).read_text()
    assert "running low on memory" in text


def test_the_environment_that_a_user_gives_ray_reaches_the_tasks_of_a_client(tmp_path, monkeypatch):
    pytest.importorskip("grpc", reason="a client needs it: pip install 'ray[client]'")
    monkeypatch.setenv("RAY_RUNTIME_ENV", '{"env_vars": {"OF_A_USER": "seen"}}')

    with ray_nodes.client_server(num_cpus=1) as (address, _):
        monkeypatch.setenv("RAY_ADDRESS", address)
        work_to_do = work(tmp_path / "study", engine_work.raise_what_the_user_set, tmp_path / "signs")
        with open_engine(work_to_do, engine="ray") as run:
            assert [done.failure for done in run(CELLS[:1])] == ["RuntimeError: seen"]


@pytest.mark.parametrize("where", ["address", "RAY_ADDRESS"])
def test_a_client_without_its_package_is_one_sentence(tmp_path, monkeypatch, where):
    monkeypatch.setitem(sys.modules, "grpc", None)  # as it is where it is not installed
    if where == "RAY_ADDRESS":
        monkeypatch.setenv("RAY_ADDRESS", "ray://127.0.0.1:9")
    work_to_do = work(tmp_path / "study", engine_work.leave_a_result, tmp_path / "signs")
    engine = "ray://127.0.0.1:9" if where == "address" else "ray"
    sentence = r"^ray://127.0.0.1:9 .* needs grpcio, .*; run: pip install 'ray\[client\]'"
    with pytest.raises(ValueError, match=sentence), open_engine(work_to_do, engine=engine):
        pass


def test_a_process_that_dies_on_its_node_leaves_what_is_known_with_its_cell(tmp_path, engine):
    work_to_do = work(tmp_path / "study", engine_work.speak_and_die, tmp_path / "signs")
    with open_engine(work_to_do, engine=engine) as run:
        ends = list(run(CELLS[:1]))
    assert [done.failure.split(":")[0] for done in ends] == ["WorkerCrashedError"]
    text = (cell_folder(work_to_do.root, work_to_do.recipe, CELLS[0]) / FAILURE).read_text()
    assert text.startswith("WorkerCrashedError: The worker died unexpectedly")
    assert "the logs of Ray's session" in text


def test_a_folder_travels_only_while_no_other_process_works_in_it(tmp_path, nodes):
    """As one does, for a moment, whose driver was killed."""
    signs, (cell, *_) = tmp_path / "signs", CELLS
    work_to_do = work(tmp_path / "study", engine_work.wait_for_a_sign, signs)
    folder = cell_folder(work_to_do.root, work_to_do.recipe, cell)
    with open_engine(work_to_do, engine=f"ray@{nodes[0].address}") as run:
        ends: list[Done] = []
        sweep = threading.Thread(target=lambda: ends.extend(run([cell])), daemon=True)
        with cell_lock(work_to_do.root, folder.name):
            folder.mkdir(parents=True)
            (folder / "runs").write_text("half")
            sweep.start()
            time.sleep(5)
            (folder / "runs").write_text("whole\n")
        until(lambda: list(signs.iterdir()))
        with cell_lock(work_to_do.root, folder.name):
            (signs / "go").touch()
            time.sleep(5)
            assert not (folder / RESULT).exists()
        sweep.join(DEADLINE_SECONDS)
    assert [done.failure for done in ends] == [""]
    assert (folder / "runs").read_text() == "whole\nonce\n"


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
    [(0, ["", "", "", ""]), (0.5, ["0", "0", "1", "1"]), (1, ["0", "1"]), (2, ["0,1"])],
)
def test_cells_at_one_time_share_out_the_devices_as_they_asked(tmp_path, gpus, devices):
    """As many cells as there is room for say at one time which devices they see; no others have begun."""
    signs = tmp_path / "signs"
    work_to_do = replace(work(tmp_path / "study", engine_work.show_devices_and_wait, signs), gpus=gpus)
    with (
        ray_nodes.cluster(num_cpus=4, num_gpus=2) as (cluster, _),
        open_engine(work_to_do, engine=f"ray@{cluster.address}") as run,
    ):
        ends: list[Done] = []
        sweep = threading.Thread(target=lambda: ends.extend(run(CELLS)), daemon=True)
        sweep.start()
        until(lambda: len(list(signs.iterdir())) >= len(devices))
        time.sleep(2)  # in which a cell too many would begin
        assert sorted(path.read_text() for path in signs.iterdir()) == devices
        (signs / "go").touch()
        sweep.join(DEADLINE_SECONDS)
    assert [done.failure for done in ends] == [""] * len(CELLS)


DRIVER = """
import sys
from pathlib import Path
from toys import engine_work
from dataclasses import replace
from erce.study.engines import Work, open_engine

recipe = replace(engine_work.RECIPE, data=sys.argv[3])
with open_engine(Work(Path(sys.argv[2]), recipe, engine_work.beat), engine=sys.argv[1]) as run:
    list(run(engine_work.CELLS))
"""


def test_no_task_outlives_a_driver_that_is_killed(tmp_path, engine):
    signs = tmp_path / "signs"
    work_to_do = work(tmp_path / "study", engine_work.beat, signs)
    command = [sys.executable, "-c", DRIVER, engine, str(work_to_do.root), str(signs)]
    driver = subprocess.Popen(command, env=os.environ | FINDS_TOYS)
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
    assert error_line(wrapped) == "ModuleNotFoundError: No module named 'erce'"
    assert error_line(WorkerCrashedError()).startswith("WorkerCrashedError: The worker died unexpectedly")
    assert "\n" not in error_line(WorkerCrashedError())


@pytest.mark.parametrize("engine", ["ray@127.0.0.1:9", "ray://127.0.0.1:9"])
def test_an_address_without_a_cluster_is_one_sentence(tmp_path, engine):
    work_to_do = work(tmp_path / "study", engine_work.leave_a_result, tmp_path / "signs")
    sentence = r"no Ray cluster at (ray://)?127.0.0.1:9: .*refused"
    with pytest.raises(ValueError, match=sentence), open_engine(work_to_do, engine=engine):
        pass
