"""Objects with attributes → a table of numbered forms, in which cycles and shared objects are references."""

import types
from collections import deque
from collections.abc import Callable
from typing import Any

from erce.verify.sandbox import frames

_NOT_MISSED = {
    *("__init__", "__new__", "__post_init__", "__init_subclass__", "__class_getitem__", "__missing__"),
    *("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__"),  # the judge alone compares
}
_OF_BUILTINS = (types.MethodDescriptorType, types.WrapperDescriptorType)  # `__getattr__ = dict.get`


class Table:
    """The objects of one message, each with its class and the forms of its attributes.

    `encode` makes the form of a value, and calls `reference` of the table that it is given for objects in it.
    """

    def __init__(self, encode: Callable[[Any, "Table"], Any]) -> None:
        self._encode = encode
        self._waiting: deque[tuple[int, Any]] = deque()
        self._seen: set[int] = set()

    def reference(self, number: int, value: Any) -> list[Any]:
        """Return the form that stands for an object, and put it on the table."""
        if number not in self._seen:
            self._seen.add(number)
            self._waiting.append((number, value))
        return ["copy", number]

    def form(self, value: Any) -> Any:
        """Return the form of a value together with all objects that it leads to."""
        inner, entries = self._encode(value, self), []
        while self._waiting:
            number, held = self._waiting.popleft()
            entries.append([number, type(held).__name__, self.pairs(held)])
        return ["with", entries, inner] if entries else inner

    def pairs(self, value: Any) -> list[list[Any]]:
        """Return names and forms of an object's attributes."""
        return [[name, self._encode(held, self)] for name, held in attributes(value)]


def attributes(value: Any) -> list[tuple[str, Any]]:
    """Return the attributes that an object holds itself, in its dictionary or its slots.

    Python's own, as the `__orig_class__` of a generic class's instance, are not among them.
    """
    held = {name: item for name, item in getattr(value, "__dict__", {}).items() if not name.startswith("__")}
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                held[name] = getattr(value, name)
    return list(held.items())


def flavour(value: Any) -> str:
    """Return which stand-in an object of the program needs: `coroutine`, `iterator`, `call` or `value`."""
    if type(value) is types.CoroutineType:
        return "coroutine"
    if hasattr(type(value), "__next__"):
        return "iterator"
    return "call" if callable(value) else "value"


def extends_builtin(value: Any, names: dict[str, Any]) -> bool:
    """Return whether a value would cross as a builtin and lose what the program's class adds to it.

    `names` are those of the program.
    """
    if not isinstance(value, frames.PLAIN_TYPES):
        return False
    members = {
        name: getattr(member, "fget", None) or getattr(member, "__func__", member)
        for base in type(value).__mro__
        if base.__module__ == names.get("__name__")
        for name, member in vars(base).items()
    }
    return any(
        name not in _NOT_MISSED
        and (isinstance(member, _OF_BUILTINS) or getattr(member, "__globals__", None) is names)
        for name, member in members.items()
    )
