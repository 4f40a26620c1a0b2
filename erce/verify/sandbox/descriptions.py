"""An exception of the program → what the judge needs to raise it again: names, arguments and text."""

import builtins
import itertools
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from erce.verify.sandbox import frames


class Descriptions:
    """The exceptions that the judge knows by their numbers: negative if the tests raised them.

    `number` gives an object one that it keeps in `numbers`, `encode` makes the form of a value.
    """

    def __init__(
        self, numbers: dict[int, int], number: Callable[[Any], int], encode: Callable[[Any], Any]
    ) -> None:
        self._numbers, self._number, self._encode = numbers, number, encode
        self._kept: list[BaseException] = []  # so that no identity is used twice

    def of(self, error: BaseException) -> dict[str, Any]:
        """Return an exception as its nearest builtin class, classes of its own, arguments and text."""
        described = {
            "raised": builtin_base(type(error)).__name__,
            "kind": type(error).__name__,
            "args": None,
        }
        described |= {"number": self._number(error), "classes": [], "text": "its text cannot be read"}
        with suppress(BaseException):  # the program's own methods, of which any may fail
            described["text"] = str.__str__(str(error))
            described["classes"] = self.classes(type(error))
            described["args"] = self._encode(tuple(error.args))
            frames.frame(described)  # if it is too large, the text alone crosses
            BaseException.with_traceback(error, None)  # whose frames would keep their values alive
            return described
        return described | {"text": described["text"][:500], "args": None}

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
