"""Made-up studies whose true gain is known → how often the interval holds it: a coverage table.

    python benchmarks/coverage.py
    python benchmarks/coverage.py --studies 10000

Sparse: a few of n problems differ, all in one direction, or some also the other way. With every seed alike
the shares are exact sums over the possible outcomes; else they are of simulated studies, each table with its
own generator. 95 % are promised.
"""

import argparse
from functools import cache

import numpy as np
from scipy import stats as scipy_stats

from erce.stats import Gain, paired_gain

PROBLEMS = (50, 100, 300, 1000)
EXPECTED = (1.0, 2.0, 3.0, 4.5, 6.0, 8.0, 10.0)  # problems that differ
UNLIKELY = 1e-7  # outcomes of a smaller chance are left out


def main() -> None:
    options = _arguments()
    print("sparse, every seed alike: coverage in %, and expected problems that differ")
    print(f"{'problems':>10}", *(f"{expected:6g}" for expected in EXPECTED))
    for problems in PROBLEMS:
        print(f"{problems:>10}", *(f"{100 * sparse_coverage(problems, e):6.1f}" for e in EXPECTED))
    print("sparse, a problem that differs does so in each seed with chance 0.6")
    for problems in PROBLEMS[::2]:
        for seeds in (1, 2, 3, 5):
            shares = [
                sparse_seeds_coverage(problems, expected, seeds=seeds, studies=options.studies)
                for expected in EXPECTED
            ]
            print(f"{problems:>5} × {seeds:<2}", *(f"{100 * share:6.1f}" for share in shares))
    print("sparse, the 5 % of problems that differ do so with unequal chances; 50, 100, 200, 400 problems")
    shares = [varied_coverage(problems, studies=options.studies) for problems in (50, 100, 200, 400)]
    print(" " * 10, *(f"{100 * share:6.1f}" for share in shares))
    print("two noisy seeds, whose accuracies differ by 5 to 12 points, against few or many quiet ones")
    for seeds in ((2, 2), (2, 10), (3, 3)):
        shares = [
            unequal_coverage(seeds=seeds, noise=noise, studies=options.studies) for noise in (0.1, 0.2, 0.4)
        ]
        print(f"{seeds[0]:>5} × {seeds[1]:<2}", *(f"{100 * share:6.1f}" for share in shares))
    print("one run in ten of the treated arm collapses, 3, 5 and 10 seeds")
    shares = [collapse_coverage(seeds=seeds, studies=options.studies) for seeds in (3, 5, 10)]
    print(" " * 10, *(f"{100 * share:6.1f}" for share in shares))


def sparse_coverage(problems: int, expected: float) -> float:
    """Return the exact chance that the interval holds the gain where `expected` problems are gained."""
    true = expected / problems
    gained = np.arange(problems + 1)
    chances = scipy_stats.binom.pmf(gained, problems, true)
    likely = gained[chances > UNLIKELY]
    return sum(
        float(chances[count])
        for count in likely
        if (gain := counted_gain(problems, int(count), 0)).low <= true <= gain.high
    )


def sparse_seeds_coverage(problems: int, expected: float, *, seeds: int, studies: int) -> float:
    """Return the share of simulated studies; a problem that differs does so in each seed with chance 0.6."""
    rng, often, hits = np.random.default_rng(17), 0.6, 0
    baseline = np.zeros((seeds, problems, 1), dtype=int)
    for _ in range(studies):
        differ = rng.random(problems) < expected / problems
        treated = ((rng.random((seeds, problems)) < often) & differ).astype(int)[..., None]
        gain = paired_gain(treated, baseline)
        hits += gain.low <= often * expected / problems <= gain.high
    return hits / studies


def varied_coverage(problems: int, *, studies: int) -> float:
    """Return the share of simulated studies of 3 seeds and 4 samples, in which the baseline is never right.

    A problem in twenty is right with a chance from Beta(0.5, 2), whose mean is 0.2; the others never.
    """
    rng, share, hits = np.random.default_rng(20), 0.05, 0
    baseline = np.zeros((3, problems, 4), dtype=int)
    for _ in range(studies):
        chance = np.where(rng.random(problems) < share, rng.beta(0.5, 2, problems), 0)
        treated = (rng.random(baseline.shape) < chance[None, :, None]).astype(int)
        gain = paired_gain(treated, baseline)
        hits += gain.low <= share * 0.2 <= gain.high
    return hits / studies


def unequal_coverage(*, seeds: tuple[int, int], noise: float, studies: int) -> float:
    """Return the share of simulated studies of 200 problems; runs of the treated arm differ by `noise`.

    `noise` is the standard deviation of what a run shifts all probits by; the baseline's is 0.02.
    """
    rng, problems, gain_of_probit, cell = np.random.default_rng(18), 200, 0.3, 0.75
    spreads = np.hypot(np.hypot(1.2, cell), [np.hypot(0.3, noise), 0.02])
    true = float(scipy_stats.norm.cdf(gain_of_probit / spreads[0]) - 0.5)
    hits = 0
    for _ in range(studies):
        difficulty = rng.normal(0, 1.2, problems)
        probits = difficulty + rng.normal(gain_of_probit, 0.3, problems), difficulty
        arms = [
            rng.random((count, problems, 4))
            < scipy_stats.norm.cdf((probit + rng.normal(0, luck, (count, 1))) / cell)[..., None]
            for probit, count, luck in zip(probits, seeds, (noise, 0.02), strict=True)
        ]
        gain = paired_gain(*arms)
        hits += gain.low <= true <= gain.high
    return hits / studies


def collapse_coverage(*, seeds: int, studies: int) -> float:
    """Return the share of simulated studies of 200 problems; in a collapsed run nothing is right."""
    rng, problems, collapse = np.random.default_rng(19), 200, 0.1
    hits = 0
    for _ in range(studies):
        baseline, gains = rng.uniform(0.1, 0.7, problems), rng.uniform(0.0, 0.2, problems)
        works = rng.random((seeds, 1)) >= collapse
        treated = rng.random((seeds, problems, 4)) < (works * (baseline + gains))[..., None]
        gain = paired_gain(treated, rng.random((seeds, problems, 4)) < baseline[:, None])
        hits += gain.low <= (1 - collapse) * 0.5 - 0.4 <= gain.high
    return hits / studies


@cache
def counted_gain(problems: int, gained: int, lost: int) -> Gain:
    """Return the gain of an arm that gains some problems and loses others, with one seed and one sample."""
    treated, baseline = np.zeros((2, 1, problems, 1), dtype=int)
    treated[0, :gained], baseline[0, gained : gained + lost] = 1, 1
    return paired_gain(treated, baseline)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=1000, help="simulated studies a number")
    return parser.parse_args()


if __name__ == "__main__":
    main()
