"""The program's values and classes → whether a test may have failed over what was lost at the border."""

import ast
import types
from collections.abc import Iterable
from typing import Any

from erce.verify.sandbox import frames

_NOT_MISSED = {
    *("__init__", "__new__", "__post_init__", "__init_subclass__", "__class_getitem__", "__missing__"),
    *("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__"),  # the judge alone compares
}
_OF_BUILTINS = (types.MethodDescriptorType, types.WrapperDescriptorType)  # `__getattr__ = dict.get`
# Names by which tests look at a function or an object itself, or at what both sides have of their own.
_OF_CODE = {
    *("inspect", "signature", "iscoroutinefunction", "isgeneratorfunction", "get_type_hints"),
    *("patch", "monkeypatch", "open", "tempfile", "pathlib", "Path", "shutil", "exists", "isfile"),
    *("__doc__", "__class__", "__dict__", "__module__", "__annotations__", "__cause__", "__context__"),
}
_OF_OBJECTS = {"type", "vars", "dir", "types", "is_dataclass", "asdict", "astuple", "dataclasses", "pickle"}
_TOO_COMMON = {"open", "type", "types", "dir", "patch", "signature"}  # as attributes


def name_beyond_values(nodes: Iterable[ast.AST], *, has_objects: bool) -> str:
    """Return the first name in tests that shows more of the program than its values; "" if there is none.

    >>> [name_beyond_values(ast.walk(ast.parse(text)), has_objects=True) for text in ("f(1).type", "type(f)")]
    ['', 'type']
    """
    told = _OF_CODE | _OF_OBJECTS if has_objects else _OF_CODE
    for node in nodes:
        if isinstance(node, ast.Name) and node.id in told:
            return node.id
        if isinstance(node, ast.Attribute) and node.attr in told - _TOO_COMMON:
            return node.attr
    return ""


def narrowed_may_explain(error: str, attribute: str, names: dict[str, Any]) -> bool:
    """Return whether a test may have failed because a class crossed as the builtin that it extends.

    These classes are in `frames.narrowed`. `error` is the name of the test's
    exception, `attribute` that of the attribute it lacked, and `names` are those of the program.
    """
    for kind, held in frames.narrowed.items():
        if attribute in held or any(attribute in vars(base) for base in kind.__mro__):
            return True
        plain = next(base for base in kind.__mro__ if base.__module__ == "builtins")
        if any(name.startswith("__") or hasattr(plain, name) for name in own_members(kind, names)):
            return True
        if error == "KeyError" and hasattr(kind, "__missing__"):
            return True
    return False


def extends_builtin(value: Any, names: dict[str, Any]) -> bool:
    """Return whether a value would cross as a builtin and lose what the program's class adds to it."""
    return isinstance(value, frames.PLAIN_TYPES) and bool(own_members(type(value), names))


def own_members(kind: type, names: dict[str, Any]) -> set[str]:
    """Return what the program's classes add to a builtin or change in it, and the judge would miss."""
    members = {
        name: getattr(member, "fget", None) or getattr(member, "__func__", member)
        for base in kind.__mro__
        if base.__module__ == names.get("__name__")
        for name, member in vars(base).items()
    }
    written = {
        name
        for name, member in members.items()
        if isinstance(member, _OF_BUILTINS) or getattr(member, "__globals__", None) is names
    }
    return written - _NOT_MISSED


def class_state(kind: type) -> dict[str, Any]:
    """Return the forms of the values that a class itself holds, which stay in the program's process."""
    return {
        name: frames.encode(value, lambda held: None)
        for name, value in vars(kind).items()
        if not name.startswith("__") and not callable(value)
    }
