"""A task's original files, or its rows on the hub → rows that say where they stand when something is wrong.

A file that a task knows is checked against the SHA-256 of the one that the task was checked with; another one
is read all the same, after a `ChecksumWarning` that names the file and both digests.
"""

import hashlib
import json
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class ChecksumWarning(UserWarning):
    """A file is not, byte for byte, the one that its task was checked with."""


@dataclass(frozen=True)
class Row:
    """One row and the place to look for it; its methods raise a ValueError that begins with that place."""

    where: str
    values: Mapping[str, Any]

    def text(self, key: str, *, default: str | None = None) -> str:
        """The text under `key`; where there is none, `default` unless that is None."""
        value = self._value(key, default)
        if not isinstance(value, str):
            raise self.fault(f"`{key}` is {_shown(value)}, not a text")
        return value

    def texts(self, key: str, *, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """The texts in the list under `key`; where there is none, `default` unless that is None."""
        value = self._value(key, default)
        if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
            raise self.fault(f"`{key}` is {_shown(value)}, not a list of texts")
        return tuple(value)

    def _value(self, key: str, default: Any) -> Any:
        value = self.values.get(key)
        return default if value is None else value

    def fault(self, what: str) -> ValueError:
        """What is wrong with the row, as an error to raise."""
        return ValueError(f"{self.where}: {what}; correct the row or give the original file")


@dataclass(frozen=True)
class Source:
    """Where a task's rows come from: its name on the hub, its files, and what they should be."""

    hub: str
    files: str  # in words, for the way out of an error
    digests: Mapping[str, str]  # file name → SHA-256, in hexadecimal

    @property
    def way_out(self) -> str:
        """How to do without the hub."""
        return f'give a folder with {self.files}: data = "folder"'

    def file(self, folder: str, name: str) -> Path:
        """The file of that name in the folder, its digest compared; a ValueError where it is not there."""
        path = Path(folder) / name
        if not path.is_file():
            raise ValueError(f"data = {folder!r} has no file {name}; {self.way_out}")
        found, known = hashlib.sha256(path.read_bytes()).hexdigest(), self.digests.get(name)
        if known not in (None, found):
            warnings.warn(
                f"{path} is not the file that this task was checked with, and is read all the same: "
                f"its SHA-256 is {found}, that file's is {known}",
                ChecksumWarning,
                stacklevel=2,
            )
        return path

    def from_hub(self, config: str | None = None, *, name: str | None = None) -> dict[str, list[Row]]:
        """Split → rows of a data set through the package datasets; `name` is another one than `hub`."""
        name = name or self.hub
        try:
            import datasets
        except ModuleNotFoundError as error:
            raise ValueError(
                f"{name} needs the package datasets, which is missing: pip install 'erce[study]', "
                f"or {self.way_out}"
            ) from error
        try:
            loaded: Any = datasets.load_dataset(name, config)
        except OSError as error:
            raise ValueError(f"{name} cannot be loaded from the hub ({error}); {self.way_out}") from error
        return {split: list(_numbered(f"{name}, {split} row", rows)) for split, rows in loaded.items()}


def json_lines(path: Path) -> Iterator[Row]:
    """The file's rows, one JSON object a line; blank lines are skipped."""
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        if line.strip():
            where = f"{path}, line {number}"
            yield Row(where, _object(where, _parsed(where, line)))


def json_list(path: Path) -> Iterator[Row]:
    """The rows of a file that is one JSON list of objects."""
    rows = _parsed(str(path), path.read_bytes())
    if not isinstance(rows, list):
        raise ValueError(f"{path}: a JSON {type(rows).__name__}, not a list of rows; give the original file")
    yield from _numbered(f"{path}, row", rows)


def _numbered(place: str, rows: Iterable[Any]) -> Iterator[Row]:
    for number, row in enumerate(rows, start=1):
        where = f"{place} {number}"
        yield Row(where, _object(where, row))


def _object(where: str, row: Any) -> Mapping[str, Any]:
    if not isinstance(row, Mapping):
        raise ValueError(f"{where}: {_shown(row)} is not a JSON object; give the original file")
    return row


def _parsed(where: str, text: bytes) -> Any:
    try:
        return json.loads(text.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        byte = f"byte 0x{text[error.start]:02x} at {error.start}"
        raise ValueError(f"{where}: not UTF-8 ({byte}); save the file as UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where}: not JSON ({error}); correct the row or give the original file") from None


def _shown(value: Any) -> str:
    return "missing" if value is None else repr(value)[:60]
