"""What the program raised → an exception for the tests, with the same text, arguments and attributes.

A class of the program's own has a stand-in here, so that `except`, `assertRaises` and `isinstance` work with
it. A stand-in is always a class of its own: it never catches what the tests themselves raise.
"""

import builtins
import importlib
import types
from collections.abc import Callable
from typing import Any

KEYS = {"raised", "kind", "text", "args", "classes", "number", "history"}

_MAX_CLASSES = 50  # between an exception of the program and Python's own
_MAX_NAME_LETTERS = 100


class ProgramError(Exception):
    """An exception of the program whose own class cannot be raised in the tests."""


class StandInType(type):
    """The class of stand-ins: what they lack, and calls of them, go to the program's class."""

    _exceptions: "RaisedExceptions"
    _number: int

    def __call__(cls, *positional: Any, **named: Any) -> Any:
        return cls._exceptions.call(cls._number, positional, named)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return cls._exceptions.get(cls._number, name)


class StandIn:
    """An exception of the program: its text as the program gave it, its attributes on request."""

    _exceptions: "RaisedExceptions"
    _text: str
    _number: int

    def __str__(self) -> str:
        return self._text

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._exceptions.get(self._number, name)


# Exceptions of Python's library that tests catch, by module. `unittest.SkipTest` would end a test as passed.
_LIBRARY = {
    "configparser": ("Error", "NoOptionError", "NoSectionError"),
    "csv": ("Error",),
    "dataclasses": ("FrozenInstanceError",),
    "decimal": ("DecimalException", "DivisionByZero", "InvalidOperation"),
    "graphlib": ("CycleError",),
    "json": ("JSONDecodeError",),
    "queue": ("Empty", "Full"),
    "re": ("error",),
    "statistics": ("StatisticsError",),
    "struct": ("error",),
}


class RaisedExceptions:
    """The exceptions of one program; `get` asks it for an attribute of an object, `call` calls one."""

    def __init__(self, get: Callable[[int, str], Any], call: Callable[..., Any]) -> None:
        self.get, self.call = get, call
        self._classes: dict[int, type[Exception]] = {}

    def exception(self, form: dict[str, Any], arguments: Any) -> Exception | None:
        """Return the exception that a reply describes; None for those that end a program, as SystemExit.

        `arguments` are its decoded `args`, or None if these could not cross. An exception of any
        kind is raised if the reply is not valid.
        """
        text, number = form["text"], form["number"]
        if type(text) is not str or type(number) is not int:
            raise TypeError("not a text with a number")
        builtin = _builtin(form["raised"])
        if builtin is None:
            return None
        arguments = arguments if type(arguments) is tuple else (text,)
        if form["classes"]:
            kind = self.class_of(form["raised"], form["classes"])
        else:
            plain = _rebuilt(builtin, arguments, text)
            if plain is not None:
                return plain
            kind = self._stand_in(-1, form["kind"], builtin)
        made: Any = kind.__new__(kind, *arguments)
        made._text, made._number = text, number
        return made

    def class_of(self, raised: str, classes: list[Any]) -> type[Exception]:
        """Return the stand-in for the first of `classes`; the others are its bases, the nearest first."""
        base = _builtin(raised)
        if base is None or not 0 < len(classes) <= _MAX_CLASSES:
            raise ValueError("no class of exceptions")
        for number, name, module in reversed(classes):
            if number not in self._classes:
                self._classes[number] = self._stand_in(number, name, base, module)
            base = self._classes[number]
        return base

    def _stand_in(self, number: int, name: str, base: type[Exception], module: str = "") -> type[Exception]:
        if type(number) is not int or type(name) is not str:
            raise TypeError("not a class")
        bases = (base,) if issubclass(base, StandIn) else (StandIn, base)
        members = {"_exceptions": self, "_number": number}
        if bases[0] is StandIn:
            members |= {slot: _asked(slot) for slot in dir(base) if _is_slot(base, slot)}
        library = module.lstrip("_").partition(".")[0]
        if name in _LIBRARY.get(library, ()):
            real = getattr(importlib.import_module(library), name)
            bases = (*(kind for kind in bases if not issubclass(real, kind)), real)
        made: Any = StandInType(name[:_MAX_NAME_LETTERS], bases, members)
        return made


def remember(error: Exception, history: list[Any], read: Callable[[Any], Exception | None]) -> None:
    """Give an exception its cause, context and notes; `read` makes an exception of a description.

    An exception of any kind is raised if the history is not valid.
    """
    cause, context, is_cause, suppressed, notes = history
    if type(notes) is not list or any(type(note) is not str for note in notes):
        raise TypeError("not notes")
    error.__cause__, own_context = (None if form is None else read(form) for form in (cause, context))
    error.__context__ = error.__cause__ if is_cause else own_context
    error.__suppress_context__ = suppressed
    if notes:
        error.__notes__ = notes


def _is_slot(kind: type, name: str) -> bool:
    """Return whether the C code of a builtin exception holds this attribute, as `filename`."""
    slots = (types.MemberDescriptorType, types.GetSetDescriptorType)
    return not name.startswith("_") and name != "args" and isinstance(getattr(kind, name), slots)


def _asked(name: str) -> property:
    return property(lambda error: error._exceptions.get(error._number, name))


def _rebuilt(builtin: type[Exception], arguments: tuple[Any, ...], text: str) -> Exception | None:
    """Return an instance of exactly this class with this text; None if its arguments do not lead to it."""
    if builtin is ProgramError:
        return None
    try:
        plain = builtin(*arguments)
        return plain if type(plain) is builtin and str(plain) == text else None
    except Exception:  # the program chose the arguments, so the constructor may raise anything
        return None


def _builtin(name: Any) -> type[Exception] | None:
    builtin = getattr(builtins, name, None) if type(name) is str else None
    if not (isinstance(builtin, type) and issubclass(builtin, Exception)):
        return None
    # StopIteration would silently end an all(map(...)) of the test.
    return ProgramError if issubclass(builtin, StopIteration | StopAsyncIteration) else builtin
