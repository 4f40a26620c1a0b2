"""Statements of tests → whether a program could change what they expect, or what they look at later."""

import ast
from collections.abc import Iterable, Sequence
from typing import Any

# Builtins whose result depends on their one argument alone.
_OF_ONE_VALUE = ("len", "sorted", "list", "tuple", "set", "sum", "str", "type")
_BINDING = (
    *(ast.Assign, ast.AugAssign, ast.AnnAssign, ast.NamedExpr, ast.For, ast.With, ast.comprehension),
    *(ast.Lambda, ast.ClassDef, ast.Global, ast.Nonlocal, ast.Match),
)


def expect_constants(
    statements: Iterable[ast.stmt], nodes: Sequence[ast.AST], answered: Iterable[str]
) -> bool:
    """Return whether every assert compares a plain value with a constant, by `==` or `is`.

    A plain value is a name, a constant, a part of a plain value, or what the program or a builtin such as
    `sorted` makes of plain values. `nodes`
    are those of the statements but for constants, `answered` the names of the program.
    """
    plain = _PlainTests(nodes, answered)
    return all(map(plain.is_step, statements))


def hold_values(nodes: Sequence[ast.AST]) -> bool:
    """Return whether tests have a name for a value, which a call of the program could change.

    >>> texts = "assert f([1]) == 1", "v = [1]; assert f(v) == 1"
    >>> [hold_values([*ast.walk(ast.parse(text))]) for text in texts]
    [False, True]
    """
    if any(isinstance(node, _BINDING) for node in nodes):
        return True
    parameters = {node.arg for node in nodes if type(node) is ast.arg}
    called = {id(node.func) for node in nodes if type(node) is ast.Call} if parameters else set()
    return any(type(node) is ast.Name and node.id in parameters and id(node) not in called for node in nodes)


class _PlainTests:
    """What names stand for in tests, where that is the same in all statements."""

    def __init__(self, nodes: Sequence[ast.AST], answered: Iterable[str]) -> None:
        functions = [node for node in nodes if type(node) is ast.FunctionDef]
        self._functions = {function.name for function in functions}
        parameters = {parameter.arg for function in functions for parameter in function.args.args}
        self._answered = parameters.union(answered)
        self._fixed: set[str] = set()  # names of constants that occur in comparisons alone
        self._objects: set[str] = set()  # names of objects that the program's classes made
        bindings = [pair for node in nodes if type(node) is ast.Assign for pair in _bindings(node)]
        if bindings:
            names = [node for node in nodes if type(node) is ast.Name]
            stored = [node.id for node in names if type(node.ctx) is ast.Store]
            bound = {name: value for name, value in bindings if stored.count(name) == 1}
            compared = {id(self._inmost(side)) for node in nodes for side in _sides(node)}
            used = {n.id for n in names if type(n.ctx) is ast.Load and id(n) not in compared}
            self._fixed = {name for name in bound.keys() - used if is_constant(bound[name])}
            self._objects = {name for name, value in bound.items() if self._is_construction(value)}

    def is_step(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.FunctionDef(args=ast.arguments(defaults=[]), body=body, decorator_list=[]):
                return all(map(self.is_step, body))
            case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=[program], keywords=[])) if (
                name in self._functions
            ):
                return self._is_program(program)
            case ast.Assert(test=ast.BoolOp(values=tests)):
                return all(map(self._is_check, tests))
            case ast.Assert(test=test):
                return self._is_check(test)
            case ast.Assign(targets=[ast.Name() | ast.Tuple(elts=[*_])], value=value) | ast.Expr(value=value):
                return self._is_plain(value)
        return False

    def _is_check(self, test: ast.expr) -> bool:
        match test:
            case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]):
                if self._is_fixed(right):
                    return self._is_plain(left)
                return self._is_fixed(left) and self._is_plain(right)
        return False

    def _is_plain(self, value: Any) -> bool:
        match value:
            case ast.Name():
                return True
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return all(map(self._is_plain, items))
            case ast.Subscript(value=whole, slice=part):
                return self._is_plain(whole) and self._is_plain(part)
            case ast.Slice(lower=lower, upper=upper, step=step):
                return all(part is None or self._is_plain(part) for part in (lower, upper, step))
            case ast.Call(func=function):
                known = self._is_program(function) or self._is_of_one_value(value)
                passed = [*value.args, *(keyword.value for keyword in value.keywords)]
                return known and all(map(self._is_plain, passed))
        return is_constant(value)

    def _is_fixed(self, value: ast.expr) -> bool:
        """Return whether this is a constant, or made of one whose name is used in comparisons alone."""
        inmost = self._inmost(value)
        return is_constant(inmost) or (isinstance(inmost, ast.Name) and inmost.id in self._fixed)

    def _is_program(self, function: ast.expr) -> bool:
        """Return whether this is a function of the program, or a method of an object that it constructed."""
        match function:
            case ast.Name(id=name):
                return name in self._answered
            case ast.Attribute(value=ast.Name(id=name)):
                return name in self._objects
            case ast.Attribute(value=value):
                return self._is_construction(value)
        return False

    def _is_construction(self, value: ast.expr) -> bool:
        match value:
            case ast.Call(func=ast.Name(id=name)):
                return name in self._answered and is_camel_case(name)
        return False

    def _inmost(self, value: ast.expr) -> ast.expr:
        """Return what `len`, `sorted` and the like are applied to."""
        match value:
            case ast.Call(args=[operand]) if self._is_of_one_value(value):
                return self._inmost(operand)
        return value

    def _is_of_one_value(self, node: ast.AST) -> bool:
        match node:
            case ast.Call(func=ast.Name(id=name), args=[_], keywords=[]):
                return name in _OF_ONE_VALUE and name not in self._answered
        return False


def is_camel_case(name: str) -> bool:
    """Return whether a name is that of a class, by custom.

    >>> [is_camel_case(name) for name in ("Node", "LRUCache", "Find_Max", "f", "total")]
    [True, True, False, False, False]
    """
    return name[:1].isupper() and "_" not in name


def is_constant(value: ast.expr) -> bool:
    """Return whether an expression is a literal, or `set()`."""
    match value:
        case ast.Constant():
            return True
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return all(map(is_constant, items))
        case ast.Name() | ast.Call(args=[_, *_]):
            return False
    try:
        ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _bindings(node: ast.Assign) -> list[tuple[str, ast.expr]]:
    """Return the names that an assignment binds, each with the expression of its value."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return [(name, value)]
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
            pairs = zip(names, values, strict=False)
            return [(name.id, value) for name, value in pairs if isinstance(name, ast.Name)]
    return []


def _sides(node: ast.AST) -> list[ast.expr]:
    return [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
