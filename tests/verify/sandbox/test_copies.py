"""Objects of the tests' own classes, which cross as copies and back."""

import pytest

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
def test_objects_of_the_tests_classes_cross_both_ways(ruled, program, test):
    assert ruled(program, test, setup=NODES) == ("passed", "")


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
            "opaque",
        ),
    ],
)
def test_an_object_of_the_tests_classes_is_no_wildcard(ruled, program, test, reasons):
    init = "def __init__(self, v): self.all = [v]"
    wild = f"class Wild:\n    {init}\n    def __eq__(self, other): return other in self.all"
    says = "class Says:\n    def __init__(self, v): self.v = v\n    def right(self, v): return self.v == v"
    assert ruled(program, test, setup=[*NODES, wild, says])[0] == reasons


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
            "failed",
        ),
        ("def f(c): return c.v", "assert f(A) == 1", "failed"),
    ],
)
def test_classes_of_the_set_up_with_methods_of_their_own_cross(ruled, program, test, reason):
    setup = [CHAIN, HELPERS, "A = Chain(1, Chain(2))"]
    assert ruled(program, test, setup=setup)[0] == reason


def test_a_class_that_the_program_does_not_have_is_opaque(ruled):
    test = "class K: pass\nassert f(K()) == 1"
    assert ruled("f = lambda k: 1", test)[0] == "opaque"
    assert ruled("class K: pass\nf = lambda k: 1", test)[0] == "passed"
    assert (
        ruled("class K: pass\nf = lambda k: type(k) is K", test)[0] == "passed"
    )  # as where both share names
