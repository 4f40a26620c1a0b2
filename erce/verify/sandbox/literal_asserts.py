"""Tests → the functions that they call, if each of their statements is `assert f(literals) == literal`.

Most tests are like that. They read these names alone, bind none, compare with constants and leave nothing
behind, so that nothing else has to be found out about them.
"""

import ast
import builtins
import sys
from collections.abc import Iterable

from erce.verify.sandbox.expectations import is_constant

_DEFINED_BY_PYTHON = sys.stdlib_module_names | set(dir(builtins))


def functions_called(statements: Iterable[ast.stmt]) -> tuple[str, ...]:
    """Return the sorted names of the functions; () for other statements, and for names that may be Python's.

    >>> texts = "assert g(1) == {'a': None}; assert f([(-2, 'x')]) == True", "assert f(1) == 1; f = 2"
    >>> [functions_called(ast.parse(text).body) for text in texts]
    [('f', 'g'), ()]
    """
    names = set()
    for statement in statements:
        match statement:
            case ast.Assert(
                test=ast.Compare(
                    left=ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]),
                    ops=[ast.Eq()],
                    comparators=[expected],
                ),
                msg=None,
            ) if all(map(is_constant, arguments)) and is_constant(expected):
                names.add(name)
            case _:
                return ()
    is_free = names.isdisjoint(_DEFINED_BY_PYTHON) and not any(name.startswith("_") for name in names)
    return tuple(sorted(names)) if is_free else ()
