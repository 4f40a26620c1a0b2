"""The paper's per-seed tables → what a search for λ would have kept of the best gain, and at what cost.

    python benchmarks/search_replay.py

Seeds are dealt out in random order, each λ's by itself, and the search sees a table's own accuracies. It
chooses and is scored on the same numbers, the paper's test problems, for the paper prints no others. So every
kept share is too high. The table shows what is lost by training fewer cells, not what a new study will gain.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from erce.paper import PaperTable, tables
from erce.recipe import GRID, SearchSettings
from erce.study.search import Run, Search, Stop

REPLAYED = (
    ("gsm8k", "greedy"),
    ("mbpp", "greedy"),
    ("mbpp", "sampled"),
    ("math", "greedy"),
    ("math", "sampled"),
)


def main() -> None:
    """Print a row a table, and what the columns mean."""
    for line in lines():
        print(line)
    print(
        "\nkept: share of the best gain that the chosen λ has, mean over 400 permutations of the seeds;\n"
        "5 %: in the unluckiest twentieth of them; cells: fine-tunings, of the paper's; λ = 1: what that λ\n"
        "keeps without any search. Chosen and scored on the same numbers, the paper's test problems, so\n"
        "kept is too high for a new study. * the paper prints a mean and ± here; evenly spaced values stand\n"
        "in for its seeds."
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
    """Search one table, over its own λ or those of `grid` that it has, on half of its fine-tunings.

    The highest mean wins: one accuracy a cell cannot be tested over problems. Nothing can be tried beyond
    the table's λ. The same `seed` deals the same permutations.
    """
    table = _table(task, decoding)
    lams = tuple(lam for lam in table.lams if grid is None or lam in grid)
    paper_cells = len(table.lams) * table.n_seeds
    settings = SearchSettings(max_cells=paper_cells // 2, extensions=0, level=1)
    search = Search(settings, lams=lams, seeds=tuple(range(table.n_seeds)))
    gains = {lam: table.row(lam).mean - table.row(0.0).mean for lam in table.lams}
    best = max(gains.values())
    ends = list(_ends(table, search, permutations, seed))
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
    """Return a row a table, over its own λ, then over the automatic grid."""
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


def _ends(table: PaperTable, search: Search, permutations: int, seed: int) -> Iterator[Stop]:
    rng = np.random.default_rng(seed)
    scores = {lam: np.array(table.scores(lam)) for lam in search.lams}
    for _ in range(permutations):
        dealt = {lam: rng.permutation(values) for lam, values in scores.items()}
        known: dict[tuple[float, int], float] = {}
        step = search.next(known)
        while isinstance(step, Run):
            known |= {(lam, at): dealt[lam][at] for lam, at in step.cells}
            step = search.next(known)
        yield step


def _table(task: str, decoding: str) -> PaperTable:
    """Return the first table that fits: with seeds, where the paper prints any."""
    return next(table for table in tables() if (table.task, table.decoding) == (task, decoding))


if __name__ == "__main__":
    main()
