"""Text, JSON and JSON Lines → files that appear whole or not at all, and back."""

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from erce.errors import InputError


def write_text(path: Path, text: str) -> None:
    """Atomic: the file appears whole and is on the disk, under a temporary name first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f".{path.name}.tmp")
    with half.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    half.replace(path)


def write_json(path: Path, content: Any) -> None:
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """The content; a file that is cut off or is no JSON stops the run, for the user to judge."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is damaged ({error}); delete it, and the next run makes it again") from None


def write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    write_text(path, "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows))


def read_rows(
    path: Path, *, damaged: str = "is damaged; delete the file, and the next run makes it again"
) -> Iterator[dict[str, Any]]:
    """The rows of a JSON Lines file, blank lines left out.

    A line that is no JSON object is a ValueError that ends in `damaged`, the way out for this file's owner.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):  # text that is not UTF-8 included
                row = None
            if not isinstance(row, dict):
                raise InputError(f"{path}, line {number} {damaged}")
            yield row
