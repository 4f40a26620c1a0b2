"""A task's original files, or its rows on the hub → rows whose errors say where they stand.

A file is compared with the SHA-256 of the file that the task was checked with. A file that differs is still
read, after a `ChecksumWarning` that names the file and both digests.
"""

import hashlib
import json
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from erce.catalog import hub_asked_once
from erce.errors import InputError


class ChecksumWarning(UserWarning):
    """A file differs from the file that its task was checked with."""


class NotOnThisMachineError(InputError):
    """A data set of the hub that cannot be loaded here: `what` is wrong, and the way out."""

    def __init__(self, what: str, *, detail: str = "", way_out: str) -> None:
        super().__init__(f"{what}{detail and f' ({detail})'}; {way_out}")
        self.what = what


@dataclass(frozen=True)
class SourceRow:
    """A row and its place; the methods raise an InputError that begins with the place."""

    where: str
    values: Mapping[str, Any]

    def text(self, key: str, *, default: str | None = None) -> str:
        """Return the text under `key`, or `default`; without a default, the text must be there."""
        value = self._value(key, default)
        if not isinstance(value, str):
            raise self.fault(f"`{key}` is {_shown(value)}{', not a text' if value is not None else ''}")
        return value

    def texts(self, key: str, *, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """Return the list of texts under `key`, or `default`; without a default, it must be there."""
        value = self._value(key, default)
        if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
            raise self.fault(f"`{key}` is {_shown(value)}, not a list of texts")
        return tuple(value)

    def _value(self, key: str, default: Any) -> Any:
        value = self.values.get(key)
        return default if value is None else value

    def fault(self, what: str) -> InputError:
        """Return an error to raise; `what` is wrong with the row."""
        return InputError(f"{self.where}: {what}; correct the row or give the original file")


@dataclass(frozen=True)
class Source:
    """The place that a task's rows come from: a data set on the hub, or its original files."""

    hub: str  # name of the data set
    files: str  # in words, for errors
    digests: Mapping[str, str]  # file name → SHA-256, in hexadecimal

    @property
    def way_out(self) -> str:
        """Return the sentence that says how to do without the hub."""
        return f'give a folder with {self.files}: data = "folder", or --data folder'

    def file(self, folder: str, name: str) -> Path:
        """Return the path of a file in the folder, with its digest compared; InputError if it is missing."""
        path = Path(folder) / name
        if not path.is_file():
            raise InputError(f"data = {folder!r} has no file {name}; {self.way_out}")
        digest, expected = hashlib.sha256(path.read_bytes()).hexdigest(), self.digests.get(name)
        if expected not in (None, digest):
            warnings.warn(
                f"{path} is not the file that this task was checked with, and is read all the same: "
                f"its SHA-256 is {digest}, that file's is {expected}",
                ChecksumWarning,
                stacklevel=2,
            )
        return path

    def from_hub(self, config: str | None = None, *, name: str | None = None) -> dict[str, list[SourceRow]]:
        """Load split → rows of a data set with the package datasets; `name` is for another one than `hub`."""
        name = name or self.hub
        try:
            import datasets
        except ModuleNotFoundError as error:
            raise NotOnThisMachineError(
                f"{name} needs the package datasets, which is missing",
                way_out=f"pip install 'erce[study]', or {self.way_out}",
            ) from error
        try:
            with hub_asked_once(name, "README.md", kind="dataset"):
                loaded: Any = datasets.load_dataset(name, config)
        except OSError as error:
            raise NotOnThisMachineError(
                f"{name} cannot be loaded", detail=str(error), way_out=self.way_out
            ) from error
        return {split: list(_numbered(f"{name}, {split} row", rows)) for split, rows in loaded.items()}


def json_lines(path: Path) -> Iterator[SourceRow]:
    """Yield the file's rows, one JSON object per line; blank lines are skipped."""
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        if line.strip():
            where = f"{path}, line {number}"
            yield _row(where, _parsed(where, line))


def json_list(path: Path) -> Iterator[SourceRow]:
    """Yield the rows of a file that is one JSON list of objects."""
    rows = _parsed(str(path), path.read_bytes())
    if not isinstance(rows, list):
        raise InputError(f"{path}: a JSON {type(rows).__name__}, not a list of rows; give the original file")
    yield from _numbered(f"{path}, row", rows)


def _numbered(place: str, rows: Iterable[Any]) -> Iterator[SourceRow]:
    for number, row in enumerate(rows, start=1):
        yield _row(f"{place} {number}", row)


def _row(where: str, values: Any) -> SourceRow:
    if not isinstance(values, Mapping):
        raise InputError(
            f"{where}: {_shown(values)} is not a JSON object; write one per line, or give the original file"
        )
    return SourceRow(where, values)


def _parsed(where: str, text: bytes) -> Any:
    try:
        return json.loads(text.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        byte = f"byte 0x{text[error.start]:02x} at {error.start}"
        raise InputError(f"{where}: not UTF-8 ({byte}); save the file as UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{where}: not JSON ({error}); rows are JSON objects, one per line, and CSV is not read"
        ) from None


def _shown(value: Any) -> str:
    return "missing" if value is None else repr(value)[:60]
