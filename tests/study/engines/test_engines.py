"""Every engine leaves the same folders; what fails, dies or is left behind costs its own cell alone."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from toys import FINDS_TOYS, engine_work
from toys.engine_work import CELLS, RECIPE
from toys.engines import each_engine, each_pool
from toys.process_trees import parents
from toys.waiting import until

from erce.files import read_json
from erce.study.engines import FAILURE, Work, engine_named, open_engine
from erce.study.engines.locks import pack, unpack
from erce.study.engines.processes import devices_of
from erce.study.folder import RESULT, cell_folder

HERE = ("here", None)


@pytest.fixture(autouse=True)
def finds_toys(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", FINDS_TOYS["PYTHONPATH"])  # in the processes of every engine


def ended(root: Path, run, engine: tuple[str, int | None]):
    with open_engine(Work(root, RECIPE, run), engine=engine[0], jobs=engine[1]) as work:
        return {done.cell: done for done in work(CELLS)}


def folder(root: Path, cell) -> Path:
    return cell_folder(root, RECIPE, cell)


@each_engine
def test_every_cell_runs_once_and_is_reported_when_done(tmp_path, engine, jobs):
    done = ended(tmp_path, engine_work.leave_a_result, (engine, jobs))
    assert sorted(done, key=CELLS.index) == CELLS
    assert not any(each.failure for each in done.values())
    ended(tmp_path, engine_work.leave_a_result, HERE)
    assert {(folder(tmp_path, cell) / "runs").read_text() for cell in CELLS} == {"once\n"}


def test_processes_are_several_and_stay_warm(tmp_path):
    with open_engine(Work(tmp_path, RECIPE, engine_work.leave_a_result), engine="auto", jobs=2) as run:
        for cells in (CELLS[:2], CELLS[2:]):
            assert all(not done.failure for done in run(cells))
    seen = {read_json(folder(tmp_path, cell) / RESULT)["process"] for cell in CELLS}
    assert len(seen) == 2
    assert os.getpid() not in seen


def test_a_run_that_is_left_ends_what_it_had_begun(tmp_path):
    """A round that gives up leaves it in the middle; the workers may be asked for more, or end."""
    cells = sorted(CELLS, key=lambda cell: cell.seed != 1)
    with open_engine(Work(tmp_path, RECIPE, engine_work.hang_once), engine="processes", jobs=2) as run:
        begun = run([cells[0], cells[-1]])
        assert next(iter(begun)).cell == cells[-1]
        begun.close()
        done = {each.cell: each.failure for each in run([CELLS[0], cells[0]])}
    assert done == {CELLS[0]: "", cells[0]: ""}


@each_engine
def test_where_cells_run_is_what_the_engine_says(tmp_path, engine, jobs):
    ended(tmp_path, engine_work.leave_a_result, (engine, jobs))
    results, says = [read_json(folder(tmp_path, cell) / RESULT) for cell in CELLS], engine_named(engine)
    assert ({result["process"] for result in results} == {os.getpid()}) == says.in_this_process
    assert ({result["root"] for result in results} == {str(tmp_path)}) == says.shares_folder


@each_engine
def test_a_cell_that_fails_is_a_line_and_its_folder_has_the_traceback(tmp_path, engine, jobs):
    done = ended(tmp_path, engine_work.fail_at_lam_one, (engine, jobs))
    for cell, each in done.items():
        traceback = folder(tmp_path, cell) / FAILURE
        if cell.lam == 1.0:
            assert each.failure == f"RuntimeError: {cell.name} has no luck"
            assert "fail_at_lam_one" in traceback.read_text()
        else:
            assert (each.failure, traceback.exists()) == ("", False)


@pytest.mark.parametrize("fails", [engine_work.fill_the_disk, engine_work.judge_wrongly])
def test_a_full_disk_and_a_verify_that_raises_are_hopeless(fails, tmp_path):
    done = ended(tmp_path, fails, HERE)
    assert all(each.fatal for each in done.values())


@each_pool
def test_a_process_that_is_killed_costs_its_cell_alone(tmp_path, engine, jobs):
    done = ended(tmp_path, engine_work.die_at_seed_one, (engine, jobs))
    lost = {cell for cell, each in done.items() if each.failure}
    assert lost == {cell for cell in CELLS if cell.seed == 1}
    assert all("SIGKILL" in done[cell].failure for cell in lost)
    again = ended(tmp_path, engine_work.die_at_seed_one, (engine, jobs))
    assert not any(each.failure for each in again.values())


DRIVER = """
import sys
from pathlib import Path
from toys import FINDS_TOYS, engine_work
from erce.study.engines import Work, open_engine
from erce.study.engines.locks import study_lock

if __name__ == "__main__":
    root = Path(sys.argv[1])
    work = Work(root, engine_work.RECIPE, engine_work.say_who_and_wait)
    with study_lock(root), open_engine(work, engine="processes", jobs=2) as run:
        list(run(engine_work.CELLS))
"""


@pytest.fixture
def driver(tmp_path):
    """A study in a process of its own, once both of its workers are at work."""
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    root = tmp_path / "study"
    root.mkdir()
    process = subprocess.Popen([sys.executable, script, root], env=os.environ | FINDS_TOYS)
    until(lambda: len(list(root.glob("process-*"))) == 2)
    yield process, root
    process.kill()
    process.wait()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks /proc who is alive")
@pytest.mark.parametrize(
    "number",
    [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.slow)],
    ids=lambda number: number.name,
)
def test_no_worker_outlives_its_driver(driver, number):
    process, root = driver
    process.send_signal(number)
    process.wait()
    workers = {int(path.name.removeprefix("process-")) for path in root.glob("process-*")}
    until(lambda: not parents().keys() & workers)


@pytest.mark.parametrize(
    ("jobs", "gpus", "visible", "way_out"),
    [
        (3, 1, ["0", "1"], "--jobs 2"),
        (5, 0.5, ["0", "1"], "--jobs 4"),
        (3, 0.34, ["0"], "--jobs 2"),
        (1, 0.9, [], "gpus = 0"),
    ],
)
def test_more_devices_than_there_are_is_refused(jobs, gpus, visible, way_out):
    with pytest.raises(ValueError, match=way_out):
        devices_of(jobs, gpus=gpus, visible=visible)


@pytest.mark.parametrize(("gpus", "cells"), [(1, 1), (0.6, 1), (0.5, 2), (0.34, 2), (0.33, 3), (0.1, 10)])
def test_as_many_cells_share_a_device_as_have_room_on_it(gpus, cells):
    assert devices_of(cells + 1, gpus=gpus, visible=["0", "1"]) == ["0"] * cells + ["1"]


def test_a_folder_travels_whole_and_replaces_what_is_there(tmp_path):
    engine_work.leave_a_result(tmp_path, RECIPE, CELLS[0])
    sent, arrived = folder(tmp_path, CELLS[0]), tmp_path / "arrived"
    (arrived / "old").mkdir(parents=True)
    (sent / "linked").symlink_to(sent / RESULT)
    unpack(pack(sent), arrived, scratch=tmp_path)
    assert not (arrived / "linked").is_symlink()
    names = {str(path.relative_to(sent)) for path in sent.rglob("*")}
    assert {str(path.relative_to(arrived)) for path in arrived.rglob("*")} == names
    assert all(
        (arrived / name).read_bytes() == (sent / name).read_bytes()
        for name in names
        if (sent / name).is_file()
    )
    unpack(pack(tmp_path / "nothing"), arrived, scratch=tmp_path)
    assert (arrived / RESULT).is_file()
