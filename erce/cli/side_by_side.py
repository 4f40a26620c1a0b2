"""A JSON Lines file → its rows' strict and flexible verdicts side by side, and counts of them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from erce.errors import InputError, did_you_mean
from erce.files import write_rows
from erce.tasks.source import SourceRow, json_lines
from erce.types import Verdict
from erce.verify.answers.reference import equivalent
from erce.verify.math import verify_math
from erce.verify.number import verify_number
from erce.verify.parallel import verify_many
from erce.verify.program import run_program

COLUMNS = {  # what other tools call the same columns; the first that a row has is read
    "answer": ("answer", "gold", "reference", "target"),
    "completion": ("completion", "response", "pred", "prediction", "output"),
    "program": ("program", "code", "completion"),
}
KINDS = ("math", "answer", "number", "program")


@dataclass(frozen=True)
class Reverified:
    """One row's verdicts by reading; `expected` is the label in the file, None if it has none."""

    where: str
    reference: str
    verdicts: dict[str, Verdict]
    expected: bool | None = None

    @property
    def misses_format(self) -> bool:
        """Whether the completion is accepted only if the form of its answer is ignored."""
        flexible = self.verdicts.get("flexible")
        return flexible is not None and flexible.accepted and not self.verdicts["strict"].accepted


@dataclass(frozen=True)
class _Check:
    """One row of a file, read: what a verifier of its kind takes, and the label."""

    where: str
    kind: str
    operands: tuple[Any, ...]
    expected: bool | None


def reverify_file(path: Path, *, kind: str | None = None, workers: int | None = None) -> list[Reverified]:
    """Verify every row of a JSON Lines file by each reading for its kind.

    A row holds `answer` and `completion` (also as gold, response, pred …), or `program` and `tests`, and may
    hold `kind` and the label `expected`. Kinds: "math" (the answer is looked for in the completion), "answer"
    (the completion is the answer), "number" (GSM8K's `####`), "program". `kind` is for rows that do not say
    theirs; None reads rows with tests as programs and others as "math". `workers` processes share the rows
    (None: one per core). A row that cannot be read, or of an unknown kind, is an InputError with its line.
    """
    if kind is not None:
        _require_kind("the rows", kind)
    checks = _checks(path, kind)
    rows: dict[int, Reverified] = {}  # by the place in the file
    for name in KINDS:
        of_kind = [(place, check) for place, check in enumerate(checks) if check.kind == name]
        all_verdicts = _verdicts(readings(name), [check.operands for _, check in of_kind], workers)
        for (place, check), verdicts in zip(of_kind, all_verdicts, strict=True):
            rows[place] = Reverified(check.where, str(check.operands[0]), verdicts, check.expected)
    return [rows[place] for place in sorted(rows)]


def summary(rows: Iterable[Reverified]) -> list[dict[str, Any]]:
    """Count for each reading the rows, what it accepted and, of labelled rows, right and false accepts."""
    by_reading: dict[str, list[tuple[Verdict, bool | None]]] = {}
    for row in rows:
        for name, verdict in row.verdicts.items():
            by_reading.setdefault(name, []).append((verdict, row.expected))
    return [
        {
            "reading": name,
            "rows": len(pairs),
            "accepted": sum(verdict.accepted for verdict, _ in pairs),
            "labelled": sum(expected is not None for _, expected in pairs),
            "right": sum(verdict.accepted == expected for verdict, expected in pairs),
            "false accepts": sum(verdict.accepted and expected is False for verdict, expected in pairs),
        }
        for name, pairs in by_reading.items()
    ]


def write_reverified(path: Path, rows: Iterable[Reverified]) -> None:
    """Write the rows as JSON Lines."""
    write_rows(path, map(asdict, rows))


def _verdicts(
    verifiers: dict[str, Callable[..., Verdict]], operands: Sequence[tuple[Any, ...]], workers: int | None
) -> list[dict[str, Verdict]]:
    """Return for each of the operands the verdict of every verifier, by its name."""
    columns = {name: verify_many(verify, operands, workers=workers) for name, verify in verifiers.items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def readings(kind: str) -> dict[str, Callable[..., Verdict]]:
    """Return what verifies that kind: "strict", which decides, and "flexible", which accepts more.

    A bare answer, of kind "answer", and a program have no form that could be ignored: no flexible verdict.
    """
    if kind in ("program", "answer"):
        return {"strict": _run_program if kind == "program" else equivalent}
    verify = verify_number if kind == "number" else verify_math
    return {"strict": verify, "flexible": partial(verify, strict=False)}


def _run_program(program: str, tests: Any, setup: Any, entry_points: Any) -> Verdict:
    return run_program(program, tests, setup=setup, entry_points=entry_points)


def _checks(path: Path, kind: str | None) -> list[_Check]:
    if path.is_dir():
        raise InputError(
            f"{str(path)!r} is a folder, not a file of rows: `erce run` verifies a study again if its "
            f"verifier has changed, and `erce records {path} rows.jsonl` writes its verdicts"
        )
    checks = [_check(row, kind) for row in json_lines(path)]
    if not checks:
        raise InputError(f"{path} has no rows to verify; write one JSON object per line")
    return checks


def _check(row: SourceRow, kind: str | None) -> _Check:
    """Read a row; the row's own `kind` wins over the caller's."""
    where, values = row.where.rpartition(", ")[2], row.values
    if values.get("kind") is not None:
        kind = _require_kind(row.where, values["kind"])
    kind = kind or ("program" if values.get("tests") else "math")
    expected = values.get("expected")
    operands: tuple[Any, ...] = ()
    if kind == "program":
        tests, setup = (row.texts(name, default=()) for name in ("tests", "setup"))
        names = None if values.get("entry_points") is None else row.texts("entry_points")
        operands = _text(row, "program"), tests, setup, names
    else:
        operands = _text(row, "answer"), _text(row, "completion")
    if not (expected is None or isinstance(expected, bool)):
        raise row.fault(f"`expected` is {expected!r:.60}, neither true nor false")
    return _Check(where, kind, operands, expected)


def _require_kind(where: str, kind: Any) -> str:
    """Return the kind by its name in `KINDS`."""
    if isinstance(kind, str) and kind in KINDS:
        return kind
    raise InputError(f"{where}: no kind {kind!r}; {did_you_mean(str(kind).lower(), KINDS)}")


def _text(row: SourceRow, column: str) -> str:
    for name in COLUMNS[column]:
        value = row.values.get(name)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return str(value)
    raise row.fault(f"no text or number {column!r} (nor {', '.join(COLUMNS[column][1:])})")
