"""Set-up and tests as text → which names the program answers for, and what a judge needs to run them.

This reads, and never runs: it happens in the user's process, once for each problem.
"""

import ast
import builtins
import os
import symtable
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

BUILTINS = frozenset(dir(builtins))
_NOT_PYTHON = (ValueError, SyntaxError, RecursionError, MemoryError)
_MAX_CHARACTERS = 50_000  # that Python's parser reads in seconds at the worst
# Modules whose functions run no text and leave nothing behind, but for the refused names.
_LIBRARY = {
    *("math", "cmath", "itertools", "functools", "collections", "copy", "datetime", "fractions", "typing"),
    *("heapq", "bisect", "operator"),
}
_REFUSED = {
    *("eval", "exec", "compile", "getattr", "setattr", "delattr", "globals", "locals", "vars", "open"),
    *("exit", "quit", "input", "attrgetter", "methodcaller", "breakpoint", "format", "format_map"),
    "get_type_hints",  # which evaluates texts
}
_INTERNALS = ("_", "gi_", "cr_", "ag_", "f_", "tb_", "co_")  # beginnings of names that lead out of a function


class BrokenTestsError(ValueError):
    """Tests that cannot tell a right program from a wrong one; the message says why."""


class Names(NamedTuple):
    """The names that a text reads and binds as a module, by kind."""

    read: set[str]  # and not bound
    read_at_once: set[str]  # of these, as the module is loaded and not only when a function is called
    bound: set[str]
    assigned: set[str]  # of these, otherwise than by an import


@dataclass(frozen=True)
class ReadTests:
    """What set-up and tests say without being run."""

    entry_points: tuple[str, ...]  # the closed list of names that the tests get from the program
    required: tuple[str, ...]  # entry points that neither set-up nor tests define
    modules: tuple[str, ...]  # of Python's library, which the tests use without an import
    imports: tuple[str, ...]  # statements of set-up and tests, which the program sees as well
    only_values: bool  # running them leaves nothing in the judge


@lru_cache(maxsize=4096)
def read_tests(setup: Sequence[str], tests: Sequence[str], entry_points: Sequence[str] | None) -> ReadTests:
    """Read set-up and tests, which are tuples; BrokenTestsError if they cannot lead to a verdict."""
    require_asserts(tests, setup)
    sources = (*setup, *tests)
    loaded, bound = read_and_bound(sources)
    answered = free_names(setup, tests) if entry_points is None else tuple(sorted(set(entry_points)))
    if not answered:
        raise BrokenTestsError("the tests use no name that a program could define: name its entry points")
    modules = (loaded & sys.stdlib_module_names) - BUILTINS - set(answered)
    return ReadTests(
        entry_points=answered,
        required=tuple(name for name in answered if name not in bound),
        modules=tuple(sorted(modules)),
        imports=tuple(statement for source in sources for statement in import_statements(source)),
        only_values=modules <= _LIBRARY and all(map(_only_values, sources)),
    )


def require_asserts(tests: Sequence[str], setup: Sequence[str] = ()) -> None:
    """Raise BrokenTestsError unless the tests are Python and can refuse a program.

    An `assert`, a `raise`, or a call of something named assert…, in tests or set-up, can refuse a program.
    """
    if not tests:
        raise BrokenTestsError("a problem without tests accepts everything: give it tests")
    # All are read, although one assert is enough: each must be Python.
    refusing = [_can_refuse(source) for source in (*tests, *setup)]
    if not any(refusing):
        raise BrokenTestsError("the tests have no assert, so any program would pass: write one")


@lru_cache(maxsize=4096)
def free_names(setup: Sequence[str], tests: Sequence[str]) -> tuple[str, ...]:
    """Return the sorted names that tests and set-up read and that neither they nor Python define.

    Python defines its builtins and the modules of its library, which tests may use without an import. A name
    that is called or handed on belongs to the program even if a module has the same name. BrokenTestsError
    for an import of *, which does not say what it brings.

    >>> free_names(("import math",), ("assert math.isclose(f(x=1), [g(i) for i in range(3)][0])",))
    ('f', 'g')
    """
    loaded, bound = read_and_bound((*setup, *tests))
    objects: set[str] = set()  # names that are read otherwise than a module is, as in `name.attribute`
    for source in (*setup, *tests):
        nodes = list(ast.walk(_parsed(source)))
        owners = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
        objects |= {node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in owners}
        if any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in nodes):
            raise BrokenTestsError("an import of * hides what is the program's: give entry_points")
    free = loaded - bound - BUILTINS
    return tuple(sorted(name for name in free if name in objects or name not in sys.stdlib_module_names))


def import_statements(source: str) -> list[str]:
    """Return the import statements of a source, without those from `__future__`."""
    return [
        ast.unparse(node)
        for node in _parsed(source).body
        if isinstance(node, ast.Import)
        or (isinstance(node, ast.ImportFrom) and node.module != "__future__" and not node.level)
    ]


def _only_values(source: str) -> bool:
    """Return whether all that a source can do is to make values and bind names."""
    for node in ast.walk(_parsed(source)):
        match node:
            case ast.Import(names=names):
                allowed = all(alias.name in _LIBRARY for alias in names)
            case ast.ImportFrom(module=module, names=names):
                allowed = module in _LIBRARY
                allowed = allowed and not any(alias.name in {"*", *_REFUSED} for alias in names)
            case ast.Name(id=name):
                allowed = name not in _REFUSED and not name.startswith("__")
            case ast.Attribute(attr=name, ctx=context):
                allowed = isinstance(context, ast.Load) and name not in _REFUSED
                allowed = allowed and not name.startswith(_INTERNALS)
            case _:
                allowed = not isinstance(node, ast.ClassDef)
        if not allowed:
            return False
    return True


@lru_cache(maxsize=4096)
def _can_refuse(source: str) -> bool:
    for node in ast.walk(_parsed(source)):
        match node:
            case ast.Assert() | ast.Raise():
                return True
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name.startswith("assert"):
                return True
    return False


def read_and_bound(sources: Sequence[str]) -> tuple[set[str], set[str]]:
    """Return the names that the sources read from the module's scope, and the names that they bind in it."""
    names = [names_of(source) for source in sources if _parsed(source)]
    bound = set().union(*[each.bound for each in names])
    return set().union(*[each.read for each in names]) - bound, bound


def names_of(source: str) -> Names:
    """Return the names of a text that is Python."""
    with _ignored_warnings():
        tables = [symtable.symtable(source, "<test>", "exec")]
    for table in tables:  # which grows
        tables += table.get_children()
    symbols = [symbol for table in tables for symbol in table.get_symbols() if symbol.is_global()]
    at_once = tables[0].get_symbols()
    assigned = {symbol.get_name() for symbol in symbols if symbol.is_assigned()}
    bound = assigned | {symbol.get_name() for symbol in symbols if symbol.is_imported()}
    read, read_at_once = (
        {symbol.get_name() for symbol in part if symbol.is_referenced()} - bound
        for part in (symbols, at_once)
    )
    return Names(read, read_at_once, bound, assigned)


@lru_cache(maxsize=64)
def statements_of(text: str) -> list[ast.stmt] | None:
    """Return the statements of a model's text; None if it is not Python, or too long to try.

    It is read and not compiled: the code of nested `finally` doubles with each.
    """
    if len(text) > _MAX_CHARACTERS:
        return None
    try:
        with _ignored_warnings():
            symtable.symtable(text, "<text>", "exec")
            return ast.parse(text).body
    except _NOT_PYTHON:
        return None


@lru_cache(maxsize=64)
def _parsed(source: str) -> ast.Module:
    """Return the tree of a text; BrokenTestsError if it is not Python."""
    try:
        with _ignored_warnings():
            tree = ast.parse(source)
            compile(tree, "<test>", "exec")
    except _NOT_PYTHON as error:
        reason = error.msg if isinstance(error, SyntaxError) else f"{type(error).__name__}: {error}"
        raise BrokenTestsError(f"{source[:80]!r} is not Python ({reason}): correct it in the task") from error
    return tree


_lock = threading.Lock()


@contextmanager
def _ignored_warnings() -> Iterator[None]:
    """Hide Python's warnings about a text; `warnings` itself is not safe for threads."""
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
