"""The short way of reading literal asserts: it must say what the long way says."""

import dataclasses

import pytest

from erce.verify.sandbox import compiled_tests, plain_tests
from erce.verify.sandbox.compiled_tests import (
    called_with_literals,
    compile_literal_asserts,
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
@pytest.mark.parametrize("entry_points", [None, ("f", "g", "Node", "is_sorted", "h")])
def test_the_short_way_says_what_the_long_way_says(tests, entry_points, monkeypatch):
    def read():
        for cached in (leaves_nothing, functions_left_to_the_program):
            cached.cache_clear()
        return leaves_nothing((), tests, entry_points), functions_left_to_the_program((), tests)

    called = called_with_literals((), tests)
    assert called
    short = compile_literal_asserts(tests, entry_points or called)
    assert _fields(short) == _fields(compile_tests((), tests, entry_points))
    assert short.are_literal
    short_of_hosts = read()
    for module in (compiled_tests, plain_tests):
        monkeypatch.setattr(module, "called_with_literals", lambda setup, tests: ())
    assert read() == short_of_hosts


def _fields(compiled):
    """Return what is known of tests, but for how it was found out."""
    fields = dataclasses.asdict(dataclasses.replace(compiled, are_literal=False))
    return {name: field() if callable(field) else field for name, field in fields.items()}


@pytest.mark.parametrize("tests", OTHER)
def test_other_tests_take_the_long_way(tests):
    assert called_with_literals((), tests) == ()


def test_tests_with_a_set_up_take_the_long_way():
    assert called_with_literals(("import math",), ("assert f(1) == 2",)) == ()


TWO = ("assert f(3) == 9", "assert f(4) == 16")
ENDLESS = "def f(x):\n    while x == 4:\n        pass\n    return {}"


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        pytest.param("def f(x):\n    return x * x", "passed", id="right"),
        pytest.param(ENDLESS.format(8), "failed", id="wrong before it never ends"),
        pytest.param(
            "from functools import cache\n@cache\ndef f(x):\n    return x * x", "passed", id="no function"
        ),
        pytest.param(
            "class A:\n    pass\ndef f(x):\n    raise KeyError(A())", "failed", id="its error has an object"
        ),
        pytest.param(
            "n = 5\ndef f(x):\n    global n\n    n += 4 if x == 3 else 7\n    return n", "passed", id="order"
        ),
        pytest.param("def g(x):\n    return 9", "failed", id="another name"),
        pytest.param("f = 9", "failed", id="a value"),
        pytest.param(
            "class function:\n    __call__ = lambda self, x: x * x\nf = function()", "passed", id="object"
        ),
    ],
)
def test_calls_that_are_sent_ahead_change_no_verdict(sandbox, program, reason):
    assert sandbox.run(program, TWO).reason == reason


def test_calls_that_no_socket_holds_are_not_sent_ahead(sandbox):
    tests = [f"assert f('{letter * 30000}') == {letter * 400000!r}" for letter in "abcdefghij"]
    program = "def f(text):\n    return text[0] * 400000"
    assert sandbox.run(program, tests).accepted


def test_a_program_answers_for_its_entry_points_alone(sandbox):
    verdict = sandbox.run("def f(x):\n    return x * x", TWO, entry_points=("h",))
    assert not verdict.accepted
