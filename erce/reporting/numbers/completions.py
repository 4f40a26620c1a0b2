"""A study's completions of its own test problems with their verdicts, as many as a page can hold."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from erce.recipe import Cell
from erce.reporting.format import visible
from erce.reporting.numbers.gains import DECODINGS, Summary
from erce.study.folder import Study, cell_folder, read_problems
from erce.study.samples import read_samples
from erce.types import Arm

MOST_COMPLETIONS = 20_000  # completions of a page
MOST_CHARACTERS = 6_000_000  # of all its completions
LONGEST_CHARACTERS = 2000  # characters of a text


class JudgedCompletion(NamedTuple):
    """A completion of a test problem and its verdict."""

    arm: Arm
    seed: int
    decoding: str
    problem: str
    text: str
    accepted: bool
    reason: str
    extracted: str | None

    def for_a_page(self) -> "JudgedCompletion":
        """Return the completion with texts that a page may show: cut, and with nothing hidden."""
        extracted = None if self.extracted is None else shorten(self.extracted)
        return self._replace(text=shorten(self.text), extracted=extracted)


@dataclass(frozen=True)
class Completions:
    """Completions problem by problem, arm by arm: all of the first `seeds` and the first `problems`."""

    rows: list[JudgedCompletion]
    prompts: dict[str, str]  # problem → prompt; empty where the study's folder has no problems.jsonl
    seeds: int
    problems: int
    all_problems: int


def shown_completions(summary: Summary) -> Completions:
    """Read the completions that a page shows: whole seeds as far as they fit, else problems of one seed."""
    study, task = summary.study, summary.study.recipe.task
    rows = [row for row in summary.rows if row.task == task]
    a_problem = sum(row.n_samples for row in rows) or 1
    all_problems = max((row.n_problems for row in rows), default=0)
    seeds = max(1, MOST_COMPLETIONS // (a_problem * max(1, all_problems)))
    by_problem: dict[str, list[JudgedCompletion]] = {}
    for arm in summary.arms(task):
        for cell in study.cells(task, arm)[:seeds]:
            for completion in judged_completions(study, cell):
                by_problem.setdefault(completion.problem, []).append(completion.for_a_page())
    kept: list[JudgedCompletion] = []
    problems = characters = 0
    for completions in by_problem.values():
        characters += sum(len(completion.text) for completion in completions)
        too_many = len(kept) + len(completions) > MOST_COMPLETIONS or characters > MOST_CHARACTERS
        if kept and too_many:
            break
        kept += completions
        problems += 1
    return Completions(kept, prompts(study), min(seeds, len(study.recipe.seeds)), problems, all_problems)


def three_completions(summary: Summary) -> list[JudgedCompletion]:
    """Return a completion of each of the last three arms, of different problems."""
    rows, three = shown_completions(summary).rows, []
    for at, arm in enumerate(summary.arms(summary.study.recipe.task)[-3:]):
        drawn = [row for row in rows if (row.arm, row.decoding) == (arm, summary.decoding)]
        three.append(drawn[at * len(drawn) // 3])
    return three


def prompts(study: Study) -> dict[str, str]:
    """Return the prompts of the own task's test problems by id; without problems.jsonl there are none."""
    return {
        row["problem"]: shorten(row["prompt"])
        for row in read_problems(study.root)
        if (row["task"], row["split"]) == (study.recipe.task, "test") and "prompt" in row
    }


def shorten(text: str) -> str:
    """Return a model's text for a page: cut where it is too long, and with nothing hidden.

    >>> shorten("17-5=12\\x00\\x1b[31m\\u202e\\ud800")
    '17-5=12␀␛[31m\\\\u202e\\\\ud800'
    """
    shown = visible(text[:LONGEST_CHARACTERS])
    return (
        shown
        if len(text) <= LONGEST_CHARACTERS
        else f"{shown} … and {len(text) - LONGEST_CHARACTERS} characters more"
    )


def judged_completions(study: Study, cell: Cell) -> Iterator[JudgedCompletion]:
    """Yield a cell's completions of the test problems, greedy and sampled; skip the other temperatures."""
    folder = cell_folder(study.root, study.recipe, cell)
    for (split, decoding), drawn, verdict in read_samples(folder):
        if split == "test" and decoding in DECODINGS:
            judged = (verdict.accepted, verdict.reason, verdict.extracted)
            yield JudgedCompletion(cell.arm, cell.seed, decoding, drawn.problem, drawn.text, *judged)
