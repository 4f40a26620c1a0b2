"""A study's runs → those far from the other seeds of their arm, with the gain with and without each.

If one run in ten of an arm collapses, its 95 % interval covers the true gain in 42 to 64 % of studies of 3 to
10 seeds (`benchmarks/coverage.py`), for a few seeds hold one collapsed run, or none. No interval mends that,
so a run that collapsed is named.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median_high, median_low
from typing import Any

import numpy as np

from erce.recipe import Cell
from erce.reporting.numbers.gains import Summary
from erce.stats import Gain, over_seeds, paired_gain
from erce.types import Arm

FAR_DEVIATIONS = 5.0  # standard deviations of a run's accuracy
FAR_AT_LEAST = 0.1  # of accuracy, in fractions of 1
BLOWN_UP_TIMES = 3.0  # times the loss, or the entropy, of the other seeds
BLOWN_UP_BY_NATS = 0.3


@dataclass(frozen=True)
class FarRun:
    """A run whose accuracy, loss or entropy is far from that of its arm's median seed.

    `measure` is "accuracy", in fractions of 1 on the test problems, or the training log's "ce" or "entropy",
    in nats a token. `whole` and `without` are the gain of `compared` over the baseline with all runs and
    without this one; both are None where the arm or the baseline has no other run.
    """

    cell: Cell
    measure: str
    value: float
    median: float
    compared: Arm | None = None
    whole: Gain | None = None
    without: Gain | None = None


def far_runs(summary: Summary) -> list[FarRun]:
    """Return each far run once, task by task; accuracies are of the decoding of the tables' gains."""
    return [
        _with_gains(summary, run)
        for task in summary.study.recipe.tasks
        for run in _far_of_task(summary, task)
    ]


def _far_of_task(summary: Summary, task: str) -> list[FarRun]:
    arms = [arm for arm in summary.arms(task) if not arm.is_base]
    accuracies = {arm: _accuracies(summary, task, arm) for arm in arms}
    spreads = [over_seeds([*by_cell.values()]).sd for by_cell in accuracies.values() if len(by_cell) > 1]
    if not spreads:
        return []
    far = []
    for arm, by_cell in accuracies.items():
        measures: dict[str, Mapping[Cell, float]] = {"accuracy": by_cell}
        for name in ("ce", "entropy"):
            measures[name] = _logged(summary, name, by_cell)
        limit = max(FAR_AT_LEAST, FAR_DEVIATIONS * max(median_low(spreads), _luck(summary, task, arm)))
        runs = [run for name, values in measures.items() for run in _far(name, values, limit)]
        first_measure = {run.cell: run for run in reversed(runs)}
        far += first_measure.values()
    return far


def _far(measure: str, values: Mapping[Cell, float], limit: float) -> list[FarRun]:
    """Compare with the median; of two seeds, the lower accuracy or the higher loss is the far one."""
    if len(values) < 2:
        return []
    median = (median_high if measure == "accuracy" else median_low)(values.values())
    if measure == "accuracy":
        return [FarRun(cell, measure, y, median) for cell, y in values.items() if abs(y - median) > limit]
    most = max(BLOWN_UP_TIMES * median, median + BLOWN_UP_BY_NATS)
    return [FarRun(cell, measure, nats, median) for cell, nats in values.items() if nats > most]


def _accuracies(summary: Summary, task: str, arm: Arm) -> dict[Cell, float]:
    row = summary.row(task, arm, summary.decoding)
    cells = summary.study.cells(task, arm) if row else []
    return {cell: row.seeds[cell.seed] for cell in cells if row}


def _logged(summary: Summary, name: str, cells: Mapping[Cell, Any]) -> dict[Cell, float]:
    """Return each run's logged number, a mean over its last epoch; leave out runs without it."""
    logs = {cell: summary.study.results[cell].get("training") or {} for cell in cells}
    return {cell: float(log[name]) for cell, log in logs.items() if log.get(name) is not None}


def _luck(summary: Summary, task: str, arm: Arm) -> float:
    """Return the standard deviation between seeds that differ by nothing but what they drew."""
    outcomes = summary.study.outcomes(task, arm, split="test", decoding=summary.decoding)
    if len(outcomes) < 2:
        return 0.0
    by_problem = outcomes.mean(axis=2).var(axis=0, ddof=1)  # between seeds
    return float(np.sqrt(by_problem.sum()) / len(by_problem))


def _with_gains(summary: Summary, run: FarRun) -> FarRun:
    """Add the gain of the run's arm; for a run of the baseline, that of the chosen λ."""
    study, cell, baseline = summary.study, run.cell, summary.baseline
    compared = summary.chosen_penalty if cell.arm == baseline else cell.arm
    arms = {arm: study.cells(cell.task, arm) for arm in (compared, baseline) if arm is not None}
    kept = {arm: [other for other in cells if other != cell] for arm, cells in arms.items()}
    if compared is None or not all(kept.values()):
        return run
    gains = [
        paired_gain(*(_outcomes(summary, cells) for cells in chosen.values())) for chosen in (arms, kept)
    ]
    return FarRun(cell, run.measure, run.value, run.median, compared, *gains)


def _outcomes(summary: Summary, cells: list[Cell]) -> np.ndarray:
    """Return the test outcomes of some of an arm's cells."""
    task, arm = cells[0].task, cells[0].arm
    outcomes = summary.study.outcomes(task, arm, split="test", decoding=summary.decoding)
    places = [place for place, cell in enumerate(summary.study.cells(task, arm)) if cell in cells]
    return outcomes[places]
