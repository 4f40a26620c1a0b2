"""A .jsonl file that `erce records` wrote, perhaps passed through other tools → its rows."""

from pathlib import Path
from typing import Any

from erce.errors import InputError
from erce.files import read_rows
from erce.study.export import COLUMNS, NUMBER, TEXT, TEXTS, TRUTH, WHOLE
from erce.types import SampleRow

NEVER_NULL = ("arm", "seed", "split", "decoding", "problem", "sample")
_PYTHON_TYPES: dict[str, type] = {TEXT: str, TRUTH: bool, TEXTS: list}


def read_rows_file(path: str | Path) -> list[SampleRow]:
    """Return the file's rows; InputError if it has other columns or values of another type."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"no file {str(path)!r}; `erce records RUNS {path.name}` writes one")
    rows = list(read_rows(path, damaged="is no JSON object; correct or remove the line"))
    if not all(row.keys() == COLUMNS.keys() for row in rows):
        raise InputError(
            f"{path} has not the columns that `erce records` writes; is it a log of another tool?"
        )
    return [
        SampleRow(**{name: _typed(f"{path}, row {number}", name, value) for name, value in row.items()})
        for number, row in enumerate(rows, 1)
    ]


def _typed(where: str, name: str, value: Any) -> Any:
    """Return the value in its column's type: other tools write 2.0 as 2, or 2 as 2.0.

    >>> _typed("row 1", "lam", 2), _typed("row 1", "seed", 2.0)
    (2.0, 2)
    """
    kind = COLUMNS[name]
    if value is None and name not in NEVER_NULL:
        return None
    if kind in (WHOLE, NUMBER) and isinstance(value, int | float) and not isinstance(value, bool):
        if kind == NUMBER:
            return float(value)
        if value % 1 == 0:
            return int(value)
    elif isinstance(value, _PYTHON_TYPES.get(kind, ())):
        return value
    raise InputError(f"{where}: {name} = {value!r}, where `erce records` writes {kind}; correct it")
