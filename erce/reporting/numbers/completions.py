"""A study's completions with their verdicts → those of a page, and the problems that λ gained or lost."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

import numpy as np

from erce.recipe import Cell
from erce.reporting.format import visible
from erce.reporting.numbers.gains import DECODINGS, Summary
from erce.stats.outcomes import problem_gains
from erce.study.folder import Study, cell_folder, read_problems
from erce.study.samples import read_samples
from erce.types import Arm

MOST_ON_A_PAGE = 20_000  # completions of a page
MOST_CHARACTERS = 6_000_000  # of all its completions
LONGEST_CHARACTERS = 2000  # characters of a text
SHOWN = 3  # examples of a gain, and as many of a loss


class VerifiedCompletion(NamedTuple):
    """A completion of a test problem and its verdict."""

    arm: Arm
    seed: int
    decoding: str
    problem: str
    text: str
    accepted: bool
    reason: str
    extracted: str | None

    def for_a_page(self) -> "VerifiedCompletion":
        """Return the completion with texts that a page may show: cut, and with nothing hidden."""
        extracted = None if self.extracted is None else shorten(self.extracted)
        return self._replace(text=shorten(self.text), extracted=extracted)


@dataclass(frozen=True)
class Completions:
    """Completions problem by problem, arm by arm: all of the first `seeds` and the first `problems`."""

    rows: list[VerifiedCompletion]
    prompts: dict[str, str]  # problem → prompt; empty where the study's folder has no problems.jsonl
    seeds: int
    problems: int
    all_problems: int


@dataclass(frozen=True)
class Changes:
    """The gain of every problem: its share of right completions under λ minus the share under λ = 0.

    Over all seeds and samples, on the test problems of the study's own task, from the largest loss to the
    largest gain. `lam` is the chosen λ, or the runner-up where λ = 0 was chosen.
    """

    lam: float
    gains: list[float]

    gained: int  # problems, as the other two
    lost: int
    unchanged: int


@dataclass(frozen=True)
class Side:
    """One arm on one problem: how often it was right, and one completion."""

    right: int
    samples: int
    completion: VerifiedCompletion


@dataclass(frozen=True)
class Example:
    """One problem under λ = 0 and under another λ; `prompt` is empty without a problems.jsonl.

    The arm that was right more often has a right completion, the other a wrong one.
    """

    problem: str
    prompt: str
    before: Side  # λ = 0
    after: Side


def shown_completions(summary: Summary) -> Completions:
    """Read the completions that a page shows: whole seeds as far as they fit, else problems of one seed."""
    study, task = summary.study, summary.task
    rows = [row for row in summary.rows if row.task == task]
    of_a_problem = sum(row.n_samples for row in rows) or 1
    all_problems = max((row.n_problems for row in rows), default=0)
    seeds = max(1, MOST_ON_A_PAGE // (of_a_problem * max(1, all_problems)))
    by_problem: dict[str, list[VerifiedCompletion]] = {}
    for arm in summary.arms(task):
        for cell in study.cells(task, arm)[:seeds]:
            for completion in verified_completions(study, cell):
                by_problem.setdefault(completion.problem, []).append(completion.for_a_page())
    kept: list[VerifiedCompletion] = []
    problems = characters = 0
    for completions in by_problem.values():
        characters += sum(len(completion.text) for completion in completions)
        too_many = len(kept) + len(completions) > MOST_ON_A_PAGE or characters > MOST_CHARACTERS
        if kept and too_many:
            break
        kept += completions
        problems += 1
    return Completions(kept, _prompts(study), min(seeds, len(study.recipe.seeds)), problems, all_problems)


def shorten(text: str) -> str:
    """Return a model's text for a page: cut where it is too long, and with nothing hidden."""
    cut = len(text) - LONGEST_CHARACTERS
    return visible(text[:LONGEST_CHARACTERS]) + (f" … and {cut} characters more" if cut > 0 else "")


def verified_completions(study: Study, cell: Cell) -> Iterator[VerifiedCompletion]:
    """Yield a cell's completions of the test problems, greedy and sampled; skip the other temperatures."""
    folder = cell_folder(study.root, study.recipe, cell)
    for (split, decoding), completion, verdict in read_samples(folder):
        if split == "test" and decoding in DECODINGS:
            texts = completion.problem, completion.text, verdict.accepted, verdict.reason, verdict.extracted
            yield VerifiedCompletion(cell.arm, cell.seed, decoding, *texts)


def problem_changes(summary: Summary) -> Changes | None:
    """Return every problem's gain; None where there is no second arm."""
    compared = _compared_arm(summary)
    if compared is None or compared.lam is None:
        return None
    gains = np.sort(problem_gains(summary.outcomes(compared), summary.outcomes(summary.baseline)))
    gained, lost = int((gains > 0).sum()), int((gains < 0).sum())
    return Changes(compared.lam, gains.tolist(), gained, lost, len(gains) - gained - lost)


def examples(summary: Summary) -> dict[str, list[Example]]:
    """Pick the problems "gained" and "lost" most, equal ones by name; nothing without a second arm."""
    compared = _compared_arm(summary)
    if compared is None:
        return {}
    study, arms, prompts = summary.study, (summary.baseline, compared), _prompts(summary.study)
    by_problem: dict[str, dict[Arm, list[VerifiedCompletion]]] = {}
    for arm in arms:
        for cell in study.cells(summary.task, arm):
            for row in verified_completions(study, cell):
                if row.decoding == summary.decoding:
                    by_problem.setdefault(row.problem, {}).setdefault(arm, []).append(row)

    gains = {}
    for problem, sides in by_problem.items():
        before, after = (fmean(row.accepted for row in sides[arm]) for arm in arms)
        gains[problem] = after - before

    def example(problem: str) -> Example:
        sides = []
        for arm in arms:
            rows, better = by_problem[problem][arm], (gains[problem] > 0) == (arm == compared)
            shown = next(row for row in rows if row.accepted == better)
            sides.append(Side(sum(row.accepted for row in rows), len(rows), shown.for_a_page()))
        return Example(shorten(problem), prompts.get(problem, ""), *sides)

    gained = sorted((name for name in gains if gains[name] > 0), key=lambda name: (-gains[name], name))
    lost = sorted((name for name in gains if gains[name] < 0), key=lambda name: (gains[name], name))
    return {"gained": [*map(example, gained[:SHOWN])], "lost": [*map(example, lost[:SHOWN])]}


def _compared_arm(summary: Summary) -> Arm | None:
    """Return the chosen λ, or the runner-up to λ = 0; None where it or λ = 0 has no finished cell."""
    arm, choice = summary.chosen, summary.choice
    if choice is not None and arm == summary.baseline:
        arm = None if choice.runner_up is None else summary.study.recipe.grid_arm(choice.runner_up)
    return arm if arm is not None and summary.gain(summary.task, arm, summary.decoding) else None


def _prompts(study: Study) -> dict[str, str]:
    """Return the prompts of the own task's test problems by id; without problems.jsonl there are none."""
    return {
        row["problem"]: shorten(row["prompt"])
        for row in read_problems(study.root)
        if (row["task"], row["split"]) == (study.recipe.task, "test") and "prompt" in row
    }
