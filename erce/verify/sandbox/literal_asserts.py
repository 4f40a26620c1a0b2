"""Tests → the functions that they call with literals, and whether they look at nothing but what these return.

Most tests are `assert f(literals) == literal`. They read these names alone, bind none, compare with constants
and leave nothing behind, so that nothing else has to be found out about them.
"""

import ast
import builtins
import sys
from collections.abc import Iterable, Sequence

from erce.verify.sandbox.expectations import is_constant

_OF_VALUES = (abs, all, any, bool, dict, float, int, len, list, max, min, round, set, sorted, str, sum, tuple)
_NAMES_OF_VALUES = {function.__name__ for function in _OF_VALUES}
_OF_LITERALS = (
    *(ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.BinOp, ast.UnaryOp),
    *(ast.operator, ast.unaryop, ast.expr_context),
)
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


def show_values_alone(statements: Sequence[ast.stmt], answered: Iterable[str]) -> bool:
    """Return whether tests call the program with literals alone, and compare what it returns.

    `answered` are the names of the program. Then nothing that could be lost on the way between two processes
    has a part in the verdict: no change of an argument, no identity, no type. `check(candidate)` of HumanEval
    is such a test.

    >>> texts = "assert abs(f(2) - 0.5) < 1e-6", "v = [2]; assert f(v) == 1", "assert f([2]) is not f([2])"
    >>> [show_values_alone(ast.parse(text).body, ["f"]) for text in texts]
    [True, False, False]
    """
    functions = [node for node in statements if isinstance(node, ast.FunctionDef)]
    parameters = {parameter.arg for function in functions for parameter in function.args.args}
    called = _Called({*answered, *parameters}, {function.name for function in functions})
    return all(map(called.is_step, statements))


class _Called:
    """The program's functions under the names by which tests call them, and the functions of the tests."""

    def __init__(self, answers: set[str], helpers: set[str]) -> None:
        self._answers, self._helpers = answers, helpers

    def is_step(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.FunctionDef(decorator_list=[], args=ast.arguments(defaults=[]), body=body):
                return all(map(self.is_step, body))
            case ast.Assert(test=test):
                return self._shows_values(test)
            case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=arguments, keywords=[])):
                names = {argument.id for argument in arguments if isinstance(argument, ast.Name)}
                return name in self._helpers and len(names) == len(arguments) and names <= self._answers
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Import(names=[ast.alias(name="math")]):
                return True
            case ast.Assign(targets=[ast.Name(id="METADATA")], value=value):
                return is_constant(value)
        return False

    def _shows_values(self, expression: ast.expr) -> bool:
        if _is_written_out(expression):
            return True
        match expression:
            case ast.Compare(left=left, ops=operators, comparators=others):
                by_identity = any(isinstance(operator, ast.Is | ast.IsNot) for operator in operators)
                if by_identity and not all(isinstance(other, ast.Constant) for other in others):
                    return False
                parts = [left, *others]
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=named) if name in self._answers:
                return all(map(_is_written_out, [*arguments, *(keyword.value for keyword in named)]))
            case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]) if name in _NAMES_OF_VALUES:
                pass
            case ast.Call(func=ast.Attribute(value=ast.Name(id="math")), args=parts, keywords=named):
                parts = [*parts, *(keyword.value for keyword in named)]
            case ast.BoolOp(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts):
                pass
            case ast.BinOp(left=left, right=right):
                parts = [left, right]
            case ast.UnaryOp(operand=operand):
                parts = [operand]
            case _:
                return False
        return all(map(self._shows_values, parts))


def _is_written_out(expression: ast.expr) -> bool:
    """Return whether an expression is made of literals, as `3 * 19`."""
    return is_constant(expression) or all(isinstance(node, _OF_LITERALS) for node in ast.walk(expression))
