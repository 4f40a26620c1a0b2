"""Mutable values that crossed as copies → whether one of them has changed since.

In one process both sides would see the change. Here the copy stays as it was, so a right program may fail.
"""

import io
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

MUTABLE = (list, dict, set, bytearray, deque, defaultdict, Counter, OrderedDict, io.StringIO)
_MAX_VALUES = 256
_MAX_FRAME_BYTES = 1 << 14  # a larger message is not watched, for that would keep its values in memory
_CONTAINERS = ("l", "d", "s", "t", "od", "dd", "ct", "dq", "B", "io")  # tags of forms


class Watched:
    """The last containers that crossed, each with its form; `is_same` compares both."""

    def __init__(self, is_same: Callable[[Any, Any], bool]) -> None:
        self._is_same = is_same
        self._crossed: deque[tuple[Any, Any]] = deque(maxlen=_MAX_VALUES)

    def add(self, value: Any, form: Any, size: int) -> None:
        """Watch a value that crossed in a message of `size` bytes."""
        if type(form) is list and form[0] in _CONTAINERS and size < _MAX_FRAME_BYTES:
            self._crossed.append((value, form))

    def has_changed(self) -> bool:
        return not all(self._is_same(value, form) for value, form in self._crossed)


def are_alike(form: Any, other: Any) -> bool:
    """Return whether two forms are equal; of a form of an object, only the number is compared."""
    return _without_kinds(form) == _without_kinds(other)


def _without_kinds(form: Any) -> Any:
    if type(form) is not list:
        return form
    return form[:2] if form[:1] == ["o"] else [_without_kinds(part) for part in form]
