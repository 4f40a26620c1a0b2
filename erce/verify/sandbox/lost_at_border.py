"""The program's values and classes → whether a test may have failed over what was lost at the border."""

import types
from typing import Any

from erce.verify.sandbox import frames

_NOT_MISSED = {
    *("__init__", "__new__", "__post_init__", "__init_subclass__", "__class_getitem__", "__missing__"),
    *("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__"),  # the judge alone compares
}


def narrowed_may_explain(error: str, attribute: str, names: dict[str, Any]) -> bool:
    """Return whether a test may have failed because a class crossed as the builtin that it extends.

    These classes are in `frames.narrowed`. `error` is the name of the test's
    exception, `attribute` that of the attribute it lacked, and `names` are those of the program.
    """
    for kind, held in frames.narrowed.items():
        if attribute in held or any(attribute in vars(base) for base in kind.__mro__):
            return True
        written = {
            name
            for base in kind.__mro__
            for name, member in vars(base).items()
            if isinstance(member, types.FunctionType) and member.__globals__ is names
        } - _NOT_MISSED
        plain = next(base for base in kind.__mro__ if base.__module__ == "builtins")
        if any(name.startswith("__") or hasattr(plain, name) for name in written):
            return True
        if error == "KeyError" and hasattr(kind, "__missing__"):
            return True
    return False


def class_state(kind: type) -> dict[str, Any]:
    """Return the forms of the values that a class itself holds, which stay in the program's process."""
    return {
        name: frames.encode(value, lambda held: None)
        for name, value in vars(kind).items()
        if not name.startswith("__") and not callable(value)
    }
