"""A study → the arm to use under each decoding: validation chooses among all arms, the test problems check.

Candidates are the base model, every λ and every other method with all its seeds. The best validation
score wins, of equal ones the cheaper arm. Its gains are read on the test problems, with intervals that allow
for the choice (`chosen_from` of `erce.stats.paired_gain`).
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from erce.reporting.numbers.gains import DECODINGS, Summary, TableRow, gain_as_json
from erce.stats import Gain, paired_gain
from erce.study.schedule import ranked, validation_scores
from erce.types import BASE_MODEL, Arm

MARGIN = 0.02  # up to which a cheaper arm counts as good as the preferred one, in fractions of 1


class Cheaper(NamedTuple):
    """An arm that costs less than the preferred one, and the preferred arm's gain over it."""

    row: TableRow
    gain: Gain

    @property
    def is_as_good(self) -> bool:
        """Whether the preferred arm is shown to be at most MARGIN better."""
        return self.gain.high <= MARGIN


@dataclass(frozen=True)
class Preference:
    """The arm that validation prefers under one decoding, of those in `scores`, and its gains on test.

    `scores` has each candidate's validation accuracy, the best first. `over` has the gain over each other
    arm: the candidates, the base model and λ = 0, as far as these have finished cells. `widening` is what
    choosing costs: by how much it makes the intervals reach further on each side, at most.
    `n_validation` is the number of validation problems, where a log has it.
    `cheaper` is the cheapest arm that is as good, else the cheapest that is not shown to be worse, else the
    best of the cheaper ones on validation.
    """

    row: TableRow
    baseline: Arm
    scores: dict[Arm, float]
    over: dict[Arm, Gain]
    widening: float
    cheaper: Cheaper | None
    n_validation: int | None

    @property
    def next_best(self) -> list[Arm]:
        """The arms that come second on validation, all of equal ones."""
        others = {arm: round(score, 12) for arm, score in self.scores.items() if arm != self.arm}
        return [arm for arm, score in others.items() if score == max(others.values())]

    @property
    def arm(self) -> Arm:
        return self.row.arm

    @property
    def over_base(self) -> Gain | None:
        return self.over.get(BASE_MODEL)

    @property
    def over_baseline(self) -> Gain | None:
        return self.over.get(self.baseline)

    @property
    def use(self) -> Arm:
        """The arm to use: the preferred one, unless the test problems do not show it above the base model."""
        return BASE_MODEL if self.over_base is not None and self.over_base.low <= 0 else self.arm

    def as_json(self, grid: str) -> dict[str, Any]:
        def with_cost(row: TableRow) -> dict[str, Any]:
            costs = {"steps": row.steps, "sampled_before": row.sampled_before}
            return row.arm.as_json(grid) | {"mean": row.mean} | costs

        cheaper = self.cheaper and {
            **with_cost(self.cheaper.row),
            "is_as_good": self.cheaper.is_as_good,
            "behind": gain_as_json(self.cheaper.gain),
        }
        return {
            "use": self.use.as_json(grid),
            "preferred": with_cost(self.row),
            "over_base": gain_as_json(self.over_base),
            "over_lam0": gain_as_json(self.over_baseline),
            "chosen_from": [
                arm.as_json(grid) | {"validation": score, "behind": gain_as_json(self.over.get(arm))}
                for arm, score in self.scores.items()
            ],
            "widening": self.widening,
            "cheaper": cheaper,
        }


def gains(summary: Summary, row: TableRow) -> tuple[Gain | None, Gain | None]:
    """Return a row's gains over the base model and λ = 0; a preferred arm's allow for the choice."""
    found = preferences(summary).get(row.decoding)
    return (found.over_base, found.over_baseline) if found and found.row == row else (row.over_base, row.gain)


@lru_cache(maxsize=1)
def preferences(summary: Summary) -> dict[str, Preference]:
    """Return decoding → what validation prefers; empty where not even a λ can be chosen (`no_choice`)."""
    if summary.choice is None:
        return {}
    rows = {decoding: _candidates(summary, decoding) for decoding in reversed(DECODINGS)}
    return {decoding: _preference(summary, of_it) for decoding, of_it in rows.items() if of_it}


def preferred(summary: Summary, decoding: str) -> Arm | None:
    """Return the arm that validation prefers under a decoding, if there is one."""
    found = preferences(summary).get(decoding)
    return None if found is None else found.arm


def usable_for_both(summary: Summary) -> Arm | None:
    """Return which of two arms to use is not shown to be worse under the other decoding, if there are two."""
    found = preferences(summary).values()
    uses = list(dict.fromkeys(one.use for one in reversed(found)))
    fit = [arm for arm in uses if not any(_is_worse(summary, arm, one) for one in found)]
    return fit[0] if len(uses) > 1 and fit else None


def to_take(summary: Summary) -> Arm | None:
    """Return the arm that a reader should take: the one for both decodings, else that of the study's own."""
    found = preferences(summary).get(summary.decoding)
    return usable_for_both(summary) or (found and found.use)


def _is_worse(summary: Summary, arm: Arm, found: Preference) -> bool:
    """Tell whether an arm is shown to be worse than the one to use under that decoding, or has no row."""
    row, best = (summary.row(summary.task, one, found.row.decoding) for one in (arm, found.use))
    if row is None or best is None or row == best:
        return row is None
    return _gain(summary, best, row, sum(not one.is_base for one in found.scores)).low > 0


def _candidates(summary: Summary, decoding: str) -> list[TableRow]:
    """Return the rows of the arms that may be preferred, the best on validation first."""
    study = summary.study
    scores = validation_scores(study.expected, study.results, task=summary.task, decoding=decoding)
    rows = (summary.row(summary.task, arm, decoding) for arm in ranked(scores))
    return [row for row in rows if row is not None]


def _preference(summary: Summary, rows: list[TableRow]) -> Preference:
    best, trained = rows[0], sum(not row.arm.is_base for row in rows)
    ends = [summary.row(summary.task, arm, best.decoding) for arm in (BASE_MODEL, summary.baseline)]
    others = {row.arm: row for row in (*rows, *ends) if row is not None and row != best}
    over = {arm: _gain(summary, best, row, trained) for arm, row in others.items()}
    alone = {arm: _gain(summary, best, row, 1) for arm, row in others.items()}
    wider = [(over[arm].high - over[arm].low - one.high + one.low) / 2 for arm, one in alone.items()]
    beside = [Cheaper(row, over[row.arm]) for row in rows if costs_less(row, best)]
    as_good = [one for one in beside if one.is_as_good] or [one for one in beside if one.gain.low <= 0]
    cheapest = min(as_good, key=lambda one: _cost(one.row), default=None)
    return Preference(
        row=best,
        baseline=summary.baseline,
        scores={row.arm: row.validation or 0.0 for row in rows},
        over=over,
        widening=max(wider, default=0.0),
        cheaper=cheapest or next(iter(beside), None),
        n_validation=summary.n_validation(best.arm, best.decoding),
    )


def _gain(summary: Summary, treated: TableRow, baseline: TableRow, chosen_from: int) -> Gain:
    rows = {"treated": treated, "baseline": baseline}
    return paired_gain(
        *(summary.outcomes(row.arm, row.decoding) for row in rows.values()),
        untrained=[name for name, row in rows.items() if row.arm.is_base],
        chosen_from=max(1, chosen_from),
    )


def _cost(row: TableRow) -> tuple[float, float]:
    """Return a row's tokens sampled before training and its steps; infinite where unknown."""
    sampled, steps = (math.inf if cost is None else float(cost) for cost in (row.sampled_before, row.steps))
    return sampled, steps


def costs_less(row: TableRow, than: TableRow) -> bool:
    """Return whether an arm needs fewer sampled tokens or steps than another, more of neither."""
    pairs = list(zip(_cost(row), _cost(than), strict=True))
    return all(one <= other for one, other in pairs) and any(one < other for one, other in pairs)
