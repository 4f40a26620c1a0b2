"""A round's outcomes so far → on how many problems each of its cells is to be judged before the next look.

All λ of a round are judged on the same problems in the same random order, a part at a time. After each part,
a λ that surely does not go on is left where it is (`pruning`), the others are judged further.
"""

from collections.abc import Mapping

import numpy as np

from erce.study.search.pruning import dropped, judging_order
from erce.study.search.steps import CellKey, Pruning, Run

PARTS, LEAST = 5, 20  # looks at a round at most; problems between two of them at least


def order_of(run: Run, problems: int) -> np.ndarray:
    """The order in which this round's problems are judged; no two rounds of a search share one.

    A round compares what earlier rounds have left, so an order that these had used would not be random.
    """
    return judging_order(problems, seed=len(run.rounds))


def wanted(run: Run, judged: Mapping[CellKey, np.ndarray], *, problems: int) -> dict[CellKey, int]:
    """How many problems each cell of the round needs; the round is over once each has them.

    `judged` holds (problems so far, samples) of 0 and 1 in the round's order, for its cells and for the
    earlier ones of the λ that it compares. A λ that is given up keeps the number that it has.
    """
    pruning = run.pruning or Pruning((), 1, 0.5)
    given_up: dict[float, int] = {}
    for part in _parts(problems):
        going = [lam for lam in pruning.lams if lam not in given_up]
        end = problems if len(going) <= pruning.keep else part
        counts = {
            (lam, seed): given_up.get(lam, end if lam in pruning.lams else problems)
            for lam, seed in run.cells
        }
        if end == problems or any(len(judged.get(cell, ())) < count for cell, count in counts.items()):
            return counts
        shares = {lam: _share(lam, judged, given_up.get(lam, end)) for lam in pruning.lams}
        for each in dropped(shares, problems=problems, level=pruning.level, protected=(), keep=pruning.keep):
            given_up.setdefault(each.lam, end)
    raise AssertionError("the last part is all problems")


def _parts(problems: int) -> list[int]:
    """Up to which problem each look goes.

    >>> _parts(200), _parts(45), _parts(7)
    ([40, 80, 120, 160, 200], [23, 45], [7])
    """
    parts = max(1, min(PARTS, problems // LEAST))
    return [-(-problems * part // parts) for part in range(1, parts + 1)]


def _share(lam: float, judged: Mapping[CellKey, np.ndarray], count: int) -> np.ndarray:
    """Each of the first problems' share of accepted samples, over all seeds of a λ: (count, 1)."""
    seeds = [each[:count].mean(axis=1) for (of, _), each in judged.items() if of == lam]
    return np.mean(seeds, axis=0)[:, None]
