"""Statements of tests → whether a program could change what they expect, or what they look at later."""

import ast
import builtins
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

# Builtins whose result depends on their one argument alone.
_OF_ONE_VALUE = ("len", "sorted", "list", "tuple", "set", "dict", "range", "sum", "max", "min", "str", "type")
_ACTING = (
    ast.Call,
    ast.NamedExpr,
    ast.Await,
    ast.Yield,
    ast.YieldFrom,
)  # expressions that may change a value


def expect_constants(
    statements: Iterable[ast.stmt], helpers: Iterable[ast.stmt], answered: Iterable[str]
) -> bool:
    """Return whether every assert is `plain == constant`, `plain is constant`, these joined, or `not plain`.

    A plain value is a name, a constant, a part of a plain value, or what the program, a helper or a builtin
    such as `sorted` makes of plain values. `helpers` are functions of the set-up: those that the statements
    call must be like that, too. `answered` are the names of the program.
    """
    body = [*statements, *_called(statements, helpers)]
    functions = [node.name for node in body if isinstance(node, ast.FunctionDef)]
    if len(set(functions)) < len(functions):
        return False
    plain = _PlainTests([node for statement in body for node in ast.walk(statement)], answered)
    return all(map(plain.is_step, body))


def called_for_effects(nodes: Sequence[ast.AST], answered: Iterable[str]) -> frozenset[str]:
    """Return the functions and methods that tests call for their effects: they use no result of them.

    A result that is compared with None is not used. `answered` are the names of the program.

    >>> called_for_effects([*ast.walk(ast.parse("f(v); assert g(v) == max(v)"))], ["f", "g"])
    frozenset({'f'})
    """
    unused = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    unused |= {id(value) for node in nodes for value in _compared_with_none(node)}
    read = {node.id for node in nodes if type(node) is ast.Name and _name_of(node) and id(node) not in unused}
    unused |= {id(node.value) for node in nodes if isinstance(node, ast.Assign) and _is_unread(node, read)}
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    used = {_name_of(call.func) for call in calls if id(call) not in unused}
    functions = {id(call.func) for call in calls}
    called = {_name_of(node) for node in nodes if id(node) in functions}
    passed_on = {_name_of(node) for node in nodes if id(node) not in functions}
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    defined |= {node.asname or node.name for node in nodes if isinstance(node, ast.alias)}
    methods = {call.func.attr for call in calls if isinstance(call.func, ast.Attribute)}
    other_names = used - methods - {*answered, *defined, *dir(builtins)}  # perhaps of what is passed on
    if "" in used:
        return frozenset()
    not_for_effects = used | passed_on if other_names else used
    return frozenset(methods.union(answered) & (called | passed_on) - not_for_effects)


def _is_unread(assignment: ast.Assign, read: set[str]) -> bool:
    return all(isinstance(target, ast.Name) and target.id not in read for target in assignment.targets)


def _name_of(function: ast.AST) -> str:
    """Return the name of a function or method; "" for other expressions."""
    match function:
        case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name, ctx=ast.Load()):
            return name
    return ""


def _compared_with_none(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.Compare(left=value, ops=[ast.Is() | ast.Eq()], comparators=[ast.Constant(value=None)]):
            return [value]
        case ast.Call(func=ast.Attribute(attr="assertIsNone"), args=[value, *_]):
            return [value]
    return []


def _called(statements: Iterable[ast.stmt], helpers: Iterable[ast.stmt]) -> list[ast.FunctionDef]:
    """Return the helpers that statements name, directly or through others."""
    unread = {helper.name: helper for helper in helpers if isinstance(helper, ast.FunctionDef)}
    read: list[ast.FunctionDef] = []
    waiting = list(statements)
    while waiting and unread:
        names = {node.id for node in ast.walk(waiting.pop()) if isinstance(node, ast.Name)}
        found = [unread.pop(name) for name in names & unread.keys()]
        waiting += found
        read += found
    return read


class _PlainTests:
    """What names stand for in tests; a name has one meaning, wherever it stands."""

    def __init__(self, nodes: Sequence[ast.AST], answered: Iterable[str]) -> None:
        functions = [node for node in nodes if type(node) is ast.FunctionDef]
        self._functions = {function.name: function for function in functions}
        self._parameters = {parameter.arg for function in functions for parameter in function.args.args}
        self._answered = self._parameters.union(answered)
        bindings = _Bindings(nodes, self._functions)
        self._objects = bindings.always(self._is_construction)
        self._counts = bindings.always(self._is_answer)
        loops = [node for node in nodes if isinstance(node, ast.For) and self._counts_up(node)]
        self._indices = {loop.target.id for loop in loops if isinstance(loop.target, ast.Name)}
        compared = {id(self._inmost(side)) for node in nodes for side in _sides(node)}
        self._fixed = bindings.fixed(compared)  # names of constants that occur in comparisons alone
        self._tables = bindings.tables  # names of constants that occur in loops alone

    def is_step(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.FunctionDef(args=ast.arguments(defaults=[]), body=body, decorator_list=[]):
                return all(map(self.is_step, body))
            case ast.For(body=body, orelse=[]):
                return self._is_certain(statement) and all(map(self.is_step, body))
            case ast.Assert(test=test):
                return self._is_condition(test)
            case (
                ast.Assign(targets=[ast.Name() | ast.Tuple(elts=[*_])], value=value)
                | ast.Expr(value=value)
                | ast.Return(value=value)
            ):
                return self._is_plain(value)
        return False

    def _is_certain(self, loop: ast.For) -> bool:
        """Return whether no change of an argument decides how often a loop runs."""
        is_table = isinstance(loop.iter, ast.Name) and loop.iter.id in self._tables
        return is_table or is_constant(loop.iter) or self._counts_up(loop)

    def _is_condition(self, test: ast.expr) -> bool:
        match test:
            case ast.BoolOp(values=tests):
                return all(map(self._is_check, tests))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._is_plain(operand)
        return self._is_check(test)

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
                is_helper = isinstance(function, ast.Name) and function.id in self._functions
                known = is_helper or self._is_program(function) or self._is_of_one_value(value)
                passed = [*value.args, *(keyword.value for keyword in value.keywords)]
                return known and all(map(self._is_plain, passed))
        is_pure = isinstance(value, ast.Lambda) and not any(isinstance(n, _ACTING) for n in ast.walk(value))
        return is_pure or is_constant(value)

    def _is_fixed(self, value: ast.expr) -> bool:
        """Return whether this is a constant, or made of one whose name is used in comparisons alone."""
        inmost = self._inmost(value)
        return is_constant(inmost) or (isinstance(inmost, ast.Name) and inmost.id in self._fixed)

    def _counts_up(self, node: ast.AST) -> bool:
        """Return whether this is `for i in range(count)`, where the program returned the count."""
        match node:
            case ast.For(
                target=ast.Name(),
                iter=ast.Call(func=ast.Name(id="range"), args=[ast.Name(id=count)], keywords=[]),
            ):
                return count in self._counts
        return False

    def _is_answer(self, value: ast.expr) -> bool:
        """Return whether this is a call of the program."""
        return isinstance(value, ast.Call) and self._is_program(value.func)

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
                return name in self._parameters or (name in self._answered and is_camel_case(name))
        return False

    def _inmost(self, value: ast.expr) -> ast.expr:
        """Return what `len`, `sorted` and the like are applied to, or of what this is an item."""
        match value:
            case ast.Subscript(value=whole, slice=ast.Constant()):
                return self._inmost(whole)
            case ast.Subscript(value=whole, slice=ast.Name(id=name)) if name in self._indices:
                return self._inmost(whole)
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
    """Return whether an expression is written with literals alone; `set()` counts as one."""
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


class _Bindings:
    """The expressions to which names are bound, and the places in which names are read."""

    def __init__(self, nodes: Sequence[ast.AST], functions: dict[str, ast.FunctionDef]) -> None:
        self._names = [node for node in nodes if type(node) is ast.Name]
        self._unexplained = {id(name) for name in self._names if type(name.ctx) is not ast.Load}
        self.values: dict[str, list[Any]] = {}  # None for what is no single expression
        self._passed: dict[int, str] = {}  # identity of an argument of a helper → its parameter
        for node in nodes:
            match node:
                case ast.Assign(targets=[target], value=value):
                    self._bind(target, value)
                case ast.Call(func=ast.Name(id=name)) if name in functions:
                    self._pass(node, functions[name])
        called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
        for name in self._names:
            if name.id in functions and id(name) not in called:  # whoever has it may call it
                self._pass(None, functions[name.id])
        self.tables = self._loop_tables(nodes)
        for node in nodes:
            if isinstance(node, ast.For):
                for item in self._items(node.iter):
                    self._bind(node.target, item)

    def _bind(self, target: ast.expr, value: Any) -> None:
        match target, value:
            case ast.Name(id=name), _:
                self.values.setdefault(name, []).append(value)
                self._unexplained.discard(id(target))
            case ast.Tuple(elts=names), ast.Tuple(elts=values) | ast.List(elts=values):
                for name, part in zip(names, values, strict=False):
                    self._bind(name, part)
            case ast.Tuple(elts=names), _:
                for name in names:
                    self._bind(name, None)

    def _pass(self, call: ast.Call | None, function: ast.FunctionDef) -> None:
        parameters = [parameter.arg for parameter in function.args.args]
        in_order = call is not None and not call.keywords and len(call.args) == len(parameters)
        for name, value in zip(
            parameters, call.args if call and in_order else [None] * len(parameters), strict=True
        ):
            self.values.setdefault(name, []).append(value)
            self._passed[id(value)] = name

    def _loop_tables(self, nodes: Sequence[ast.AST]) -> dict[str, list[ast.expr]]:
        """Return the names of lists that a single loop reads, and nothing else, with their items."""
        looped = {id(node.iter) for node in nodes if isinstance(node, ast.For)}
        names = [name for name in self._names if type(name.ctx) is ast.Load]
        read = {name.id for name in names if id(name) not in looped}
        read |= {name for name, count in Counter(name.id for name in names).items() if count > 1}
        tables = {}
        for name in self.values.keys() - read - self._of_unknown_value():
            match self.values[name]:
                case [ast.List(elts=items) | ast.Tuple(elts=items)]:
                    tables[name] = items
        return tables

    def _items(self, iterated: ast.expr) -> list[Any]:
        match iterated:
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return items
            case ast.Name(id=name) if name in self.tables:
                return self.tables[name]
        return [None]

    def _of_unknown_value(self) -> set[str]:
        return {name.id for name in self._names if id(name) in self._unexplained}

    def always(self, holds: Callable[[ast.expr], bool]) -> set[str]:
        """Return the names for which this holds whatever they are bound to."""
        return {
            name
            for name in self.values.keys() - self._of_unknown_value()
            if all(value is not None and holds(value) for value in self.values[name])
        }

    def fixed(self, compared: set[int]) -> set[str]:
        """Return names of constants that are read in comparisons, and by helpers that do no more."""
        fixed = set(self.values)
        read = [name for name in self._names if type(name.ctx) is ast.Load and id(name) not in compared]
        while True:
            used = {name.id for name in read if self._passed.get(id(name)) not in fixed}
            kept = self.always(partial(_stands_for_constant, fixed)) & fixed - used
            if kept == fixed:
                return fixed
            fixed = kept


def _stands_for_constant(fixed: set[str], value: ast.expr) -> bool:
    return is_constant(value) or (isinstance(value, ast.Name) and value.id in fixed)


def _sides(node: ast.AST) -> list[ast.expr]:
    return [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
