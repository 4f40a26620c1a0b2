"""Cells that leave a file, fail, die or wait, for the engines to run."""

import errno
import os
import shutil
import signal
import time
from pathlib import Path

from erce import events
from erce.errors import VerifierError
from erce.files import write_json, write_text
from erce.recipe import Cell, Recipe
from erce.study.folder import RESULT, cell_folder

RECIPE = Recipe(task="toy", lams=(0.0, 1.0), seeds=(0, 1))
CELLS = [cell for cell in RECIPE.cells() if cell.lam is not None]


def leave_a_result(root: Path, recipe: Recipe, cell: Cell) -> None:
    folder = cell_folder(root, recipe, cell)
    (folder / "adapter").mkdir(parents=True, exist_ok=True)
    (folder / "adapter" / "weights").write_bytes(bytes(range(256)) * (1 + cell.seed))
    with (folder / "runs").open("a") as file:  # one line a run
        file.write("once\n")
    print("a library speaks")
    write_json(folder / RESULT, {"scores": {}, "process": os.getpid(), "root": str(root)})


def tell_of_two_stages(root: Path, recipe: Recipe, cell: Cell) -> None:
    events.begin("training", 3)
    for step in range(3):
        events.advance(1, tokens=5, loss=1 / (1 + step))
    events.begin("generation", 9, done=7)
    leave_a_result(root, recipe, cell)


def delete_the_study(root: Path, recipe: Recipe, cell: Cell, **given: object) -> None:
    shutil.rmtree(root)
    leave_a_result(root, recipe, cell)


def fail_at_lam_one(root: Path, recipe: Recipe, cell: Cell) -> None:
    if cell.lam == 1.0:
        raise RuntimeError(f"{cell.name} has no luck")
    leave_a_result(root, recipe, cell)


def fill_the_disk(root: Path, recipe: Recipe, cell: Cell) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def judge_wrongly(root: Path, recipe: Recipe, cell: Cell) -> None:
    raise VerifierError("the function that verifies raised")


def die_at_seed_one(root: Path, recipe: Recipe, cell: Cell) -> None:
    if cell.seed == 1 and not (root / f"died-{cell.name}").exists():
        (root / f"died-{cell.name}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    leave_a_result(root, recipe, cell)


def say_who_and_wait(root: Path, recipe: Recipe, cell: Cell) -> None:
    (root / f"process-{os.getpid()}").touch()
    time.sleep(600)


def wait_for_a_sign(root: Path, recipe: Recipe, cell: Cell) -> None:
    """Says where it runs and which devices it sees, and ends once it is told that it may."""
    import ray

    signs = Path(recipe.data or "")
    sign = signs / f"{cell.name}-on-{ray.get_runtime_context().get_node_id()}"
    write_text(sign, os.environ.get("CUDA_VISIBLE_DEVICES", "all"))
    while not (signs / "go").exists():
        time.sleep(0.05)
    leave_a_result(root, recipe, cell)


def die_when_done(root: Path, recipe: Recipe, cell: Cell) -> None:
    leave_a_result(root, recipe, cell)
    os.kill(os.getpid(), signal.SIGKILL)


def speak_and_die(root: Path, recipe: Recipe, cell: Cell) -> None:
    print("these are its last words", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


def hang_once(root: Path, recipe: Recipe, cell: Cell) -> None:
    """Hangs in its first attempt at a cell of seed 1; all others end once one hangs."""
    marker = root / f"hung-{cell.name}"
    if cell.seed == 1 and not marker.exists():
        marker.touch()
        time.sleep(600)
    while not list(root.glob("hung-*")):
        time.sleep(0.05)
    leave_a_result(root, recipe, cell)
