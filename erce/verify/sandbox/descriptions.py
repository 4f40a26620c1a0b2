"""An exception of the program → what the judge needs to raise it again: names, arguments, text, causes."""

import builtins
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from erce.verify.sandbox import frames

_MAX_LEVELS = 5  # of causes and contexts


class Descriptions:
    """The exceptions that the judge knows by their numbers: negative if the tests raised them.

    `number` gives an object one that it keeps in `numbers`, `encode` makes the form of a value.
    """

    def __init__(
        self, numbers: dict[int, int], number: Callable[[Any], int], encode: Callable[[Any], Any]
    ) -> None:
        self._numbers, self._number, self._encode = numbers, number, encode
        self._level = 0  # how many causes and contexts led to what is described
        self._kept: list[BaseException] = []  # so that no identity is used twice

    def of(self, error: BaseException) -> dict[str, Any]:
        """Describe an exception: its nearest builtin class, own classes, arguments, text and history."""
        described = {
            "raised": builtin_base(type(error)).__name__,
            "kind": type(error).__name__,
            "args": None,
        }
        described |= {"number": self._number(error), "classes": [], "text": "its text cannot be read"}
        described["history"] = None
        with suppress(BaseException):  # the program's own methods, of which any may fail
            described["text"] = str.__str__(str(error))
            described["classes"] = self.classes(type(error))
            with self._at_level(_MAX_LEVELS):  # or a wrapped exception's would be described again and again
                described["args"] = self._encode(tuple(error.args))
            described["history"] = self._history(error)
            frames.frame(described)  # if it is too large, the text alone crosses
            BaseException.with_traceback(error, None)  # whose frames would keep their values alive
            return described
        return described | {"text": described["text"][:500], "args": None, "history": None}

    def _history(self, error: BaseException) -> list[Any] | None:
        """Return what `judge.raised.remember` reads: where an exception came from, and its notes."""
        cause, context, suppressed = error.__cause__, error.__context__, error.__suppress_context__
        notes = [note for note in getattr(error, "__notes__", ()) if type(note) is str]
        has_history = suppressed or notes or cause is not None or context is not None
        if not has_history or self._level == _MAX_LEVELS:
            return None
        links = cause, None if context is cause else context
        with self._at_level(self._level + 1):
            described = [None if link is None else self.of(link) for link in links]
        return [*described, context is cause, suppressed, notes]

    @contextmanager
    def _at_level(self, level: int) -> Iterator[None]:
        outer, self._level = self._level, level
        try:
            yield
        finally:
            self._level = outer

    def classes(self, kind: type[BaseException]) -> list[Any]:
        """Return number, name, module of an exception's classes, up to a builtin that the judge knows."""
        unknown = itertools.takewhile(
            lambda base: getattr(builtins, base.__name__, None) is not base or id(base) in self._numbers,
            kind.__mro__,
        )
        return [[self._number(base), base.__name__, str(base.__module__)] for base in unknown]

    def stand_in(self, number: int, kind: str, text: str) -> BaseException:
        """Return a builtin exception that stands for one of a class of the tests."""
        error = getattr(builtins, kind)(text)
        self._numbers[id(error)] = number
        self._kept.append(error)
        return error


def builtin_base(kind: type[BaseException]) -> type[BaseException]:
    """Return the first builtin class among a class and its bases."""
    return next(base for base in kind.__mro__ if getattr(builtins, base.__name__, None) is base)
