"""Validation outcomes of the cells trained so far → the cells to train next, or the λ that is chosen.

Successive halving over seeds (after Jamieson & Talwalkar 2016, with seeds in place of training steps: under
a cosine schedule a half-trained run predicts the finished one badly). Every λ gets one seed, the
better half of them a second, the better half of those two more, so most seeds go to the λ that may win.

`Search.next` has no memory: it replays all rounds from the outcomes so far, so a search that was killed goes
on from its finished cells, in whatever order they finished.
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
        """Return the next cells to train, or the end, from (lam, seed) → validation outcomes so far.

        Outcomes are (problems, samples) of 0 and 1, with the same problems in the same order for every cell;
        or, for a replay, one accuracy a cell. A cell of shape (0, samples) diverged: its λ goes no further
        and has no score. Cells that no round asked for change nothing. The same outcomes give the same step.
        """
        return _Replayed(self, _check_outcomes(state)).step()


class _Replayed:
    """A replay of a search's rounds, from the first, over the outcomes so far."""

    def __init__(self, search: Search, outcomes: Mapping[CellKey, np.ndarray]) -> None:
        self.settings, self.lams, self.seeds = search.settings, search.lams, search.seeds
        self.outcomes = outcomes
        self.rounds: list[Round] = []
        self.asked: set[CellKey] = set()
        self.short = False  # whether the budget did not cover some round
        self.left_ahead = False  # whether the budget ran out while a λ beyond the edge led
        self.candidates = tuple(sorted(lam for lam in search.lams if lam))
        self.tried = self.candidates

    def step(self) -> Step:
        """Return the cells that the first unfinished round lacks, or the end if all rounds are finished."""
        for cells in self._rounds():
            missing = tuple(cell for cell in cells if cell not in self.outcomes)
            if missing:
                return Run(missing, tuple(self.rounds))
        return self._stop()

    def _rounds(self) -> Iterator[list[CellKey]]:
        """Yield each round's new cells; the code after a `yield` runs once their outcomes are there."""
        for count in _levels(len(self.seeds)):
            cells = self._affordable((0.0, *self.candidates), count) or self._affordable(
                self.candidates, count
            )
            if not cells:
                break
            yield self._request(cells)
            self._halve(count)
            if len(self.candidates) <= 1:
                break
        yield from self._extend()
        yield from self._finish()

    def _halve(self, count: int) -> None:
        """Drop the worse half of the candidates, rounded down; after the last seed, only diverged ones."""
        scores = self._scores((0.0, *self.candidates))
        candidates = len(self.candidates)
        places = math.ceil(candidates / 2) if count < len(self.seeds) else candidates
        kept = tuple(sorted(_ranked(self._finite(), scores)[:places]))
        dropped = tuple(lam for lam in self.candidates if lam not in kept)
        self._record("halving", count, scores, kept=(0.0, *kept), dropped=dropped)
        self.candidates = kept

    def _extend(self) -> Iterator[list[CellKey]]:
        """Yield the cells of λ beyond the edge at which the leader sits, while they are ahead of the leader.

        While the leader is no better than cross-entropy there is nothing to extend.
        """
        for _ in range(self.settings.extensions):
            leader = _ranked((0.0, *self.candidates), self._scores((0.0, *self.candidates)))[0]
            challenger = _beyond(leader, self.tried)
            if challenger is None or self.short:
                return
            for count in _levels(len(self._seeds(leader))):
                cells = self._affordable((challenger,), count)
                if not cells:
                    self.left_ahead = count > 1
                    return
                self.tried = tuple(sorted({*self.tried, challenger}))
                yield self._request(cells)
                last = count == len(self._seeds(leader))
                if not self._challenge(leader, challenger, count, last=last):
                    return

    def _challenge(self, leader: float, challenger: float, count: int, *, last: bool) -> bool:
        """Return whether the challenger leads; if it does after its last seed, it replaces the leader."""
        scores = self._scores((leader, challenger))
        ahead = not self._has_diverged(challenger) and scores[challenger] > scores[leader]
        if not ahead:
            kept: tuple[float, ...] = (leader,)
        elif last:
            kept = (challenger,)
            self.candidates = tuple(sorted({*self.candidates, challenger} - {leader}))
        else:
            kept = (leader, challenger)
        dropped = tuple(lam for lam in (leader, challenger) if lam not in kept)
        self._record("extension", count, scores, kept=kept, dropped=dropped)
        return ahead

    def _finish(self) -> Iterator[list[CellKey]]:
        """Yield the missing seeds of the last λ and cross-entropy, as many as the budget covers for both."""
        lams = (0.0, *self.candidates)
        for count in range(len(self.seeds) if self.candidates else 0, 0, -1):
            cells = self._affordable(lams, count)
            if cells:
                yield self._request(cells)
                kept = self._finite()
                dropped = tuple(lam for lam in self.candidates if lam not in kept)
                self._record("final", count, self._scores(lams), kept=(0.0, *kept), dropped=dropped)
                self.candidates = kept
                return

    def _stop(self) -> Stop:
        arms = {lam: self._cells(lam) for lam in (0.0, *self.tried) if self._seeds(lam)}
        scores = {
            lam: mean_accuracy(cells) for lam, cells in arms.items() if any(cell.size for cell in cells)
        }
        order = _ranked((0.0, *self.candidates), scores)
        family = sum(lam != 0 for lam in self.lams) + self.settings.extensions
        tests = against_zero(self.candidates, arms, family=family)
        level, why = self.settings.level, "cells" if self.short else "seeds"
        better = {test.lam for test in tests if test.gain > 0 and test.adjusted <= level}
        return Stop(
            winner=next((lam for lam in order if lam in better), 0.0),
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

    def _record(
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

    def _affordable(self, lams: tuple[float, ...], count: int) -> list[CellKey]:
        """Return the cells not yet requested among the first `count` seeds of `lams`.

        If the budget does not cover these cells, return none and set `short`.
        """
        cells = [(lam, seed) for seed in self.seeds[:count] for lam in lams]
        cells = [cell for cell in cells if cell not in self.asked]
        limit = self.settings.max_cells
        if limit is not None and len(self.asked) + len(cells) > limit:
            self.short = True
            return []
        return cells

    def _request(self, cells: list[CellKey]) -> list[CellKey]:
        self.asked.update(cells)
        return cells

    def _seeds(self, lam: float) -> list[int]:
        return [seed for seed in self.seeds if (lam, seed) in self.asked]

    def _finite(self) -> tuple[float, ...]:
        """Return the candidates without a diverged training."""
        return tuple(lam for lam in self.candidates if not self._has_diverged(lam))

    def _has_diverged(self, lam: float) -> bool:
        return any(not cell.size for cell in self._cells(lam))

    def _cells(self, lam: float) -> list[np.ndarray]:
        return [self.outcomes[lam, seed] for seed in self._seeds(lam)]

    def _scores(self, lams: tuple[float, ...]) -> dict[float, float]:
        return {lam: mean_accuracy(self._cells(lam)) for lam in lams if not self._has_diverged(lam)}


def _levels(seeds: int) -> list[int]:
    """Return how many seeds a surviving λ has after each round.

    >>> _levels(1), _levels(4), _levels(5)
    ([1], [1, 2, 4], [1, 2, 4, 5])
    """
    doubled = [2**power for power in range(seeds.bit_length()) if 2**power < seeds]
    return [*doubled, seeds]


def _ranked(lams: tuple[float, ...], scores: Mapping[float, float]) -> list[float]:
    return sorted(lams, key=lambda lam: (-scores[lam], lam))


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


def _check_outcomes(state: Mapping[CellKey, ArrayLike]) -> dict[CellKey, np.ndarray]:
    """Return the outcomes as arrays, all (problems, samples) of 0 and 1 or all accuracies in [0, 1]."""
    outcomes = {cell: np.asarray(judged) for cell, judged in state.items()}
    for cell, judged in outcomes.items():
        has_diverged = judged.ndim == 2 and cell[0] != 0 and len(judged) == 0 and judged.shape[1] > 0
        if judged.ndim not in (0, 2) or (judged.size == 0 and not has_diverged):
            raise InputError(
                f"the outcomes of {cell} have shape {judged.shape}; it must be (problems, samples)"
            )
        in_range = (judged == 0) | (judged == 1) if judged.ndim else (judged >= 0) & (judged <= 1)
        if not in_range.all():
            wanted = "0 and 1" if judged.ndim else "an accuracy from 0 to 1"
            raise InputError(f"the outcomes of {cell} are not {wanted}; judge its completions again")
    shapes = {judged.shape for judged in outcomes.values()}
    whole = {shape for shape in shapes if shape == () or shape[0]}
    if len(whole) > 1 or len({shape[1:] for shape in shapes}) > 1:
        raise InputError(
            f"cells have outcomes of shapes {sorted(shapes)}; all need the same problems and as many samples"
        )
    return outcomes
