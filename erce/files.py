"""Files and folders that appear whole or not at all: text, JSON and JSON Lines, written and read."""

import hashlib
import json
import os
import shutil
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from erce.errors import DamagedError

MADE_AGAIN = "`erce run` with the study's recipe makes it again (logs are imported again, into a new folder)"


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path, which becomes `path` when the block ends, and which an exception removes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _temporary(path)
    try:
        yield temporary
    except BaseException:  # also an interrupt
        temporary.unlink(missing_ok=True)
        raise
    temporary.replace(path)  # without waiting for the disk, as `write_text` does


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield an empty temporary folder, which becomes `path` when the block ends without an exception."""
    temporary = _temporary(path)
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    yield temporary
    wait_for_disk(temporary)
    temporary.replace(path)


def wait_for_disk(folder: Path) -> None:
    """Wait until every file under the folder is on the disk."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())


def write_text(path: Path, text: str) -> None:
    """Write a file and wait until it is on the disk."""
    with new_file(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def write_json(path: Path, content: Any) -> None:
    """Write indented JSON; NaN and infinity are a ValueError."""
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path, *needed: str) -> dict[str, Any]:
    """Return the object in a study's file; a DamagedError if it is not an object or lacks one of `needed`."""
    try:
        content = _parsed_object(path.read_bytes())
    except FileNotFoundError:
        raise DamagedError(f"{path} is missing; {MADE_AGAIN}") from None
    if content is None or not content.keys() >= {*needed}:
        raise DamagedError(f"{path} is damaged; {MADE_AGAIN}")
    return content


def write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write JSON Lines; NaN and infinity are a ValueError."""
    write_text(path, "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows))


def read_rows(
    path: Path, *needed: str, damaged: str = f"is damaged; {MADE_AGAIN}"
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a JSON Lines file, without blank lines.

    A line that is not a JSON object with the `needed` columns is a DamagedError. It ends in `damaged`, which
    says what to do about the file.
    """
    columns = {*needed}
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            row = _parsed_object(line)
            if row is not None and row.keys() >= columns:
                yield row
            elif line.strip():
                raise DamagedError(f"{path}, line {number} {damaged}")


def short_hash(content: bytes) -> str:
    """Return 16 hex digits of a content, which tell it from all others."""
    return hashlib.sha256(content).hexdigest()[:16]


def _parsed_object(text: bytes) -> dict[str, Any] | None:
    """Return the JSON object that a text is; None for all else."""
    try:
        content = json.loads(text.removeprefix(BOM_UTF8).decode())
    except (ValueError, RecursionError):  # also for text that is not UTF-8
        return None
    return content if isinstance(content, dict) else None


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")  # two processes may write the same path
