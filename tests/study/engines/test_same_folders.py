"""One recipe by every engine: the same bytes, whoever ran it, however it was stopped."""

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from toys.recipes import tiny_recipe

from erce.cli.main import main
from erce.files import read_json
from erce.recipe import Resources
from erce.study.engines import study_lock
from erce.study.folder import LOCKS, RESULT, TIMING, cell_folder
from erce.study.run import run

RECIPE = tiny_recipe(n_train=32, n_validation=3, resources=Resources(threads=1))
TEXT = """
task = "mini-sums"
lams = [0, 1]
seeds = [0]
n_train = 32
n_validation = 3
n_test = 4

[training]
epochs = 1
learning_rate = 1e-3

[decoding]
samples = 2

[resources]
threads = 1
"""
RAYS_OWN = [  # its process handling, and its files that it leaves for the garbage collector
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    root = tmp_path_factory.mktemp("engines") / "here"
    run(RECIPE, out=root, engine="here")
    return root


@pytest.fixture
def recipe(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def tree(root: Path) -> dict[str, bytes]:
    """Every file but the clocks and the locks, by its path in the study."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.name != TIMING and LOCKS not in path.parts
    }


def until(holds, seconds: float = 180.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.02)


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
@pytest.mark.parametrize(
    ("engine", "jobs"), [("processes", 2), pytest.param("ray@local", None, marks=RAYS_OWN)]
)
def test_every_engine_leaves_the_same_bytes(undisturbed, tmp_path, engine, jobs):
    if engine.startswith("ray"):
        pytest.importorskip("ray", reason="Ray is an extra: pip install 'erce[ray]'")
    run(RECIPE, out=tmp_path / "study", engine=engine, jobs=jobs)
    assert tree(tmp_path / "study") == tree(undisturbed)


@pytest.mark.slow
def test_a_cell_of_a_fresh_process_has_the_bytes_of_one_in_a_warm_process(undisturbed, tmp_path):
    """The undisturbed one trained its last cell in a process that had trained and drawn two before."""
    shutil.copytree(undisturbed, tmp_path / "study")
    last = cell_folder(tmp_path / "study", RECIPE, RECIPE.cells()[-1])
    shutil.rmtree(last)
    run(RECIPE, out=tmp_path / "study", engine="processes", jobs=1)
    assert (last / "adapter" / "adapter_model.safetensors").is_file()
    assert tree(tmp_path / "study") == tree(undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_leaves_a_folder_that_goes_on_to_the_same_bytes(undisturbed, recipe, tmp_path, jobs):
    root = tmp_path / "study"
    process = started(recipe, root, "--jobs", jobs)
    until(lambda: process.poll() is not None or list(root.glob("cells/*/training.json")))
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=180)[1]
    assert process.returncode == 130, said
    assert "erce: interrupted; the same command goes on from here" in said
    assert "Traceback" not in said
    assert len(list(root.glob(f"cells/*/{RESULT}"))) < len(RECIPE.cells())
    run(RECIPE, out=root)
    assert tree(root) == tree(undisturbed)


@pytest.mark.slow
def test_two_processes_train_a_cell_together_as_one_does(undisturbed, tmp_path):
    recipe = replace(RECIPE, resources=Resources(threads=1, processes=2))
    cell = recipe.cells()[-1]
    shutil.copytree(undisturbed, tmp_path / "study")
    shutil.rmtree(cell_folder(tmp_path / "study", recipe, cell))
    run(recipe, out=tmp_path / "study")
    one, two = (cell_folder(root, recipe, cell) for root in (undisturbed, tmp_path / "study"))
    assert {path.name for path in two.iterdir()} == {path.name for path in one.iterdir()}
    logs = [read_json(folder / "training.json")["log"] for folder in (one, two)]
    assert len(logs[0]) == len(logs[1])
    for alone, together in zip(*logs, strict=True):
        assert together["objective"] == pytest.approx(alone["objective"], rel=1e-4)
        assert together["scored_tokens"] == alone["scored_tokens"]


@pytest.mark.slow
def test_a_killed_driver_takes_with_it_the_processes_that_train_a_cell_together(recipe, tmp_path):
    recipe.write_text(TEXT.replace("epochs = 1", "epochs = 1000") + "processes = 2\n", encoding="utf-8")
    process = started(recipe, tmp_path / "study")
    until(lambda: process.poll() is not None or len(launched(tmp_path)) >= 3)
    time.sleep(5.0)
    process.kill()
    process.communicate()
    until(lambda: not launched(tmp_path))


def launched(of: Path) -> list[str]:
    """The ids of the processes whose command line names a cell's file in the folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        if f"{of}" in words and "adapter.launch.json" in words:
            found.append(path.parent.name)
    return found
