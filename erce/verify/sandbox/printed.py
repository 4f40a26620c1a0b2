"""What a program prints → bytes, at most the first 1 MiB for each request."""

import io
from contextlib import suppress
from typing import Any

MAX_BYTES_PER_REQUEST = 1 << 20


class _Output(io.RawIOBase):
    """The beginning of what the program prints."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._room = MAX_BYTES_PER_REQUEST

    def writable(self) -> bool:
        return True

    def write(self, chunk: Any) -> int:
        kept = bytes(memoryview(chunk)[: self._room])
        if kept:
            self._chunks.append(kept)
        self._room -= len(kept)
        return len(chunk)

    def taken(self) -> bytes:
        """Return what was kept, and keep it no longer."""
        kept = b"".join(self._chunks)
        self._chunks, self._room = [], MAX_BYTES_PER_REQUEST
        return kept


_OUTPUT = _Output()
STDOUT = io.TextIOWrapper(io.BufferedWriter(_OUTPUT), encoding="utf-8", errors="replace")


def taken() -> bytes:
    """Return what was printed since the last call."""
    with suppress(ValueError):  # the program closed it
        STDOUT.flush()
    return _OUTPUT.taken()
