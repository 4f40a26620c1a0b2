"""A study's completions with their verdicts → those of a page, and problems that were gained or lost."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from erce.recipe import Cell
from erce.reporting.format import visible
from erce.reporting.numbers.gains import DECODINGS, Summary
from erce.reporting.numbers.verdict import preferred
from erce.study.folder import Study, read_problems
from erce.study.samples import read_samples
from erce.types import BASE_MODEL, Arm

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
    texts: dict[str, list[str]]  # problem → prompt, reference, demonstration; none without problems.jsonl
    seeds: int
    problems: int
    all_problems: int


@dataclass(frozen=True)
class Side:
    """One arm on one problem: how often it was right, and one completion."""

    right: int
    samples: int
    completion: VerifiedCompletion


@dataclass(frozen=True)
class Example:
    """One problem under two arms, see `_compared_arms`; `prompt` is empty without a problems.jsonl.

    The arm that was right more often has a right completion, the other a wrong one.
    """

    problem: str
    prompt: str
    before: Side  # of the base model, or of λ = 0
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
    return Completions(kept, _texts(study), min(seeds, len(study.recipe.seeds)), problems, all_problems)


def shorten(text: str) -> str:
    """Return a model's text for a page: cut where it is too long, and with nothing hidden."""
    cut = len(text) - LONGEST_CHARACTERS
    return visible(text[:LONGEST_CHARACTERS]) + (f" … and {cut} characters more" if cut > 0 else "")


def verified_completions(study: Study, cell: Cell) -> Iterator[VerifiedCompletion]:
    """Yield a cell's completions of the test problems, greedy and sampled; skip the other temperatures."""
    folder = study.folder(cell)
    for (split, decoding), completion, verdict in read_samples(folder):
        if split == "test" and decoding in DECODINGS:
            texts = completion.problem, completion.text, verdict.accepted, verdict.reason, verdict.extracted
            yield VerifiedCompletion(cell.arm, cell.seed, decoding, *texts)


def examples(summary: Summary) -> dict[str, list[Example]]:
    """Pick the problems "gained" and "lost" most, equal ones by name; nothing without two arms."""
    arms = _compared_arms(summary)
    if arms is None:
        return {}
    study, texts = summary.study, _texts(summary.study)
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
            rows, better = by_problem[problem][arm], (gains[problem] > 0) == (arm == arms[1])
            shown = next(row for row in rows if row.accepted == better)
            sides.append(Side(sum(row.accepted for row in rows), len(rows), shown.for_a_page()))
        return Example(shorten(problem), texts.get(problem, [""])[0], *sides)

    gained = sorted((name for name in gains if gains[name] > 0), key=lambda name: (-gains[name], name))
    lost = sorted((name for name in gains if gains[name] < 0), key=lambda name: (gains[name], name))
    return {"gained": [*map(example, gained[:SHOWN])], "lost": [*map(example, lost[:SHOWN])]}


def _compared_arms(summary: Summary) -> tuple[Arm, Arm] | None:
    """Return the base model, or else λ = 0, and the arm that validation prefers; None without two of them."""
    after, done = preferred(summary, summary.decoding), summary.arms(summary.task)
    before = [arm for arm in (BASE_MODEL, summary.baseline) if arm in done and arm != after]
    return (before[0], after) if after is not None and before else None


def _texts(study: Study) -> dict[str, list[str]]:
    """Return prompt, reference (answer, tests or outputs) and demonstration of the main task's test problems.

    Without problems.jsonl there are none; an older one lacks some texts.
    """
    return {
        row["problem"]: [
            shorten(text)
            for text in (
                row["prompt"],
                row.get("answer") or "\n".join(row.get("tests") or row.get("outputs", ())),
                row.get("demonstration", ""),
            )
        ]
        for row in read_problems(study.root)
        if (row["task"], row["split"]) == (study.recipe.task, "test") and "prompt" in row
    }
