"""One recipe by every engine: the same bytes, whoever ran it, however it was stopped."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from toys.engines import each_engine, each_keeping_engine
from toys.studies import files
from toys.waiting import until

from erce.cli.main import main
from erce.cli.terminal import KEPT
from erce.study.engines.locks import study_lock
from erce.study.folder import LOCKS
from erce.study.run import run

TEXT = """
task = "mini-sums"
control = "mini-sums-answer-only"
lams = [0, 3]
seeds = [0]
methods = ["dft + 4", "rft + 4"]
n_train = 32
n_validation = 20
n_test = 4

[training]
epochs = 1
learning_rate = 3e-3

[decoding]
samples = 2
temperatures = [0.4]
temperature_samples = 2

[own]
samples = 3

[resources]
threads = 1
"""


CELLS = 8  # three of the grid, "dft + 4", "rft + 4", and the control's base model, λ = 0 and chosen λ
FIRST_TRAINING = "cells/*/training.json"
CHOSEN_TRAINING = "cells/mini-sums-answer-only-lam3-*/training.json"  # of the cells that come after the grid


@pytest.fixture(scope="module")
def recipe(tmp_path_factory):
    path = tmp_path_factory.mktemp("recipe") / "tiny.toml"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def undisturbed(recipe, tmp_path_factory):
    root = tmp_path_factory.mktemp("engines") / "here"
    assert len(run(recipe, out=root, engine="here").results) == CELLS
    return root


def started(recipe: Path, out: Path, *flags: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "erce.cli.main", "run", str(recipe), "--out", str(out), *flags]
    # A group of its own, so that a signal goes to it as Ctrl-C in a terminal goes to all of a command.
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def test_a_second_driver_is_refused_with_a_sentence_and_leaves_the_folder_alone(recipe, tmp_path, capsys):
    root = tmp_path / "study"
    with study_lock(root):
        assert main(["run", str(recipe), "--out", str(root)]) == 2
    assert f"another erce is running the study in {root}; wait for it" in capsys.readouterr().err
    assert [path.name for path in root.iterdir()] == [LOCKS]


@pytest.mark.slow
@each_engine
def test_every_engine_leaves_the_same_bytes(undisturbed, recipe, tmp_path, engine, jobs):
    run(recipe, out=tmp_path / "study", engine=engine, jobs=jobs)
    assert files(tmp_path / "study") == files(undisturbed)


@pytest.mark.slow
def test_a_cell_of_a_fresh_process_has_the_bytes_of_one_in_a_warm_process(undisturbed, recipe, tmp_path):
    """The undisturbed one trained its last cell in a process that had trained and drawn others before."""
    shutil.copytree(undisturbed, tmp_path / "study")
    (last,) = (tmp_path / "study").glob("cells/mini-sums-answer-only-lam3-*")
    shutil.rmtree(last)
    run(recipe, out=tmp_path / "study", engine="processes", jobs=1)
    assert (last / "adapter" / "adapter_model.safetensors").is_file()
    assert files(tmp_path / "study") == files(undisturbed)


@pytest.mark.slow
@each_keeping_engine
@pytest.mark.parametrize(
    "stop", [(signal.SIGINT, FIRST_TRAINING), (signal.SIGKILL, CHOSEN_TRAINING)], ids=["Ctrl-C", "kill"]
)
def test_a_stopped_run_leaves_a_folder_that_goes_on_to_the_same_bytes(
    undisturbed, recipe, tmp_path, stop, engine, jobs
):
    root, (number, moment) = tmp_path / "study", stop
    process = started(recipe, root, "--engine", engine, "--jobs", str(jobs or 1))
    until(lambda: process.poll() is not None or any(root.glob(moment)))
    os.killpg(process.pid, number)
    printed = process.communicate()[1]
    assert process.returncode == (130 if number == signal.SIGINT else -number), printed
    assert number == signal.SIGKILL or f"erce: interrupted; {KEPT}" in printed
    assert "Traceback" not in printed
    assert files(root) != files(undisturbed)
    run(recipe, out=root)
    assert files(root) == files(undisturbed)
