"""Files and folders that appear whole or not at all: text, JSON and JSON Lines, written and read."""

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from erce.errors import InputError

MADE_AGAIN = "is damaged; delete the file, and the next run makes it again"


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to, which becomes `path` when the block ends without an exception."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _temporary(path)
    yield temporary
    temporary.replace(path)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield an empty temporary folder, which becomes `path` when the block ends without an exception."""
    temporary = _temporary(path)
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    yield temporary
    temporary.replace(path)


def write_text(path: Path, text: str) -> None:
    """Write a file and wait until it is on the disk."""
    with new_file(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def write_json(path: Path, content: Any) -> None:
    """Write indented JSON; NaN and infinity are a ValueError."""
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """Return the content; an InputError for a file that is cut off or is not JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is damaged ({error}); delete it, and the next run makes it again") from None


def write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write JSON Lines; NaN and infinity are a ValueError."""
    write_text(path, "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows))


def read_rows(path: Path, *, damaged: str = MADE_AGAIN) -> Iterator[dict[str, Any]]:
    """Yield the rows of a JSON Lines file, without blank lines.

    A line that is not a JSON object is an InputError that ends in `damaged`, the way out for the file.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):  # also for text that is not UTF-8
                row = None
            if not isinstance(row, dict):
                raise InputError(f"{path}, line {number} {damaged}")
            yield row


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.tmp")
