"""Rounds of a search for λ → plain values and sentences: what was trained, what was dropped, why it ended."""

from typing import Any, Literal, NamedTuple

from erce.errors import counted
from erce.types import CROSS_ENTROPY

CellKey = tuple[float, int]  # (lam, seed)
Why = Literal["seeds", "cells"]
Test = Literal["problems and seeds", "problems", "seeds", "none"]


class Round(NamedTuple):
    """A comparison of some λ: their mean validation accuracies, and which λ went on.

    "halving": the better half goes on. "extension": a λ beyond the edge of the grid, the second of `scores`,
    against the λ at the edge, the first. "final": the last λ and cross-entropy with as many seeds as planned.
    `seeds` is the number of seeds asked for; a score is the mean over all seeds of a λ. If a training of a λ
    has `diverged`, the λ has no score.
    """

    kind: Literal["halving", "extension", "final"]
    seeds: int
    scores: dict[float, float]
    kept: tuple[float, ...]
    dropped: tuple[float, ...]
    diverged: tuple[float, ...] = ()


class Tested(NamedTuple):
    """A surviving λ against cross-entropy on the validation problems; `gain` is in fractions of 1.

    `adjusted` is Holm's p among all `family` λ that the search may try, dropped or not. `covers` names what
    the test takes as drawn by chance; "none": a single accuracy cannot be tested, and p is 1.
    """

    lam: float
    gain: float
    p: float
    adjusted: float
    family: int
    covers: Test


class Run(NamedTuple):
    """The cells to train and judge next, in any order and any number at a time."""

    cells: tuple[CellKey, ...]
    rounds: tuple[Round, ...]  # the finished rounds


class Stop(NamedTuple):
    """The end of a search.

    `winner` is 0, cross-entropy, unless a surviving λ scored more and its `adjusted` p is at most `level`;
    `leader` has the highest mean, significant or not; ties go to the λ nearer 0. `why`: "seeds" if every
    planned round was run, "cells" if the budget did not cover a round. `at_edge`: the leader is the strongest
    λ tried, or the weakest over 0, or a λ beyond it led by the seeds that the budget covered. `spent` counts
    the cells that the search asked for, `grid` the cells of the first grid with every seed.
    """

    winner: float
    leader: float
    why: Why
    at_edge: bool
    level: float
    spent: int
    grid: int
    spent_by_lam: dict[float, int]
    scores: dict[float, float]
    tests: tuple[Tested, ...]
    rounds: tuple[Round, ...]


Step = Run | Stop


def plain(step: Step) -> dict[str, Any]:
    """Return the step as JSON holds it; a dict with λ as keys becomes [λ, value] pairs.

    >>> plain(Run(cells=((0.0, 0), (1.0, 0)), rounds=()))
    {'cells': [[0.0, 0], [1.0, 0]], 'rounds': []}
    """
    return {name: _plain(value) for name, value in step._asdict().items()}


def explain(step: Step, objective: str = CROSS_ENTROPY) -> list[str]:
    """Return sentences on every round, then on the cells to run next, or on the end and the winner.

    `objective` is what the λ are added to.
    """
    sentences = [_round_sentence(played) for played in step.rounds]
    if isinstance(step, Run):
        cells = ", ".join(f"λ = {lam:g} seed {seed}" for lam, seed in step.cells)
        return [*sentences, f"Next: {counted(len(step.cells), 'cell')}: {cells}."]
    sentences.append(
        f"Spent {counted(step.spent, 'cell')}; the first grid with every seed has {step.grid}. "
        + ", ".join(f"λ = {lam:g}: {counted(count, 'seed')}" for lam, count in step.spent_by_lam.items())
        + "."
    )
    sentences.append(
        "Stopped because the rounds are over."
        if step.why == "seeds"
        else "Stopped because the budget does not cover the next round."
    )
    sentences += [_test_sentence(test, step.level, objective) for test in step.tests]
    return sentences + _verdict(step, objective)


def _round_sentence(played: Round) -> str:
    scores = ", ".join(f"λ = {lam:g} {100 * score:.2f} %" for lam, score in played.scores.items())
    scores += "".join(f", λ = {lam:g} diverged" for lam in played.diverged)
    if played.kind == "extension" and not played.diverged:
        at_edge, beyond = played.scores
        ahead = "ahead" if beyond in played.kept else "not ahead"
        what = f"λ = {beyond:g}, beyond the edge, is {ahead} of λ = {at_edge:g}"
    elif played.dropped:
        what = f"dropped {', '.join(f'λ = {lam:g}' for lam in played.dropped)}"
    else:
        what = "nothing to drop"
    return f"{played.kind.capitalize()}, {counted(played.seeds, 'seed')}: {scores}; {what}."


def _test_sentence(test: Tested, level: float, objective: str) -> str:
    gain = f"λ = {test.lam:g} against {objective}: {100 * test.gain:+.2f} points"
    if test.covers == "none":
        return f"{gain}; not tested: one accuracy an arm does not show how much chance moves it."
    better = test.gain > 0 and test.adjusted <= level
    return (
        f"{gain}, p {test.p:.4f} over {test.covers}, {test.adjusted:.4f} allowing for {test.family} λ: "
        f"{'more' if better else 'not more'} at {100 * level:g} %."
    )


def _verdict(step: Stop, objective: str) -> list[str]:
    baseline = "Cross-entropy" if objective == CROSS_ENTROPY else f"Plain {objective}"
    if step.winner:
        sentences = [f"λ = {step.winner:g} wins."]
    elif step.leader:
        advice = f"If you must choose a λ without significance, take λ = {step.leader:g}, the leader."
        verdict = f"{baseline} wins: λ = {step.leader:g} scored more, but by no more than chance explains."
        sentences = [f"{verdict} {advice}"]
    else:
        sentences = [f"{baseline} wins: no λ scored more."]
    if step.at_edge:
        sentences.append(f"λ = {step.leader:g} is at the edge of what was tried; the best may lie beyond.")
    return sentences


def _plain(value: Any) -> Any:
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _plain(field) for name, field in value._asdict().items()}  # pyright: ignore
    if isinstance(value, dict):
        return [[key, _plain(item)] for key, item in value.items()]
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value
