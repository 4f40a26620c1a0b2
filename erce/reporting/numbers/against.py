"""A study of a task that the paper has → its accuracies beside the paper's."""

from dataclasses import dataclass
from typing import NamedTuple

from erce.errors import InputError
from erce.paper import PaperTable, lookup, tables
from erce.reporting.numbers.gains import DECODINGS
from erce.stats import over_seeds, paper, welch
from erce.study.folder import Study
from erce.types import BASELINE, Arm

SAME_TASK = {"mbpp-full": "mbpp"}  # our name of a task → the paper's, where they differ
FROM_SEEDS = "Welch over seeds"
FROM_SUMMARY = "Welch over seeds, the paper's from its printed mean and ±"
ONE_SEED = "none, with one seed"


@dataclass(frozen=True)
class Beside:
    """One λ of the study beside the paper's, in fractions of 1; None where one seed is not enough.

    `sd` divides by the number of seeds, as the paper's ± does. `difference` is the study's mean minus the
    paper's, its 95 % interval `low` to `high` over seeds alone; `basis` names the test. `gain` and
    `paper_gain` are over λ = 0.
    """

    task: str
    decoding: str
    lam: float
    mean: float
    sd: float | None
    n_seeds: int
    n_problems: int
    paper_mean: float
    paper_sd: float
    paper_n_seeds: int
    difference: float
    low: float | None
    high: float | None
    p: float | None
    basis: str
    gain: float | None
    paper_gain: float | None


class PaperPair(NamedTuple):
    """A task of the study under one decoding, and the paper's table for it."""

    task: str
    decoding: str
    table: PaperTable


def paper_pairs(study: Study) -> list[PaperPair]:
    """Return the study's tasks and decodings for which the paper has a table."""
    recipe, known = study.recipe, {table.task for table in tables()}
    tasks = [task for task in recipe.tasks if SAME_TASK.get(task, task) in known]
    if not tasks:
        there_are = ", ".join(dict.fromkeys([*(table.task for table in tables()), *SAME_TASK]))
        raise InputError(
            f"the paper has no task {recipe.task!r} to hold this study against; it has {there_are}"
        )
    pairs, reasons = [], []
    for task in tasks:
        for decoding in reversed(DECODINGS):  # greedy first, as in the paper
            try:
                paper_task = SAME_TASK.get(task, task)
                table = lookup(paper_task, decoding, penalty=recipe.penalty, order=recipe.order)
                pairs.append(PaperPair(task, decoding, table))
            except ValueError as reason:
                reasons.append(str(reason))
    if not pairs:
        raise InputError(reasons[0])
    return pairs


def against_rows(study: Study) -> list[Beside]:
    """Return every finished λ that the paper has too, for the task and for the control if the paper has that.

    InputError where the paper has no such task, or not with this penalty and order.
    """
    return [
        _beside(study, pair, lam)
        for pair in paper_pairs(study)
        for lam in pair.table.lams
        if study.cells(pair.task, Arm(lam))
    ]


def _beside(study: Study, pair: PaperPair, lam: float) -> Beside:
    ours, row = seed_scores(study, pair, Arm(lam)), pair.table.row(lam)
    theirs, estimate = pair.table.scores(lam), paper.over_seeds(ours)
    several = estimate.n > 1
    off = welch(ours, theirs) if several else None
    baseline = seed_scores(study, pair, BASELINE) if lam and study.cells(pair.task, BASELINE) else None
    return Beside(
        task=pair.task,
        decoding=pair.decoding,
        lam=lam,
        mean=estimate.mean,
        sd=estimate.sd if several else None,
        n_seeds=estimate.n,
        n_problems=shape(study, pair, lam)[1],
        paper_mean=row.mean,
        paper_sd=row.sd,
        paper_n_seeds=pair.table.n_seeds,
        difference=estimate.mean - over_seeds(theirs).mean,
        low=off.low if off else None,
        high=off.high if off else None,
        p=off.p if off else None,
        basis=(FROM_SEEDS if pair.table.is_per_seed else FROM_SUMMARY) if off else ONE_SEED,
        gain=estimate.mean - over_seeds(baseline).mean if baseline else None,
        paper_gain=row.mean - pair.table.row(0).mean if lam else None,
    )


def seed_scores(study: Study, pair: PaperPair, arm: Arm) -> list[float]:
    """Return an arm's accuracy under each seed."""
    outcomes = study.outcomes(pair.task, arm, split="test", decoding=pair.decoding)
    return outcomes.mean(axis=(1, 2)).tolist()


def shape(study: Study, pair: PaperPair, lam: float) -> tuple[int, ...]:
    """Return (seeds, problems, samples) of the test problems."""
    return study.outcomes(pair.task, Arm(lam), split="test", decoding=pair.decoding).shape
