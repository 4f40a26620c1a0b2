"""The paper's per-seed tables → what a search for λ would have kept of the best gain, and at what cost.

Seeds are dealt out in random order, each λ's by itself, and the search sees a table's own accuracies. It
chooses and is scored on the same numbers, the paper's test problems, for the paper prints no others: every
kept share is too high, that of the whole grid (1) the most. What can be read off is what is lost by training
fewer cells, and not what a new study will gain.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from erce.paper import PaperTable, tables
from erce.study.search.halving import GRID, Search, Settings
from erce.study.search.steps import Run, Stop

REPLAYED = (
    ("gsm8k", "greedy"),
    ("mbpp", "greedy"),
    ("mbpp", "sampled"),
    ("math", "greedy"),
    ("math", "sampled"),
)


class Replay(NamedTuple):
    """Means over permutations of a table's seeds.

    `kept`: the winner's gain over λ = 0, by all seeds, as a share of the best λ's; `worst` is that of the
    unluckiest twentieth. `cells` were trained, of the paper's `paper_cells`; `fixed` is what λ = 1 keeps
    without any search. `printed` is False where seeds stand in for a printed mean and ±.
    """

    task: str
    decoding: str
    lams: tuple[float, ...]
    kept: float
    worst: float
    cells: float
    paper_cells: int
    fixed: float
    printed: bool


def replay(
    task: str, decoding: str, *, grid: tuple[float, ...] | None = None, permutations: int = 400, seed: int = 0
) -> Replay:
    """The search on one table, over its own λ or those of `grid` that it has, on half of its fine-tunings.

    The highest mean wins: one accuracy a cell cannot be tested over problems. Nothing can be tried beyond
    the table's λ. The same `seed` deals the same permutations.
    """
    table = _table(task, decoding)
    lams = tuple(lam for lam in table.lams if grid is None or lam in grid)
    paper_cells = len(table.lams) * table.n_seeds
    settings = Settings(
        lams=lams, seeds=tuple(range(table.n_seeds)), max_cells=paper_cells // 2, extensions=0, level=1
    )
    gains = {lam: table.row(lam).mean - table.row(0.0).mean for lam in table.lams}
    best = max(gains.values())
    ends = list(_ends(table, settings, permutations, seed))
    kept = [gains[end.winner] / best for end in ends]
    return Replay(
        task,
        decoding,
        lams,
        float(np.mean(kept)),
        float(np.quantile(kept, 0.05)),
        float(np.mean([end.spent for end in ends])),
        paper_cells,
        gains[1.0] / best,
        table.is_per_seed,
    )


def lines(permutations: int = 400) -> list[str]:
    """A row a table, over its own λ, then over the automatic grid: `python -m erce.study.search`."""
    head = f"{'table':<14} {'λ tried':<28} {'kept':>6} {'5 %':>6} {'cells':>6} {'of':>4} {'λ = 1':>6}"
    rows = [head]
    for grid in (None, GRID):
        rows += [_line(replay(*name, grid=grid, permutations=permutations)) for name in REPLAYED]
    return rows


def _line(row: Replay) -> str:
    name = f"{row.task} {row.decoding}" + ("" if row.printed else " *")
    lams = " ".join(f"{lam:g}" for lam in row.lams)
    return (
        f"{name:<14} {lams:<28} {row.kept:>6.3f} {row.worst:>6.3f} {row.cells:>6.1f} {row.paper_cells:>4} "
        f"{row.fixed:>6.2f}"
    )


def _ends(table: PaperTable, settings: Settings, permutations: int, seed: int) -> Iterator[Stop]:
    rng = np.random.default_rng(seed)
    scores = {lam: np.array(table.scores(lam)) for lam in settings.lams}
    search = Search(settings)
    for _ in range(permutations):
        dealt = {lam: rng.permutation(values) for lam, values in scores.items()}
        known: dict[tuple[float, int], float] = {}
        step = search.next(known)
        while isinstance(step, Run):
            known |= {(lam, at): dealt[lam][at] for lam, at in step.cells}
            step = search.next(known)
        yield step


def _table(task: str, decoding: str) -> PaperTable:
    """The first table that fits: with seeds, where the paper prints any."""
    return next(each for each in tables() if (each.task, each.decoding) == (task, decoding))
