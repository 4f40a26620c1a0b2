"""A function, slice, iterator … of Python's library → a form from which the program's process makes it."""

import builtins
import functools
import itertools
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any

from erce.verify.sandbox import frames

_REBUILT_FROM_ARGUMENTS = (operator.itemgetter, operator.attrgetter, itertools.count, itertools.repeat)
_MAX_VALUES_PASSED = 1 << 16  # taken from an iterator of the tests, which may be endless


def library_form(value: Any, form_of: Callable[[Any], Any]) -> list[Any] | None:
    """Return the form of a function, slice, iterator … of Python's library; None for other values."""
    kind = type(value)
    if isinstance(value, types.BuiltinFunctionType | type) and _is_public(value):
        form = ["fn", value.__module__, value.__name__]
    elif isinstance(value, types.MethodDescriptorType) and value.__objclass__ in frames.TYPES.values():
        form = ["method", value.__objclass__.__name__, value.__name__]
    elif isinstance(value, functools.partial):
        form = ["made", "functools", "partial", form_of([[value.func, *value.args], value.keywords])]
    elif kind in _REBUILT_FROM_ARGUMENTS:
        form = ["made", kind.__module__, kind.__name__, form_of([list(value.__reduce__()[1]), {}])]
    elif isinstance(value, Exception) and kind.__module__ == "builtins":
        form = ["error", kind.__name__, form_of(list(value.args))]
    elif isinstance(value, slice):
        form = ["slice", form_of([value.start, value.stop, value.step])]
    elif isinstance(value, Iterator) and kind.__module__ in ("builtins", "itertools"):
        passed = itertools.islice(value, _MAX_VALUES_PASSED)
        form = ["it", [form_of(item) for item in passed]]
    else:
        form = None
    return form


def _is_public(value: Any) -> bool:
    """Return whether builtins, `math`, `cmath` or `operator` have this value under its name."""
    module = getattr(value, "__module__", None)
    return module in ("builtins", "math", "operator", "_operator", "cmath") and (
        getattr(builtins if module == "builtins" else __import__(module), value.__name__, None) is value
    )
