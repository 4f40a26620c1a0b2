"""What crosses between judge and program, what cannot, and whose fault it is when something does not."""

import pytest

from erce.verify.sandbox import Limits

PATIENT = Limits(cpu=2.0, wall=60.0)


def ruled(sandbox, program, *tests, **options):
    verdict = sandbox.run(program, tests, limits=PATIENT, **options)
    assert verdict.accepted == (verdict.reason == "passed")
    return verdict.reason, verdict.detail


@pytest.mark.parametrize(
    ("change", "wrong", "test"),
    [
        ("math.isclose = lambda *a, **k: True", "f = lambda x: 7.0", "assert math.isclose(f(1), 1.0)"),
        ("import builtins\nbuiltins.max = lambda *a: 1", "f = lambda x: 7", "assert max(f(1), 3) == 1"),
        (
            "import decimal\ndecimal.getcontext().prec = 2",
            "from decimal import Decimal\nf = lambda x: Decimal('0.33')",
            "from decimal import Decimal\nassert f(1) == Decimal(1) / 3",
        ),
        (
            "import collections.abc\ncollections.abc.Sequence.register(set)",
            "f = lambda x: {1}",
            "import collections.abc\nassert isinstance(f(1), collections.abc.Sequence)",
        ),
        (
            "import os\nos.environ['A'] = '1'",
            "f = lambda x: '1'",
            "import os\nassert os.environ.get('A') == f(1)",
        ),
    ],
)
def test_no_test_changes_the_verdict_on_a_later_program(sandbox, change, wrong, test):
    assert ruled(sandbox, "f = lambda x: 1", f"{change}\nassert f(1) == 1")[0] == "passed"
    assert ruled(sandbox, wrong, test)[0] == "failed"


@pytest.mark.parametrize(
    "change", ["import sys\nsys.set_int_max_str_digits(700)", "import json\njson.dumps = None"]
)
def test_no_test_hinders_a_later_program(sandbox, change):
    ruled(sandbox, "f = lambda x: 1", f"{change}\nassert f(1) == 1")
    assert ruled(sandbox, "f = lambda x: 10**x", "assert len(str(f(800))) == 801")[0] == "passed"


def test_a_judge_that_its_tests_broke_is_no_exception(sandbox):
    for change in ("JSONEncoder.encode = lambda *a: '5'", "JSONEncoder.encode = None"):
        test = f"import json\njson.{change}\nassert f(1) == 1"
        assert ruled(sandbox, "f = lambda x: 1", test)[0] != "passed"


LONG_NAME = """
class P(tuple):
    _fields = ("a",)
P.__name__ = "p%d" + "b" * 7_900_000
f = lambda x: P((1,))
"""


def test_what_a_program_sends_does_not_stay_with_the_judge(sandbox):
    for number in range(12):
        assert ruled(sandbox, LONG_NAME % number, "assert f(1) == (1,)")[0] == "failed"
    big = "f = lambda n: list(range(n))"
    assert ruled(sandbox, big, "assert f(300_000) == list(range(300_000))")[0] == "passed"


DEEP = "def f(x):\n    for _ in range(900): x = [x]\n    return x"
SPEAKS_BADLY = """
class R:
    def __repr__(self):
        raise {}
f = lambda x: R()
"""


@pytest.mark.parametrize(
    ("program", "test"),
    [
        (SPEAKS_BADLY.format("KeyError(3)"), "assert f(1) is None, f(1)"),
        (SPEAKS_BADLY.format("ZeroDivisionError"), "x = f(1)\nassert not x, x"),
        (SPEAKS_BADLY.format("SystemExit"), "assert f(1) is None, f(1)"),
        ("class P(tuple):\n    _fields = ('x', '\uff58')\nf = lambda x: P((1, 2))", "assert f(1) == (1, 2)"),
        ("class P(tuple):\n    _fields = ('a' * 300,)\nf = lambda x: P((1,))", "assert f(1) == (1,)"),
    ],
)
def test_what_a_program_makes_of_its_values_is_never_our_error(sandbox, program, test):
    assert ruled(sandbox, program, test)[0] == "failed"


@pytest.mark.parametrize(
    ("program", "test", "sentence"),
    [
        ("f = lambda x: 'x' * (9 << 20)", "assert f(1)", "more than one reply may hold"),
        (
            "f = lambda x: 'x' * (4 << 20)\ng = len",
            "assert g(f(1) + f(2) + f(3))",
            "more than a call can hold",
        ),
        ("def f(x):\n    l = []\n    l.append(l)\n    return l", "assert f(1)", "nested too deeply"),
        (DEEP, "assert f(1)", "nested too deeply"),
        (
            "import sys\nsys.setrecursionlimit(9999)\n" + DEEP,
            "assert f(1)",
            "nested too deeply",
        ),
    ],
)
def test_a_value_that_is_too_large_or_deep_to_cross_is_opaque(sandbox, program, test, sentence):
    reason, detail = ruled(sandbox, program, test)
    assert reason == "opaque"
    assert sentence in detail


def test_two_hundred_levels_cross(sandbox):
    program = "def f(x):\n    for _ in range(200): x = [x]\n    return x"
    test = "x = f(7)\nfor _ in range(200): x = x[0]\nassert x == 7"
    assert ruled(sandbox, program, test) == ("passed", "")


RAISES = """
class Base(ValueError): pass
class Mine(Base):
    def __init__(self, code):
        super().__init__(f"code {code}")
        self.code = code
    def describe(self, more): return f"{self.code}{more}"
class Odd(Exception):
    def __str__(self): return "odd"
def f(error):
    raise eval(error)
"""


@pytest.mark.parametrize(
    ("error", "caught", "holds"),
    [
        ("ValueError('x must be positive')", "ValueError", "str(e) == 'x must be positive'"),
        ("ValueError('a', 2)", "ValueError", "e.args == ('a', 2) and type(e) is ValueError"),
        ("ValueError()", "ValueError", "e.args == () and str(e) == '' and repr(e) == 'ValueError()'"),
        ("KeyError('k')", "LookupError", "e.args[0] == 'k'"),
        ("OSError(2, 'gone', 'file')", "FileNotFoundError", "e.errno == 2 and 'file' in str(e)"),
        ("b'\\xff'.decode()", "UnicodeDecodeError", "e.start == 0 and e.object == b'\\xff'"),
        ("int('x')", "ValueError", "str(e) == \"invalid literal for int() with base 10: 'x'\""),
        ("Mine(3)", "Mine", "e.code == 3 and str(e) == 'code 3' and e.describe('!') == '3!'"),
        ("Mine(3)", "Base", "type(e).__name__ == 'Mine' and isinstance(e, Mine)"),
        ("Mine(3)", "ValueError", "issubclass(Mine, Base) and not issubclass(Base, Mine)"),
        ("Odd('even')", "Odd", "str(e) == 'odd' and e.args == ('even',) and not hasattr(e, 'code')"),
        ("ExceptionGroup('two', [KeyError(1), Mine(2)])", "ExceptionGroup", "e.exceptions[1].code == 2"),
    ],
)
def test_an_exception_arrives_unchanged(sandbox, error, caught, holds):
    test = f"try:\n    f({error!r})\n    assert False\nexcept {caught} as e:\n    assert {holds}, repr(e)"
    points = ["f", "Mine", "Base", "Odd"]
    assert ruled(sandbox, RAISES, test, entry_points=points) == ("passed", "")


def test_exceptions_work_with_unittest_and_as_values(sandbox):
    case = "import unittest\ncase = unittest.TestCase()\n"
    regex = 'with case.assertRaisesRegex(ValueError, "^code"):\n    f("Mine(1)")'
    assert ruled(sandbox, RAISES, f"{case}{regex}\ncase.assertRaises(Mine, f, 'Mine(2)')")[0] == "passed"
    assert ruled(sandbox, RAISES, f"{case}with case.assertRaises(Odd):\n    f('Mine(1)')")[0] == "failed"
    made = "e = Mine(5)\nassert e.code == 5\ntry:\n    raise e\nexcept f:\n    pass"
    assert ruled(sandbox, RAISES + "f = Mine", made)[0] == "passed"


@pytest.mark.parametrize(
    "trap", ["Mine = AssertionError", "Mine = Exception", "class Mine(AssertionError): pass"]
)
def test_no_class_of_the_program_catches_what_the_tests_raise(sandbox, trap):
    test = "try:\n    assert f(1) == 2\nexcept Mine:\n    pass"
    assert ruled(sandbox, f"{trap}\nf = lambda x: x", test)[0] == "failed"


def test_an_alias_of_a_builtin_exception_catches_it(sandbox):
    program = "Mine = ValueError\ndef f(x): raise ValueError('no')"
    test = "try:\n    f(1)\n    assert False\nexcept Mine as e:\n    assert str(e) == 'no'"
    assert ruled(sandbox, program, test) == ("passed", "")


V = """
class V:
    def __init__(self, x): self.x = x
    def __add__(self, other): return V(self.x + getattr(other, "x", other))
    __radd__ = __add__
    def __matmul__(self, other): return self.x * other.x
    def __neg__(self): return V(-self.x)
    def __abs__(self): return abs(self.x)
    def __getitem__(self, key): return [self.x, 2, 3][key]
    def __setitem__(self, key, value): self.x = value
    def __hash__(self): return self.x
    def get(self, key): return self.x
    def itself(self): return self
class W(V):
    def __enter__(self): return self
    def __exit__(self, *error):
        self.left = error[0] is not None
        return self.x == 1
    def fail(self): raise KeyError(self.x)
"""


@pytest.mark.parametrize(
    "test",
    [
        "assert (V(1) + V(2)).x == 3 and (V(1) + 2).x == 3 and (2 + V(1)).x == 3",
        "assert V(2) @ V(3) == 6 and (-V(2)).x == -2 and abs(V(-4)) == 4",
        "assert isinstance(V(1) + V(2), V) and isinstance(W(1), V) and not isinstance(V(1), W)",
        "assert issubclass(W, V) and not issubclass(V, W)",
        "assert V(1)[0:2] == [1, 2]",
        "v = V(1)\nv[0] = 5\nassert v.x == 5 and v.get('x') == 5",
        "v = V(1)\nassert v.itself() is v and v.itself() is not V(1)",
        "with W(5) as w:\n    assert w.x == 5\nassert w.left is False",
        "with W(1) as w:\n    w.fail()\nassert w.left",
        "try:\n    with W(2) as w:\n        w.fail()\nexcept KeyError as e:\n    assert e.args == (2,)",
    ],
)
def test_objects_of_the_programs_classes_are_used_as_in_one_process(sandbox, test):
    assert ruled(sandbox, V, test, entry_points=["V", "W"]) == ("passed", "")


@pytest.mark.parametrize(
    ("program", "test"),
    [
        ("f = lambda g, x: g(x)", "assert f(lambda x: x + 1, 2) == 3"),
        ("f = lambda xs, key: sorted(xs, key=key)", "assert f([3, -1, 2], lambda x: -x) == [3, 2, -1]"),
        ("def f(g):\n    for x in (1, 2): g(x)", "seen = []\nf(seen.append)\nassert seen == [1, 2]"),
        ("f = lambda g: [g(x) for x in range(2000)]", "assert f(lambda x: x) == list(range(2000))"),
        ("f = lambda g: g(lambda x: x * 2)", "assert f(lambda h: h(4)) == 8"),
        (
            (
                "class Mine(Exception): pass\ndef fail(): raise Mine('no')\n"
                "def f(g):\n    try: g()\n    except Mine as e: return str(e)"
            ),
            "assert f(lambda: fail()) == 'no'",
        ),
        (
            "def f(g):\n    try: g()\n    except KeyError as e: return e.args[0]",
            "def broken(): return {}[7]\nassert f(broken) == 7",
        ),
        ("import operator\nf = lambda g: g(2, 3)", "import operator\nassert f(operator.add) == 5"),
        ("f = lambda v: sum(v)", "assert f({1: 2, 3: 4}.values()) == 6"),
        ("f = lambda d: d.values()", "assert list(f({1: 2})) == [2] and sum(f({1: 3})) == 3"),
        ("f = lambda e: type(e).__name__ + str(e)", "assert f(ValueError('x')) == 'ValueErrorx'"),
        (
            "import asyncio\nasync def f(x):\n    await asyncio.sleep(0)\n    return x",
            (
                "import asyncio\nasync def both(): return await asyncio.gather(f(1), f(2))\n"
                "assert asyncio.run(f(3)) == 3 and asyncio.run(both()) == [1, 2]"
            ),
        ),
        (
            "print('loaded')\ndef f(x): print(x, 'é')",
            (
                "import io, contextlib as c\nf(1)\nwith c.redirect_stdout(io.StringIO()) as o:\n    f(2)\n"
                "assert o.getvalue() == '2 é\\n'"
            ),
        ),
    ],
)
def test_functions_coroutines_and_prints_cross(sandbox, program, test):
    assert ruled(sandbox, program, test, entry_points=["f", "fail"][: 1 + ("def fail" in program)]) == (
        "passed",
        "",
    )


NEAR = """
class Near(float):
    pass
class f:
    def __init__(self, *a): pass
    def __getattr__(self, name): return lambda *a, **k: True
    __sub__ = __rsub__ = __add__ = __radd__ = __mod__ = lambda self, other: {}
    __abs__ = __neg__ = lambda self: 0.0
    __float__ = lambda self: 0.0
    __enter__ = lambda self: self
    __exit__ = lambda self, *error: True
    __call__ = lambda self, *a: True
    def __instancecheck__(self, other): return True
"""


@pytest.mark.parametrize("made", ["0.0", "f()", "0"])
@pytest.mark.parametrize(
    "test",
    [
        "assert abs(f(3) - 9) < 1e-6",
        "assert abs(9 - f(3)) < 1e-6",
        "assert f(3) - 9 == 0",
        "assert not f(3) - 9",
        "assert float(f(3) - 9) == 0",
        "assert (f(3) - 9).is_integer()",
        "assert f(3) % 2 == 0",
        "assert sum([f(3), -9]) == 0",
        "assert f(2).issubset({1, 2})",
        "assert f(2).startswith('x')",
        "assert f(2).__contains__(5)",
        "g = f(2).issubset\nassert g({1})",
        "with f(1):\n    assert f(2).x() == 'y'",
        "with f(1):\n    assert False",
        "assert isinstance(f(2), int)",
        "assert hash(f(1)) == hash(5)",
        "assert {f(1)} == {5}",
    ],
)
def test_an_object_that_agrees_with_everything_proves_nothing(sandbox, made, test):
    reason, _ = ruled(sandbox, NEAR.format(made), test)
    assert reason in ("opaque", "failed")


@pytest.mark.parametrize(
    "test",
    [
        "assert f(lambda text: eval(text)) == 1",
        "assert f(lambda x: getattr(x, 'y')) == 1",
        "assert f(lambda x: x.__class__) == 1",
        "e = eval\nassert f(lambda text: e(text)) == 1",
        "def g(text, e=eval): return e(text)\nassert f(g) == 1",
        "import os\nassert f(lambda text: os.system(text)) == 1",
        "def h(text): return exec(text)\nassert f(lambda text: h(text)) == 1",
    ],
)
def test_what_could_run_the_programs_code_here_is_not_passed(sandbox, test):
    reason, detail = ruled(sandbox, "f = lambda g: 1", test)
    assert (reason, "the tests pass a" in detail) == ("opaque", True)


def test_a_failing_assert_in_a_call_back_cannot_be_swallowed(sandbox):
    program = "def f(g):\n    try: g(1)\n    except BaseException: pass\n    return 5"
    assert ruled(sandbox, program, "def g(x): assert x == 2\nassert f(g) == 5")[0] == "failed"


def test_what_a_test_cannot_do_with_an_object_is_opaque(sandbox):
    assert ruled(sandbox, "class V: pass\nf = V", "assert [1] + sorted(f().x for _ in [1])")[0] == "failed"
    assert ruled(sandbox, "class V: pass\nf = V", "assert [1][f()] == 1")[0] == "opaque"


STACK = "class Stack(list):\n    def top(self):\n        return self[-1]\n"


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        ("assert Stack([1, 2]) == [1, 2]", "passed"),
        ("assert Stack([1, 2]).top() == 2", "opaque"),
        ("assert Stack([1, 2]).bottom() == 1", "failed"),
        ("assert len(Stack([1, 2])) == 1", "failed"),
    ],
)
def test_a_method_that_the_program_adds_to_a_builtin_is_opaque(sandbox, test, reason):
    assert ruled(sandbox, STACK, test)[0] == reason


KINDS = """
from collections import defaultdict
from typing import NamedTuple
class Missing(dict):
    def __missing__(self, key): return True
class Attributes(dict):
    def __getattr__(self, name): return self[name]
class Ring(list):
    def __getitem__(self, index): return list.__getitem__(self, index % len(self))
class Seven(int):
    def __add__(self, other): return (int(self) + int(other)) % 7
class Yes(int):
    def __sub__(self, other): return 0
    __rsub__ = __sub__
class Everything(set):
    def __contains__(self, value): return True
class Point(NamedTuple):
    x: int
    def double(self): return 2 * self.x
def local():
    class Stack(list):
        def top(self): return self[-1]
    return Stack([3])
def extra():
    held = Ring([3])
    held.more = 1
    return held
def counts(words, factory=int):
    made = defaultdict(factory)
    for word in words: made[word] += 1
    return made
def sevens(): return defaultdict(lambda: 7)
def plain(words): return dict(counts(words))
"""


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        # What the tests see is what Python would show.
        ("assert counts('aab')['z'] == 0", "passed"),
        ("d = counts('a', int)\nd['q'] += 1\nassert d == {'a': 1, 'q': 1}", "passed"),
        ("assert counts('aab') == {'a': 2, 'b': 1}", "passed"),
        ("assert Point(2).x == 2 and Ring([1, 2])[1] == 2", "passed"),
        # What is lost on the way is not the program's failure, nor a pass.
        ("assert sevens()['q'] == 7", "opaque"),
        ("assert Missing(a=1)['q']", "opaque"),
        ("want = 12\nassert Missing()[want] == want", "opaque"),
        ("assert Attributes(a=3).a == 3", "opaque"),
        ("assert Ring([1, 2, 3])[4] == 2", "opaque"),
        ("assert Seven(5) + 4 == 2", "opaque"),
        ("assert Point(2).double() == 4", "opaque"),
        ("assert local().top() == 3", "opaque"),
        ("assert extra().more == 1", "opaque"),
        ("assert 42 in Everything()", "opaque"),
        ("assert abs(Yes(0) - 9) < 1e-6", "opaque"),
        # Wrong answers stay wrong.
        ("assert counts('aab') == {'a': 3}", "failed"),
        ("assert counts('aab')['z'] == 1", "failed"),
        ("assert plain('aab')['z'] == 0", "failed"),
        ("assert sevens() == {'q': 7}", "failed"),
        ("assert Missing(a=1) == {'a': 2}", "failed"),
        ("assert Point(2).x == 3", "failed"),
        ("assert local() == [4]", "failed"),
    ],
)
def test_what_a_value_loses_on_its_way_is_opaque(sandbox, test, reason):
    assert ruled(sandbox, KINDS, test)[0] == reason


def test_a_program_that_may_supply_the_oracle_is_told_of(sandbox):
    program = "f = lambda x: 1\nis_right = lambda *a: True"
    verdict = sandbox.run(program, ["assert is_right(f(2), 4)"])
    assert verdict.accepted
    assert "calls to f, is_right" in verdict.warning
    assert sandbox.run(program, ["assert is_right(f(2), 4)"], entry_points=["f", "is_right"]).warning == ""
    assert sandbox.run("class Node: pass\nf = lambda n: 1", ["assert f(Node()) == 1"]).warning == ""


NODES = [
    "from dataclasses import dataclass\nfrom enum import Enum\nfrom typing import Optional",
    "class Node:\n    def __init__(self, val=0, next=None):\n        self.val, self.next = val, next",
    (
        "class Tree:\n    __slots__ = ('val', 'left', 'right')\n"
        "    def __init__(self, val, left=None, right=None):\n"
        "        self.val, self.left, self.right = val, left, right"
    ),
    "@dataclass(frozen=True)\nclass Point:\n    x: int\n    y: int = 0",
    "class Color(Enum):\n    RED = 1\n    BLUE = 2",
    "def linked(values):\n    n = None\n    for v in reversed(values): n = Node(v, n)\n    return n",
    "def values(n):\n    found = []\n    while n: found.append(n.val); n = n.next\n    return found",
]
REVERSE = """
class Solution:
    def reverse(self, head: Optional[Node]) -> Optional[Node]:
        last = None
        while head:
            head.next, last, head = last, head, head.next
        return last
"""


@pytest.mark.parametrize(
    ("program", "test"),
    [
        (REVERSE, "assert values(Solution().reverse(linked([1, 2, 3]))) == [3, 2, 1]"),
        (
            REVERSE,
            "assert values(Solution().reverse(linked(list(range(3000))))) == list(range(2999, -1, -1))",
        ),
        (
            "def f(n):\n    n.val = 7\n    n.next = Node(8)",
            "n = linked([1])\nf(n)\nassert values(n) == [7, 8]",
        ),
        ("def f(a, b): return b", "a = linked([1, 2])\nassert f(a, a.next) is a.next and f(a, a) is a"),
        ("def f(n): n.next.next = n", "n = linked([1, 2])\nf(n)\nassert n.next.next is n"),
        ("def f(n): return n.next.next is n", "n = linked([1, 2])\nn.next.next = n\nassert f(n)"),
        ("def f(n): return Node(n.val, n)", "r = f(Node(1))\nassert r.next.val == 1 and isinstance(r, Node)"),
        ("def f(v): return Node(v) if v else None", "assert f(0) is None and type(f(1)) is Node"),
        (
            "def f(t):\n    if t: t.left, t.right = f(t.right), f(t.left)\n    return t",
            "t = f(Tree(1, Tree(2), Tree(3)))\nassert (t.left.val, t.right.val, t.left.left) == (3, 2, None)",
        ),
        (
            "def f(p): return Point(p.y, p.x)",
            "assert f(Point(1, 2)) == Point(2, 1) and f(Point(3)) != Point(3)",
        ),
        ("def f(p): return {p: [Point(1)]}", "assert f(Point(2)) == {Point(2): [Point(1, 0)]}"),
        ("def f(c): return Color.BLUE if c is Color.RED else c", "assert f(Color.RED) is Color.BLUE"),
        ("def f(kind, v): return kind(v)", "assert f(Node, 3).val == 3"),
        (
            (
                "class Node:\n    def __init__(self, v):\n        self.val, self.next, self.w = v, None, 1\n"
                "def f(v): return Node(v)"
            ),
            "assert values(f(3)) == [3]",
        ),
    ],
)
def test_objects_of_the_tests_classes_cross_both_ways(sandbox, program, test):
    assert ruled(sandbox, program, test, setup=NODES) == ("passed", "")


@pytest.mark.parametrize(
    ("program", "test", "reasons"),
    [
        (
            REVERSE.replace("return last", "return head"),
            "assert values(Solution().reverse(linked([1]))) == [1]",
            "failed",
        ),
        ("def f(p): return Point(p.x, p.x)", "assert f(Point(1, 2)) == Point(2, 1)", "failed"),
        (
            "class Point:\n    __eq__ = lambda *a: True\nf = lambda p: Point()",
            "assert f(1) == Point(2, 1)",
            "failed",
        ),
        ("def f(n):\n    n.val = [n.val]\n    return None", "n = Node(1)\nf(n)\nassert n.val == 1", "failed"),
        (
            "def f(v):\n    w = Wild(v)\n    w.all = range(10**9)\n    return w",
            "assert f(1) == 5",
            "opaque",
        ),
        (
            "def f(v):\n    n = Node(v)\n    n.__init__ = lambda *a: True\n    return n",
            "assert f(1).val == 2",
            "failed",
        ),
        (
            "def f(v):\n    p = Says(v)\n    p.right = lambda *a: True\n    return p",
            "assert f(1).right(5)",
            "failed",
        ),
    ],
)
def test_an_object_of_the_tests_classes_is_no_wildcard(sandbox, program, test, reasons):
    init = "def __init__(self, v): self.all = [v]"
    wild = f"class Wild:\n    {init}\n    def __eq__(self, other): return other in self.all"
    says = "class Says:\n    def __init__(self, v): self.v = v\n    def right(self, v): return self.v == v"
    assert ruled(sandbox, program, test, setup=[*NODES, wild, says])[0] == reasons


CHAIN = """
from __future__ import annotations
from typing import Generic, TypeVar
T = TypeVar("T")
class Chain(Generic[T]):
    seen = []
    def __init__(self, value: T, rest: Chain[T] | None = None):
        self.value, self.rest = value, rest
    def values(self):
        found, link = [], self
        while link:
            assert isinstance(link, Chain)
            found.append(link.value)
            assert link.value is not None
            link = link.rest
        return found
    def __eq__(self, other):
        if not isinstance(other, Chain):
            return NotImplemented
        return self.values() == other.values()
    def __hash__(self):
        return hash(tuple(self.values()))
    def show(self):
        Chain.seen.append(self.value)
"""
HELPERS = "limit = 2\ndef doubled(x): return 2 * x"


@pytest.mark.parametrize(
    ("program", "test", "reason"),
    [
        # The program may return an instance of a class that compares both sides in the same way.
        (
            "def f(c): return Chain(c.rest.value, Chain(c.value))",
            "assert f(A) == Chain(2, Chain(1))",
            "passed",
        ),
        ("def f(c): return Chain[int](c.value)", "assert Chain(1) == f(A)", "passed"),
        ("def f(c): return [c, Chain(3)]", "assert {Chain(3), A} == set(f(A))", "passed"),
        ("def f(c): return c.rest == Chain(2)", "assert f(A) is True", "passed"),
        ("def f(c): return Chain(2, Chain(1))", "assert f(A) == A", "failed"),
        (
            "class Y:\n    __eq__ = lambda *a: True\ndef f(c): return Chain(Y(), c.rest)",
            "assert f(A) == A",
            "opaque",
        ),
        ("def f(c):\n    c.values = lambda: c\n    return c", "assert f(Chain(2)) == A", "failed"),
        # What a class itself holds stays behind, and so do the set-up's functions and values.
        ("def f(c): c.show()", "f(A)\nassert Chain.seen == [1]", "opaque"),
        ("def f(c): return None", "f(A)\nassert Chain.seen == [1]", "failed"),
        ("def f(c): return limit", "assert f(A) == 2", "opaque"),
        ("two = doubled(1)\ndef f(c): return two", "assert f(A) == 2", "opaque"),
        ("def f(c): return limits", "assert f(A) == 2", "failed"),
        # A class that the program has in place of the set-up's may hold something else.
        ("class Chain:\n    v = 0\ndef f(c): return c.value", "assert f(A) == 1", "passed"),
        (
            "class Chain:\n    def own(self): return self.v\ndef f(c): return c.own()",
            "assert f(A) == 1",
            "opaque",
        ),
        ("def f(c): return c.v", "assert f(A) == 1", "failed"),
    ],
)
def test_classes_of_the_set_up_with_methods_of_their_own_cross(sandbox, program, test, reason):
    setup = [CHAIN, HELPERS, "A = Chain(1, Chain(2))"]
    assert ruled(sandbox, program, test, setup=setup)[0] == reason


def test_a_class_that_the_program_does_not_have_is_opaque(sandbox):
    test = "class K: pass\nassert f(K()) == 1"
    assert ruled(sandbox, "f = lambda k: 1", test)[0] == "opaque"
    assert ruled(sandbox, "class K: pass\nf = lambda k: type(k) is K", test)[0] == "passed"


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        ("k = K()\nassert f(k, [k]) == 1", "passed"),
        ("k = K()\nassert f(k, [k]) == 2", "failed"),
        (
            "k = K()\nks = [k]\nassert g(ks) is None and len(ks) == 2 and ks[0] is k and ks[1].n == 2",
            "passed",
        ),
        ("k = K()\nks = [k]\ng(ks)\nassert ks[1] is k", "failed"),
    ],
)
def test_an_object_of_the_program_among_the_arguments_is_no_change(sandbox, test, reason):
    program = "class K:\n    n = 2\ndef f(k, ks): return 1\ndef g(ks): ks.append(K())"
    assert ruled(sandbox, program, test)[0] == reason


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        ("s = [3, 1]\nf(s)\nassert s == [1, 3]", "passed"),
        ("s = [3, 1]\nf(s=s)\nassert s == [1, 3]", "passed"),
        ("d = {3: 1}\nf([], d=d)\nassert d == {}", "passed"),
        ("s = [3, 1]\nf(s=s)\nassert s == [3, 1]", "failed"),
    ],
)
def test_an_argument_that_has_a_name_is_changed_too(sandbox, test, reason):
    program = "def f(s, d=None):\n    s.sort()\n    if d: d.clear()"
    assert ruled(sandbox, program, test)[0] == reason


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        ("s = [1, 2, 3]\nassert f(s) == 3\nassert s == [1, 2]", "passed"),
        ("s = [1, 2, 3]\nr = f(s)\nassert r == 3 and s == [1, 2]", "passed"),
        ("s = [1, 2, 3]\nassert f(s) == 3\nassert s == [1, 2, 3]", "failed"),
        ("s = [1, 2, 3]\ne = [1, 2]\nassert f(s) == 3\nassert sorted(s) == sorted(e)", "passed"),
        ("s = [1, 2, 3]\ne = [1, 3]\nassert f(s) == 3\nassert s == e", "failed"),
        ("s = [1, 2, 3]\nd = e = [1, 2]\nassert f(s) == 3\nassert s == e", "opaque"),
        ("s, n = [1, 2, 3], 3\nk = f(s)\nassert k == n and s[:k] == [1, 2]", "passed"),
        (
            "def check(g):\n    s = [1, 2, 3]\n    assert g(s=s) == 3\n    assert s == [1, 2]\ncheck(f)",
            "passed",
        ),
        ("def check(g):\n    assert g([1, 2]) == 3\ncheck(f)", "failed"),
        ("s = [1, 2, 3]\nk = K()\nassert k.f(s) == 3 and K().f(s) == 2\nassert s == [1]", "passed"),
        ("s = [1, 2, 3]\nk = [f(s)]\nassert k.pop() == 3\nassert s == [1, 2]", "opaque"),
        ("s = [1, 2, 3]\nassert f(s) == 3\nassert len(s) == 2 and sorted(s) == s", "opaque"),
        ("s = [1, 2, 3]\nassert f(s) == 4", "failed"),
        ("assert f([1, 2, 3]) == 4 or f([1]) == sum([2])", "failed"),
    ],
)
def test_a_function_may_change_its_argument_and_return_a_value(sandbox, test, reason):
    program = "def f(s): return s.pop()\nclass K:\n    def f(self, s): return s.pop()"
    assert ruled(sandbox, program, test)[0] == reason


@pytest.mark.parametrize(
    "test",
    [
        "v = [3, 1]\nr = f(v)\nassert r == sorted(v)",
        "v = [3, 1]\nassert f(v) == sorted(v)",
        "v = [3, 1]\nr = f(v)\nfor x in v: assert x in r\nassert len(r) == len(v)",
        "v = [3, 1]\nr = f(v)\nassert not v or r[0] == 1",
        "v = [3, 1]\nr = f(v)\nassert len(set(v) - set(r)) == 0",
        "v = [3, 1]\nr = f(v)\nassert [x for x in v if x not in r] == []",
        "v = [3, 1]\nr = f(v)\nbad = sum(x not in r for x in v)\nassert bad == 0",
        "v = [3, 1]\nr = f(v)\nexpected = sorted(v)\nassert r == expected",
        "v = [3, 1]\ndef check(a, b): assert a == b\ncheck(f(v), sorted(v))",
    ],
)
def test_emptying_the_argument_that_a_result_is_checked_with_is_no_pass(sandbox, test):
    assert ruled(sandbox, "def f(v):\n    v.clear()\n    return []", test)[0] in ("opaque", "failed")
