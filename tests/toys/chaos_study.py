"""A study of toy cells, disturbed at seeded random moments until it is done, again and again.

`python -m toys.chaos_study HOW FOLDER MOMENTS SEED` prints what came of it, as JSON; HOW is in DISTURBANCES

`disk` and `readonly` mount a small file system on FOLDER/small, for `unshare --mount` to keep to themselves.
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
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path

from toys import chaos_cells, ray_nodes  # before anything of erce
from toys.process_trees import parents
from toys.waiting import DEADLINE_SECONDS

# isort: split
import erce.study.run
from erce.errors import RunError
from erce.study.engines import ray as ray_engine
from erce.study.folder import LOCKS, TIMING

ray_engine.POLL_SECONDS, ray_engine.SILENCE_SECONDS = 0.25, 1.0
erce.study.run.run_cell = chaos_cells.run_cell
GCS_ALONE = 0.25  # share of the heads that lose this process, and not all of theirs at once
RAYS_OWN = {
    "RAY_gcs_rpc_server_reconnect_timeout_s": "10",  # which SILENCE_SECONDS would make too short
    "RAY_task_events_shutdown_flush_timeout_ms": "100",  # else a driver waits 5 s for a head that is gone
}
PAGE = 4096  # bytes; a file system in memory gives them out singly
HERE, PROCESSES = ("here", 1), ("processes", 2)
RAY = "ray"  # an engine whose wall time the last undisturbed study on a cluster decides


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
        self.right = contents(self.root)
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
            now = contents(self.root)
            differ = [
                name for name in now.keys() | self.right.keys() if now.get(name) != self.right.get(name)
            ]
            self.tally["differ"] += differ
            self.tally["twice"] += [name for name, times in self.done.items() if trainings[name] != times]
            self.tally["studies"] += 1
            self.afresh(self.root)

    def going_on(self) -> bool:
        return self.tally["moments"] < self.moments or self.root.exists() or not self.tally["studies"]


def study(root: Path, engine: str, jobs: int | None) -> int:
    try:
        erce.study.run.run(chaos_cells.RECIPE, out=root, engine=engine, jobs=jobs)
    except (ValueError, RunError) as sentence:
        print(f"{type(sentence).__name__}: {sentence}", flush=True)
        return 1
    return 0


def contents(root: Path) -> dict[str, bytes]:
    """Return every file of a study but the times and what lies in the folder of locks."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and path.name != TIMING and LOCKS not in path.parts
    }


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


def kill_workers(disturbed: Disturbed) -> None:
    """Kill workers; each kill counts as a moment, and a driver lives through many."""
    kills = 0
    while kills < disturbed.moments or disturbed.root.exists():
        driver, code = disturbed.begin(PROCESSES), None
        while code is None:
            code = disturbed.ended(driver, seconds=disturbed.rng.uniform(0, disturbed.wall[PROCESSES] / 2))
            workers = [] if code is not None or kills >= disturbed.moments else children(driver)
            if workers:
                os.kill(disturbed.rng.choice(workers), signal.SIGKILL)
                kills += 1
        disturbed.look(code)
    disturbed.tally["moments"] = kills


def kill_heads(disturbed: Disturbed) -> None:
    """Kill the head of a Ray cluster; the next driver finds another cluster."""
    os.environ |= RAYS_OWN
    with ray_nodes.heads() as heads:
        head = next(heads)
        while disturbed.going_on():
            if _kill_a_head(disturbed, head):
                head = next(heads)


def _kill_a_head(disturbed: Disturbed, head: ray_nodes.Head) -> bool:
    """Kill the head at any moment, also while the driver connects; False if the driver was done before."""
    fresh = not disturbed.root.exists()
    driver, code = disturbed.begin((f"ray@{head.address}", None)), None
    began, wall = time.monotonic(), disturbed.wall.get(RAY)
    late = disturbed.tally["moments"] >= disturbed.moments or wall is None
    if code is None:
        code = disturbed.ended(driver, seconds=DEADLINE_SECONDS if late else disturbed.rng.uniform(0, wall))
    if code is not None:
        if fresh:
            disturbed.wall[RAY] = time.monotonic() - began
        disturbed.look(code)
        return False
    alone = disturbed.rng.random() < GCS_ALONE
    for process in [head.processes["gcs_server"]] if alone else head.processes.values():
        os.kill(process, signal.SIGKILL)
    disturbed.look(disturbed.end(driver))
    head.end()
    return True


def children(driver: int) -> list[int]:
    workers = []
    for process in (process for process, parent in parents().items() if parent == driver):
        with suppress(OSError):  # it has gone meanwhile
            if b"spawn_main" in Path(f"/proc/{process}/cmdline").read_bytes():
                workers.append(process)
    return workers


def fill_the_disk(disturbed: Disturbed) -> None:
    """Run on a full disk, which has a few pages more after each sentence."""
    with small(disturbed.folder / "small") as (place, remount):
        disturbed.afresh(place / "study")
        while disturbed.going_on():
            disk = os.statvfs(place)
            used = disk.f_blocks - disk.f_bfree
            remount(f"size={(used + disturbed.rng.randint(1, 4)) * PAGE}")
            disturbed.look(disturbed.end(disturbed.begin(HERE)))


def forbid_writing(disturbed: Disturbed) -> None:
    """Kill a driver and make the disk read-only; the next driver says so and changes nothing."""
    with small(disturbed.folder / "small") as (place, remount):
        disturbed.afresh(place / "study")
        while disturbed.going_on():
            driver = disturbed.begin(HERE)
            moment = disturbed.rng.uniform(0, disturbed.wall[HERE])
            late = disturbed.tally["moments"] >= disturbed.moments
            code = disturbed.ended(driver, seconds=DEADLINE_SECONDS if late else moment)
            if code is None:
                os.kill(driver, signal.SIGKILL)
                disturbed.end(driver)
                before = contents(disturbed.root) if disturbed.root.exists() else {}
                remount("ro")
                code = disturbed.end(disturbed.begin(HERE))
                remount("rw")
                assert before == (contents(disturbed.root) if disturbed.root.exists() else {})
            disturbed.look(code)


@contextmanager
def small(place: Path) -> Iterator[tuple]:
    """Yield a file system of a few pages, and a function that changes how it is mounted."""
    place.mkdir()
    mount = ["mount", "-n", "-t", "tmpfs", "-o", "size=1m,mode=700", "erce-small", str(place)]
    subprocess.run(mount, check=True)
    try:
        yield place, lambda how: subprocess.run(["mount", "-n", "-o", f"remount,{how}", place], check=True)
    finally:
        subprocess.run(["umount", "-n", str(place)], check=True)


DISTURBANCES = {
    "drivers": kill_drivers,
    "workers": kill_workers,
    "heads": kill_heads,
    "disk": fill_the_disk,
    "readonly": forbid_writing,
}

if __name__ == "__main__":
    disturbed = Disturbed(Path(sys.argv[2]), int(sys.argv[3]), random.Random(int(sys.argv[4])))
    DISTURBANCES[sys.argv[1]](disturbed)
    print(json.dumps(disturbed.tally))
