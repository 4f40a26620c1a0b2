"""What is read off set-up and tests before anything runs."""

import pytest

from erce.verify.sandbox.tests_text import BrokenTestsError, read_tests


def names(*tests, setup=()):
    return read_tests(tuple(setup), tests, None).entry_points


@pytest.mark.parametrize(
    ("tests", "expected"),
    [
        (["assert f(1) == g(2)"], ("f", "g")),
        (["import math", "assert math.isclose(f(1), 2)"], ("f",)),
        (["assert math.isclose(f(1), 2)"], ("f",)),  # a module without its import
        (["assert bisect([1], 2) == 1"], ("bisect",)),  # but not under its name as a function
        (["x = f(1)", "assert x == 1"], ("f",)),
        (["def check(candidate):\n    y = candidate(1)\n    assert y == LIMIT", "check(f)"], ("LIMIT", "f")),
        (["assert [g(x) for x in range(3)] == [h for h in (1, 2, 3)]"], ("g",)),
        (["try:\n    f()\nexcept ValueError as error:\n    assert str(error)"], ("f",)),
        (["class T:\n    def test(self): assert f(self) == 1", "T().test()"], ("f",)),
    ],
)
def test_the_program_answers_for_what_nobody_else_defines(tests, expected):
    assert names(*tests) == expected


def test_names_of_the_set_up_are_not_the_programs():
    assert names("assert near(f(1), 2)", setup=["def near(a, b): return abs(a - b) < TINY"]) == ("TINY", "f")


def test_a_closed_list_wins_over_what_is_read():
    read = read_tests(("class Node: pass",), ("assert f(Node()) == sum([1])",), ("f", "Node", "sum"))
    assert read.entry_points == ("Node", "f", "sum")
    assert read.required == ("f", "sum")  # the set-up has a Node


def test_the_program_sees_the_imports_and_no_other_statement():
    setup = "from __future__ import annotations\nimport math, re\nfrom typing import List\nSECRET = 5"
    read = read_tests((setup,), ("import heapq as h\nassert f(1) == SECRET",), None)
    assert read.imports == ("import math, re", "from typing import List", "import heapq as h")


@pytest.mark.parametrize(
    ("tests", "message"),
    [
        ([], "without tests"),
        (["f(1)"], "no assert"),
        (["assert f("], "not Python"),
        (["assert f(1)", "return 5"], "not Python"),
        (["assert 1 == 1"], "use no name that a program could define"),
        (["from itertools import *", "assert list(chain([1])) == f()"], "give entry_points"),
    ],
)
def test_tests_that_cannot_tell_are_named(tests, message):
    with pytest.raises(BrokenTestsError, match=message):
        names(*tests)


@pytest.mark.parametrize(
    ("source", "only_values"),
    [
        ("assert math.isclose(f(1), 1.0)\nfor x in f(2): assert x.real == 2", True),
        ("from collections import Counter\nassert Counter(f(1)) == {'a': 1}", True),
        ("def check(g):\n    assert [g(x) for x in 'ab'] == [1]\ncheck(f)", True),
        ("from typing import get_type_hints\nassert get_type_hints(f)", False),
        ("import typing\nassert typing.get_type_hints(f)", False),
        ("hints = typing.get_type_hints\nassert hints(f)", False),
        ("assert eval('f(1)') == 1", False),
        ("from operator import attrgetter as a\nassert a('x')(f(1))", False),
        ("from operator import *\nassert add(f(1), 1)", False),
        ("assert '{0.__class__}'.format(f(1))", False),
        ("import os\nassert f(1)", False),
        ("assert os.sep == f(1)", False),
        ("math.pi = f(1)\nassert math.pi == 3", False),
        ("del math.pi\nassert f(1)", False),
        ("assert f(1).__class__ is int", False),
        ("assert (x for x in f(1)).gi_frame", False),
        ("assert __builtins__['len'](f(1))", False),
        ("class C: pass\nassert f(C)", False),
    ],
)
def test_a_judge_goes_on_only_after_tests_that_can_leave_nothing_in_it(source, only_values):
    assert read_tests((), (source,), ("f",)).only_values is only_values
    assert read_tests((source,), ("assert f(1)",), ("f",)).only_values is only_values
