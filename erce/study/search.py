"""Validation outcomes of the cells trained so far → the cells to train next, or the λ that is chosen.

Successive halving over seeds (after Jamieson & Talwalkar 2016, with seeds in place of training steps: under
a cosine schedule a half-trained run predicts the finished one badly). Every λ gets one seed, the
better half of them a second, the better half of those two more, so most seeds go to the λ that may win.

`Search.next` has no memory: it replays all rounds from the outcomes so far, so a search that was killed goes
on from its finished cells, in whatever order they finished.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from erce.errors import InputError, counted
from erce.recipe import GRID, SearchSettings
from erce.recipe.rules import check_lams, check_search, check_seeds
from erce.stats import holm, paired_gain
from erce.study.choice import ranked
from erce.types import CROSS_ENTROPY

__all__ = ["Run", "Search", "Stop", "explain", "plain"]

CellKey = tuple[float, int]  # (lam, seed)
Kind = Literal["halving", "extension", "final"]


class Round(NamedTuple):
    """A comparison of some λ: their mean validation accuracies, and which λ went on.

    "halving": the better half goes on. "extension": a λ beyond the edge of the grid, the second of `scores`,
    against the λ at the edge, the first. "final": the last λ and cross-entropy with as many seeds as planned.
    """

    kind: Kind
    seeds: int  # asked for
    scores: dict[float, float]  # over all seeds of a λ; none for a λ of which a training diverged
    kept: tuple[float, ...]
    dropped: tuple[float, ...]
    diverged: tuple[float, ...] = ()  # of those dropped


class Tested(NamedTuple):
    """A surviving λ against cross-entropy on the validation problems; `gain` is in fractions of 1."""

    lam: float
    gain: float
    p: float
    adjusted: float  # Holm's p among all `family` λ that the search may try, dropped or not
    family: int
    covers: str  # what the test takes as random


class Run(NamedTuple):
    """The cells to train and verify next, in any order and any number at a time."""

    cells: tuple[CellKey, ...]
    rounds: tuple[Round, ...]  # the finished rounds


class Stop(NamedTuple):
    """The end of a search; ties go to the λ nearer 0."""

    winner: float  # 0, cross-entropy, unless a survivor scored more and its `adjusted` p is at most `level`
    leader: float  # has the highest mean, significant or not
    why: str  # "seeds": every planned round was run; "cells": the budget did not cover a round
    at_edge: bool  # the leader is the strongest or weakest λ tried, or one beyond led when the budget ended
    level: float
    spent: int  # cells that the search asked for
    grid: int  # cells of the first grid with every seed
    spent_by_lam: dict[float, int]
    scores: dict[float, float]
    tests: tuple[Tested, ...]
    rounds: tuple[Round, ...]


Step = Run | Stop


class Search:
    """A search for λ by validation outcomes alone; `lams` must have 0, cross-entropy, and a λ over 0.

    >>> search = Search(SearchSettings(extensions=0, level=1), lams=(0, 1, 4), seeds=(0, 1))
    >>> search.next({}).cells
    ((0.0, 0), (1.0, 0), (4.0, 0))
    >>> outcomes = {(0.0, 0): [[0], [1]], (1.0, 0): [[0], [1]], (4.0, 0): [[1], [1]]}
    >>> search.next(outcomes).cells
    ((0.0, 1), (4.0, 1))
    >>> search.next(outcomes | {(0.0, 1): [[0], [0]], (4.0, 1): [[0], [1]]}).winner
    4.0
    """

    def __init__(
        self,
        settings: SearchSettings | None = None,
        *,
        lams: Sequence[float] = GRID,
        seeds: Sequence[int] = (0, 1, 2, 3),
    ) -> None:
        check_lams(lams)
        check_seeds(seeds)
        if min(lams) < 0 or len(lams) < 2:
            raise InputError(
                f"lams = {list(lams)}: a search tries 0, cross-entropy, and at least one λ over 0"
            )
        self.settings = settings or SearchSettings()
        check_search(self.settings, lams)
        self.lams, self.seeds = tuple(map(float, lams)), tuple(seeds)

    def next(self, state: Mapping[CellKey, ArrayLike]) -> Step:
        """Return the next cells to train, or the end, from (lam, seed) → validation outcomes so far.

        Outcomes are (problems, samples) of 0 and 1, with the same problems in the same order for every cell.
        A cell of shape (0, samples) diverged: its λ goes no further and has no score. Cells that no round
        asked for change nothing. The same outcomes give the same step.
        """
        replay = _Replay(self, _check_outcomes(state))
        for cells in replay.play():
            missing = tuple(cell for cell in cells if cell not in replay.outcomes)
            if missing:
                return Run(missing, tuple(replay.rounds))
        return replay.stop()


class _Replay:
    """A replay of a search's rounds, from the first, over the outcomes so far: all the state of a search."""

    def __init__(self, search: Search, outcomes: Mapping[CellKey, np.ndarray]) -> None:
        self.search, self.outcomes = search, outcomes
        self.rounds: list[Round] = []
        self.asked: set[CellKey] = set()
        self.alive = self.tried = tuple(sorted(lam for lam in search.lams if lam))
        self.short = False  # whether the budget did not cover some round
        self.left_ahead = False  # whether the budget ran out while a λ beyond the edge led

    def play(self) -> Iterator[list[CellKey]]:
        """Yield each round's new cells; the code after a `yield` runs once their outcomes are there.

        Halving comes first, so that a λ beyond the edge meets the leader alone; the last seeds come last.
        """
        planned = len(self.search.seeds)
        for count in _levels(planned):
            if not (cells := self._ask((0.0, *self.alive), count) or self._ask(self.alive, count)):
                break
            yield cells
            self._drop("halving", count, math.ceil(len(self.alive) / (2 if count < planned else 1)))
            if len(self.alive) <= 1:
                break
        yield from self._extend()
        for count in range(planned if self.alive else 0, 0, -1):  # as many seeds as the budget covers
            if cells := self._ask((0.0, *self.alive), count):
                yield cells
                self._drop("final", count, len(self.alive))
                return

    def _extend(self) -> Iterator[list[CellKey]]:
        """Yield the cells of one λ after another beyond those tried, as long as the newest λ is the best.

        While the leader is no better than cross-entropy there is nothing to extend.
        """
        for _ in range(self.search.settings.extensions):
            leader = ranked(self._scores((0.0, *self.alive)))[0]
            beyond = _beyond(leader, self.tried)
            if beyond is None or self.short:
                return
            levels = _levels(self._spent(leader))
            for count in levels:
                if not (cells := self._ask((beyond,), count)):
                    self.left_ahead = count > 1
                    return
                self.tried = tuple(sorted({*self.tried, beyond}))
                yield cells
                scores = self._scores((leader, beyond))
                is_ahead = scores.get(beyond, -1.0) > scores[leader]
                kept = ((beyond,) if count == levels[-1] else (leader, beyond)) if is_ahead else (leader,)
                self._record("extension", count, (leader, beyond), kept)
                if not is_ahead:
                    return
            self.alive = tuple(sorted({*self.alive, beyond} - {leader}))

    def stop(self) -> Stop:
        """Return the end, with the survivors tested against cross-entropy."""
        search, settings = self.search, self.search.settings
        arms = {lam: self._cells(lam) for lam in (0.0, *self.tried) if self._spent(lam)}
        scores = self._scores(arms)
        order = ranked({lam: scores[lam] for lam in (0.0, *self.alive)})
        family = sum(lam != 0 for lam in search.lams) + settings.extensions
        tests = _tests({lam: arms[lam] for lam in self.alive}, arms[0.0], family=family)
        better = {test.lam for test in tests if test.gain > 0 and test.adjusted <= settings.level}
        return Stop(
            winner=next((lam for lam in order if lam in better), 0.0),
            leader=order[0],
            why="cells" if self.short else "seeds",
            at_edge=self.left_ahead or _beyond(order[0], self.tried) is not None,
            level=settings.level,
            spent=len(self.asked),
            grid=len(search.lams) * len(search.seeds),
            spent_by_lam={lam: len(cells) for lam, cells in arms.items()},
            scores=scores,
            tests=tests,
            rounds=tuple(self.rounds),
        )

    def _ask(self, lams: tuple[float, ...], count: int) -> list[CellKey]:
        """Ask for the cells that are new among the first `count` seeds of `lams`.

        If the budget does not cover them, ask for none and set `short`.
        """
        cells = [(lam, seed) for seed in self.search.seeds[:count] for lam in lams]
        cells, limit = [cell for cell in cells if cell not in self.asked], self.search.settings.max_cells
        if limit is not None and len(self.asked) + len(cells) > limit:
            self.short, cells = True, []
        self.asked.update(cells)
        return cells

    def _drop(self, kind: Kind, count: int, places: int) -> None:
        """Keep cross-entropy and the `places` best λ of those alive that have not diverged."""
        scores = self._scores(self.alive)
        kept = tuple(sorted(ranked(scores)[:places]))
        self._record(kind, count, (0.0, *self.alive), (0.0, *kept))
        self.alive = kept

    def _record(self, kind: Kind, count: int, lams: tuple[float, ...], kept: tuple[float, ...]) -> None:
        scores, dropped = self._scores(lams), tuple(lam for lam in lams if lam not in kept)
        diverged = tuple(lam for lam in dropped if lam not in scores)
        self.rounds.append(Round(kind, count, scores, kept, dropped, diverged))

    def _spent(self, lam: float) -> int:
        return sum((lam, seed) in self.asked for seed in self.search.seeds)

    def _cells(self, lam: float) -> list[np.ndarray]:
        return [self.outcomes[lam, seed] for seed in self.search.seeds if (lam, seed) in self.asked]

    def _scores(self, lams: Iterable[float]) -> dict[float, float]:
        """Return the mean accuracy of each λ, without those of which a training diverged."""
        cells = {lam: self._cells(lam) for lam in lams}
        return {lam: mean_accuracy(of) for lam, of in cells.items() if all(cell.size for cell in of)}


def _levels(seeds: int) -> list[int]:
    """Return how many seeds a surviving λ has after each round.

    >>> _levels(1), _levels(4), _levels(5)
    ([1], [1, 2, 4], [1, 2, 4, 5])
    """
    return [*(2**power for power in range(seeds.bit_length()) if 2**power < seeds), seeds]


def _beyond(lam: float, tried: tuple[float, ...]) -> float | None:
    """Return the λ to try next if `lam` is an edge of those tried, else None.

    It is twice the strongest, or half of the weakest. Half is the same step on a logarithmic scale, and the
    middle of the open interval, since 0 was tried too and the objective changes linearly in λ.

    >>> _beyond(8, (0.3, 1, 8)), _beyond(0.3, (0.3, 1, 8)), _beyond(1, (0.3, 1, 8))
    (16, 0.15, None)
    """
    if lam == max(tried):
        return 2 * lam
    return lam / 2 if lam == min(tried) else None


def mean_accuracy(cells: Sequence[np.ndarray]) -> float:
    """Return the mean accuracy over seeds, rounded so that equal means tie."""
    return round(float(np.mean([cell.mean() for cell in cells])), 12)


def _tests(
    survivors: Mapping[float, Sequence[np.ndarray]], baseline: Sequence[np.ndarray], *, family: int
) -> tuple[Tested, ...]:
    """Test every survivor against λ = 0, paired over problems, with Holm's p among `family` λ.

    The survivors were chosen on these very outcomes, so every λ that might have survived counts as a test. A
    dropped λ counts with p = 1, which is valid for whatever reason it was dropped.
    """
    tests = []
    for lam, cells in survivors.items():
        gain = paired_gain(np.stack(cells), np.stack(baseline))
        difference = round(mean_accuracy(cells) - mean_accuracy(baseline), 12)
        tests.append(Tested(lam, difference, gain.p, 1.0, family, gain.covers))
    adjusted = holm([test.p for test in tests] + [1.0] * (family - len(tests)))
    return tuple(test._replace(adjusted=float(p)) for test, p in zip(tests, adjusted, strict=False))


def _check_outcomes(state: Mapping[CellKey, ArrayLike]) -> dict[CellKey, np.ndarray]:
    """Return the outcomes as arrays of one shape, but for cells that diverged."""
    outcomes = {cell: np.asarray(values) for cell, values in state.items()}
    shapes = set()
    for (lam, seed), values in outcomes.items():
        if not ((values == 0) | (values == 1)).all():
            raise InputError(f"the outcomes of λ = {lam:g}, seed {seed} are not 0 and 1; verify it again")
        has_diverged = values.ndim == 2 and lam != 0 and len(values) == 0 and values.shape[1] > 0
        shapes |= set() if has_diverged else {values.shape}
    if len(shapes) > 1 or any(len(shape) != 2 or 0 in shape for shape in shapes):
        raise InputError(
            f"cells have outcomes of shapes {sorted(shapes)}; each must be (problems, samples), all with "
            "the same problems and as many samples"
        )
    return outcomes


def plain(step: Step) -> dict[str, Any]:
    """Return the step as JSON holds it; a dict with λ as keys becomes [λ, value] pairs.

    >>> plain(Run(cells=((0.0, 0), (1.0, 0)), rounds=()))
    {'cells': [[0.0, 0], [1.0, 0]], 'rounds': []}
    """
    return {name: _plain(value) for name, value in step._asdict().items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Round | Tested):
        return {name: _plain(field) for name, field in value._asdict().items()}
    if isinstance(value, dict):
        return [[key, _plain(item)] for key, item in value.items()]
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def explain(step: Step, objective: str = CROSS_ENTROPY) -> list[str]:
    """Return sentences on every round, then on the cells to run next, or on the end and the winner.

    `objective` is what the λ are added to.
    """
    sentences = [_round_sentence(each) for each in step.rounds]
    if isinstance(step, Run):
        cells = ", ".join(f"λ = {lam:g} seed {seed}" for lam, seed in step.cells)
        return [*sentences, f"Next: {counted(len(step.cells), 'cell')}: {cells}."]
    by_lam = ", ".join(f"λ = {lam:g}: {counted(count, 'seed')}" for lam, count in step.spent_by_lam.items())
    spent = f"Spent {counted(step.spent, 'cell')}; the first grid with every seed has {step.grid}. {by_lam}."
    why = "the rounds are over" if step.why == "seeds" else "the budget does not cover the next round"
    tests = [_test_sentence(test, step.level, objective) for test in step.tests]
    return [*sentences, spent, f"Stopped because {why}.", *tests, *_verdict(step, objective)]


def _round_sentence(each: Round) -> str:
    scores = ", ".join(f"λ = {lam:g} {100 * score:.2f} %" for lam, score in each.scores.items())
    scores += "".join(f", λ = {lam:g} diverged" for lam in each.diverged)
    if each.kind == "extension" and not each.diverged:
        at_edge, beyond = each.scores
        ahead = "ahead" if beyond in each.kept else "not ahead"
        what = f"λ = {beyond:g}, beyond the edge, is {ahead} of λ = {at_edge:g}"
    else:
        dropped = ", ".join(f"λ = {lam:g}" for lam in each.dropped)
        what = f"dropped {dropped}" if dropped else "nothing to drop"
    return f"{each.kind.capitalize()}, {counted(each.seeds, 'seed')}: {scores}; {what}."


def _test_sentence(test: Tested, level: float, objective: str) -> str:
    gain = f"λ = {test.lam:g} against {objective}: {100 * test.gain:+.2f} points"
    better = "more" if test.gain > 0 and test.adjusted <= level else "not more"
    p = f"p {test.p:.4f} over {test.covers}, {test.adjusted:.4f} allowing for {test.family} λ"
    return f"{gain}, {p}: {better} at {100 * level:g} %."


def _verdict(step: Stop, objective: str) -> list[str]:
    baseline = "Cross-entropy" if objective == CROSS_ENTROPY else f"Plain {objective}"
    if step.winner:
        sentence = f"λ = {step.winner:g} wins."
    elif step.leader:
        chance = f"{baseline} wins: λ = {step.leader:g} scored more, but by no more than chance explains."
        advice = f"If you must choose a λ without significance, take λ = {step.leader:g}, the leader."
        sentence = f"{chance} {advice}"
    else:
        sentence = f"{baseline} wins: no λ scored more."
    at_edge = f"λ = {step.leader:g} is at the edge of what was tried; the best may lie beyond."
    return [sentence, at_edge] if step.at_edge else [sentence]
