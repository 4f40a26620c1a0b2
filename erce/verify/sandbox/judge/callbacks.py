"""A function of the tests → whether the program may call it from its process.

A call back runs in the judge with arguments that the program chose. So it may neither evaluate text nor
follow names in the arguments: the program would then run its own code there.
"""

import builtins
import types
from collections import Counter, OrderedDict, deque
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

_CONTAINERS = (list, dict, set, bytearray, deque, OrderedDict, Counter)
_REFUSED = {
    *(
        "eval",
        "exec",
        "compile",
        "getattr",
        "setattr",
        "delattr",
        "globals",
        "locals",
        "vars",
        "open",
        "input",
    ),
    *("attrgetter", "methodcaller", "import_module", "breakpoint", "format", "format_map", "super", "type"),
}
_MODULES = ("math", "cmath", "itertools", "functools", "string")
INTERNALS = ("_", "gi_", "cr_", "ag_", "f_", "tb_", "co_")  # beginnings of names that lead out of a function


def is_harmless(value: Any) -> bool:
    """Return whether `value` is a function of the tests, or a method of a container, that runs no text.

    >>> is_harmless(lambda x: x + 1), is_harmless([].append), is_harmless(lambda text: eval(text))
    (True, True, False)
    """
    if isinstance(value, types.BuiltinMethodType):
        return type(value.__self__) in _CONTAINERS
    if isinstance(value, types.MethodType):
        value = value.__func__
    return isinstance(value, types.FunctionType) and _only_harmless_names(value, set())


def _only_harmless_names(function: types.FunctionType, seen: set[int]) -> bool:
    if id(function) in seen:
        return True
    seen.add(id(function))
    names = {name for code in _codes(function.__code__) for name in code.co_names}
    if any(name in _REFUSED or name.startswith(INTERNALS) for name in names):
        return False
    known = [function.__globals__.get(name, getattr(builtins, name, None)) for name in names]
    known += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # the variable has no value
            known.append(cell.cell_contents)
    return all(_is_harmless_value(value, seen) for value in known)


def _is_harmless_value(value: Any, seen: set[int]) -> bool:
    if isinstance(value, types.ModuleType):
        return value.__name__ in _MODULES
    if isinstance(value, types.BuiltinFunctionType):
        return value.__name__ not in _REFUSED
    return not isinstance(value, types.FunctionType) or _only_harmless_names(value, seen)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Return a function's code and that of the functions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)
