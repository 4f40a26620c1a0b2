"""Validation outcomes of the cells trained so far → the cells to train next, or the λ that is chosen.

Successive halving over seeds (after Jamieson & Talwalkar 2016, with seeds in place of training steps: under
a cosine schedule a half-trained run is a poor witness of the finished one). Every λ gets one seed, the
better half of them a second, the better half of those two more: seeds go where the decision is.

`Search.next` has no memory: it plays all rounds again from the outcomes that it is given, so a search that
was killed goes on from its finished cells, in whatever order they finished.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from erce.errors import InputError
from erce.recipe import GRID, SearchSettings
from erce.recipe.rules import check_lams, check_search, check_seeds
from erce.study.search.steps import CellKey, Round, Run, Step, Stop
from erce.study.search.tested import against_zero, mean_accuracy


class Search:
    """A search for λ by validation outcomes alone; `lams` must have 0, cross-entropy, and a λ over 0.

    >>> search = Search(SearchSettings(extensions=0, level=1), lams=(0, 1, 4), seeds=(0, 1))
    >>> search.next({}).cells
    ((0.0, 0), (1.0, 0), (4.0, 0))
    >>> accuracies = {(0.0, 0): 0.40, (1.0, 0): 0.45, (4.0, 0): 0.50}
    >>> search.next(accuracies).cells
    ((0.0, 1), (4.0, 1))
    >>> search.next(accuracies | {(0.0, 1): 0.41, (4.0, 1): 0.49}).winner
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
        """The next cells or the end, given (lam, seed) → validation outcomes (problems, samples) of 0 and 1.

        Every cell has the same problems in the same order; or, for a replay, every cell is one accuracy. A
        cell with no problems, (0, samples), diverged: its λ goes no further and has no score. Cells that no
        round asked for change nothing. The same outcomes give the same step.
        """
        return _Play(self, _checked(state)).step()


class _Play:
    """All rounds once more, over the outcomes there are."""

    def __init__(self, search: Search, outcomes: Mapping[CellKey, np.ndarray]) -> None:
        self.settings, self.lams, self.seeds = search.settings, search.lams, search.seeds
        self.outcomes = outcomes
        self.rounds: list[Round] = []
        self.asked: set[CellKey] = set()
        self.short = False  # the budget did not cover some round
        self.left_ahead = False  # nor the next seeds of a λ beyond the edge that led by its first ones
        self.candidates = tuple(sorted(lam for lam in search.lams if lam))
        self.tried = self.candidates

    def step(self) -> Step:
        """The cells that the first unfinished round lacks; where none does, the end."""
        for cells in self._plan():
            missing = tuple(cell for cell in cells if cell not in self.outcomes)
            if missing:
                return Run(missing, tuple(self.rounds))
        return self._stop()

    def _plan(self) -> Iterator[list[CellKey]]:
        """Each round's new cells; what comes after a `yield` finds their outcomes there."""
        for count in _levels(len(self.seeds)):
            cells = self._new((0.0, *self.candidates), count) or self._new(self.candidates, count)
            if not cells:
                break
            yield self._ask(cells)
            self._halve(count)
            if len(self.candidates) <= 1:
                break
        yield from self._extend()
        yield from self._finish()

    def _halve(self, count: int) -> None:
        """Drops the worse half, rounded down; the last seed's round drops nothing, its λ are all tested."""
        scores = self._scores((0.0, *self.candidates))
        many = len(self.candidates)
        half = math.ceil(many / 2) if count < len(self.seeds) else many
        kept = tuple(sorted(_ranked(self._finite(), scores)[:half]))
        dropped = tuple(lam for lam in self.candidates if lam not in kept)
        self._tell("halving", count, scores, kept=(0.0, *kept), dropped=dropped)
        self.candidates = kept

    def _extend(self) -> Iterator[list[CellKey]]:
        """λ beyond the edge at which the leader sits, each dropped as soon as it is not ahead of the leader.

        While the leader is no better than cross-entropy there is nothing to extend.
        """
        for _ in range(self.settings.extensions):
            leader = _ranked((0.0, *self.candidates), self._scores((0.0, *self.candidates)))[0]
            challenger = _beyond(leader, self.tried)
            if challenger is None or self.short:
                return
            for count in _levels(len(self._seeds(leader))):
                cells = self._new((challenger,), count)
                if not cells:
                    self.left_ahead = count > 1
                    return
                self.tried = tuple(sorted({*self.tried, challenger}))
                yield self._ask(cells)
                last = count == len(self._seeds(leader))
                if not self._challenge(leader, challenger, count, last=last):
                    return

    def _challenge(self, leader: float, challenger: float, count: int, *, last: bool) -> bool:
        """Whether the challenger is ahead of the leader; if so after its last seed, it takes its place."""
        scores = self._scores((leader, challenger))
        ahead = not self._has_diverged(challenger) and scores[challenger] > scores[leader]
        if ahead and last:
            self.candidates = tuple(sorted({*self.candidates, challenger} - {leader}))
        kept = (challenger,) if ahead and last else (leader, challenger) if ahead else (leader,)
        dropped = tuple(lam for lam in (leader, challenger) if lam not in kept)
        self._tell("extension", count, scores, kept=kept, dropped=dropped)
        return ahead

    def _finish(self) -> Iterator[list[CellKey]]:
        """The last λ and cross-entropy with as many seeds as planned, or as the budget covers for both."""
        lams = (0.0, *self.candidates)
        for count in range(len(self.seeds) if self.candidates else 0, 0, -1):
            cells = self._new(lams, count)
            if cells:
                yield self._ask(cells)
                kept = self._finite()
                dropped = tuple(lam for lam in self.candidates if lam not in kept)
                self._tell("final", count, self._scores(lams), kept=(0.0, *kept), dropped=dropped)
                self.candidates = kept
                return

    def _stop(self) -> Stop:
        arms = {lam: self._cells(lam) for lam in (0.0, *self.tried) if self._seeds(lam)}
        scores = {
            lam: mean_accuracy(cells) for lam, cells in arms.items() if any(each.size for each in cells)
        }
        order = _ranked((0.0, *self.candidates), scores)
        family = sum(lam != 0 for lam in self.lams) + self.settings.extensions
        tests = against_zero(self.candidates, arms, family=family)
        level, why = self.settings.level, "cells" if self.short else "seeds"
        beaten = {each.lam for each in tests if each.gain > 0 and each.adjusted <= level}
        return Stop(
            winner=next((lam for lam in order if lam in beaten), 0.0),
            leader=order[0],
            why=why,
            at_edge=self.left_ahead or _beyond(order[0], self.tried) is not None,
            level=level,
            spent=len(self.asked),
            grid=len(self.lams) * len(self.seeds),
            spent_by_lam={lam: len(cells) for lam, cells in arms.items()},
            scores=scores,
            tests=tests,
            rounds=tuple(self.rounds),
        )

    def _tell(
        self,
        kind: Literal["halving", "extension", "final"],
        seeds: int,
        scores: dict[float, float],
        *,
        kept: tuple[float, ...],
        dropped: tuple[float, ...],
    ) -> None:
        diverged = tuple(lam for lam in dropped if self._has_diverged(lam))
        self.rounds.append(Round(kind, seeds, scores, kept, dropped, diverged))

    def _new(self, lams: tuple[float, ...], count: int) -> list[CellKey]:
        """What the first `count` seeds of these λ add to what was asked; nothing, if that is too much."""
        cells = [(lam, seed) for seed in self.seeds[:count] for lam in lams]
        cells = [cell for cell in cells if cell not in self.asked]
        limit = self.settings.max_cells
        if limit is not None and len(self.asked) + len(cells) > limit:
            self.short = True
            return []
        return cells

    def _ask(self, cells: list[CellKey]) -> list[CellKey]:
        self.asked.update(cells)
        return cells

    def _seeds(self, lam: float) -> list[int]:
        return [seed for seed in self.seeds if (lam, seed) in self.asked]

    def _finite(self) -> tuple[float, ...]:
        """Return the candidates of which no training has diverged."""
        return tuple(lam for lam in self.candidates if not self._has_diverged(lam))

    def _has_diverged(self, lam: float) -> bool:
        return any(not each.size for each in self._cells(lam))

    def _cells(self, lam: float) -> list[np.ndarray]:
        return [self.outcomes[lam, seed] for seed in self._seeds(lam)]

    def _scores(self, lams: tuple[float, ...]) -> dict[float, float]:
        return {lam: mean_accuracy(self._cells(lam)) for lam in lams if not self._has_diverged(lam)}


def _levels(seeds: int) -> list[int]:
    """How many seeds a surviving λ has after each round.

    >>> _levels(1), _levels(4), _levels(5)
    ([1], [1, 2, 4], [1, 2, 4, 5])
    """
    doubled = [2**power for power in range(seeds.bit_length()) if 2**power < seeds]
    return [*doubled, seeds]


def _ranked(lams: tuple[float, ...], scores: Mapping[float, float]) -> list[float]:
    return sorted(lams, key=lambda lam: (-scores[lam], lam))


def _beyond(lam: float, tried: tuple[float, ...]) -> float | None:
    """The λ to try next where `lam` is an edge of those tried, else None.

    Twice the strongest. Half of the weakest: the same step on a logarithmic scale, and the middle of what is
    left, since 0 was tried too and the objective changes linearly in λ.

    >>> _beyond(8, (0.3, 1, 8)), _beyond(0.3, (0.3, 1, 8)), _beyond(1, (0.3, 1, 8))
    (16, 0.15, None)
    """
    if lam == max(tried):
        return 2 * lam
    return lam / 2 if lam == min(tried) else None


def _checked(state: Mapping[CellKey, ArrayLike]) -> dict[CellKey, np.ndarray]:
    """Return the outcomes as arrays, all (problems, samples) of 0 and 1 or all accuracies in [0, 1]."""
    outcomes = {cell: np.asarray(each) for cell, each in state.items()}
    for cell, each in outcomes.items():
        diverged = each.ndim == 2 and cell[0] and each.shape[1] and not len(each)
        if each.ndim not in (0, 2) or not (each.size or diverged):
            raise InputError(
                f"the outcomes of {cell} have shape {each.shape}; it must be (problems, samples)"
            )
        if not ((each == 0) | (each == 1) if each.ndim else (each >= 0) & (each <= 1)).all():
            wanted = "0 and 1" if each.ndim else "an accuracy from 0 to 1"
            raise InputError(f"the outcomes of {cell} are not {wanted}; judge its completions again")
    judged = {each.shape for each in outcomes.values() if each.size}
    if len(judged) > 1 or len({each.shape[1:] for each in outcomes.values()}) > 1:
        shapes = sorted({each.shape for each in outcomes.values()})
        raise InputError(
            f"cells have outcomes of shapes {shapes}; all need the same problems and as many samples"
        )
    return outcomes
