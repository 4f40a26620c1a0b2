"""Instances of classes that set-up or tests define → copies in the program's process, and back.

Both processes have a class of that name: the judge that of the tests, the program its own or the set-up's. An
object crosses as its attributes, with a number by which both sides know it again, so that trees, lists with
cycles and shared nodes keep their shape. Methods always run in the process that holds the copy.
"""

import enum
import json
import types
from collections.abc import Callable
from typing import Any

from erce.verify.sandbox import frames
from erce.verify.sandbox.objects import Table

_MAX_NAME_LETTERS = 100
_OF_RECORDS = (
    "__init__",
    "__post_init__",
    "__replace__",  # of dataclasses since Python 3.13
    "__repr__",
    "__str__",
    "__iter__",
    "__len__",
    "__hash__",
    "__class_getitem__",  # of generic classes
    "__init_subclass__",
)
_DATA = (types.MemberDescriptorType, *(kind for kind in frames.CROSSING_TYPES if kind is not object))


class Copies:
    """The objects of one job that both processes know, by their numbers: negative if the tests made them."""

    def __init__(
        self,
        encode: Callable[[Any, Table], Any],
        decode: Callable[[Any], Any],
        remote: Callable[[int, str], Any],
    ) -> None:
        self.names: dict[str, Any] = {}  # of the tests
        self.mirrored: Callable[[], frozenset[str]] = frozenset  # comparison methods that cannot cheat
        self.updating = False  # while changed arguments are read back into the tests' own objects
        self._encode, self._decode, self._remote = encode, decode, remote
        self._objects: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}  # identity of an object → its number
        self._kept: list[Any] = []  # so that no identity is used twice

    def form(self, value: Any, table: Table) -> list[Any] | None:
        """Return the form of an object, a class or a member of an enumeration; None for other values."""
        kind = value if isinstance(value, type) else type(value)
        if not self._is_ours(kind):
            return None
        if kind is value:
            return ["class", kind.__name__]
        if isinstance(value, enum.Enum):
            return ["member", kind.__name__, value.name]
        if kind.__new__ is not object.__new__ or isinstance(value, BaseException):
            return None
        if id(value) not in self._numbers:
            self._keep(-1 - len(self._kept), value)
        return table.reference(self._numbers[id(value)], value)

    def read(self, form: list[Any]) -> Any:
        """Return the value of a form that `form` or the program made; any exception says that it is none."""
        if form[0] == "copy":
            return self._objects[form[1]]
        if form[0] == "class":
            return self._class(form[1])
        if form[0] == "member":
            return self._class(form[1])[form[2]]
        _, entries, inner = form
        for number, name, _ in entries:
            if type(number) is not int or (number < 0 and number not in self._objects):
                raise ValueError("not an object")
            if number >= 0 and not self._is_record(self._class(name)):
                self._objects[number] = self._remote(number, name)
        entries = [entry for entry in entries if self._is_record(self._class(entry[1]))]
        if self.updating or not all(self._is_unchanged(*entry) for entry in entries):  # else `is` shall hold
            for number, name, _ in entries:
                if not (self.updating and number in self._objects):
                    self._keep(number, object.__new__(self._class(name)))
            for number, _, pairs in entries:
                for attribute, value in pairs:
                    self._set(self._objects[number], attribute, self._decode(value))
        return self._decode(inner)

    def _is_ours(self, kind: type) -> bool:
        return kind.__module__ == "tests" and self.names.get(kind.__name__) is kind

    def _class(self, name: Any) -> Any:
        kind = self.names[name]
        if not (isinstance(kind, type) and self._is_ours(kind)):
            raise ValueError("not a class of the tests")
        return kind

    def _keep(self, number: int, value: Any) -> None:
        self._objects[number] = value
        self._numbers[id(value)] = number
        self._kept.append(value)

    def _is_unchanged(self, number: int, name: str, pairs: Any) -> bool:
        """Return whether the tests' copy of an object has these attributes, so that it can stand for it."""
        value = self._objects.get(number)
        if type(value).__name__ != name:
            return False
        return json.dumps(Table(self._encode).pairs(value)) == json.dumps(pairs)

    def _set(self, target: Any, name: Any, value: Any) -> None:
        """Set an attribute, unless it would take the place of what the class of the tests defines."""
        if type(name) is not str or name.startswith("__") or len(name) > _MAX_NAME_LETTERS:
            raise ValueError("not an attribute")
        for base in type(target).__mro__:
            known = base.__dict__.get(name)
            if name in base.__dict__ and not isinstance(known, _DATA):
                raise ValueError("not an attribute of this class")
        object.__setattr__(target, name, value)

    def _is_record(self, kind: type) -> bool:
        """Return whether instances hold attributes, and compare by identity or by these.

        The program may return such instances alone: a class that compares in its own way may have an instance
        that equals anything.
        """
        members = {name: value for base in kind.__mro__[:-1] for name, value in base.__dict__.items()}
        return all(self._may_be_in_record(name, member) for name, member in members.items())

    def _may_be_in_record(self, name: str, member: Any) -> bool:
        if not (name.startswith("__") and callable(member)) or name in _OF_RECORDS:
            return True
        by_dataclasses = getattr(getattr(member, "__code__", None), "co_filename", "") == "<string>"
        return by_dataclasses or getattr(member, "__qualname__", "") in self.mirrored()
