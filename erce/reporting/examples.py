"""Test problems that the chosen λ gained or lost most, with one completion of either arm beside the other."""

import unicodedata
from dataclasses import dataclass
from typing import Any

from erce.recipe import Cell
from erce.reporting.gains import Summary
from erce.results import PROBLEMS, Study, cell_folder, read_rows

SHOWN = 3  # gained, and as many lost
LONGEST = 2000  # characters of a text


@dataclass(frozen=True)
class Side:
    """One arm on one problem: how often it was right, and a completion with its more frequent verdict."""

    lam: float
    right: int
    of: int
    seed: int
    text: str
    accepted: bool
    reason: str
    extracted: str | None


@dataclass(frozen=True)
class Example:
    """One problem; `prompt` is empty where the study's folder has no problems.jsonl."""

    problem: str
    prompt: str
    before: Side  # λ = 0
    after: Side


@dataclass(frozen=True)
class Examples:
    """`lam` is set beside λ = 0; the largest differences come first, equal ones by the problem's name."""

    lam: float
    gained: list[Example]
    lost: list[Example]


def examples(summary: Summary) -> Examples | None:
    """From the samples of the study's own task; None where there is no second arm to show.

    Where cross-entropy was chosen, the runner-up stands beside it.
    """
    study, lam, task = summary.study, summary.lam, summary.study.recipe.task
    if lam == 0 and summary.choice is not None:
        lam = summary.choice.runner_up
    if lam is None or not summary.has_gain(task, lam):
        return None
    arms = _judged(study, task, 0.0), _judged(study, task, lam)
    gains = {problem: _share(arms[1][problem]) - _share(arms[0][problem]) for problem in arms[0]}
    ranking = sorted(gains, key=lambda problem: (-gains[problem], problem))
    gained = [problem for problem in ranking if gains[problem] > 0][:SHOWN]
    lost = sorted((p for p in ranking if gains[p] < 0), key=lambda problem: (gains[problem], problem))[:SHOWN]
    picked = {problem: [_typical(arm[problem]) for arm in arms] for problem in gained + lost}
    texts = _texts(study, {cell for sides in picked.values() for cell, _ in sides}, set(picked))
    prompts = _prompts(study, task)
    shown = {
        problem: Example(
            problem,
            prompts.get(problem, ""),
            *(_side(arm[problem], side, texts) for arm, side in zip(arms, sides, strict=True)),
        )
        for problem, sides in picked.items()
    }
    return Examples(lam, [shown[problem] for problem in gained], [shown[problem] for problem in lost])


Judged = list[tuple[Cell, dict[str, Any]]]  # a problem's verdicts: every seed's samples


def _judged(study: Study, task: str, lam: float) -> dict[str, Judged]:
    found: dict[str, Judged] = {}
    for cell in study.cells(task, lam):
        for row in read_rows(cell_folder(study.root, study.recipe, cell) / "verdicts.jsonl"):
            if (row["split"], row["decoding"]) == ("test", "sampled"):
                found.setdefault(row["problem"], []).append((cell, row))
    return found


def _share(judged: Judged) -> float:
    return sum(row["accepted"] for _, row in judged) / len(judged)


def _typical(judged: Judged) -> tuple[Cell, dict[str, Any]]:
    mostly_right = _share(judged) > 0.5
    return next((cell, row) for cell, row in judged if row["accepted"] == mostly_right)


def _texts(study: Study, cells: set[Cell], problems: set[str]) -> dict[tuple[Cell, str, int], str]:
    return {
        (cell, row["problem"], row["sample"]): row["text"]
        for cell in cells
        for row in read_rows(cell_folder(study.root, study.recipe, cell) / "completions.jsonl")
        if (row["split"], row["decoding"]) == ("test", "sampled") and row["problem"] in problems
    }


def _prompts(study: Study, task: str) -> dict[str, str]:
    path = study.root / PROBLEMS
    rows = read_rows(path) if path.is_file() else ()
    return {
        row["problem"]: shorten(row["prompt"])
        for row in rows
        if (row["task"], row["split"]) == (task, "test")
    }


def _side(judged: Judged, side: tuple[Cell, dict[str, Any]], texts: dict[tuple[Cell, str, int], str]) -> Side:
    cell, row = side
    assert cell.lam is not None
    return Side(
        lam=cell.lam,
        right=sum(each["accepted"] for _, each in judged),
        of=len(judged),
        seed=cell.seed,
        text=shorten(texts[cell, row["problem"], row["sample"]]),
        accepted=row["accepted"],
        reason=row["reason"],
        extracted=None if row["extracted"] is None else shorten(row["extracted"]),
    )


def shorten(text: str) -> str:
    """Model text for a page: not too long, and what hides or turns the line around is spelled out.

    >>> shorten("17-5=12\\x00\\x1b[31m\\u202e\\ud800")
    '17-5=12␀␛[31m\\\\u202e\\\\ud800'
    """
    visible = "".join(map(_visible, text[:LONGEST]))
    return visible if len(text) <= LONGEST else f"{visible} … and {len(text) - LONGEST} characters more"


def _visible(character: str) -> str:
    if character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cf", "Cs"):
        return character
    return chr(0x2400 + ord(character)) if ord(character) < 32 else f"\\u{ord(character):04x}"
