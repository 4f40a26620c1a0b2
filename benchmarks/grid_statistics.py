"""Outcomes of a made-up study into the seconds that all its statistics take, piece by piece.

    python benchmarks/grid_statistics.py
    python benchmarks/grid_statistics.py --arms 15 --seeds 3 --problems 5000
    python benchmarks/grid_statistics.py --report

The default is the paper's grid with eight samples: 9 λ × 5 seeds × 500 problems × 8 samples. --report
instead asks for what a report says of the full grid, `erce.reporting.numbers.inference`, in samples and
greedy, from outcomes that are read already.
"""

import argparse
import time
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from erce.recipe import Cell, Decoding, Recipe
from erce.reporting.numbers.gains import summary
from erce.reporting.numbers.inference import inference
from erce.stats import equivalent, grid_gains, paired_gain, spread_of, study_sizes, welch
from erce.study.folder import Study
from erce.types import Arm


def main() -> None:
    options = _arguments()
    if options.report:
        _report(options)
        return
    outcomes = made_up(options.arms, options.seeds, options.problems, options.samples)
    baseline, *arms = outcomes.values()
    named = {lam: arm for lam, arm in outcomes.items() if lam}
    per_seed = {lam: arm.mean(axis=(1, 2)) for lam, arm in outcomes.items()}
    pieces = {
        "grid_gains, Holm": lambda: grid_gains(named, baseline),
        "welch, each arm": lambda: [welch(per_seed[lam], per_seed[0]) for lam in named],
        "equivalent, each arm": lambda: [equivalent(paired_gain(arm, baseline), margin=0.02) for arm in arms],
        "spread_of, study_sizes": lambda: study_sizes(spread_of(arms[-1], baseline)),
    }
    total = 0.0
    for name, piece in pieces.items():
        start = time.perf_counter()
        piece()
        seconds = time.perf_counter() - start
        total += seconds
        print(f"{name:<28} {seconds:7.3f} s")
    print(f"{'all':<28} {total:7.3f} s")


def made_up(arms: int, seeds: int, problems: int, samples: int) -> dict[int, np.ndarray]:
    """λ → 0/1 outcomes (seeds, problems, samples), better with every λ; λ = 0 is the baseline."""
    rng = np.random.default_rng(0)
    difficulty = rng.normal(0.5, 2.0, problems)
    study = {}
    for lam in range(arms):
        logits = difficulty + 0.05 * lam + rng.normal(0, 0.5, problems)
        chance = 1 / (1 + np.exp(-logits))
        study[lam] = (rng.random((seeds, problems, samples)) < chance[:, None]).astype(int)
    return study


class MadeUp(Study):
    """A finished study that no folder holds, all on the test problems and with λ = 1 best on validation."""

    @cached_property
    def results(self) -> dict[Cell, dict[str, Any]]:
        scores = {"reasons": {}, "tokens": 1.0, "entropy": 1.0}
        return {
            cell: {
                "scores": {
                    split: {name: scores | {"pass@1": float(cell.lam == 1)} for name in ("sampled", "greedy")}
                    for split in ("validation", "test")
                }
            }
            for cell in self.recipe.cells()
            if cell.lam is not None
        }

    @cached_property
    def drawn(self) -> dict[str, dict[int, np.ndarray]]:
        size, samples = (len(self.recipe.lams), len(self.recipe.seeds)), self.recipe.decoding.samples
        problems = self.recipe.n_test or 1
        return {"sampled": made_up(*size, problems, samples), "greedy": made_up(*size, problems, 1)}

    def outcomes(self, task: str, arm: Arm, *, split: str, decoding: str) -> np.ndarray:
        return self.drawn[decoding][int(arm.lam or 0)]


def _report(options: argparse.Namespace) -> None:
    lams = tuple(float(lam) for lam in range(options.arms))
    recipe = Recipe(
        task="made-up",
        lams=lams,
        seeds=tuple(range(options.seeds)),
        n_test=options.problems,
        decoding=Decoding(samples=options.samples),
    )
    study = MadeUp(Path(), recipe)
    study.drawn  # noqa: B018  made before the clock starts
    start = time.perf_counter()
    study_summary = summary(study)
    middle = time.perf_counter()
    inference(study_summary)
    end = time.perf_counter()
    print(f"{'summary: rows and gains':<28} {middle - start:7.3f} s")
    print(f"{'inference':<28} {end - middle:7.3f} s")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--arms", type=int, default=9, help="λ, with λ = 0")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--problems", type=int, default=500)
    parser.add_argument("--samples", type=int, default=8)
    parser.add_argument("--report", action="store_true", help="what a report says of the full grid")
    return parser.parse_args()


if __name__ == "__main__":
    main()
