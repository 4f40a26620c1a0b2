"""tables.json → the paper's printed tables, looked up by task, decoding, penalty and order."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from erce.errors import InputError

SOURCE = Path(__file__).with_name("tables.json")


@dataclass(frozen=True)
class PaperRow:
    """The printed row of one λ, in fractions of 1; `sd` divides by the number of seeds."""

    lam: float
    mean: float
    sd: float
    seeds: tuple[float, ...] = ()  # empty if the paper does not print them
    change: tuple[float, float, float] | None = None  # the printed gain over λ = 0 in points, its interval


@dataclass(frozen=True, kw_only=True)
class PaperTable:
    """What the paper prints of one task, decoding, penalty and order: a row for each λ.

    A printed table with two decodings becomes two of these, and the table of the Rényi orders five; they
    share a `label`. `n_samples` counts per problem; `temperature` is None for greedy decoding.
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
        rows = {row.lam: row for row in self.rows}
        if lam not in rows:
            raise InputError(
                f"the paper's {self.label} has no λ = {lam:g}; it has {', '.join(map(str, rows))}"
            )
        return rows[lam]

    def scores(self, lam: float) -> tuple[float, ...]:
        """Return one accuracy per seed.

        A printed seed becomes the share of the table's `n_test · n_samples` completions that rounds to it. If
        seeds are not printed, evenly spaced values replace them, as many as the seeds, with the printed
        mean and ±, so that whatever depends on these alone (Welch's t) is the same as for the true values.

        >>> lookup("mbpp", "sampled").scores(0)  # printed as 0.4113, 0.4300, 0.4238, 0.4200, 0.4263
        (0.41125, 0.43, 0.42375, 0.42, 0.42625)
        """
        row, completions = self.row(lam), self.n_test * self.n_samples
        if row.seeds:
            return tuple(round(score * completions) / completions for score in row.seeds)
        steps = np.arange(1 - self.n_seeds, self.n_seeds, 2)
        return tuple((row.mean + row.sd * steps / (steps.std() or 1.0)).tolist())


@cache
def tables() -> tuple[PaperTable, ...]:
    """Return every table of the paper: those with seeds first, then summaries, then the Rényi orders."""
    made = []
    for entry in json.loads(SOURCE.read_text(encoding="utf-8"))["tables"]:
        rows = [PaperRow(**row | {"seeds": tuple(row.get("seeds", ()))}) for row in entry["rows"]]
        made.append(PaperTable(**entry | {"rows": tuple(rows)}))
    return tuple(made)


def lookup(task: str, decoding: str, *, penalty: str = "shannon", order: float = 1.0) -> PaperTable:
    """Return the first of `tables()` that fits: the one with seeds, if there is one.

    Args:
        task: As in a recipe.
        decoding: "greedy" or "sampled".
        penalty: "shannon", "renyi" or "support-size".
        order: Rényi's penalty of order 1 is Shannon's.

    Raises:
        InputError: No table fits; the sentence lists those that there are.
    """
    penalty = "shannon" if penalty == "renyi" and order == 1 else penalty
    for table in tables():
        if (table.task, table.decoding, table.penalty, table.order) == (task, decoding, penalty, order):
            return table
    kinds = {f"{table.task} {table.decoding} ({table.penalty} {table.order:g})" for table in tables()}
    there_are = ", ".join(sorted(kinds))
    raise InputError(f"the paper has no {task} {decoding} ({penalty} {order:g}); it has {there_are}")
