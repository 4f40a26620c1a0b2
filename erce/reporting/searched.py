"""What a search for λ did, as search.json has it → the sentence and the table of rounds of a report."""

from typing import Any, NamedTuple

from erce.reporting.format import counted, percent, strength
from erce.reporting.gains import Summary
from erce.study.folder import Study
from erce.types import Arm


class Told(NamedTuple):
    """A search as a page shows it: a row a round, and what is said of its end (empty before it)."""

    lams: tuple[float, ...]  # all that were tried, rising
    rounds: list[dict[str, Any]]  # "kind", "seeds", and "marks": λ → its score and what became of it
    end: list[str]


def ended(study: Study) -> bool:
    """False while `lams = "auto"` is searching; a study that lists its λ has nothing to wait for."""
    return study.recipe.search is None or (study.search is not None and "winner" in study.search["step"])


def sentence(summary: Summary) -> str:
    """What the search spent, why it ended and who won; empty for a study without one."""
    search = summary.study.search
    if search is None:
        return ""
    step = search["step"]
    if not ended(summary.study):
        asked = counted(len(summary.study.expected), "cell")
        return f"The search for λ has asked for {asked} so far, and has not ended."
    return " ".join([_spent(step), *_end(search)])


def not_proven(summary: Summary) -> str:
    """Opens the headline where cross-entropy wins although a λ had the higher score; else empty."""
    search, choice = summary.study.search, summary.choice
    if search is None or choice is None or choice.runner_up is None or not search["step"]["leader"]:
        return ""
    return (
        f"Validation chose λ = 0, plain cross-entropy: λ = {strength(choice.runner_up)} led there with "
        f"{percent(choice.runner_up_score)} % of samples right against {percent(choice.score)} %, by no more "
        "than chance explains"
    )


def finalists(summary: Summary) -> set[Arm]:
    """The arms of the λ that a search did not drop; without a search, of all the study's λ."""
    search = summary.study.search
    dropped = {lam for each in search["step"]["rounds"] for lam in each["dropped"]} if search else set()
    return {Arm(lam) for lam in summary.study.lams if lam not in dropped}


def seeds_note(summary: Summary, task: str, arm: Arm) -> str:
    """How many seeds a search spent on a λ, where those are not all; else empty.

    A λ of a study without a search has fewer only while it runs, which the report says elsewhere.
    """
    row = summary.row(task, arm, summary.decoding)
    planned = len(summary.study.recipe.seeds)
    if summary.study.search is None or row is None or arm.is_base or row.n_seeds == planned:
        return ""
    return counted(row.n_seeds, "seed")


def told(summary: Summary) -> Told | None:
    """None for a study without a search."""
    search = summary.study.search
    if search is None:
        return None
    rounds = [
        {"kind": each["kind"], "seeds": each["seeds"], "marks": _marks(each)}
        for each in search["step"]["rounds"]
    ]
    end = [_spent(search["step"]), *_end(search)] if ended(summary.study) else [sentence(summary)]
    tried = {*summary.study.lams, *(lam for each in rounds for lam in each["marks"])}
    return Told(tuple(sorted(tried)), rounds, end)


def _marks(each: dict[str, Any]) -> dict[float, tuple[float | None, str]]:
    """λ → its mean validation score in this round, and "dropped" or "kept"; or that it diverged."""
    marks: dict[float, tuple[float | None, str]] = {
        lam: (score, "dropped" if lam in each["dropped"] else "kept") for lam, score in each["scores"]
    }
    return marks | dict.fromkeys(each["diverged"], (None, "diverged"))


def _spent(step: dict[str, Any]) -> str:
    spent, grid = step["spent"], step["grid"]
    by_lam = ", ".join(
        f"λ = {strength(lam)}: {counted(count, 'seed')}" for lam, count in step["spent_by_lam"]
    )
    return f"The search for λ spent {spent} of {counted(grid, 'cell')} ({by_lam})."


def _end(search: dict[str, Any]) -> list[str]:
    """Why it stopped, the tests and the verdict: what is said after the rounds and the sum."""
    return search["said"][len(search["step"]["rounds"]) + 1 :]
