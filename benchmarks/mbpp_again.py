"""MBPP again (docs/real.md): the verdicts of λ = 0, 1 and 4, rft and rft + 1, seed by seed, and their gains.

    python benchmarks/mbpp_again.py                   # the gains
    python benchmarks/mbpp_again.py runs/mbpp-power   # first adds a study's finished cells to the file

Hours decide how many of the seeds run, so mbpp_again.csv keeps them from one machine to the next: with a row
for each arm, seed, split and problem, and a column for each decoding: 1 for each completion that passed every
test, else 0, and nothing where none was drawn.
"""

import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from erce.files import new_file
from erce.reporting.format import interval, points
from erce.score.rounding import percent
from erce.stats import paired_gain
from erce.study.export import records
from erce.study.folder import read_study

FILE = Path(__file__).with_suffix(".csv")
TEMPERATURES = {"greedy": 0.0, "T0.4": 0.4, "sampled": 0.8}  # of each decoding, rising
FOUR = ("T0.4", "sampled")  # the decodings with four samples of a problem
COLUMNS = ("arm", "seed", "split", "problem", *TEMPERATURES)
NAMES = {"lam0": "λ = 0", "lam1": "λ = 1", "lam4": "λ = 4", "rft": "rft", "rft-lam1": "rft + 1"}
WITHOUT_OWN = (("lam0", "lam1"), ("lam0", "lam4"), ("lam1", "lam4"))
PAIRS = (*WITHOUT_OWN, ("lam0", "rft"), ("lam1", "rft-lam1"), ("lam0", "rft-lam1"))

Key = tuple[str, str, str, str]  # arm, seed, split, problem
Rows = dict[Key, dict[str, str]]  # → decoding → 0 and 1


class Measure(NamedTuple):
    """What a line compares: the means of two arms, each at its best of these decodings on validation."""

    name: str
    decodings: Sequence[str]
    any_of_four: bool = False


MEASURES = (
    Measure("greedy", ["greedy"]),
    *(Measure(f"sampled at {TEMPERATURES[name]}", [name]) for name in FOUR),
    Measure("each at its best temperature", list(TEMPERATURES)),
    *(Measure(f"at least one of four at {TEMPERATURES[name]}", [name], True) for name in FOUR),
    Measure("at least one of four, each at its best temperature", FOUR, True),
)


def kept() -> Rows:
    """Return the rows of the file; none where there is no file."""
    if not FILE.is_file():
        return {}
    with FILE.open(encoding="utf-8", newline="") as file:
        return {
            (row["arm"], row["seed"], row["split"], row["problem"]): {
                name: row[name] for name in TEMPERATURES
            }
            for row in csv.DictReader(file)
        }


def keep(rows: Rows) -> None:
    """Write the rows to the file."""
    with new_file(FILE) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        written = csv.writer(file, lineterminator="\n")
        written.writerow(COLUMNS)
        written.writerows((*key, *(rows[key].get(name, "") for name in TEMPERATURES)) for key in sorted(rows))


def of_study(root: Path) -> Rows:
    """Return the rows of a study's finished trainings in the arms of `NAMES`, without others."""
    rows: Rows = {}
    for row in records(read_study(root)):
        if row.arm in NAMES and row.decoding in TEMPERATURES:
            by_decoding = rows.setdefault((row.arm, str(row.seed), row.split, row.problem), {})
            accepted = str(int(bool(row.accepted)))
            by_decoding[row.decoding] = by_decoding.get(row.decoding, "") + accepted
    return rows


def outcomes(rows: Rows, arm: str, seeds: Sequence[str], split: str, decoding: str) -> np.ndarray:
    """Return 0 and 1 of an arm, (seeds, problems, samples), problems in one order; empty where some lack."""
    of_seeds = [
        [rows[key].get(decoding, "") for key in sorted(rows) if key[:3] == (arm, seed, split)]
        for seed in seeds
    ]
    is_whole = all(texts and all(texts) for texts in of_seeds)
    return np.array([[list(map(int, text)) for text in texts] for texts in of_seeds if is_whole])


def table(rows: Rows) -> list[str]:
    """Return the lines of each pair of arms on the seeds that both have; one sentence if there are none."""
    lines = []
    for pair in PAIRS:
        of_arms = [{key[1] for key in rows if key[0] == arm} for arm in pair]
        if seeds := sorted(set.intersection(*of_arms), key=int):
            names = ", ".join(NAMES[arm] for arm in pair)
            lines.append(f"seeds {', '.join(seeds)}: {names} in %, gain in points with its 95 % interval")
            lines += filter(None, (_line(rows, pair, seeds, measure) for measure in MEASURES))
    return lines or ["no seed has both λ = 0 and λ = 1 yet; name a study's folder"]


def _line(rows: Rows, pair: tuple[str, str], seeds: Sequence[str], measure: Measure) -> str:
    """Return the line of a measure; empty where an arm lacks one of its decodings."""
    zero, one = (_at_best(rows, arm, seeds, measure) for arm in pair)
    if zero is None or one is None:
        return ""
    gain = paired_gain(one[1], zero[1])
    means = ", ".join(percent(float(arm.mean())) for _, arm in (zero, one))
    at = f" ({zero[0]:g}, {one[0]:g})" if len(measure.decodings) > 1 else ""
    return f"{measure.name}{at}: {means}, {points(gain.gain)} ({interval(gain)})"


def _at_best(rows: Rows, arm: str, seeds: Sequence[str], measure: Measure) -> tuple[float, np.ndarray] | None:
    """Return validation's temperature, the lowest of equals, and the outcomes on test at it."""
    validation, test = (
        [outcomes(rows, arm, seeds, split, name) for name in measure.decodings]
        for split in ("validation", "test")
    )
    if not all(drawn.size for drawn in validation + test):
        return None
    if measure.any_of_four:
        validation, test = ([drawn.max(-1, keepdims=True) for drawn in split] for split in (validation, test))
    best = int(np.argmax([round(drawn.mean(), 12) for drawn in validation]))
    return TEMPERATURES[measure.decodings[best]], test[best]


def main() -> None:
    rows = kept()
    for root in map(Path, sys.argv[1:]):
        for key, drawn in of_study(root).items():
            rows[key] = rows.get(key, {}) | drawn
    if len(sys.argv) > 1:
        keep(rows)
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
