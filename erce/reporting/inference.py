"""A study → what its grid as a whole says: corrected tests, trend, equivalence, power, the price of choosing.

All is about the study's own task on the test problems, sampled and greedy apart. The gains of single arms are
in `erce.reporting.gains`; here stands what needs all of them, or what a reader would ask next.
"""

import math
from functools import lru_cache

import numpy as np

from erce.reporting.gains import DECODINGS, Summary
from erce.reporting.grid import (
    LEVEL,
    Compared,
    Grid,
    Inference,
    Needed,
    Picked,
    Plan,
    Same,
    Slope,
    grid_sentences,
)
from erce.stats import (
    detectable_gain,
    dunnett,
    equivalent,
    fewest_problems,
    max_t,
    paired_gain,
    selection_bias,
    spread_of,
    study_sizes,
    trend,
)
from erce.types import BASELINE, Arm

__all__ = ["Inference", "Picked", "grid_sentences", "inference", "picked_on_test"]

MARGIN = 0.02  # up to which two arms count as the same, in fractions of 1
WANTED = 0.03  # the gain that a study is planned for
SEEDS = (3, 5, 10)  # for which the plan is made


@lru_cache(maxsize=1)
def inference(summary: Summary) -> Inference | None:
    """What the whole grid says; None while cross-entropy, or all that it is compared with, is not done."""
    grids = {decoding: _grid(summary, decoding) for decoding in DECODINGS}
    if not any(grids.values()):
        return None
    return Inference(summary.study.recipe.task, summary.chosen, grids["sampled"], grids["greedy"])


@lru_cache(maxsize=2)
def picked_on_test(summary: Summary, decoding: str) -> Picked | None:
    """What the best λ of the test rows shows, and what of it is left; None with fewer than two λ or problems.

    λ = 0 takes part, as it does on validation; equal rows go to the λ nearer to 0.
    """
    found = _outcomes(summary, decoding)
    by_lam = {
        arm.lam: each for arm, each in found.items() if arm.lam is not None and not arm.has_other_objective
    }
    lams = sorted(by_lam, key=lambda lam: (abs(lam), lam))
    if 0.0 not in lams or len(lams) < 2 or by_lam[0.0].shape[1] < 2:
        return None
    winner, shown, corrected, bias, chosen = selection_bias({lam: by_lam[lam] for lam in lams}, by_lam[0.0])
    return Picked(winner, shown, corrected, bias, chosen[winner])


def _outcomes(summary: Summary, decoding: str) -> dict[Arm, np.ndarray]:
    """Arm → (seeds, problems, samples) on the test problems, as far as it is done; the base model aside."""
    task = summary.study.recipe.task
    return {
        arm: summary.study.outcomes(task, arm, split="test", decoding=decoding)
        for arm in summary.arms(task)
        if not arm.is_base and summary.row(task, arm, decoding) is not None
    }


def _grid(summary: Summary, decoding: str) -> Grid | None:
    outcomes = _outcomes(summary, decoding)
    treated = {arm: outcome for arm, outcome in outcomes.items() if arm != BASELINE}
    if BASELINE not in outcomes or not treated:
        return None
    baseline = outcomes[BASELINE]
    return Grid(
        decoding,
        _compared(summary, decoding, treated, baseline),
        _trend(summary, decoding),
        _sameness(summary, outcomes),
        _plan(summary, treated, baseline),
        picked_on_test(summary, decoding),
    )


def _compared(
    summary: Summary, decoding: str, treated: dict[Arm, np.ndarray], baseline: np.ndarray
) -> tuple[Compared, ...]:
    corrected = max_t(list(treated.values()), baseline)
    seeds = [arm.mean(axis=(1, 2)).tolist() for arm in (baseline, *treated.values())]
    several = any(len(set(arm)) > 1 for arm in seeds)
    by_seeds = dunnett(seeds[1:], seeds[0]).p.tolist() if several else [None] * len(treated)
    rows = []
    for at, arm in enumerate(treated):
        entry = summary.gain(summary.study.recipe.task, arm, decoding)
        assert entry is not None
        rows.append(
            Compared(
                arm=arm,
                gain=entry["gain"],
                ci=entry["ci"],
                p=entry["p"],
                covers=entry["covers"],
                p_holm=entry["p_holm"],
                p_max_t=float(corrected.p[at]),
                ci_grid=[float(corrected.low[at]), float(corrected.high[at])],
                p_dunnett=by_seeds[at],
                welch_ci=entry["welch_ci"],
            )
        )
    return tuple(rows)


def _trend(summary: Summary, decoding: str) -> Slope | None:
    task = summary.study.recipe.task
    rows = [summary.row(task, Arm(lam), decoding) for lam in summary.study.lams]
    seeds = {row.arm.lam: row.seeds for row in rows if row is not None and row.arm.lam is not None}
    shared = sorted(set.intersection(*map(set, seeds.values()))) if seeds else []
    if len(seeds) < 3 or len(shared) < 2:
        return None
    scores = {lam: [by_seed[seed] for seed in shared] for lam, by_seed in seeds.items()}
    rise, fall = trend(scores).p, trend({-lam: score for lam, score in scores.items()}).p
    p = min(1.0, 2 * min(rise, fall))
    direction = ("rises" if rise < fall else "falls") if p <= LEVEL else None
    return Slope(direction, p, len(scores), len(shared))


def _sameness(summary: Summary, outcomes: dict[Arm, np.ndarray]) -> Same | None:
    arm = summary.chosen_penalty
    if arm is None or arm not in outcomes:
        return None
    gain = paired_gain(outcomes[arm], outcomes[BASELINE])
    found = equivalent(gain, margin=MARGIN, level=LEVEL)
    return Same(
        arm=arm,
        equivalent=found.equivalent,
        p=found.p,
        ci=[found.low, found.high],
        margin=MARGIN,
        covers=found.covers,
        problems=gain.problems,
        fewest=fewest_problems(MARGIN, level=LEVEL),
    )


def _plan(summary: Summary, treated: dict[Arm, np.ndarray], baseline: np.ndarray) -> Plan | None:
    """Of the chosen λ, else of the arm with the largest mean; None where nothing varies, or a seed alone."""
    arm = summary.chosen
    if arm is None or arm not in treated:
        arm = max(treated, key=lambda each: float(treated[each].mean()))
    seeds, problems = min(len(treated[arm]), len(baseline)), baseline.shape[1]
    if seeds < 2 or problems < 2:
        return None
    spread, samples = spread_of(treated[arm], baseline), baseline.shape[2]
    smallest = detectable_gain(problems, spread, seeds=seeds, samples=samples)
    if not smallest:
        return None
    sizes = study_sizes(spread, gains=(WANTED,), designs=[(number, samples) for number in SEEDS])
    needed = [None if math.isinf(size.problems) else int(size.problems) for size in sizes]
    return Plan(
        arm,
        smallest,
        WANTED,
        tuple(Needed(number, samples, each) for number, each in zip(SEEDS, needed, strict=True)),
    )
