"""A study of toy cells whose driver is killed at seeded random moments until it is done, again and again.

`python -m toys.chaos_study FOLDER MOMENTS SEED` prints what came of it, as JSON.
"""

import io
import json
import os
import random
import signal
import sys
import time
import traceback
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from toys import chaos_cells  # before anything of erce
from toys.waiting import DEADLINE_SECONDS

# isort: split
import erce.study.run
from toys.engines import KEEPING
from toys.studies import files

erce.study.run.run_cell = chaos_cells.run_cell


def study(root: Path, engine: str, jobs: int | None) -> None:
    erce.study.run.run(chaos_cells.RECIPE, out=root, engine=engine, jobs=jobs)


def begin(root: Path, engine: tuple[str, int | None], *, output: Path) -> int:
    """Start a driver, which exits with 0 when all cells are done."""
    child = os.fork()
    if child == 0:
        with output.open("wb") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        try:
            study(root, *engine)
            os._exit(0)
        finally:  # reached by an exception alone, which is not the caller's
            traceback.print_exc()
            os._exit(1)
    return child


def ended(driver: int, *, seconds: float) -> int | None:
    """Return the driver's exit code; None if the driver runs on after so many seconds."""
    end = time.monotonic() + seconds
    while True:
        ended, status = os.waitpid(driver, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > end:
            return None
        time.sleep(0.002)


def kill_drivers(folder: Path, moments: int, rng: random.Random) -> dict:
    """Return how many were killed, and what of the studies differs, was trained twice or ended otherwise."""
    output, trained = folder / "output.txt", folder / "trained.txt"
    os.environ["TRAINED"] = str(trained)
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        study(folder / "first", *KEEPING[0])  # so that what is imported late need not be by each driver
    right, wall = files(folder / "first"), {}
    for engine in KEEPING:
        started = time.monotonic()
        ended(begin(folder / engine[0], engine, output=output), seconds=DEADLINE_SECONDS)
        wall[engine] = time.monotonic() - started
    told = {"kills": 0, "differ": [], "twice": [], "exits": []}
    places = 0
    while told["kills"] < moments:
        places += 1  # a worker of a killed driver may write in the old one a moment longer
        root, done, code = folder / f"study-{places}", {}, None
        trained.write_text("")
        while code != 0:
            engine = rng.choice(KEEPING)
            driver = begin(root, engine, output=output)
            moment = rng.uniform(0, wall[engine])
            code = ended(driver, seconds=moment if told["kills"] < moments else DEADLINE_SECONDS)
            if code is None:
                os.kill(driver, signal.SIGKILL)
                code = ended(driver, seconds=DEADLINE_SECONDS)
                told["kills"] += code != 0
            if code not in (0, -signal.SIGKILL):
                return told | {"exits": [code, output.read_text()[-2000:]]}
            trainings = Counter(trained.read_text().split())
            for path in root.glob("cells/*/result.json"):
                done.setdefault(path.parent.name, trainings[path.parent.name])
        now = files(root)
        told["differ"] += [name for name in now.keys() | right.keys() if now.get(name) != right.get(name)]
        told["twice"] += [name for name, times in done.items() if trainings[name] != times]
    return told


if __name__ == "__main__":
    print(json.dumps(kill_drivers(Path(sys.argv[1]), int(sys.argv[2]), random.Random(int(sys.argv[3])))))
