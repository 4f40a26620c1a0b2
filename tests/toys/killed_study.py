"""A study killed (SIGKILL) again and again until it is done, in forks of this process.

The first fork kills itself after its first checkpoint, the second at its first completions, and the rest are
killed at seeded moments.

`python -m toys.killed_study FOLDER SEED` prints how often it was killed and what it drew twice, as JSON; with
`grown` at the end the same of a finished study whose recipe has gained temperatures
"""

import json
import os
import random
import signal
import sys
import time
from dataclasses import replace
from itertools import count
from pathlib import Path

from erce.recipe import Decoding, Recipe, Training
from erce.study.folder import JOURNAL
from erce.study.run import run
from erce.study.samples import Journal
from erce.study.stages import base_policy
from erce.train.fine_tune import Checkpoints
from toys.recipes import tiny_recipe

RECIPE = tiny_recipe(
    lams=(0.0,),
    n_validation=24,
    n_test=40,
    n_train=48,
    training=Training(epochs=2.0, checkpoint_minutes=1e-9),
    decoding=Decoding(samples=2, batch_size=8),
)
WIDE = replace(RECIPE, decoding=replace(RECIPE.decoding, temperatures=(0.2, 1.0), temperature_samples=2))


def main(folder: Path, seed: int, grown: bool) -> None:
    base_policy(RECIPE.model, RECIPE.dtype)
    recipe = WIDE if grown else RECIPE
    alone(folder / "undisturbed", recipe, folder / "log")
    if grown:
        narrow = replace(WIDE, decoding=replace(WIDE.decoding, temperatures=()))
        alone(folder / "killed", narrow, folder / "log")
    (folder / "log").unlink()
    rng, recorded = random.Random(seed), finished(folder / "killed")
    tally = {"kills": 0, "in generation": 0, "trainings gone on with": 0, "twice": []}
    for attempt in count(1):  # each has longer than the last, so a slow machine ends, too
        begun = sum(1 for _ in lines(folder / "log"))
        if attempt == 1 and not grown:
            death = {"dies_at": "checkpoint"}
        elif attempt <= 2:
            death = {"dies_at": "completions"}
        else:
            death = {"seconds": rng.uniform(0.05, 0.25) * attempt}
        done = alone(folder / "killed", recipe, folder / "log", **death)
        drawn = list(lines(folder / "log"))[begun:]
        tally["twice"] += [place for place in drawn if tuple(place) in recorded]
        if done:
            break
        tally["kills"] += 1
        tally["in generation"] += bool(drawn)
        recorded = finished(folder / "killed")
    tally["trainings gone on with"] = len(list(lines(folder / "log.training")))
    print(json.dumps(tally))


def alone(
    root: Path, recipe: Recipe, log: Path, *, dies_at: str | None = None, seconds: float | None = None
) -> bool:
    """Run the study in a process that kills itself at an event, or is killed; return whether it was done."""
    child = os.fork()
    if child == 0:
        note_events(log, dies_at)
        run(recipe, out=root)
        os._exit(0)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if dies_at is None and seconds is None:
        assert status == 0, status
    assert status in {0, signal.SIGKILL}, status
    return status == 0


def note_events(log: Path, dies_at: str | None) -> None:
    """Write a line for each problem before it is drawn, and for each checkpoint that is gone on from."""
    completed, last, clear = Journal.completed, Checkpoints.last, Checkpoints.clear

    def dies(event):
        if event == dies_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def noted_last(self):
        path = last(self)
        if path is not None:
            with log.with_suffix(".training").open("a") as file:
                file.write(json.dumps(path.name) + "\n")
        return path

    def cleared(self, *, but=None):
        """`but` is the checkpoint that was written just before."""
        if but is not None:
            dies("checkpoint")
        clear(self, but=but)

    def noted(self, problems, draw, **settings):
        def noting(chunk):
            places = [[self.path.parent.name, settings["sample_set"].split, problem.id] for problem in chunk]
            with log.open("a") as file:
                file.writelines(
                    json.dumps([*place, settings["sample_set"].decoding]) + "\n" for place in places
                )
            dies("completions")
            return draw(chunk)

        return completed(self, problems, noting, **settings)

    Checkpoints.last, Checkpoints.clear, Journal.completed = noted_last, cleared, noted


def lines(log: Path):
    return map(json.loads, log.read_text().splitlines() if log.is_file() else ())


def finished(root: Path) -> set[tuple[str, ...]]:
    """Return (cell, split, problem, decoding) of all completions on disk, without a torn last line."""
    places = set()
    for path in [*root.rglob(JOURNAL), *root.rglob("completions.jsonl")]:
        rows = []
        for line in path.read_text().split("\n")[:-1]:
            content = json.loads(line if path.name != JOURNAL else line.split(" ", 1)[1])
            rows += [row | content["labels"] for row in content["rows"]] if "rows" in content else [content]
        places |= {(path.parent.name, row["split"], row["problem"], row["decoding"]) for row in rows}
    return places


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] == ["grown"])
