"""The paper's per-seed values → its printed tables, row for row, through our own statistics.

One rule of rounding: four decimals, a tie away from zero. One printed mean breaks it: MBPP sampled at
λ = 0.7 is exactly 0.51375, which the paper prints as 0.5138 in one table and as 0.5137 in another. So two
texts agree also where the exact value is such a tie and they differ by one in the last decimal.
"""

from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

from erce.paper.tables import PaperRow, PaperTable, tables
from erce.stats import paper


class Text(NamedTuple):
    """One row of a printed table; `seeds` is empty in a summary."""

    lam: str
    seeds: tuple[str, ...]
    mean: str
    sd: str

    def __str__(self) -> str:
        return " ".join([self.lam, *self.seeds, f"{self.mean} ± {self.sd}"])


class Remade(NamedTuple):
    """A printed row beside the one that comes out of the seeds; `tie`: whether its mean is one."""

    table: PaperTable
    printed: Text
    remade: Text
    tie: bool

    @property
    def is_exact(self) -> bool:
        """Whether mean and ± agree digit for digit."""
        return self.printed[2:] == self.remade[2:]

    @property
    def agrees(self) -> bool:
        """Whether they agree digit for digit or are the two ways to round a tie."""
        off = abs(Decimal(self.printed.mean) - Decimal(self.remade.mean))
        return self.is_exact or (self.tie and off <= Decimal("0.0001") and self.printed.sd == self.remade.sd)


def regenerate() -> list[Remade]:
    """Every row whose seeds the paper prints: 30 of per-seed tables, then those of summaries of these runs.

    >>> rows = regenerate()
    >>> sum(row.is_exact for row in rows if row.printed.seeds)
    30
    >>> [f"{row.printed} from {row.remade}" for row in rows if not row.is_exact]
    ['0.7 0.5137 ± 0.0153 from 0.7 0.5138 ± 0.0153']
    """
    return [made for table in tables() if (source := _source(table)) for made in _remade(table, source)]


def regenerated_lines() -> list[str]:
    """A sentence a table: how many of its rows come out of the seeds digit for digit, and which do not.

    >>> regenerated_lines()[0]
    'tab:entropy_appendix_results (gsm8k, greedy): 9 of 9 rows digit for digit.'
    """
    lines = []
    for table in tables():
        rows = [row for row in regenerate() if row.table is table]
        if not rows:
            continue
        exact = sum(row.is_exact for row in rows)
        line = f"{table.label} ({table.task}, {table.decoding}): {exact} of {len(rows)} rows digit for digit"
        for row in rows:
            if not row.is_exact:
                why = "a tie in rounding" if row.agrees else "which is not rounding"
                line += (
                    f"; λ = {row.printed.lam} is printed {row.printed.mean}, {row.remade.mean} here, {why}"
                )
        lines.append(f"{line}.")
    return lines


def change(table: PaperTable, lam: float) -> str:
    """The gain over λ = 0 as the paper's answer-only table prints it: points, and its "95 % Welch interval".

    That is a normal interval, `erce.stats.paper.welch`; Welch's own, with Student's t, is a fifth wider.

    >>> from erce.paper.tables import lookup
    >>> change(lookup("gsm8k-answer-only", "greedy"), 1)
    '+1.24 [+0.09, +2.39]'
    """
    gain = paper.welch(table.scores(lam), table.scores(0))
    middle, low, high = (_signed(100 * value) for value in (gain.gain, gain.low, gain.high))
    return f"{middle} [{low}, {high}]"


def change_as_printed(row: PaperRow) -> str:
    """The same from the paper; empty where it prints none."""
    return "" if row.change is None else "{} [{}, {}]".format(*map(_signed, row.change))


def best_gain(table: PaperTable) -> tuple[float, str]:
    """The λ of the highest mean, and its gain over λ = 0 in points: what the paper's text quotes.

    >>> from erce.paper.tables import lookup
    >>> best_gain(lookup("gsm8k", "greedy")), best_gain(lookup("math", "sampled"))
    ((8.0, '+9.04'), (8.0, '+9.79'))
    """
    best = max(table.rows, key=lambda row: row.mean)
    exact = [paper.over_seeds(table.scores(lam)).mean for lam in (best.lam, 0.0)]
    return best.lam, _signed(100 * (exact[0] - exact[1]))


def _source(table: PaperTable) -> PaperTable | None:
    """The per-seed table of the runs that a table sums up; the Rényi sweep's runs are others."""
    if table.label == "tab:renyi-main":
        return None
    for other in tables():
        if other.is_per_seed and (other.task, other.decoding) == (table.task, table.decoding):
            return other
    return None


def _remade(table: PaperTable, source: PaperTable) -> Iterator[Remade]:
    for row in table.rows:
        scores = source.scores(row.lam)
        estimate = paper.over_seeds(scores)
        lam = f"{row.lam:g}"
        printed = Text(lam, tuple(map(_fixed, row.seeds)), _fixed(row.mean), _fixed(row.sd))
        remade = Text(
            lam, tuple(map(_fixed, scores if row.seeds else ())), _fixed(estimate.mean), _fixed(estimate.sd)
        )
        yield Remade(table, printed, remade, _is_tie(estimate.mean))


def _exact(value: float) -> Decimal:
    """Without the last bits that a sum in floating point leaves."""
    return Decimal(repr(round(value, 12)))


def _fixed(value: float, digits: int = 4) -> str:
    return str(_exact(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def _signed(points: float) -> str:
    """
    >>> _signed(1.6), _signed(-0.716)
    ('+1.60', '-0.72')
    """
    return ("+" if points > 0 else "") + _fixed(points, 2)


def _is_tie(value: float) -> bool:
    """
    >>> _is_tie(0.5137499999999999), _is_tie(0.5138)
    (True, False)
    """
    return _exact(value) * 100_000 % 10 == 5
