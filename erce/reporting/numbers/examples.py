"""Test problems that the chosen λ gained or lost most, with one completion of each arm."""

from dataclasses import dataclass
from typing import Any

from erce.files import read_rows
from erce.recipe import Cell
from erce.reporting.numbers.changes import compared_arm
from erce.reporting.numbers.completions import prompts, shorten
from erce.reporting.numbers.gains import Summary
from erce.study.folder import Study, cell_folder

SHOWN = 3  # examples of a gain, and as many of a loss


@dataclass(frozen=True)
class Side:
    """One arm on one problem: how often it was right, and one completion."""

    lam: float
    right: int
    judged: int  # samples
    seed: int
    text: str
    accepted: bool
    reason: str
    extracted: str | None


@dataclass(frozen=True)
class Example:
    """One problem, both arms; `prompt` is empty where the study's folder has no problems.jsonl."""

    problem: str
    prompt: str
    before: Side  # λ = 0
    after: Side


@dataclass(frozen=True)
class Examples:
    """`lam` is set beside λ = 0; the largest differences come first, equal ones by the problem's name.

    A problem is shown with a right completion of the arm that was right more often, and a wrong one of the
    other.
    """

    lam: float
    gained: list[Example]
    lost: list[Example]


def examples(summary: Summary) -> Examples | None:
    """Pick examples from the samples of the study's own task; None where there is no second arm to show.

    Where λ = 0 was chosen, the runner-up stands beside it.
    """
    study, compared, task = summary.study, compared_arm(summary), summary.study.recipe.task
    if compared is None or compared.lam is None:
        return None
    drawn = ("test", summary.decoding)
    arms = tuple(_judged(study.cells(task, arm), study, drawn) for arm in (summary.baseline, compared))
    gains = {problem: _share(arms[1][problem]) - _share(arms[0][problem]) for problem in arms[0]}
    ranking = sorted(gains, key=lambda problem: (-gains[problem], problem))
    gained = [problem for problem in ranking if gains[problem] > 0][:SHOWN]
    lost = sorted((p for p in ranking if gains[p] < 0), key=lambda problem: (gains[problem], problem))[:SHOWN]
    picked = {
        problem: [_first(arm[problem], right=(arm is arms[1]) == (gains[problem] > 0)) for arm in arms]
        for problem in gained + lost
    }
    cells = {cell for sides in picked.values() for cell, _ in sides}
    texts = _texts(study, cells, drawn, set(picked))
    asked = prompts(study)
    shown = {
        problem: Example(
            shorten(problem),
            asked.get(problem, ""),
            *(_side(arm[problem], side, texts) for arm, side in zip(arms, sides, strict=True)),
        )
        for problem, sides in picked.items()
    }
    return Examples(
        compared.lam, [shown[problem] for problem in gained], [shown[problem] for problem in lost]
    )


Judged = list[tuple[Cell, dict[str, Any]]]  # a problem's verdicts: every seed's samples


def _judged(cells: list[Cell], study: Study, drawn: tuple[str, str]) -> dict[str, Judged]:
    by_problem: dict[str, Judged] = {}
    for cell in cells:
        for row in read_rows(cell_folder(study.root, study.recipe, cell) / "verdicts.jsonl"):
            if (row["split"], row["decoding"]) == drawn:
                by_problem.setdefault(row["problem"], []).append((cell, row))
    return by_problem


def _share(judged: Judged) -> float:
    return sum(row["accepted"] for _, row in judged) / len(judged)


def _first(judged: Judged, *, right: bool) -> tuple[Cell, dict[str, Any]]:
    return next((cell, row) for cell, row in judged if row["accepted"] == right)


def _texts(
    study: Study, cells: set[Cell], drawn: tuple[str, str], problems: set[str]
) -> dict[tuple[Cell, str, int], str]:
    return {
        (cell, row["problem"], row["sample"]): row["text"]
        for cell in cells
        for row in read_rows(cell_folder(study.root, study.recipe, cell) / "completions.jsonl")
        if (row["split"], row["decoding"]) == drawn and row["problem"] in problems
    }


def _side(judged: Judged, side: tuple[Cell, dict[str, Any]], texts: dict[tuple[Cell, str, int], str]) -> Side:
    cell, row = side
    assert cell.lam is not None
    return Side(
        lam=cell.lam,
        right=sum(verdict["accepted"] for _, verdict in judged),
        judged=len(judged),
        seed=cell.seed,
        text=shorten(texts[cell, row["problem"], row["sample"]]),
        accepted=row["accepted"],
        reason=row["reason"],
        extracted=None if row["extracted"] is None else shorten(row["extracted"]),
    )
