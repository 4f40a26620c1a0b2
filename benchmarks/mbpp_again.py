"""MBPP again (docs/real.md): the verdicts of λ = 0, λ = 1, rft and rft + 1, seed by seed, and their gains.

    python benchmarks/mbpp_again.py                   # the gains
    python benchmarks/mbpp_again.py runs/mbpp-power   # first adds a study's finished cells to the file

Hours decide how many of the seeds run, so mbpp_again.csv keeps them from one machine to the next: with a row
for each arm, seed, decoding and test problem, with 1 for each completion that passed every test, else 0.
"""

import csv
import sys
from pathlib import Path

import numpy as np

from erce.files import new_file
from erce.reporting.format import interval, points
from erce.score.rounding import percent
from erce.stats import paired_gain
from erce.study.export import records
from erce.study.folder import read_study

FILE = Path(__file__).with_suffix(".csv")
COLUMNS = ("arm", "seed", "decoding", "problem", "accepted")
DECODINGS = ("greedy", "sampled")
NAMES = {"lam0": "λ = 0", "lam1": "λ = 1", "rft": "rft", "rft-lam1": "rft + 1"}
PAIRS = (("lam0", "lam1"), ("lam0", "rft"), ("lam1", "rft-lam1"), ("lam0", "rft-lam1"))

Rows = dict[tuple[str, ...], str]  # the first four columns → the last


def kept() -> Rows:
    """Return the rows of the file; none where there is no file."""
    if not FILE.is_file():
        return {}
    with FILE.open(encoding="utf-8", newline="") as file:
        return {tuple(row[:4]): row[4] for row in list(csv.reader(file))[1:]}


def of_study(root: Path) -> Rows:
    """Return the rows of a study's finished trainings in the arms of `NAMES`, without others."""
    rows: Rows = {}
    for row in records(read_study(root)):
        if row.arm in NAMES and row.split == "test" and row.decoding in DECODINGS:
            key = (row.arm, str(row.seed), row.decoding, row.problem)
            rows[key] = rows.get(key, "") + str(int(bool(row.accepted)))
    return rows


def outcomes(rows: Rows, arm: str, seeds: list[str], decoding: str) -> np.ndarray:
    """Return 0 and 1 of an arm, (seeds, problems, samples), the problems in one order."""
    of_arm = [{key[3]: texts for key, texts in rows.items() if key[:3] == (arm, s, decoding)} for s in seeds]
    return np.array([[list(map(int, of_seed[name])) for name in sorted(of_seed)] for of_seed in of_arm])


def table(rows: Rows) -> list[str]:
    """Return the lines of each pair of arms on the seeds that both have; one sentence if there are none."""
    lines = []
    for pair in PAIRS:
        of_arms = [{key[1] for key in rows if key[0] == arm} for arm in pair]
        if seeds := sorted(set.intersection(*of_arms), key=int):
            lines += _gains(rows, pair, seeds)
    return lines or ["no seed has both λ = 0 and λ = 1 yet; name a study's folder"]


def _gains(rows: Rows, pair: tuple[str, str], seeds: list[str]) -> list[str]:
    names = ", ".join(NAMES[arm] for arm in pair)
    lines = [f"seeds {', '.join(seeds)}: {names} in %, and the gain in points with its 95 % interval"]
    greedy, sampled = ([outcomes(rows, arm, seeds, how) for arm in pair] for how in DECODINGS)
    any_of_four = [arm.max(-1, keepdims=True) for arm in sampled]
    for name, (zero, one) in (
        ("greedy", greedy),
        ("sampled at 0.8", sampled),
        ("at least one of four", any_of_four),
    ):
        gain = paired_gain(one, zero)
        means = ", ".join(percent(float(arm.mean())) for arm in (zero, one))
        lines.append(f"{name}: {means}, {points(gain.gain)} ({interval(gain)})")
    return lines


def main() -> None:
    rows = kept()
    for root in map(Path, sys.argv[1:]):
        rows |= of_study(root)
    if len(sys.argv) > 1:
        with new_file(FILE) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
            written = csv.writer(file, lineterminator="\n")
            written.writerow(COLUMNS)
            written.writerows((*key, rows[key]) for key in sorted(rows))
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
