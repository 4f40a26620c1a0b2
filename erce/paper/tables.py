"""tables.json, the paper's tables as printed → typed tables, found by task, decoding, penalty and order."""

import json
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from erce.errors import InputError

SOURCE = Path(__file__).with_name("tables.json")


class Change(NamedTuple):
    """A printed gain over λ = 0 with its interval, in percentage points."""

    gain: float
    low: float
    high: float


@dataclass(frozen=True)
class PaperRow:
    """The printed row of one λ, in fractions of 1; `sd` divides by the number of seeds."""

    lam: float
    mean: float
    sd: float
    seeds: tuple[float, ...] = ()  # empty if the paper does not print them
    change: Change | None = None


@dataclass(frozen=True, kw_only=True)
class PaperTable:
    """One column of the paper: a task, a decoding, a penalty and its order over a grid of λ.

    A printed table with a greedy and a sampled column becomes two of these, and the table of the Rényi orders
    five; they share a `label`. `n_samples` counts per problem; `temperature` is None for greedy decoding.
    """

    label: str
    task: str
    decoding: str
    penalty: str
    order: float
    model: str
    n_train: int
    n_test: int
    n_samples: int
    temperature: float | None
    n_seeds: int
    rows: tuple[PaperRow, ...]

    @property
    def is_per_seed(self) -> bool:
        return all(row.seeds for row in self.rows)

    @property
    def lams(self) -> tuple[float, ...]:
        return tuple(row.lam for row in self.rows)

    def row(self, lam: float) -> PaperRow:
        """Return the row of a λ; the InputError for another λ names those there are."""
        for row in self.rows:
            if row.lam == lam:
                return row
        grid = ", ".join(f"{known:g}" for known in self.lams)
        raise InputError(f"the paper's {self.label} has no λ = {lam:g}; it has {grid}")

    def scores(self, lam: float) -> tuple[float, ...]:
        """Return one accuracy a seed.

        A printed seed becomes the share of the table's `n_test · n_samples` completions that rounds to it. If
        seeds are not printed, made-up values replace them: as many as there were seeds, with the printed mean
        and ±, so that whatever depends on these alone (Welch's t) is the same as for the true values.

        >>> lookup("mbpp", "sampled").scores(0)  # printed as 0.4113, 0.4300, 0.4238, 0.4200, 0.4263
        (0.41125, 0.43, 0.42375, 0.42, 0.42625)
        >>> lookup("math", "greedy").scores(0)  # printed as 0.4200 ± 0.0071
        (0.4113..., 0.42, 0.4286...)
        """
        row, completions = self.row(lam), self.n_test * self.n_samples
        if row.seeds:
            return tuple(round(score * completions) / completions for score in row.seeds)
        return stand_ins(row.mean, row.sd, self.n_seeds)


def citation() -> str:
    """Return authors and title of the paper that the tables are from."""
    content = _content()
    return f"{content['authors']}: {content['title']}"


@cache
def tables() -> tuple[PaperTable, ...]:
    """Return every table of the paper: those with seeds first, then summaries, then the Rényi orders.

    >>> len(tables()), sum(len(table.rows) for table in tables() if table.is_per_seed)
    (19, 30)
    """
    return tuple(
        PaperTable(**entry | {"rows": tuple(_row(**row) for row in entry["rows"])})
        for entry in _content()["tables"]
    )


def lookup(task: str, decoding: str, *, penalty: str = "shannon", order: float = 1.0) -> PaperTable:
    """Return the first of `tables()` that fits, so that with seeds if there is one; InputError if none fits.

    Rényi's penalty of order 1 is Shannon's.

    >>> lookup("gsm8k", "greedy").label, lookup("gsm8k", "greedy", penalty="renyi", order=0.5).label
    ('tab:entropy_appendix_results', 'tab:renyi-main')
    >>> lookup("gsm8k-answer-only", "sampled")
    Traceback (most recent call last):
    erce.errors.InputError: the paper has no sampled gsm8k-answer-only with shannon ... has greedy (shannon 1)
    """
    if penalty == "renyi" and order == 1:
        penalty = "shannon"
    known = [table for table in tables() if table.task == task]
    for table in known:
        if (table.decoding, table.penalty, table.order) == (decoding, penalty, order):
            return table
    if not known:
        tasks = ", ".join(dict.fromkeys(table.task for table in tables()))
        raise InputError(f"the paper has no task {task!r}; it has {tasks}")
    known = sorted(known, key=lambda table: (table.decoding, table.order))
    kinds = (f"{table.decoding} ({table.penalty} {table.order:g})" for table in known)
    raise InputError(
        f"the paper has no {decoding} {task} with {penalty} of order {order:g}; "
        f"it has {', '.join(dict.fromkeys(kinds))}"
    )


def stand_ins(mean: float, sd: float, n: int) -> tuple[float, ...]:
    """Return n evenly spaced values with this mean and this population standard deviation.

    >>> stand_ins(0.5, 0.1, 1), stand_ins(0.5, 0.25, 2)
    ((0.5,), (0.25, 0.75))
    """
    steps = [2 * i - (n - 1) for i in range(n)]
    deviation = math.sqrt((n * n - 1) / 3) or 1.0  # of the steps −(n − 1), −(n − 3), …, n − 1
    return tuple(mean + sd * step / deviation for step in steps)


@cache
def _content() -> dict[str, Any]:
    return json.loads(SOURCE.read_text(encoding="utf-8"))


def _row(
    *,
    lam: float,
    mean: float,
    sd: float,
    seeds: tuple[float, ...] = (),
    change: tuple[float, ...] | None = None,
) -> PaperRow:
    return PaperRow(lam, mean, sd, tuple(seeds), None if change is None else Change(*change))
