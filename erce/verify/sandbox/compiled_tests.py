"""Set-up and tests → compiled code and the closed list of names that the program answers."""

import ast
import builtins
import importlib
import os
import symtable
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, ModuleType


class BrokenTestsError(ValueError):
    """The tests cannot tell a right program from a wrong one; the message says why."""


@dataclass(frozen=True)
class Plan:
    """What the judge runs. `independent` tests bind no name that a later one could read."""

    setup: tuple[CodeType, ...]
    tests: tuple[CodeType, ...]
    entry_points: tuple[str, ...]
    required: frozenset[str]  # entry points that neither set-up nor tests define
    modules: tuple[str, ...]  # of the standard library, used without an import
    independent: bool


@lru_cache(maxsize=64)
def plan(setup: tuple[str, ...], tests: tuple[str, ...], entry_points: tuple[str, ...] | None) -> Plan:
    """The tests, ready to run; BrokenTestsError where no verdict could come of them."""
    compiled = [
        tuple(_compiled(source, what) for source in part)
        for part, what in ((setup, "set-up"), (tests, "test"))
    ]
    loaded, bound = _names((*setup, *tests))
    answered = free_names(setup, tests) if entry_points is None else tuple(sorted(set(entry_points)))
    if not answered:
        raise BrokenTestsError("the tests use no name that a program could define: name its entry points")
    modules = loaded & sys.stdlib_module_names - set(dir(builtins)) - set(answered)
    return Plan(
        setup=compiled[0],
        tests=compiled[1],
        entry_points=answered,
        required=frozenset(answered) - bound,
        modules=tuple(sorted(modules)),
        independent=not _names(tests)[1],
    )


def require_asserts(tests: Sequence[str], setup: Sequence[str] = ()) -> None:
    """BrokenTestsError where the tests are empty or not Python, or nothing in them can refuse a program.

    What can: an `assert`, a `raise`, or a call of something named assert…, in the tests or their set-up.

    >>> require_asserts(["f(1) == 1"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    erce...BrokenTestsError: the tests have no assert, so any program would pass: write one
    >>> require_asserts(["check(f)"], setup=["def check(f): assert f(1) == 1"])
    """
    if not tests:
        raise BrokenTestsError("a problem without tests accepts everything: give it tests")
    # All of them, though one would do: each must be Python.
    asserting = [_asserts(test, "test") for test in tests] + [_asserts(each, "set-up") for each in setup]
    if not any(asserting):
        raise BrokenTestsError("the tests have no assert, so any program would pass: write one")


def free_names(setup: Sequence[str], tests: Sequence[str]) -> tuple[str, ...]:
    """Names that the tests or their set-up read and that neither they nor Python define, sorted.

    Python's are its builtins and the modules of its library, which tests may use without an import, but not
    such a module's name where it is called: a module cannot be.

    >>> free_names(["import math"], ["assert math.isclose(f(x=1), [g(i) for i in range(3)][0])"])
    ('f', 'g')
    >>> free_names([], ["assert numbers(2) == [0, 1]"])
    ('numbers',)
    """
    loaded, bound = _names((*setup, *tests))
    starred = {name for source in (*setup, *tests) for name in _starred(source)}
    called = {name for source in (*setup, *tests) for name in _called(source)}
    ours = bound | starred | set(dir(builtins)) | (sys.stdlib_module_names - called)
    return tuple(sorted(loaded - ours))


@lru_cache(maxsize=1024)
def imports_of(setup: tuple[str, ...]) -> tuple[str, ...]:
    """The import statements at the top of the set-up: the part of it that the program may see as well."""
    statements = []
    for source in setup:
        try:
            body = _parse(source).body
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        statements += [ast.unparse(each) for each in body if isinstance(each, ast.Import | ast.ImportFrom)]
    return tuple(statements)


@lru_cache(maxsize=4096)
def _asserts(source: str, what: str) -> bool:
    return any(_refuses(node) for node in ast.walk(_parsed(source, what)))


def _refuses(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        return name.startswith("assert")
    return isinstance(node, ast.Assert | ast.Raise)


class _Quiet:
    """Held while a text is parsed: its odd escapes are no matter for this process's warnings."""

    lock = threading.Lock()


def _parse(source: str) -> ast.Module:
    with _quiet():
        return ast.parse(source)


@contextmanager
def _quiet() -> Iterator[None]:
    with _Quiet.lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _after_fork() -> None:
    _Quiet.lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _parsed(source: str, what: str) -> ast.Module:
    try:
        return _parse(source)
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        said = error.msg if isinstance(error, SyntaxError) else f"{type(error).__name__}: {error}"
        raise BrokenTestsError(
            f"the {what} {source[:80]!r} is not Python ({said}): correct it in the task"
        ) from error


def _compiled(source: str, what: str) -> CodeType:
    try:
        return compile(_parsed(source, what), f"<{what}>", "exec")
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise BrokenTestsError(
            f"the {what} {source[:80]!r} is not Python ({error}): correct it in the task"
        ) from error


def _names(sources: Iterable[str]) -> tuple[set[str], set[str]]:
    """(names read in the scope of the module or handed up to it, names bound in that scope)."""
    loaded: set[str] = set()
    bound: set[str] = set()
    for source in sources:
        with _quiet():
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
    return loaded - bound, bound


def _called(source: str) -> list[str]:
    calls = (node.func for node in ast.walk(_parsed(source, "test")) if isinstance(node, ast.Call))
    return [function.id for function in calls if isinstance(function, ast.Name)]


def _starred(source: str) -> list[str]:
    """Names that `from module import *` brings, of modules of Python's library."""
    modules = [
        node.module
        for node in ast.walk(_parsed(source, "set-up"))
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*" and node.module is not None
    ]
    return [name for module in modules for name in _public(module)]


def _public(module: str) -> list[str]:
    if module.partition(".")[0] not in sys.stdlib_module_names:
        return []
    found: ModuleType = importlib.import_module(module)
    return list(getattr(found, "__all__", None) or [name for name in dir(found) if not name.startswith("_")])
