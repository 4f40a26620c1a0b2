"""Tests → the functions that they call with literals, and whether they look at nothing but what these return.

`functions_called` recognises the commonest tests, `assert f(literals) == literal`, which need no other
analysis. `show_values_alone` recognises more of them: those whose verdict needs no second run.
"""

import ast
import builtins
import sys
from collections.abc import Iterable, Sequence

from erce.verify.sandbox.expectations import is_constant

_VALUE_FUNCTIONS = (abs, all, any, bool, dict, float, int, len, max, min, round, set, sorted, sum)
_VALUE_FUNCTION_NAMES = {function.__name__ for function in _VALUE_FUNCTIONS}  # no order of a set, no text
_LITERAL_ARITHMETIC = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop)
_BUILTINS = set(dir(builtins))
_DEFINED_BY_PYTHON = sys.stdlib_module_names | _BUILTINS


def functions_called(statements: Iterable[ast.stmt]) -> tuple[str, ...]:
    """Return the sorted names of the functions if each statement is `assert f(literals) == literal`, else ().

    Also () if a name may be Python's, as `sorted` and `_thread`.

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
            ) if all(map(_is_ordered_constant, arguments)) and is_constant(expected):
                names.add(name)
            case _:
                return ()
    is_free = names.isdisjoint(_DEFINED_BY_PYTHON) and not any(name.startswith("_") for name in names)
    return tuple(sorted(names)) if is_free else ()


def builtins_tested(nodes: Sequence[ast.AST], *, handed_on: bool) -> set[str]:
    """Return the builtins that tests only call as in `assert round(2.5) == 3`, so that a program may answer.

    With `handed_on`, also those that they hand to a function, as in `check(round)`.

    >>> text = "assert round(2.5) == 3; assert len([]) == 0 == len(f(1)); check(sorted)"
    >>> [sorted(builtins_tested([*ast.walk(ast.parse(text))], handed_on=wide)) for wide in (False, True)]
    [['round'], ['round', 'sorted']]
    """
    tested: set[int] = set()
    for node in nodes:
        match node:
            case (
                ast.Compare(left=ast.Call() as call, comparators=[expected])
                | ast.Call(func=ast.Attribute(attr="assertEqual"), args=[ast.Call() as call, expected])
            ) if all(map(_is_closed, [*call.args, *(named.value for named in call.keywords), expected])):
                tested.add(id(call.func))
            case ast.Expr(value=ast.Call(func=ast.Name(), args=arguments)) if handed_on:
                tested |= set(map(id, arguments))
    names = [node for node in nodes if isinstance(node, ast.Name) and node.id in _BUILTINS]
    return {name.id for name in names} - {name.id for name in names if id(name) not in tested}


def _is_closed(value: ast.expr) -> bool:
    """Return whether an expression names nothing but the parameters of its own lambdas."""
    inside = [*ast.walk(value)]
    own = {node.arg for node in inside if isinstance(node, ast.arg)}
    return all(node.id in own for node in inside if isinstance(node, ast.Name))


def show_values_alone(setup: Sequence[ast.stmt], tests: Sequence[ast.stmt], answered: Iterable[str]) -> bool:
    """Return whether each assert calls the program once at most, with literals, and looks at what it returns.

    Then no changed argument, identity or type, which are lost between two processes, decides the verdict, if
    the result is made of builtin types (`Peer.beyond_values`). `answered` are the names of the program;
    parameters of the tests' functions may stand for them, as in HumanEval's `check(candidate)`. An import in
    the tests, unlike one in the set-up, may come after a call of the program that needs it.

    >>> texts = "assert abs(f(2) - 0.5) < 1e-6", "v = [2]; assert f(v) == 1", "assert f([2]) is not f([2])"
    >>> [show_values_alone([], ast.parse(text).body, ["f"]) for text in texts]
    [True, False, False]
    """
    if any(isinstance(statement, ast.Import) for statement in tests):
        return False
    statements = [*setup, *tests]
    functions = [node for node in statements if isinstance(node, ast.FunctionDef)]
    parameters = {parameter.arg for function in functions for parameter in function.args.args}
    values = _ValueTests({*answered, *parameters}, {function.name for function in functions})
    return all(map(values.may_contain, statements))


class _ValueTests:
    """Tests that see nothing of the program but values; what its functions and their own are called."""

    def __init__(self, answered: set[str], functions: set[str]) -> None:
        self._answered, self._functions = answered, functions

    def may_contain(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.FunctionDef(decorator_list=[], args=ast.arguments(defaults=[]), body=body):
                return all(map(self.may_contain, body))
            case ast.Assert(test=test):
                return self._is_condition_on_values(test)
            case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=arguments, keywords=[])):
                names = {argument.id for argument in arguments if isinstance(argument, ast.Name)}
                return name in self._functions and len(names) == len(arguments) and names <= self._answered
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Import(names=[ast.alias(name="math")]):
                return True
            case ast.Assign(targets=[ast.Name(id="METADATA")], value=value):  # of HumanEval
                return is_constant(value)
        return False

    def _is_condition_on_values(self, test: ast.expr) -> bool:
        if _is_written_out(test):
            return True
        if isinstance(test, ast.BoolOp):
            return all(map(self._is_condition_on_values, test.values))
        calls = sum(self._is_call(node) for node in ast.walk(test))
        return calls <= 1 and self._is_value(test)  # a second call could change the list of the first

    def _is_value(self, expression: ast.expr) -> bool:
        match expression:
            case ast.Compare(left=left, ops=operators, comparators=others):
                by_identity = any(isinstance(operator, ast.Is | ast.IsNot) for operator in operators)
                if by_identity and not all(map(_is_singleton, others)):
                    return False
                parts = [left, *others]
            case ast.Call(args=arguments, keywords=named) if self._is_call(expression):
                passed = [*arguments, *(keyword.value for keyword in named)]
                return all(_is_written_out(value) and _has_no_set(value) for value in passed)
            case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]) if name in _VALUE_FUNCTION_NAMES:
                pass
            case ast.Call(func=ast.Attribute(value=ast.Name(id="math")), args=parts, keywords=named):
                parts = [*parts, *(keyword.value for keyword in named)]
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.BoolOp(values=parts):
                pass
            case ast.BinOp(left=left, right=right):
                parts = [left, right]
            case ast.UnaryOp(operand=operand):
                parts = [operand]
            case _:
                return False
        return all(_is_written_out(part) or self._is_value(part) for part in parts)

    def _is_call(self, node: ast.AST) -> bool:
        match node:
            case ast.Call(func=ast.Name(id=name)):
                return name in self._answered
        return False


def _is_ordered_constant(value: ast.expr) -> bool:
    """Return whether an argument is a constant without a set, whose order may change on its way."""
    match value:
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return all(map(_is_ordered_constant, items))
        case ast.Set() | ast.Dict():
            return is_constant(value) and _has_no_set(value)
    return is_constant(value)


def _has_no_set(value: ast.expr) -> bool:
    return not any(isinstance(node, ast.Set) and len(node.elts) > 1 for node in ast.walk(value))


def _is_singleton(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and type(value.value) in (type(None), bool, type(...))


def _is_written_out(expression: ast.expr) -> bool:
    """Return whether an expression is made of literals, as `3 * 19`; not `[[]] * 2`, one list twice."""
    if is_constant(expression):
        return True
    return all(isinstance(node, _LITERAL_ARITHMETIC) for node in ast.walk(expression))
