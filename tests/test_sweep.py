"""Sweeping a grid: every cell once, in this process or in several."""

import os
import signal
from functools import partial
from pathlib import Path

import pytest

from erce.recipe import Cell
from erce.sweep import sweep

CELLS = [Cell("toy", lam, seed) for seed in (0, 1) for lam in (0.0, 1.0)]


def leave_a_file(folder: Path, cell: Cell) -> None:
    with (folder / cell.name).open("x") as file:
        file.write(str(os.getpid()))


def fail_at_lam_one(folder: Path, cell: Cell) -> None:
    if cell.lam == 1.0:
        raise RuntimeError(f"{cell.name} has no luck")
    leave_a_file(folder, cell)


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_cell_runs_once_and_is_reported_when_done(tmp_path, jobs):
    done = []
    for cell in sweep(CELLS, partial(leave_a_file, tmp_path), jobs=jobs):
        assert (tmp_path / cell.name).is_file()
        done.append(cell)
    assert sorted(done, key=CELLS.index) == CELLS


def test_several_processes_are_several_and_none_is_this_one(tmp_path):
    list(sweep(CELLS, partial(leave_a_file, tmp_path), jobs=2))
    assert str(os.getpid()) not in {path.read_text() for path in tmp_path.iterdir()}


def die(folder: Path, cell: Cell) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_is_killed_is_one_sentence(tmp_path):
    with pytest.raises(ValueError, match=r"\Aa process ended before its cell did.*goes on from there"):
        list(sweep(CELLS, partial(die, tmp_path), jobs=2))


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_cell_that_fails_stops_the_sweep_with_its_error(tmp_path, jobs):
    with pytest.raises(RuntimeError, match=r"toy-lam1-seed0 has no luck|toy-lam1-seed1 has no luck"):
        list(sweep(CELLS, partial(fail_at_lam_one, tmp_path), jobs=jobs))
    assert (tmp_path / CELLS[0].name).is_file()
