"""Rounds of a search for λ → plain values and sentences: what was trained, what was dropped, why it ended."""

from typing import Any, Literal, NamedTuple

from erce.catalog import counted

CellKey = tuple[float, int]  # (lam, seed)
Why = Literal["seeds", "cells"]
Test = Literal["problems and seeds", "problems", "seeds", "none"]


class Round(NamedTuple):
    """λ that were compared with each other: mean validation accuracies, and who went on.

    "halving": the better half goes on. "extension": a λ beyond the edge of the grid, the second of `scores`,
    against the one at the edge, the first. "final": the last λ and cross-entropy with as many seeds as
    planned. `seeds` is how many were asked for; a score is the mean over all that a λ has. A λ of which a
    training has `diverged` has no score.
    """

    kind: Literal["halving", "extension", "final"]
    seeds: int
    scores: dict[float, float]
    kept: tuple[float, ...]
    dropped: tuple[float, ...]
    diverged: tuple[float, ...] = ()


class Tested(NamedTuple):
    """A surviving λ against cross-entropy on the validation problems; `gain` is in fractions of 1.

    `adjusted` is Holm's p among all `family` λ that the search may try, dropped or not. `covers` says what
    the test took as drawn by chance; "none": there was no test, one accuracy cannot have one, and p is 1.
    """

    lam: float
    gain: float
    p: float
    adjusted: float
    family: int
    covers: Test


class Run(NamedTuple):
    """Train and judge these cells, in any order and as many at a time as you like, then ask again."""

    cells: tuple[CellKey, ...]
    rounds: tuple[Round, ...]  # what was decided so far


class Stop(NamedTuple):
    """The end of a search.

    `winner` is 0, cross-entropy, unless a surviving λ scored more and its `adjusted` p is at most `level`;
    `leader` is the highest mean of those, ties to the λ nearer 0, whatever the test says. `why`: "seeds"
    where every planned round was run, "cells" where the budget did not cover one. `at_edge`: the leader is
    still the strongest λ tried, or the weakest but 0, or one beyond it led by the seeds that it could get.
    `spent` counts the cells that the search asked for, `grid` what the first grid with every seed has.
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
    """The step as JSON holds it; numbers that are keys become [λ, value] pairs.

    >>> plain(Run(cells=((0.0, 0), (1.0, 0)), rounds=()))
    {'cells': [[0.0, 0], [1.0, 0]], 'rounds': []}
    """
    return {name: _plain(value) for name, value in step._asdict().items()}


def explain(step: Step) -> list[str]:
    """Sentences on every round, then what it asks for or: what was spent, why it ended, and who won."""
    sentences = [_round_sentence(each) for each in step.rounds]
    if isinstance(step, Run):
        asked = ", ".join(f"λ = {lam:g} seed {seed}" for lam, seed in step.cells)
        return [*sentences, f"Next: {counted(len(step.cells), 'cell')}: {asked}."]
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
    sentences += [_test_sentence(each, step.level) for each in step.tests]
    return sentences + _verdict(step)


def _round_sentence(each: Round) -> str:
    scores = ", ".join(f"λ = {lam:g} {100 * score:.2f} %" for lam, score in each.scores.items())
    scores += "".join(f", λ = {lam:g} diverged" for lam in each.diverged)
    if each.kind == "extension" and not each.diverged:
        at_edge, beyond = each.scores
        ahead = "ahead" if beyond in each.kept else "not ahead"
        what = f"λ = {beyond:g}, beyond the edge, is {ahead} of λ = {at_edge:g}"
    elif each.dropped:
        what = f"dropped {', '.join(f'λ = {lam:g}' for lam in each.dropped)}"
    else:
        what = "nothing to drop"
    return f"{each.kind.capitalize()}, {counted(each.seeds, 'seed')}: {scores}; {what}."


def _test_sentence(each: Tested, level: float) -> str:
    gain = f"λ = {each.lam:g} against cross-entropy: {100 * each.gain:+.2f} points"
    if each.covers == "none":
        return f"{gain}; no test, for a single accuracy an arm says nothing of chance."
    beaten = each.gain > 0 and each.adjusted <= level
    return (
        f"{gain}, p {each.p:.4f} over {each.covers}, {each.adjusted:.4f} allowing for {each.family} λ: "
        f"{'more' if beaten else 'not more'} at {100 * level:g} %."
    )


def _verdict(step: Stop) -> list[str]:
    if step.winner:
        sentences = [f"λ = {step.winner:g} wins."]
    elif step.leader:
        sentences = [
            f"Cross-entropy wins: λ = {step.leader:g} scored more, but by no more than chance explains."
        ]
    else:
        sentences = ["Cross-entropy wins: no λ scored more."]
    if step.at_edge:
        sentences.append(f"λ = {step.leader:g} is at the edge of what was tried; the best may lie beyond.")
    return sentences


def _plain(value: Any) -> Any:
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _plain(each) for name, each in value._asdict().items()}  # pyright: ignore
    if isinstance(value, dict):
        return [[key, _plain(each)] for key, each in value.items()]
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value
