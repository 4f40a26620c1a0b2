"""A study → what its tables show: accuracies, gains over λ = 0, and the gain less the control's."""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from statistics import fmean
from typing import Any

import numpy as np

from erce.recipe.sections import OWN_METHODS, Cell
from erce.stats import Gain, GridGain, accuracy_bounds, difference, grid_gains, over_seeds, paired_gain
from erce.study.demonstrations import read_counts
from erce.study.folder import Study
from erce.study.schedule import Choice, NoChoiceError, best_lam
from erce.types import BASE_MODEL, Arm

DECODINGS = ("sampled", "greedy")


@dataclass(frozen=True)
class TableRow:
    """One arm of one task under one decoding: the test problems, over the seeds that are done.

    Scores are fractions of 1; `sd` is the sample standard deviation over seeds, None for a single seed.
    `flexible` is the score with the form of the answer ignored. `reasons` are shares of the completions that
    sum to 1, `tokens` a completion's mean length, `entropy` in nats per token.

    `ci` is the 95 % interval of `mean`. `gain` over the baseline has the interval over problems and seeds,
    and the p of this arm by itself; `p_holm` allows for every arm that the table compares on that task and
    decoding. Both are None for the base model and the baseline, and where the baseline has no finished cell.
    `over_base` is the gain over the base model, None for the base model and where that has no finished cell.
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
    tokens: float | None  # None: a log does not hold it
    entropy: float | None
    flexible: float | None = None  # None: the task does not say
    sampled_before: int | None = 0  # tokens that were sampled for its training; None: unknown
    steps: int | None = 0  # of one training and of the model that sampled for it; None: unknown
    ci: tuple[float, float] | None = None
    gain: Gain | None = None
    p_holm: float | None = None
    over_base: Gain | None = None

    @property
    def misses_form(self) -> bool:
        """Whether other completions are right if the form of the answer is ignored."""
        return self.flexible is not None and not math.isclose(self.flexible, self.mean, abs_tol=1e-9)

    def as_json(self, grid: str) -> dict[str, Any]:
        """Return plain values, with the arm's name in a study on `grid`; JSON has no numbers as keys."""
        gains = {"over_base": gain_as_json(self.over_base), "over_lam0": gain_as_json(self.gain)}
        others = {name: value for name, value in vars(self).items() if name not in ("arm", "gain")}
        return (
            self.arm.as_json(grid)
            | others
            | gains
            | {"seeds": {str(seed): x for seed, x in self.seeds.items()}}
        )


@dataclass(frozen=True, eq=False)  # compared by identity, so that what is computed of a summary can be cached
class Summary:
    """The numbers of one study; the terminal, the tables on disk, the HTML page and the JSON show them."""

    study: Study
    choice: Choice | None
    no_choice: NoChoiceError | None  # why there is no choice
    decoding: str  # of the tables' gains: "sampled", or "greedy" where logs hold no samples
    rows: list[TableRow]
    interaction: dict[str, Gain]  # decoding → the gain at the chosen λ less the control's gain

    @property
    def task(self) -> str:
        """The study's own task; the other one is its control."""
        return self.study.recipe.task

    @property
    def chosen(self) -> Arm | None:
        """The arm of the chosen λ."""
        return None if self.choice is None else self.study.recipe.grid_arm(self.choice.lam)

    @property
    def chosen_penalty(self) -> Arm | None:
        """The arm of the chosen λ; None also where that is 0, the baseline."""
        return None if self.chosen == self.baseline else self.chosen

    @property
    def baseline(self) -> Arm:
        """Return the arm against which gains are measured: λ = 0 of the grid."""
        return self.study.recipe.baseline

    def name(self, arm: Arm) -> str:
        """Return the arm's one name in this study; see `Arm.name`."""
        return arm.name(self.study.recipe.base_loss)

    @cached_property
    def own(self) -> dict[str, Any] | None:
        """Counts of the base model's samples of the training problems; None where no arm trains on them."""
        return read_counts(self.study)

    def row(self, task: str, arm: Arm | None, decoding: str) -> TableRow | None:
        """Return an arm's row; None where no cell of the arm is done, and for no arm."""
        return self._rows.get((task, arm, decoding))

    def compared(self, decoding: str) -> list[TableRow]:
        """Return the rows of the main task that have a gain over the baseline."""
        return [row for row in self.rows if (row.task, row.decoding) == (self.task, decoding) and row.gain]

    def n_validation(self, arm: Arm, decoding: str) -> int | None:
        """Return how many validation problems an arm's finished cells have; None where they do not say."""
        scores = [self.study.results[cell]["scores"] for cell in self.study.cells(self.task, arm)]
        return next((split.get("validation", {}).get(decoding, {}).get("problems") for split in scores), None)

    def outcomes(self, arm: Arm, decoding: str | None = None) -> np.ndarray:
        """Return an arm's 0/1 outcomes on the main task's test problems: (seeds, problems, samples)."""
        return self.study.outcomes(self.task, arm, split="test", decoding=decoding or self.decoding)

    def arms(self, task: str) -> list[Arm]:
        """Return the arms that have a row: the base model, λ rising, other methods as in the recipe."""
        return list(dict.fromkeys(row.arm for row in self.rows if row.task == task))

    @cached_property
    def _rows(self) -> dict[tuple[str, Arm | None, str], TableRow]:
        return {(row.task, row.arm, row.decoding): row for row in self.rows}


def summary(study: Study) -> Summary:
    """Return every number of the tables of a study, finished or not."""
    decodings = {name for result in study.results.values() for name in result["scores"].get("test", {})}
    main_decoding = "greedy" if decodings == {"greedy"} else "sampled"
    choice, no_choice = None, None
    try:
        choice = best_lam(study, decoding=main_decoding)
    except NoChoiceError as error:
        no_choice = error
    arms = [BASE_MODEL, *map(study.recipe.grid_arm, sorted(study.recipe.lams)), *study.recipe.other_arms]
    rows = []
    for task in study.recipe.tasks:
        grids = {decoding: _grid(study, task, decoding, arms[1:]) for decoding in DECODINGS}
        for arm, decoding in product(arms, DECODINGS):
            if _has_completions(study, task, arm, decoding):
                rows.append(_row(study, task, arm, decoding, grids[decoding].get(arm)))
    return Summary(study, choice, no_choice, main_decoding, rows, _interaction(study, choice))


def gain_as_json(gain: Gain | None) -> dict[str, Any]:
    """Return a gain in the JSON's form: with its 95 % interval as [low, high], in fractions of 1."""
    if gain is None:
        return dict.fromkeys(("gain", "ci", "p", "covers"))
    return {"gain": gain.gain, "ci": [gain.low, gain.high], "p": gain.p, "covers": gain.covers}


def known_mean(values: list[float | None]) -> float | None:
    """Return the mean; None where one of the values is not known, as a log may not hold it."""
    known = [value for value in values if value is not None]
    return fmean(known) if len(known) == len(values) else None


def _grid(study: Study, task: str, decoding: str, arms: list[Arm]) -> dict[Arm, GridGain]:
    """Return every other arm's gain over λ = 0; empty while that is not done, and with several verifiers."""
    zero = study.recipe.baseline
    if not _has_completions(study, task, zero, decoding) or study.verified_otherwise(task):
        return {}
    outcomes = {
        arm: study.outcomes(task, arm, split="test", decoding=decoding)
        for arm in arms
        if _has_completions(study, task, arm, decoding)
    }
    baseline = outcomes.pop(zero)
    return grid_gains(outcomes, baseline)


def _has_completions(study: Study, task: str, arm: Arm, decoding: str) -> bool:
    """Return whether the arm has finished cells, and all of these have completions of that decoding.

    Imported cells may lack a decoding.
    """
    cells = study.cells(task, arm)
    return bool(cells) and all(decoding in study.results[cell]["scores"].get("test", {}) for cell in cells)


def _row(study: Study, task: str, arm: Arm, decoding: str, compared: GridGain | None) -> TableRow:
    cells = study.cells(task, arm)
    outcomes = study.outcomes(task, arm, split="test", decoding=decoding)
    scores = [float(seed.mean()) for seed in outcomes]
    estimate = over_seeds(scores)
    splits = [study.results[cell]["scores"] for cell in cells]
    test = [split["test"][decoding] for split in splits]
    validation = [
        split["validation"][decoding]["pass@1"] for split in splits if decoding in split.get("validation", {})
    ]
    reasons = sorted({reason for scores in test for reason in scores["reasons"]})
    own = read_counts(study) if arm.method in OWN_METHODS else None
    unsampled = None if study.recipe.imported and not arm.is_base else 0
    over_base = None
    comparable = _has_completions(study, task, BASE_MODEL, decoding) and not study.verified_otherwise(task)
    if comparable and not arm.is_base:
        base = study.outcomes(task, BASE_MODEL, split="test", decoding=decoding)
        over_base = paired_gain(outcomes, base, untrained=["baseline"])
    return TableRow(
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
        flexible=known_mean([scores.get("flexible") for scores in test]),
        sampled_before=own["tokens"] and own["tokens"] // own["sets"] if own else unsampled,
        steps=_steps(study, cells[0]),
        ci=_accuracy_interval(outcomes),
        gain=compared and compared.gain,
        p_holm=compared and compared.adjusted,
        over_base=over_base,
    )


def _steps(study: Study, cell: Cell) -> int | None:
    """Return the steps of a cell's training, with those of the model that sampled for it; None: unknown."""
    own = study.recipe.source(cell)
    trained = [each for each in (cell, own and study.recipe.source(own)) if each and each.is_trained]
    steps = [study.results.get(each, {}).get("training", {}).get("steps") for each in trained]
    return None if None in steps else sum(steps)


def _accuracy_interval(outcomes: np.ndarray) -> tuple[float, float]:
    """Return the 95 % interval of an arm's accuracy; over problems alone where there is one seed."""
    if len(outcomes) == 1:
        low, high = accuracy_bounds(outcomes[0])
        return max(0.0, low), high
    # The upper ends of what is right and of what is wrong: no share is below 0, nor is an unseen problem's.
    nothing = np.zeros_like(outcomes[:1])
    right, wrong = (paired_gain(x, nothing, untrained=["baseline"]) for x in (outcomes, 1 - outcomes))
    return max(0.0, 1 - wrong.high), min(1.0, right.high)


def _interaction(study: Study, choice: Choice | None) -> dict[str, Gain]:
    """Return a gain for each decoding; none without a control, a λ to compare at, or their finished cells."""
    main_task, control = study.recipe.task, study.recipe.control
    if control is None or choice is None or choice.lam == 0 or study.verified_otherwise(control):
        return {}
    arms = (study.recipe.grid_arm(choice.lam), study.recipe.baseline)
    differences = {}
    for decoding in DECODINGS:
        if all(_has_completions(study, task, arm, decoding) for task in (main_task, control) for arm in arms):
            on_task, on_control = (
                paired_gain(*(study.outcomes(task, arm, split="test", decoding=decoding) for arm in arms))
                for task in (main_task, control)
            )
            differences[decoding] = difference(on_task, on_control)
    return differences
