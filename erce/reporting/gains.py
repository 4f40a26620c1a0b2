"""A study → every number of its report, computed once: rows, gains over cross-entropy, the control."""

from dataclasses import asdict, dataclass
from functools import cached_property
from statistics import fmean
from typing import Any

import numpy as np

from erce.stats import Gain, GridGain, difference, grid_gains, over_seeds, paired_gain, welch
from erce.study.folder import Study
from erce.study.search.choose import Choice, best_lam
from erce.types import BASE_MODEL, BASELINE, Arm

DECODINGS = ("sampled", "greedy")


@dataclass(frozen=True)
class Row:
    """One arm of one task under one decoding: the test problems, over the seeds that are done.

    Scores are fractions of 1; `sd` is the sample standard deviation over seeds, None for a single seed.
    `reasons` are shares of the completions that sum to 1, `tokens` a completion's mean length, `entropy` in
    nats a token.
    """

    task: str
    arm: Arm
    decoding: str
    mean: float
    sd: float | None
    seeds: dict[int, float]  # seed → score
    n_seeds: int
    n_problems: int
    n_samples: int
    validation: float | None  # mean score on the validation problems
    reasons: dict[str, float]
    tokens: float | None  # None: a log does not say
    entropy: float | None


@dataclass(frozen=True, eq=False)  # one summary is itself alone, and so can be kept what is computed of it
class Summary:
    """What the terminal table, the tables on disk, the document and the JSON share."""

    study: Study
    choice: Choice | None
    no_choice: str  # why there is none, in words; empty where there is one
    rows: list[Row]
    gains: list[dict[str, Any]]
    interaction: list[dict[str, Any]]  # gain minus the control's gain at the chosen λ, one entry a decoding

    @property
    def lam(self) -> float | None:
        """The chosen λ."""
        return None if self.choice is None else self.choice.lam

    @property
    def chosen(self) -> Arm | None:
        """The arm of the chosen λ."""
        return None if self.choice is None else Arm(self.choice.lam)

    @property
    def chosen_penalty(self) -> Arm | None:
        """The arm of the chosen λ; None also where that is 0, cross-entropy."""
        return None if self.chosen == BASELINE else self.chosen

    @cached_property
    def decoding(self) -> str:
        """What a table's gains are of: samples, or greedy completions where logs hold no samples."""
        return main_decoding(self.study)

    def row(self, task: str, arm: Arm | None, decoding: str) -> Row | None:
        """None where no cell of the arm is done, and for no arm."""
        return self._rows.get((task, arm, decoding))

    def gain(self, task: str, arm: Arm | None, decoding: str) -> dict[str, Any] | None:
        return self._gains.get((task, arm, decoding))

    def has_gain(self, task: str, arm: Arm) -> bool:
        """Whether both this arm and the baseline have a finished cell."""
        entry = self.gain(task, arm, self.decoding)
        return entry is not None and entry["gain"] is not None

    def arms(self, task: str) -> list[Arm]:
        """The arms that have a row: the base model, λ rising, other objectives in the recipe's order."""
        return list(dict.fromkeys(row.arm for row in self.rows if row.task == task))

    @cached_property
    def _rows(self) -> dict[tuple[str, Arm | None, str], Row]:
        return {(row.task, row.arm, row.decoding): row for row in self.rows}

    @cached_property
    def _gains(self) -> dict[tuple[str, Arm | None, str], dict[str, Any]]:
        return {
            (gain["task"], Arm(gain["lam"], gain["objective"]), gain["decoding"]): gain for gain in self.gains
        }


def summary(study: Study) -> Summary:
    """Every number of the report of a study, finished or not."""
    choice, no_choice = _choice(study)
    rows = [row for task, arm, decoding in _points(study) if (row := _row(study, task, arm, decoding))]
    return Summary(study, choice, no_choice, rows, gains(study), _interaction(study, choice))


def main_decoding(study: Study) -> str:
    """ "sampled"; "greedy" for a study of logs in which there are no samples."""
    drawn = {name for result in study.results.values() for name in result["scores"].get("test", {})}
    return DECODINGS[1] if drawn == {DECODINGS[1]} else DECODINGS[0]


def gains(study: Study) -> list[dict[str, Any]]:
    """One entry a task, arm and decoding: accuracy on the test problems, and its gain over λ = 0.

    `ci` is the 95 % interval over problems and seeds (`covers` says where it is over problems alone),
    `welch_ci` the one over seeds alone, None where one seed or equal ones cannot tell; both are [low, high]
    in fractions of 1. λ = 0 has gain 0 and ci [0, 0]. `p` is of one arm by itself, `p_holm` allows for every
    arm that the table compares with λ = 0 on the same task and decoding. While λ = 0 has no finished cell,
    all that needs it is None. `chosen` marks the λ that is best on the validation problems of the study's own
    task, by sampled Pass@1.
    """
    choice, _ = _choice(study)
    grids = {
        (task, decoding): _grid(study, task, decoding)
        for task in study.recipe.tasks
        for decoding in DECODINGS
    }
    entries = []
    for task, arm, decoding in _points(study):
        if arm.is_base or not _drawn(study, task, arm, decoding):
            continue
        treated = study.outcomes(task, arm, split="test", decoding=decoding)
        found = grids[task, decoding].get(arm)
        compared = _compared(study, (task, arm, decoding), found)
        entry = {
            "task": task,
            **arm.as_json(),
            "decoding": decoding,
            "mean": float(treated.mean()),
            **compared,
            "n_seeds": treated.shape[0],
            "n_problems": treated.shape[1],
            "chosen": choice is not None and arm == Arm(choice.lam),
            "p_holm": compared["p"] if found is None else found.adjusted,
        }
        entries.append(entry)
    return entries


def known_mean(values: list[float | None]) -> float | None:
    """None where one of them is not known, as a log may not hold it."""
    known = [value for value in values if value is not None]
    return fmean(known) if len(known) == len(values) else None


def _grid(study: Study, task: str, decoding: str) -> dict[Arm, GridGain]:
    """Every arm that the table compares with λ = 0; empty while that has no finished cell."""
    if not _drawn(study, task, BASELINE, decoding):
        return {}
    outcomes = {
        arm: study.outcomes(task, arm, split="test", decoding=decoding)
        for arm in _trained(study)
        if _drawn(study, task, arm, decoding)
    }
    return grid_gains({arm: each for arm, each in outcomes.items() if arm != BASELINE}, outcomes[BASELINE])


def _trained(study: Study) -> list[Arm]:
    """λ rising, then other objectives."""
    return [*map(Arm, sorted(study.lams)), *(Arm(0.0, name) for name in study.recipe.objectives)]


def _points(study: Study) -> list[tuple[str, Arm, str]]:
    """The rows that a finished study has: each task's base model, then λ rising, then other objectives."""
    arms = [BASE_MODEL, *_trained(study)]
    return [(task, arm, decoding) for task in study.recipe.tasks for arm in arms for decoding in DECODINGS]


def _drawn(study: Study, task: str, arm: Arm, decoding: str) -> bool:
    """Whether a cell of that arm is done and all that are have such completions, as imported ones may not."""
    cells = study.cells(task, arm)
    return bool(cells) and all(decoding in study.results[cell]["scores"].get("test", {}) for cell in cells)


def _choice(study: Study) -> tuple[Choice | None, str]:
    try:
        return best_lam(study, decoding=main_decoding(study)), ""
    except ValueError as reason:
        return None, str(reason)


def _row(study: Study, task: str, arm: Arm, decoding: str) -> Row | None:
    cells = study.cells(task, arm)
    if not _drawn(study, task, arm, decoding):
        return None
    outcomes = study.outcomes(task, arm, split="test", decoding=decoding)
    scores = [float(seed.mean()) for seed in outcomes]
    estimate = over_seeds(scores)
    splits = [study.results[cell]["scores"] for cell in cells]
    test = [split["test"][decoding] for split in splits]
    validation = [
        split["validation"][decoding]["pass@1"] for split in splits if decoding in split.get("validation", {})
    ]
    reasons = sorted({reason for scores in test for reason in scores["reasons"]})
    return Row(
        task=task,
        arm=arm,
        decoding=decoding,
        mean=estimate.mean,
        sd=estimate.sd if estimate.n > 1 else None,
        seeds={cell.seed: score for cell, score in zip(cells, scores, strict=True)},
        n_seeds=estimate.n,
        n_problems=outcomes.shape[1],
        n_samples=outcomes.shape[2],
        validation=fmean(validation) if validation else None,
        reasons={reason: fmean(scores["reasons"].get(reason, 0.0) for scores in test) for reason in reasons},
        tokens=known_mean([scores["tokens"] for scores in test]),
        entropy=known_mean([scores["entropy"] for scores in test]),
    )


def _compared(study: Study, point: tuple[str, Arm, str], found: GridGain | None) -> dict[str, Any]:
    """The part of a gain's entry that needs the baseline; λ = 0 is compared with itself."""
    task, arm, decoding = point
    if not _drawn(study, task, BASELINE, decoding):
        return dict.fromkeys(("baseline", "gain", "ci", "p", "covers", "welch_ci"))
    arms = [study.outcomes(task, each, split="test", decoding=decoding) for each in (arm, BASELINE)]
    if found is None:
        gain = Gain(0.0, 0.0, 0.0, 1.0, 0.0, np.inf, paired_gain(*arms).covers)
        by_seeds: list[float] | None = [0.0, 0.0]
    else:
        gain, by_seeds = found.gain, _welch_ci(*arms)
    return {"baseline": float(arms[1].mean()), **_entry(gain), "welch_ci": by_seeds}


def _welch_ci(treated: np.ndarray, baseline: np.ndarray) -> list[float] | None:
    """None where one seed, or seeds that are all equal, cannot say how far others would lie."""
    if min(len(treated), len(baseline)) < 2:
        return None
    over = welch(*(arm.mean(axis=(1, 2)).tolist() for arm in (treated, baseline)))
    return [over.low, over.high] if np.isfinite(over.se) else None


def _entry(gain: Gain) -> dict[str, Any]:
    return {"gain": gain.gain, "ci": [gain.low, gain.high], "p": gain.p, "covers": gain.covers}


def _interaction(study: Study, choice: Choice | None) -> list[dict[str, Any]]:
    """Empty without a control, without a λ to compare at, or while their cells are missing."""
    task, control = study.recipe.task, study.recipe.control
    if control is None or choice is None or choice.lam == 0:
        return []
    entries = []
    for decoding in DECODINGS:
        arms = [(each, arm) for each in (task, control) for arm in (BASELINE, Arm(choice.lam))]
        if not all(_drawn(study, *arm, decoding) for arm in arms):
            continue
        both = [
            paired_gain(
                *(
                    study.outcomes(each, arm, split="test", decoding=decoding)
                    for arm in (Arm(choice.lam), BASELINE)
                )
            )
            for each in (task, control)
        ]
        entries.append({"lam": choice.lam, "decoding": decoding, **_entry(difference(*both))})
    return entries


def as_json(row: Row) -> dict[str, Any]:
    """A row as plain values; JSON has no whole numbers as keys."""
    plain = {"task": row.task, **row.arm.as_json()} | asdict(row)
    del plain["arm"]
    return plain | {"seeds": {str(seed): score for seed, score in row.seeds.items()}}
