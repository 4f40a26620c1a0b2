"""Searches over made-up cells with a known best λ → how often a λ wins, and what following the search costs.

    python benchmarks/search_regret.py
    python benchmarks/search_regret.py --gain 6 --studies 1000

Regret is the true accuracy of the best λ minus that of the λ followed, in points. Every study has 200
validation problems, four samples and four seeds; the true gain rises from λ = 0 to a peak at λ = 0.3, 1, 3 or
8, and falls beyond.
"""

import argparse
import math

import numpy as np
from scipy import stats as scipy_stats

from erce.recipe import GRID, SearchSettings
from erce.study.search import Run, Search

PROBLEMS, SAMPLES, SEEDS = 200, 4, (0, 1, 2, 3)
DIFFICULTY, EFFECT, RUN = 1.4, 0.4, 0.03  # standard deviations, in probits
FOLLOWED = ("winner", "leader", "one", "zero")
WIDTH = 1.5  # of the peak, in doublings of 1 + λ


def main() -> None:
    options = _arguments()
    print(
        f"{'gain':>5} {'a λ wins':>9} {'regret: the winner':>19} {'the leader':>11} {'λ = 1':>7} {'λ = 0':>7}"
    )
    for gain in options.gain:
        won, regrets = searches(gain / 100, studies=options.studies)
        winner, leader, one, zero = (f"{regrets[name]:.2f}" for name in FOLLOWED)
        print(f"{gain:5.1f} {100 * won:7.0f} % {winner:>19} {leader:>11} {one:>7} {zero:>7}")


def searches(gain: float, *, studies: int) -> tuple[float, dict[str, float]]:
    """Return the share of searches that a λ over 0 wins, and each way's mean regret in points."""
    rng = np.random.default_rng(33)
    won = 0
    regrets: dict[str, float] = dict.fromkeys(FOLLOWED, 0.0)
    for _ in range(studies):
        peak = float(rng.choice([lam for lam in GRID if lam]))
        problems = rng.normal(0, DIFFICULTY, PROBLEMS)
        search = Search(SearchSettings(extensions=0), lams=GRID, seeds=SEEDS)
        known: dict[tuple[float, int], np.ndarray] = {}
        step = search.next(known)
        effects = {lam: rng.normal(0, EFFECT, PROBLEMS) * bool(lam) for lam in GRID}
        while isinstance(step, Run):
            for lam, seed in step.cells:
                probits = problems + effects[lam] + _shift(lam, peak, gain) + rng.normal(0, RUN)
                right = rng.random((PROBLEMS, SAMPLES)) < scipy_stats.norm.cdf(probits)[:, None]
                known[lam, seed] = right.astype(np.int8)
            step = search.next(known)
        won += step.winner > 0
        for name, lam in zip(FOLLOWED, (step.winner, step.leader, 1.0, 0.0), strict=True):
            regrets[name] += 100 * (gain - _true_gain(lam, peak, gain)) / studies
    return won / studies, regrets


def _true_gain(lam: float, peak: float, gain: float) -> float:
    """Return the gain of λ over 0: all of it at the peak."""
    away = math.log2((1 + lam) / (1 + peak)) / WIDTH
    return gain * math.exp(-(away**2) / 2) if lam else 0.0


def _shift(lam: float, peak: float, gain: float) -> float:
    """Return the probit shift that gains as much in accuracy, over problems with λ's effects on them."""
    spread = math.sqrt(1 + DIFFICULTY**2 + EFFECT**2 + RUN**2)
    return float(scipy_stats.norm.ppf(0.5 + _true_gain(lam, peak, gain))) * spread if lam else 0.0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gain", type=float, nargs="+", default=[0.0, 3.3, 6.0, 10.0], help="in points")
    parser.add_argument("--studies", type=int, default=300)
    return parser.parse_args()


if __name__ == "__main__":
    main()
