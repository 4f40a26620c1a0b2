"""The short way of reading literal asserts: it must say what the long way says."""

import dataclasses

import pytest

from erce.verify.sandbox import compiled_tests, plain_tests
from erce.verify.sandbox.compiled_tests import (
    called_with_literals,
    compile_tests,
    functions_left_to_the_program,
)
from erce.verify.sandbox.plain_tests import leaves_nothing

LITERAL = [
    ("assert f(1) == 2", "assert f(-1, 'a') == (None, [{1, 2}], {'a': b'c'})"),
    ("assert f() == 1\nassert g([[]]) == True", "assert f(1 + 2j) == set()"),
    ("assert Node(1) == 1", "assert is_sorted([]) == True"),
]
OTHER = [
    ("assert f(1) == 2", "f = 1"),
    ("assert f(x=1) == 2",),
    ("assert f(g) == 2",),
    ("assert f(*[1]) == 2",),
    ("assert f(1) is True",),
    ("assert f(1) == g(2)",),
    ("assert f(1) == 2, x",),
    ("assert f(1) == 2 == 2",),
    ("assert f.g(1) == 2",),
    ("assert len([1]) == 1",),
    ("assert exec('import os') == None",),
    ("assert copy([1]) == [1]",),
    ("assert __import__('os') == 1",),
    ("assert f({**x}) == 1",),
    ("import os",),
    (),
]


@pytest.mark.parametrize("tests", LITERAL)
@pytest.mark.parametrize("entry_points", [None, ("f", "g", "Node", "is_sorted", "h"), ("h",)])
def test_the_short_way_says_what_the_long_way_says(tests, entry_points, monkeypatch):
    def read():
        for cached in (compile_tests, leaves_nothing, functions_left_to_the_program):
            cached.cache_clear()
        fields = dataclasses.asdict(compile_tests((), tests, entry_points))
        compiled = {name: field() if callable(field) else field for name, field in fields.items()}
        return compiled, leaves_nothing((), tests, entry_points), functions_left_to_the_program((), tests)

    assert called_with_literals((), tests)
    short = read()
    for module in (compiled_tests, plain_tests):
        monkeypatch.setattr(module, "called_with_literals", lambda setup, tests: ())
    assert read() == short


@pytest.mark.parametrize("tests", OTHER)
def test_other_tests_take_the_long_way(tests):
    assert called_with_literals((), tests) == ()


def test_tests_with_a_set_up_take_the_long_way():
    assert called_with_literals(("import math",), ("assert f(1) == 2",)) == ()
