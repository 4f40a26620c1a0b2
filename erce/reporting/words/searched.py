"""search.json (what a search for λ did) → the report's sentence about the search, and its table of rounds."""

from typing import Any, NamedTuple

from erce.errors import counted
from erce.reporting.format import percent, strength
from erce.reporting.numbers.gains import Summary
from erce.study.folder import Study
from erce.types import Arm


class RoundRow(NamedTuple):
    """One round of a search; `marks`: λ → mean validation score, and "kept", "dropped" or "diverged"."""

    kind: str
    seeds: int
    marks: dict[float, tuple[float | None, str]]


class SearchTable(NamedTuple):
    """A search as a page shows it: the λ that it tried, rising, its rounds, and sentences about its end."""

    lams: tuple[float, ...]
    rounds: list[RoundRow]
    end: list[str]


def ended(study: Study) -> bool:
    """Tell whether the λ are settled; False only while `lams = "auto"` is searching."""
    return study.recipe.search is None or (study.search is not None and "winner" in study.search["step"])


def search_sentence(summary: Summary) -> str:
    """Say what the search spent, why it ended and which λ won; empty for a study without a search."""
    search = summary.study.search
    if search is None:
        return ""
    step = search["step"]
    if not ended(summary.study):
        cells = counted(len(summary.study.expected), "cell")
        return f"The search for λ has asked for {cells} so far, and has not ended."
    return " ".join([_spent(step), *_end(search)])


def not_proven(summary: Summary) -> str:
    """Return the headline's opening where λ = 0 won although a λ scored higher; else empty."""
    search, choice = summary.study.search, summary.choice
    if search is None or choice is None or choice.runner_up is None or not search["step"]["leader"]:
        return ""
    return (
        f"Validation chose λ = 0, plain {summary.baseline_name}: λ = {strength(choice.runner_up)} led there "
        f"with {percent(choice.runner_up_score)} % of samples right against {percent(choice.score)} %, by no "
        "more than chance explains"
    )


def finalists(summary: Summary) -> set[Arm]:
    """Return the arms of the λ that a search did not drop; without a search, of all the study's λ."""
    search = summary.study.search
    dropped = (
        {lam for search_round in search["step"]["rounds"] for lam in search_round["dropped"]}
        if search
        else set()
    )
    return {summary.study.recipe.grid_arm(lam) for lam in summary.study.lams if lam not in dropped}


def seeds_note(summary: Summary, task: str, arm: Arm) -> str:
    """Say how many seeds a search spent on an arm that did not get all of them; else empty.

    Without a search an arm has fewer seeds only in an unfinished study, and the cautions say so.
    """
    row = summary.row(task, arm, summary.decoding)
    planned = len(summary.study.recipe.seeds)
    if summary.study.search is None or row is None or arm.is_base or row.n_seeds == planned:
        return ""
    return counted(row.n_seeds, "seed")


def search_table(summary: Summary) -> SearchTable | None:
    """Return the rounds of a search; None for a study without a search."""
    search = summary.study.search
    if search is None:
        return None
    rounds = [
        RoundRow(search_round["kind"], search_round["seeds"], _marks(search_round))
        for search_round in search["step"]["rounds"]
    ]
    end = [_spent(search["step"]), *_end(search)] if ended(summary.study) else [search_sentence(summary)]
    tried = {*summary.study.lams, *(lam for row in rounds for lam in row.marks)}
    return SearchTable(tuple(sorted(tried)), rounds, end)


def _marks(search_round: dict[str, Any]) -> dict[float, tuple[float | None, str]]:
    """Return λ → its mean validation score in the round, and "kept", "dropped" or "diverged"."""
    marks: dict[float, tuple[float | None, str]] = {
        lam: (score, "dropped" if lam in search_round["dropped"] else "kept")
        for lam, score in search_round["scores"]
    }
    return marks | dict.fromkeys(search_round["diverged"], (None, "diverged"))


def _spent(step: dict[str, Any]) -> str:
    spent, grid = step["spent"], step["grid"]
    by_lam = ", ".join(
        f"λ = {strength(lam)}: {counted(count, 'seed')}" for lam, count in step["spent_by_lam"]
    )
    return f"The search for λ spent {spent} of {counted(grid, 'cell')} ({by_lam})."


def _end(search: dict[str, Any]) -> list[str]:
    """Return the sentences on the search's end, which follow one for each round and one on the cost."""
    return search["said"][len(search["step"]["rounds"]) + 1 :]
