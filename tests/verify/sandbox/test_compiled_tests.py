"""The closed list of names that a program defines, and tests that cannot tell right from wrong."""

import pytest

from erce.verify.sandbox.compiled_tests import (
    BrokenTestsError,
    compile_tests,
    definitions_of,
    free_names,
    require_asserts,
)


@pytest.mark.parametrize(
    ("setup", "tests", "names"),
    [
        ([], ["assert f(1) == g(2)"], ("f", "g")),
        ([], ["assert len(f([1])) == 1"], ("f",)),
        ([], ["assert math.isclose(f(1), 1.0)"], ("f",)),
        (["import math as m"], ["assert m.pi > f(1)"], ("f",)),
        (["from math import *"], ["assert sqrt(4) == f(1)"], ("f",)),
        ([], ["assert [f(i) for i in range(3)] == [j for j in (0, 1, 2)]"], ("f",)),
        ([], ["assert {k: g(v) for k, v in {1: 2}.items()} == {1: 2}"], ("g",)),
        ([], ["assert (lambda x, *y, z=1, **w: f(x, y, z, w))(1)"], ("f",)),
        ([], ["assert (n := f(1)) == n", "assert n == 1"], ("f",)),
        ([], ["assert any((n := f(i)) for i in (1,)) and n"], ("f",)),
        ([], ["def check(c, d=k):\n    e = c(1)\n    assert e == d", "check(f)"], ("f", "k")),
        ([], ["try:\n    f(1)\nexcept ValueError as e:\n    assert str(e)"], ("f",)),
        ([], ["class A:\n    y = f(1)\n    def m(self):\n        return y\nassert A.y"], ("f", "y")),
        ([], ["with open(f()) as h:\n    assert h"], ("f",)),
        ([], ["for i in (1, 2):\n    assert f(i)"], ("f",)),
        ([], ["def t():\n    global s\n    s = f(1)\nt()\nassert s"], ("f",)),
        ([], ["assert f(x=1).y == 2"], ("f",)),
        ([], ["assert __name__ and f"], ("f",)),
        (["root = Node(1)\nroot.left = Node(2)"], ["assert depth(root) == 2"], ("Node", "depth")),
        ([], ["assert sum([1]) == 1"], ("sum",)),
        ([], ["assert sum([1]) == 1 == len(sum([1]))"], ()),
    ],
)
def test_entry_points_are_the_free_names_that_nobody_defines(setup, tests, names):
    assert free_names(setup, tests) == names


@pytest.mark.parametrize(
    ("setup", "tests", "message"),
    [
        ((), (), "accepts everything"),
        ((), ("f(1) == 1",), "no assert"),
        ((), ("assert f(",), "is not Python"),
        ((), ("assert f(1)", "assert f("), "is not Python"),
        ((), ("assert '\0'",), "is not Python"),
        ((), ("assert '\ud800'",), "is not Python"),
        ((), ("assert " + "(" * 5000 + "f" + ")" * 5000,), "is not Python"),
        ((), ("return 1\nassert f(1)",), "is not Python"),
        (("import",), ("assert f(1)",), "is not Python"),
        ((), ("assert 1 == 1",), "use no name"),
    ],
)
def test_broken_tests_say_what_is_wrong(setup, tests, message):
    def read():
        require_asserts(tests, setup)
        return compile_tests(setup, tests, None)

    with pytest.raises(BrokenTestsError, match=message):
        read()


@pytest.mark.filterwarnings("error")
def test_an_odd_escape_in_a_test_is_no_warning_of_ours():
    assert compile_tests((r"import re; re.compile('\w')",), (r"assert f('\d')",), None).entry_points == ("f",)


def test_given_entry_points_may_shadow_a_builtin_or_a_module():
    planned = compile_tests((), ("assert sum([1]) == 1 and array(2) and math.pi",), ("sum", "array"))
    assert planned.entry_points == ("array", "sum")
    assert planned.modules == ("math",)


def test_tests_that_bind_names_are_not_independent():
    assert compile_tests((), ("assert f(1)", "assert f(2)"), None).independent
    assert not compile_tests((), ("v = f(1)", "assert v"), None).independent


def test_the_program_sees_imports_classes_and_types_of_the_set_up_and_nothing_else_of_it():
    setup = ("import math\nfrom os import path as p\nexpected = 5", "def g():\n    import re", "not python (")
    assert definitions_of(setup) == (("import math", ""), ("from os import path as p", ""))
    node = "class Node:\n    n = 3"
    case = "class Case(TestCase):\n    def test(self):\n        self.assertEqual(f(1), 5)"
    assert definitions_of((node, case, "class C:\n    assert f")) == ((node, "Node"),)
    types = ("T = TypeVar('T')", "Grid = list[list[int]] | T", "P = namedtuple('P', 'x y')")
    assert definitions_of((*types, "x = [1]", "y = f(2)", "z: int", "w = g[3]")) == tuple(
        (text, "") for text in types
    )
    checked = "class C:\n\n    def m(self):\n        assert self.n is not None and isinstance(self, C)"
    checked = checked.replace(" and ", "\n        assert ")
    assert definitions_of((checked,)) == ((checked, "C"),)
    future = "from __future__ import annotations\nclass C:\n    x: D"
    assert definitions_of((future,)) == ((future, "C"),)
    for held in ("self.n is 3", "f(3) is not None", "isinstance(self, 3)"):
        assert definitions_of((f"class C:\n    def m(self):\n        assert {held}",)) == ()


@pytest.mark.parametrize(
    ("setup", "tests"),
    [
        ((), ("if f(1) != 1: raise ValueError",)),
        ((), ("unittest.TestCase().assertEqual(f(1), 1)",)),
        (("def assert_one(x):\n    return 1 / (x == 1)",), ("assert_one(f(1))",)),
        (("def check(f):\n    assert f(1) == 1",), ("check(f)",)),
    ],
)
def test_what_can_refuse_a_program_may_have_other_forms(setup, tests):
    require_asserts(tests, setup)
    assert "f" in compile_tests(setup, tests, None).entry_points
