"""The paper's per-seed values → its printed tables, row for row, through our own statistics.

Values are rounded to four decimals, ties away from zero. One printed mean breaks this rule: MBPP sampled at
λ = 0.7 is exactly 0.51375, which the paper prints as 0.5138 in one table and as 0.5137 in another. So two
rows also agree if the exact value is such a tie and their means differ by one in the last decimal.
"""

from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

from erce.paper.tables import PaperRow, PaperTable, tables
from erce.stats import paper


class PrintedLine(NamedTuple):
    """The texts in a row of a printed table; `seeds` is empty in a summary."""

    lam: str
    seeds: tuple[str, ...]
    mean: str
    sd: str

    def __str__(self) -> str:
        return " ".join([self.lam, *self.seeds, f"{self.mean} ± {self.sd}"])


class Remade(NamedTuple):
    """A printed row beside the row made from the seeds."""

    table: PaperTable
    printed: PrintedLine
    remade: PrintedLine
    tie: bool  # the exact mean lies midway between two texts

    @property
    def is_exact(self) -> bool:
        """Return whether mean and ± agree digit for digit."""
        return self.printed[2:] == self.remade[2:]

    @property
    def agrees(self) -> bool:
        """Return whether the rows agree digit for digit, or round the same tie in two ways."""
        difference = abs(Decimal(self.printed.mean) - Decimal(self.remade.mean))
        rounds_a_tie = self.tie and difference <= Decimal("0.0001") and self.printed.sd == self.remade.sd
        return self.is_exact or rounds_a_tie


def regenerate() -> list[Remade]:
    """Remake every row whose seeds the paper prints: 30 of per-seed tables, then summaries of these runs.

    >>> rows = regenerate()
    >>> sum(row.is_exact for row in rows if row.printed.seeds)
    30
    >>> [f"{row.printed} from {row.remade}" for row in rows if not row.is_exact]
    ['0.7 0.5137 ± 0.0153 from 0.7 0.5138 ± 0.0153']
    """
    return [made for table in tables() if (source := _source(table)) for made in _remade(table, source)]


def regenerated_lines() -> list[str]:
    """Say of each table how many rows come out of the seeds digit for digit, and which do not.

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
    """Return the gain over λ = 0 as the answer-only table prints it: points and a "95 % Welch interval".

    This interval is normal (`erce.stats.paper.welch`); Welch's own, with Student's t, is a fifth wider.

    >>> from erce.paper.tables import lookup
    >>> change(lookup("gsm8k-answer-only", "greedy"), 1)
    '+1.24 [+0.09, +2.39]'
    """
    gain = paper.welch(table.scores(lam), table.scores(0))
    middle, low, high = (_signed(100 * value) for value in (gain.gain, gain.low, gain.high))
    return f"{middle} [{low}, {high}]"


def change_as_printed(row: PaperRow) -> str:
    """Return the gain that the paper prints in a row, in the form of `change`; "" if it prints none."""
    return "" if row.change is None else "{} [{}, {}]".format(*map(_signed, row.change))


def best_gain(table: PaperTable) -> tuple[float, str]:
    """Return the λ of the highest mean and its gain over λ = 0 in points, which the paper's text quotes.

    >>> from erce.paper.tables import lookup
    >>> best_gain(lookup("gsm8k", "greedy")), best_gain(lookup("math", "sampled"))
    ((8.0, '+9.04'), (8.0, '+9.79'))
    """
    best = max(table.rows, key=lambda row: row.mean)
    mean, baseline = (paper.over_seeds(table.scores(lam)).mean for lam in (best.lam, 0.0))
    return best.lam, _signed(100 * (mean - baseline))


def _source(table: PaperTable) -> PaperTable | None:
    """Return the per-seed table of the runs that a table summarises; the Rényi sweep has runs of its own."""
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
        printed = PrintedLine(lam, tuple(map(_fixed, row.seeds)), _fixed(row.mean), _fixed(row.sd))
        remade = PrintedLine(
            lam, tuple(map(_fixed, scores if row.seeds else ())), _fixed(estimate.mean), _fixed(estimate.sd)
        )
        yield Remade(table, printed, remade, _is_tie(estimate.mean))


def _exact(value: float) -> Decimal:
    """Drop the rounding error of sums in floating point."""
    return Decimal(repr(round(value, 12)))


def _fixed(value: float, digits: int = 4) -> str:
    return str(_exact(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def _signed(points: float) -> str:
    """Write points with their sign.

    >>> _signed(1.6), _signed(-0.716)
    ('+1.60', '-0.72')
    """
    return ("+" if points > 0 else "") + _fixed(points, 2)


def _is_tie(value: float) -> bool:
    """Return whether the fifth decimal is an exact 5.

    >>> _is_tie(0.5137499999999999), _is_tie(0.5138)
    (True, False)
    """
    return _exact(value) * 100_000 % 10 == 5
