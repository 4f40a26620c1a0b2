"""What a kill, a full disk or a missing lock leaves at one certain moment, and what comes of it."""

import errno
import fcntl
import os
import signal
import sys
from pathlib import Path

import pytest
from toys import engine_work
from toys.engine_work import CELLS, RECIPE
from toys.engines import each_keeping_engine, each_pool
from toys.recipes import tiny_recipe

from erce.errors import RunError
from erce.files import read_json
from erce.study.engines import LOG, Done, Work, open_engine, run_one
from erce.study.engines.locks import HALF, OLD, cell_lock, study_lock
from erce.study.folder import LOCKS, RESULT, STUDY, cell_folder, check_folder
from erce.study.run import run


def folder(root: Path, cell) -> Path:
    return cell_folder(root, RECIPE, cell)


def ended(root: Path, run, engine: str, jobs: int) -> list[Done]:
    with open_engine(Work(root, RECIPE, run), engine=engine, jobs=jobs) as run_cells:
        return list(run_cells(CELLS[:2]))


@each_pool
def test_a_worker_killed_when_its_cell_was_done_has_only_lost_the_answer(tmp_path, engine, jobs):
    done = ended(tmp_path, engine_work.die_when_done, engine, jobs)
    assert {each.cell for each in done} == set(CELLS[:2])
    assert not any(each.failure for each in done)


@each_pool
def test_a_worker_killed_while_it_had_nothing_to_do_costs_no_cell(tmp_path, engine, jobs):
    with open_engine(Work(tmp_path, RECIPE, engine_work.leave_a_result), engine=engine, jobs=1) as run:
        (first,) = run(CELLS[:1])
        worker = read_json(folder(tmp_path, first.cell) / RESULT)["process"]
        os.kill(worker, signal.SIGKILL)
        os.waitid(os.P_PID, worker, os.WEXITED | os.WNOWAIT)  # it is dead, and not yet waited for
        assert [done.failure for done in run(CELLS[1:2])] == [""]


@each_pool
def test_what_a_killed_worker_printed_is_kept_with_its_cell_and_not_shown(tmp_path, capfd, engine, jobs):
    lost = [done.cell for done in ended(tmp_path, engine_work.speak_and_die, engine, jobs=1) if done.failure]
    assert lost == CELLS[:2]
    assert all("these are its last words" in (folder(tmp_path, cell) / LOG).read_text() for cell in lost)
    assert "these are its last words" not in capfd.readouterr().out


def test_what_an_earlier_attempt_left_is_gone_before_the_result_is_there(tmp_path):
    left = [folder(tmp_path, CELLS[0]) / name for name in (".timing.json.tmp", LOG, "failure.txt")]
    left[0].parent.mkdir(parents=True)
    for path in left:
        path.touch()
    half = folder(tmp_path, CELLS[0]) / ".adapter.tmp"
    half.mkdir()
    (half / "adapter_model.safetensors").touch()
    left.append(half)

    def see(root, recipe, cell):
        assert not any(path.exists() for path in left)

    assert run_one(Work(tmp_path, RECIPE, see), CELLS[0]).failure == ""


def test_a_study_killed_while_it_claimed_its_folder_is_gone_on_with(tmp_path):
    (tmp_path / LOCKS).mkdir()
    (tmp_path / f".{STUDY}.tmp").write_text("{")
    check_folder(tmp_path, RECIPE)
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(ValueError, match="holds no study"):
        check_folder(tmp_path, RECIPE)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EDQUOT], ids=errno.errorcode.get)
def test_a_driver_that_cannot_write_says_so_in_a_sentence(tmp_path, number):
    with pytest.raises(RunError, match=r"cannot be written .*; what is done is kept"), study_lock(tmp_path):
        raise OSError(number, os.strerror(number), str(tmp_path / "study.json"))


@pytest.mark.parametrize(
    ("there", "kept"),
    [(("half",), None), (("half", "old"), "old"), (("arrived", "old"), "arrived"), (("arrived",), "arrived")],
    ids=lambda case: "+".join(case) if isinstance(case, tuple) else str(case),
)
def test_a_kill_while_a_folder_arrives_leaves_it_as_it_was_or_as_it_arrives(tmp_path, there, kept):
    name = "mini-lam0.5-seed0-3fa9c1d2"
    places = {
        "half": tmp_path / LOCKS / f"{name}{HALF}",
        "old": tmp_path / LOCKS / f"{name}{OLD}",
        "arrived": tmp_path / "cells" / name,
    }
    (tmp_path / "cells").mkdir()
    for each in there:
        places[each].mkdir(parents=True)
        (places[each] / "who").write_text(each)
    with study_lock(tmp_path):  # as the next run does
        pass
    left = tmp_path / "cells" / name / "who"
    assert (left.read_text() if left.exists() else None) == kept
    assert not list((tmp_path / LOCKS).glob(f"{name}*"))


@each_keeping_engine
def test_a_folder_that_is_deleted_stops_the_run_at_the_next_cell(tmp_path, monkeypatch, engine, jobs):
    root = tmp_path / "study"
    monkeypatch.setattr("erce.study.run.run_cell", engine_work.delete_the_study)
    with pytest.raises(RunError, match=r"study was moved or deleted while its study ran; go on .* --out"):
        run(tiny_recipe(), out=root, engine=engine, jobs=None if jobs is None else 1)
    assert len(list(root.glob("cells/*"))) <= 1
    check_folder(root, tiny_recipe())  # the same command begins anew


@pytest.fixture
def flock_fails(monkeypatch):
    """From the call on, flock fails with this error everywhere."""

    def fail(number: int) -> None:
        def flock(file, operation):
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(fcntl, "flock", flock)

    return fail


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS], ids=errno.errorcode.get)
@pytest.mark.parametrize("lock", [study_lock, lambda root: cell_lock(root, "toy")], ids=["study", "cell"])
def test_locks_that_do_not_work_are_a_sentence_with_the_path_and_the_way_out(
    tmp_path, flock_fails, lock, number
):
    flock_fails(number)
    with (
        pytest.raises(RunError, match=rf"{tmp_path}/.*\.lock cannot be locked \(.*\); .* --out"),
        lock(tmp_path),
    ):
        pass


def test_an_exit_by_a_signals_handler_ends_the_run_and_not_the_cell_alone(tmp_path):
    def work(root, recipe, cell):
        os.kill(os.getpid(), signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        with pytest.raises(SystemExit):
            run_one(Work(tmp_path, RECIPE, work), CELLS[0])
    finally:
        signal.signal(signal.SIGTERM, before)
    assert run_one(Work(tmp_path, RECIPE, lambda *_: sys.exit(1)), CELLS[0]).failure == "SystemExit: 1"
