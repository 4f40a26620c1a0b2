"""Tests → whether the changes that a program makes to its arguments may be copied back to the tests.

They may if nothing that the tests expect can depend on them, or if a function is called for its effect alone.
"""

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from erce.verify.sandbox.unittest_style import as_functions

# Builtins whose result depends on their one argument alone.
_ONE_VALUE_FUNCTIONS = (
    *("len", "sorted", "list", "tuple", "set", "dict", "range", "sum", "max", "min", "str", "type"),
)
_MAY_CHANGE_A_VALUE = (
    ast.Call,
    ast.NamedExpr,
    ast.Await,
    ast.Yield,
    ast.YieldFrom,
)


def expect_constants(
    statements: Iterable[ast.stmt], setup: Iterable[ast.stmt], answered: Iterable[str]
) -> bool:
    """Return whether tests expect nothing but constants, so that no changed argument can alter it.

    Each assert must be a value, `not` a value, a value `==` or `is` a constant, or such comparisons joined by
    `and` or `or`. Values are names, constants, parts of values, and what the program, a function of the tests
    or a builtin such as `sorted` makes of values. The other statements, and the functions of the set-up that
    these call, must be as simple. `answered` are the names of the program.
    """
    body = [*as_functions(statements), *_functions_reached(statements, setup)]
    functions = [node.name for node in body if isinstance(node, ast.FunctionDef)]
    if len(set(functions)) < len(functions):
        return False
    tests = _ConstantTests([node for statement in body for node in ast.walk(statement)], answered)
    return all(map(tests.may_contain, body))


def called_for_effects(nodes: Sequence[ast.AST], answered: Iterable[str]) -> frozenset[str]:
    """Return the functions and methods that tests call for their effects: they use no result of them.

    A result is not used if it is compared with None, gets a name that nobody reads, or is where a chain of
    unused calls begins. `nodes` are in the order of `ast.walk`, `answered` the names of the program.

    >>> called_for_effects([*ast.walk(ast.parse("f(v); assert g(v) == max(v)"))], ["f", "g"])
    frozenset({'f'})
    >>> sorted(called_for_effects([*ast.walk(ast.parse("a.put(1).cut(); assert a.cut().x"))], []))
    ['put']
    """
    unused = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    unused |= {id(value) for node in nodes for value in _compared_with_none(node)}
    variables = [node for node in nodes if type(node) is ast.Name]
    read = {node.id for node in variables if _name_read(node) and id(node) not in unused}
    unused |= {id(node.value) for node in nodes if isinstance(node, ast.Assign) and _is_unread(node, read)}
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    for call in calls:
        if id(call) in unused and isinstance(call.func, ast.Attribute):
            unused.add(id(call.func.value))
    used = {_name_read(call.func) for call in calls if id(call) not in unused}
    if "" in used:  # what is called there may be any function
        return frozenset()
    # A function of the tests gets the program's function to call it; whoever else gets it may use a result.
    functions = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    to_functions = {id(value) for call in calls if _name_read(call.func) in functions for value in call.args}
    called = {id(call.func) for call in calls}
    other_uses = {_name_read(node) for node in nodes if id(node) not in called | to_functions}
    bound = {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {node.id for node in variables if not _name_read(node)}
    if used & bound:  # such a name may stand for a function of the program, and its result is used
        other_uses |= {_name_read(node) for node in nodes if id(node) in to_functions}
    methods = {call.func.attr for call in calls if isinstance(call.func, ast.Attribute)}
    names = {_name_read(node) for node in nodes} & methods.union(answered)
    return frozenset(names - used - other_uses)


def chained(nodes: Sequence[ast.AST]) -> frozenset[str]:
    """Return the methods that tests call on their own result, which then is an object with this method.

    Of a method among them, a result that is used otherwise is that of such a chain.

    >>> text = "a.cut(1); b = a.cut(1).cut(2); assert 1 in b.put(1).put(2) in b.put(3)"
    >>> chained([*ast.walk(ast.parse(text))])
    frozenset({'cut'})
    """
    methods = {
        id(node): node.func
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    names = {call: method.attr for call, method in methods.items()}
    links = {call: id(method.value) for call, method in methods.items()}
    links = {outer: inner for outer, inner in links.items() if names[outer] == names.get(inner)}
    dropped = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    others = names.keys() - links.keys() - set(links.values()) - dropped
    return frozenset({names[call] for call in links} - {names[call] for call in others})


def _is_unread(assignment: ast.Assign, read: set[str]) -> bool:
    return all(isinstance(target, ast.Name) and target.id not in read for target in assignment.targets)


def _name_read(node: ast.AST) -> str:
    """Return the name of a variable or attribute that is read here; "" for any other node."""
    match node:
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


def _functions_reached(statements: Iterable[ast.stmt], setup: Iterable[ast.stmt]) -> list[ast.FunctionDef]:
    """Return the set-up's functions that statements name, directly or through others."""
    remaining = {node.name: node for node in setup if isinstance(node, ast.FunctionDef)}
    reached: list[ast.FunctionDef] = []
    waiting = list(statements)
    while waiting and remaining:
        names = {node.id for node in ast.walk(waiting.pop()) if isinstance(node, ast.Name)}
        named = [remaining.pop(name) for name in names & remaining.keys()]
        waiting += named
        reached += named
    return reached


class _ConstantTests:
    """The statements and expressions in which no changed argument can hide; scopes are not told apart."""

    def __init__(self, nodes: Sequence[ast.AST], answered: Iterable[str]) -> None:
        functions = [node for node in nodes if type(node) is ast.FunctionDef]
        self._functions = {function.name: function for function in functions}
        self._parameters = {parameter.arg for function in functions for parameter in function.args.args}
        self._answered = self._parameters.union(answered)
        bindings = _Bindings(nodes, self._functions)
        self._objects = bindings.always(self._is_construction)  # names of objects that the program constructs
        self._results = bindings.always(self._is_result)  # names of what the program returned
        loops = [node for node in nodes if isinstance(node, ast.For) and self._counts_up(node)]
        # Names that count up to such a result: an index by them is an item.
        self._indices = {loop.target.id for loop in loops if isinstance(loop.target, ast.Name)}
        compared = {id(self._inmost(side)) for node in nodes for side in _sides(node)}
        self._fixed = bindings.fixed(compared)  # names of constants that occur in comparisons alone
        self._tables = bindings.tables  # names of constants that occur in loops alone

    def may_contain(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.FunctionDef(args=ast.arguments(defaults=[]), body=body, decorator_list=[]):
                return all(map(self.may_contain, body))
            case ast.For(body=body, orelse=[]):
                return self._has_known_length(statement) and all(map(self.may_contain, body))
            case ast.Assert(test=test):
                return self._is_condition(test)
            case ast.Import() | ast.ImportFrom():
                return True
            case (
                ast.Assign(targets=[ast.Name() | ast.Tuple() | ast.Subscript()], value=value)
                | ast.Expr(value=value)
                | ast.Return(value=value)
            ):
                return self._is_value(value)
        return False

    def _has_known_length(self, loop: ast.For) -> bool:
        """Return whether the number of rounds is fixed, or is one that the program returned."""
        is_table = isinstance(loop.iter, ast.Name) and loop.iter.id in self._tables
        return is_table or is_constant(loop.iter) or self._counts_up(loop)

    def _is_condition(self, test: ast.expr) -> bool:
        match test:
            case ast.BoolOp(values=tests):
                return all(map(self._is_check, tests))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._is_value(operand)
        return self._is_check(test) or self._is_value(test)

    def _is_check(self, test: ast.expr) -> bool:
        match test:
            case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]):
                if self._is_fixed(right):
                    return self._is_value(left)
                return self._is_fixed(left) and self._is_value(right)
        return False

    def _is_value(self, value: Any) -> bool:
        match value:
            case ast.Name():
                return True
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                pass
            case ast.Subscript(value=whole, slice=part):
                parts = [whole, part]
            case ast.Slice(lower=lower, upper=upper, step=step):
                parts = [part for part in (lower, upper, step) if part is not None]
            case ast.Call():
                return self._is_value_of_call(value)
            case ast.Lambda():
                return not any(isinstance(node, _MAY_CHANGE_A_VALUE) for node in ast.walk(value))
            case _:
                return is_constant(value)
        return all(map(self._is_value, parts))

    def _is_value_of_call(self, call: ast.Call) -> bool:
        passed = [*call.args, *(keyword.value for keyword in call.keywords)]
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        if name and all(map(is_constant, passed)):
            return True  # no argument is one that the program can have changed
        is_known = name in self._functions or self._is_program(call.func) or self._is_of_one_value(call)
        return is_known and all(map(self._is_value, passed))

    def _is_fixed(self, value: ast.expr) -> bool:
        """Return whether this is a constant, a name in `_fixed`, or an item or the length of one of these."""
        inmost = self._inmost(value)
        return is_constant(inmost) or (isinstance(inmost, ast.Name) and inmost.id in self._fixed)

    def _counts_up(self, node: ast.AST) -> bool:
        """Return whether this is `for i in range(count)`, where the program returned the count."""
        match node:
            case ast.For(
                target=ast.Name(),
                iter=ast.Call(func=ast.Name(id="range"), args=[ast.Name(id=count)], keywords=[]),
            ):
                return count in self._results
        return False

    def _is_result(self, value: ast.expr) -> bool:
        """Return whether this is what a call of the program returns."""
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
        """Return a value without its subscripts and builtins: of `sorted(v)[0]`, `v`."""
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
                return name in _ONE_VALUE_FUNCTIONS and name not in self._answered
        return False


def is_camel_case(name: str) -> bool:
    """Return whether a name is that of a class, by custom.

    >>> [is_camel_case(name) for name in ("Node", "LRUCache", "Find_Max", "f", "total")]
    [True, True, False, False, False]
    """
    return name[:1].isupper() and "_" not in name


def is_constant(value: ast.expr) -> bool:
    """Return whether an expression is written with literals alone; `set()` counts as a literal."""
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
        self._not_followed = {id(name) for name in self._names if type(name.ctx) is not ast.Load}
        self.values: dict[str, list[Any]] = {}  # None: a value that is no expression of the tests
        self._passed: dict[int, str] = {}  # identity of an argument of a helper → its parameter
        for node in nodes:
            match node:
                case ast.Assign(targets=[target], value=value):
                    self._bind(target, value)
                case ast.Call(func=ast.Name(id=name)) if name in functions:
                    self._pass(node, functions[name])
        called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
        for name in self._names:
            if name.id in functions and id(name) not in called:  # passed on, it may be called with anything
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
                self._not_followed.discard(id(target))
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
        """Return the items of each list that a single `for` reads, by name; a bare `assert name` may, too."""
        looped = {id(node.iter) for node in nodes if isinstance(node, ast.For)}
        asserted = {id(node.test) for node in nodes if isinstance(node, ast.Assert)}
        names = [name for name in self._names if type(name.ctx) is ast.Load and id(name) not in asserted]
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
        return {name.id for name in self._names if id(name) in self._not_followed}

    def always(self, holds: Callable[[ast.expr], bool]) -> set[str]:
        """Return the names for which this holds whatever they are bound to."""
        return {
            name
            for name in self.values.keys() - self._of_unknown_value()
            if all(value is not None and holds(value) for value in self.values[name])
        }

    def fixed(self, compared: set[int]) -> set[str]:
        """Return the names that stand for constants alone, and that only comparisons read.

        A function of the tests that gets such a name must do no more with it.
        """
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
