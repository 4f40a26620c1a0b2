"""Set-up and tests as text → compiled code, and the closed list of names that the program defines."""

import ast
import builtins
import importlib
import os
import symtable
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from types import CodeType, ModuleType

from erce.verify.sandbox.expectations import called_for_effects, chained, expect_constants, is_camel_case
from erce.verify.sandbox.literal_asserts import builtins_tested, functions_called, show_values_alone
from erce.verify.sandbox.mirrored import mirrored_comparisons

_BUILTINS = frozenset(dir(builtins))
_LEAVES = (ast.Constant, ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)
_INNER = frozenset(
    kind
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST) and not issubclass(kind, _LEAVES)
)
_MAKERS_OF_TYPES = ("TypeVar", "ParamSpec", "NewType", "namedtuple", "NamedTuple")
_OF_TYPES = (ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.BinOp, ast.BitOr, ast.expr_context)
_OF_ONE_SCOPE = frozenset(
    {
        *(ast.Module, ast.Assert, ast.Expr, ast.Assign, ast.AugAssign, ast.Import, ast.ImportFrom, ast.alias),
        *(ast.Name, ast.Call, ast.keyword, ast.Starred, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp),
        *(ast.IfExp, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Subscript, ast.Slice, ast.Attribute),
        *(ast.JoinedStr, ast.FormattedValue, ast.If, ast.For, ast.While, ast.Pass),
    }
)  # node types that neither open a scope nor bind a name by their own text, but for imports


class BrokenTestsError(ValueError):
    """Tests that cannot tell a right program from a wrong one; the message says why."""


@dataclass(frozen=True)
class CompiledTests:
    """The code that a judge runs.

    `independent`: no test binds a name that a later test could read. `against_constants`: every assert
    compares with a constant, so that nothing expected can depend on arguments that the program changes.
    `called_for_effects`: functions of which the tests use no result. `chained`: methods that the tests call
    on their own result. `show_values_alone`: the tests look at
    nothing but values that the program returns for literals. `mirrored`: comparison methods in which an
    instance cannot cheat. `assert_in_contexts`: whether a `with` has asserts in it. `are_literal`: each test
    is made of `assert f(literals) == literal` (`literal_asserts.functions_called`).
    """

    setup: tuple[CodeType, ...]
    tests: tuple[CodeType, ...]
    entry_points: tuple[str, ...]
    required: frozenset[str]  # entry points that neither set-up nor tests define
    modules: tuple[str, ...]  # of the standard library, which the tests use without an import
    independent: bool
    against_constants: Callable[[], bool]
    called_for_effects: Callable[[], frozenset[str]]
    show_values_alone: Callable[[], bool]
    mirrored: Callable[[], frozenset[str]]
    assert_in_contexts: Callable[[], bool]
    chained: Callable[[], frozenset[str]]
    are_literal: bool = False


@lru_cache(maxsize=64)
def compile_tests(
    setup: tuple[str, ...], tests: tuple[str, ...], entry_points: tuple[str, ...] | None
) -> CompiledTests:
    """Compile set-up and tests; BrokenTestsError if they cannot lead to a verdict."""
    compiled = [
        tuple(_compiled(source, what) for source in part)
        for part, what in ((setup, "set-up"), (tests, "test"))
    ]
    loaded, bound = _read_and_bound((*setup, *tests))
    bound_by_tests = _read_and_bound(tests)[1]
    answered = free_names(setup, tests) if entry_points is None else tuple(sorted(set(entry_points)))
    if not answered:
        raise BrokenTestsError("the tests use no name that a program could define: name its entry points")
    named = frozenset(answered) - bound
    modules = (loaded & sys.stdlib_module_names) - _BUILTINS - set(answered)
    return CompiledTests(
        setup=compiled[0],
        tests=compiled[1],
        entry_points=answered,
        required=named - _BUILTINS if entry_points is None else named,
        modules=tuple(sorted(modules)),
        independent=not bound_by_tests,
        against_constants=cache(lambda: expect_constants(_statements(tests), _statements(setup), answered)),
        called_for_effects=cache(lambda: called_for_effects(_nodes_of((*setup, *tests)), answered)),
        show_values_alone=cache(lambda: show_values_alone(_statements(setup), _statements(tests), answered)),
        mirrored=cache(lambda: mirrored_comparisons(parsed(source, "test") for source in (*setup, *tests))),
        assert_in_contexts=cache(lambda: any(map(_is_context_with_asserts, _nodes_of((*setup, *tests))))),
        chained=cache(lambda: chained(_nodes_of((*setup, *tests)))),
    )


def compile_literal_asserts(tests: Iterable[str], answered: Iterable[str]) -> CompiledTests:
    """Return what `compile_tests` makes of tests that `called_with_literals` has read, in less time."""
    answered = tuple(sorted(set(answered)))
    return CompiledTests(
        setup=(),
        tests=tuple(compile(source, "<test>", "exec") for source in tests),
        entry_points=answered,
        required=frozenset(answered),
        modules=(),
        independent=True,
        against_constants=lambda: True,
        called_for_effects=frozenset,
        show_values_alone=lambda: True,
        mirrored=frozenset,
        assert_in_contexts=bool,
        chained=frozenset,
        are_literal=True,
    )


@lru_cache(maxsize=1024)
def called_with_literals(setup: tuple[str, ...], tests: tuple[str, ...]) -> tuple[str, ...]:
    """Return the functions that the tests call if these are literal asserts without a set-up, else ()."""
    return () if setup else functions_called(_statements(tests))


def require_asserts(tests: Sequence[str], setup: Sequence[str] = ()) -> None:
    """Raise BrokenTestsError unless the tests are Python and can refuse a program.

    An `assert`, a `raise`, or a call of something named assert…, in tests or set-up, can refuse a program.

    >>> require_asserts(["f(1) == 1"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    erce...BrokenTestsError: the tests have no assert, so any program would pass: write one
    >>> require_asserts(["check(f)"], setup=["def check(f): assert f(1) == 1"])
    """
    if not tests:
        raise BrokenTestsError("a problem without tests accepts everything: give it tests")
    # All are read, although one assert is enough: each must be Python.
    asserting = [_can_refuse(test, "test") for test in tests]
    if not any(asserting + [_can_refuse(source, "set-up") for source in setup]):
        raise BrokenTestsError("the tests have no assert, so any program would pass: write one")


def free_names(setup: Sequence[str], tests: Sequence[str]) -> tuple[str, ...]:
    """Return the sorted names that tests and set-up read and that neither they nor Python define.

    Python defines its builtins and the modules of its library, which tests may use without an import. A name
    that is called or handed on belongs to the program even if a module has the same name. So does the name of
    a builtin with which the tests check nothing else (`builtins_tested`).

    >>> free_names(["import math"], ["assert math.isclose(f(x=1), [g(i) for i in range(3)][0])"])
    ('f', 'g')
    >>> free_names([], ["assert numbers(2) == [0, 1]; check(bisect)", "assert round(2.5) == 3"])
    ('bisect', 'check', 'numbers', 'round')
    """
    loaded, bound = _read_and_bound((*setup, *tests))
    starred = {name for source in (*setup, *tests) for name in _star_imported(source)}
    objects = {name for source in (*setup, *tests) for name in _names_of_objects(source)}
    every = _nodes_of((*setup, *tests))
    free = loaded - bound - starred - (_BUILTINS - builtins_tested(every, handed_on=False))
    free = free or (loaded & builtins_tested(every, handed_on=True))
    return tuple(sorted(name for name in free if name in objects or name not in sys.stdlib_module_names))


@lru_cache(maxsize=1024)
def functions_left_to_the_program(setup: tuple[str, ...], tests: tuple[str, ...]) -> tuple[str, ...]:
    """Return the functions that the tests call and that neither they, the set-up nor Python defines.

    Names of classes, in CamelCase, are not among them, nor those of builtins, which check no other function.

    >>> functions_left_to_the_program((), ("assert is_sorted(f([Node(1)]))", "assert divmod(7, 2) == (3, 1)"))
    ('f', 'is_sorted')
    """
    plain = called_with_literals(setup, tests)
    if plain:
        return tuple(name for name in plain if not is_camel_case(name))
    called = {name for source in tests for name in _called_names(source) if not is_camel_case(name)}
    return tuple(name for name in free_names(setup, tests) if name in called - _BUILTINS)


@lru_cache(maxsize=1024)
def definitions_of(setup: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return the set-up's imports, types and classes, which the program sees; a class comes with its name.

    A class that asserts something may hold an expected value, and is not among them.
    """
    definitions = []
    for source in setup:
        try:
            body = _parse(source).body
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        future = "".join(f"{ast.unparse(node)}\n" for node in body if _is_future(node))
        for node in body:
            if _is_type(node) or (isinstance(node, ast.Import | ast.ImportFrom) and not _is_future(node)):
                definitions.append((ast.unparse(node), ""))
            elif isinstance(node, ast.ClassDef) and not any(map(_asserts, ast.walk(node))):
                definitions.append((future + ast.unparse(node), node.name))
    return tuple(definitions)


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _is_type(node: ast.stmt) -> bool:
    """Return whether this is an assignment such as `T = TypeVar("T")` or `Grid = list[list[int]]`."""
    match node:
        case ast.Assign(targets=[ast.Name()], value=ast.Call(func=ast.Name(id=maker))):
            return maker in _MAKERS_OF_TYPES
        case ast.Assign(targets=[ast.Name()], value=value) | ast.AnnAssign(target=ast.Name(), value=value):
            return value is not None and all(isinstance(part, _OF_TYPES) for part in ast.walk(value))
    return False


def _asserts(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return not _is_check_of_type(node.test)
    return _is_refusal(node) and not isinstance(node, ast.Raise)


def _is_context_with_asserts(node: ast.AST) -> bool:
    return isinstance(node, ast.With | ast.AsyncWith) and any(map(_is_refusal, ast.walk(node)))


def _is_check_of_type(test: ast.expr) -> bool:
    """Return whether a condition holds no expected value: `x.next is not None`, `isinstance(x, Node)`."""
    match test:
        case ast.Compare(left=value, ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return isinstance(value, ast.Name | ast.Attribute)
        case ast.Call(func=ast.Name(id="isinstance"), args=[value, ast.Name()], keywords=[]):
            return isinstance(value, ast.Name | ast.Attribute)
    return False


@lru_cache(maxsize=4096)
def _can_refuse(source: str, what: str) -> bool:
    body = parsed(source, what).body
    return any(isinstance(node, ast.Assert) for node in body) or any(map(_is_refusal, nodes(source, what)))


def _is_refusal(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        return name.startswith("assert")
    return isinstance(node, ast.Assert | ast.Raise)


def _statements(sources: Iterable[str]) -> list[ast.stmt]:
    return [statement for source in sources for statement in parsed(source, "test").body]


class _Parsing:
    """The lock that is held while a text is parsed without warnings about its escapes."""

    lock = threading.Lock()


@lru_cache(maxsize=64)  # enough for set-up and tests of one problem, whose texts are read several times
def _parse(source: str) -> ast.Module:
    with _without_warnings():
        return ast.parse(source)


@contextmanager
def _without_warnings() -> Iterator[None]:
    with _Parsing.lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _after_fork() -> None:
    _Parsing.lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@lru_cache(maxsize=64)
def _nodes(source: str) -> list[ast.AST]:
    tree_nodes: list[ast.AST] = [_parse(source)]
    for node in tree_nodes:  # the list grows during the loop
        for field in node._fields:
            value = getattr(node, field)
            for child in value if type(value) is list else (value,):
                if type(child) in _INNER:
                    tree_nodes.append(child)
    return tree_nodes


def _nodes_of(sources: Iterable[str]) -> list[ast.AST]:
    return [node for source in sources for node in nodes(source, "test")]


def nodes(source: str, what: str) -> list[ast.AST]:
    """Return the nodes of a text breadth first, without constants, operators and contexts."""
    parsed(source, what)
    return _nodes(source)


def parsed(source: str, what: str) -> ast.Module:
    """Return the tree of a text; a BrokenTestsError, which calls the text `what`, if it is not Python."""
    try:
        return _parse(source)
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else f"{type(error).__name__}: {error}"
        raise BrokenTestsError(
            f"the {what} {source[:80]!r} is not Python ({reason}): correct it in the task"
        ) from error


def _compiled(source: str, what: str) -> CodeType:
    try:
        return compile(parsed(source, what), f"<{what}>", "exec")
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise BrokenTestsError(
            f"the {what} {source[:80]!r} is not Python ({error}): correct it in the task"
        ) from error


def _read_and_bound(sources: Iterable[str]) -> tuple[set[str], set[str]]:
    """Return the names that the sources read from the module's scope, and the names that they bind in it."""
    loaded: set[str] = set()
    bound: set[str] = set()
    for source in sources:
        loaded_here, bound_here = _names_of(source)
        loaded |= loaded_here
        bound |= bound_here
    return loaded - bound, bound


@lru_cache(maxsize=64)
def _names_of(source: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that one source reads from the module's scope, and those that it binds in it."""
    tree_nodes = _nodes(source)
    if not _OF_ONE_SCOPE.issuperset(map(type, tree_nodes)):
        return _names_by_scope(source)
    names = [(node.id, type(node.ctx)) for node in tree_nodes if type(node) is ast.Name]
    imported = {
        (alias.asname or alias.name).partition(".")[0]
        for alias in tree_nodes
        if type(alias) is ast.alias and alias.name != "*"
    }
    loaded = frozenset(name for name, context in names if context is ast.Load)
    return loaded, frozenset(name for name, context in names if context is not ast.Load) | imported


def _names_by_scope(source: str) -> tuple[frozenset[str], frozenset[str]]:
    loaded: set[str] = set()
    bound: set[str] = set()
    with _without_warnings():
        top = symtable.symtable(source, "<test>", "exec")
    tables = [top]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            if table is top or symbol.is_global():
                if symbol.is_referenced():
                    loaded.add(symbol.get_name())
                if symbol.is_assigned() or symbol.is_imported():
                    bound.add(symbol.get_name())
    return frozenset(loaded), frozenset(bound)


def _called_names(source: str) -> list[str]:
    calls = (node.func for node in nodes(source, "test") if isinstance(node, ast.Call))
    return [function.id for function in calls if isinstance(function, ast.Name)]


def _names_of_objects(source: str) -> list[str]:
    """Return the names that are read otherwise than a module is, as in `name.attribute`."""
    found = nodes(source, "test")
    owners = {id(node.value) for node in found if isinstance(node, ast.Attribute)}
    return [node.id for node in found if isinstance(node, ast.Name) and id(node) not in owners]


def _star_imported(source: str) -> list[str]:
    """Return the names that `from module import *` brings from modules of Python's library."""
    modules = [
        node.module
        for node in nodes(source, "set-up")
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*" and node.module is not None
    ]
    return [name for module in modules for name in _public(module)]


def _public(module: str) -> list[str]:
    if module.partition(".")[0] not in sys.stdlib_module_names:
        return []
    library: ModuleType = importlib.import_module(module)
    public = [name for name in dir(library) if not name.startswith("_")]
    return list(getattr(library, "__all__", None) or public)
