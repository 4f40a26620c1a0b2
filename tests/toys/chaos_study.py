"""A study of toy cells, disturbed at seeded random moments until it is done, again and again.

`python -m toys.chaos_study HOW FOLDER MOMENTS SEED` prints what came of it, as JSON; HOW is in DISTURBANCES

`disk` mounts a small file system on FOLDER/small, for `unshare --mount` to keep to itself.
"""

import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from toys import chaos_cells  # before anything of erce
from toys.waiting import DEADLINE_SECONDS

# isort: split
import erce.study.run
from erce.errors import RunError
from toys.studies import files

erce.study.run.run_cell = chaos_cells.run_cell
PAGE = 4096  # bytes; a file system in memory gives them out singly
HERE, PROCESSES = ("here", 1), ("processes", 2)


class Disturbed:
    """Studies in one place after another, each compared with an undisturbed one when it is done."""

    def __init__(self, folder: Path, moments: int, rng: random.Random) -> None:
        self.folder, self.moments, self.rng = folder, moments, rng
        self.places = 0
        self.output, self.trained = folder / "output.txt", folder / "trained.txt"
        os.environ["TRAINED"] = str(self.trained)
        self.root = folder / "undisturbed"
        self.tally = {"moments": 0, "studies": 0, "differ": [], "twice": [], "exits": [], "said": []}
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            study(self.root, *HERE)  # so that what is imported late need not be by each driver
        self.wall = {engine: self._undisturbed(engine) for engine in (HERE, PROCESSES)}
        self.right = files(self.root)
        self.afresh(folder / "study")

    def _undisturbed(self, engine) -> float:
        shutil.rmtree(self.root, ignore_errors=True)
        started = time.monotonic()
        self.end(self.begin(engine))
        return time.monotonic() - started

    def afresh(self, root: Path) -> None:
        """Begin in a new place: a worker of a killed driver may write in the old one a moment longer."""
        shutil.rmtree(root, ignore_errors=True)
        self.places += 1
        self.root, self.done = root.with_name(f"study-{self.places}"), {}
        self.trained.write_text("")

    def begin(self, engine) -> int:
        """Start a driver, which exits with 0 when all cells are done and with 1 after a sentence."""
        child = os.fork()
        if child == 0:
            with self.output.open("wb") as file:
                os.dup2(file.fileno(), 1)
                os.dup2(file.fileno(), 2)
            try:
                os._exit(study(self.root, *engine))
            finally:  # reached by an exception alone, which is not the caller's
                traceback.print_exc()
                os._exit(2)
        return child

    def end(self, driver: int) -> int:
        """Wait for the driver's end and return its exit code; fail after the deadline."""
        code = self.ended(driver, seconds=DEADLINE_SECONDS)
        if code is None:
            os.kill(driver, signal.SIGKILL)
        assert code is not None, f"a driver goes on and on: {self.output.read_text()[-2000:]}"
        return code

    def ended(self, driver: int, *, seconds: float) -> int | None:
        """Return the driver's exit code; None if the driver runs on after so many seconds."""
        end = time.monotonic() + seconds
        while True:
            ended, status = os.waitpid(driver, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() > end:
                return None
            time.sleep(0.002)

    def look(self, code: int) -> None:
        """Note what is on the disk after a driver has ended; after a finished study begin the next one."""
        self.tally["moments"] += code != 0
        if code not in (0, 1, -signal.SIGKILL):
            self.tally["exits"].append([code, self.output.read_text()[-2000:]])
        if code == 1:
            self.tally["said"].append(self.output.read_text())
        finished = {path.parent.name for path in self.root.glob("cells/*/result.json")}
        trainings = Counter(self.trained.read_text().split())
        for name in finished:
            self.done.setdefault(name, trainings[name])
        if code == 0:
            now = files(self.root)
            differ = [
                name for name in now.keys() | self.right.keys() if now.get(name) != self.right.get(name)
            ]
            self.tally["differ"] += differ
            self.tally["twice"] += [name for name, times in self.done.items() if trainings[name] != times]
            self.tally["studies"] += 1
            self.afresh(self.root)

    def going_on(self) -> bool:
        return self.tally["moments"] < self.moments or self.root.exists() or not self.tally["studies"]


def study(root: Path, engine: str, jobs: int) -> int:
    try:
        erce.study.run.run(chaos_cells.RECIPE, out=root, engine=engine, jobs=jobs)
    except (ValueError, RunError) as sentence:
        print(f"{type(sentence).__name__}: {sentence}", flush=True)
        return 1
    return 0


def kill_drivers(disturbed: Disturbed) -> None:
    while disturbed.going_on():
        engine = disturbed.rng.choice([HERE, PROCESSES])
        driver = disturbed.begin(engine)
        moment = disturbed.rng.uniform(0, disturbed.wall[engine])
        late = disturbed.tally["moments"] >= disturbed.moments
        code = disturbed.ended(driver, seconds=DEADLINE_SECONDS if late else moment)
        if code is None:
            os.kill(driver, signal.SIGKILL)
            code = disturbed.end(driver)
        disturbed.look(code)


def fill_the_disk(disturbed: Disturbed) -> None:
    """Run on a full disk, which has a few pages more after each sentence."""
    with small(disturbed.folder / "small") as (place, resize):
        disturbed.afresh(place / "study")
        while disturbed.going_on():
            disk = os.statvfs(place)
            used = disk.f_blocks - disk.f_bfree
            resize((used + disturbed.rng.randint(1, 4)) * PAGE)
            disturbed.look(disturbed.end(disturbed.begin(HERE)))


@contextmanager
def small(place: Path) -> Iterator[tuple]:
    """Yield a file system of a few pages, and a function that changes its bytes."""

    def mount(options: str) -> None:
        command = ["mount", "-n", "-t", "tmpfs", "-o", options, "erce-small", str(place)]
        subprocess.run(command, check=True)

    place.mkdir()
    mount("size=1m,mode=700")
    try:
        yield place, lambda size: mount(f"remount,size={size}")
    finally:
        subprocess.run(["umount", "-n", str(place)], check=True)


DISTURBANCES = {
    "drivers": kill_drivers,
    "disk": fill_the_disk,
}

if __name__ == "__main__":
    disturbed = Disturbed(Path(sys.argv[2]), int(sys.argv[3]), random.Random(int(sys.argv[4])))
    DISTURBANCES[sys.argv[1]](disturbed)
    print(json.dumps(disturbed.tally))
