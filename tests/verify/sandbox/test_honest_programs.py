"""Honest programs whose verdict depends on what a border between two processes easily hides."""

import pytest

IDENTITY = """
def calc(op, a, b):
    if op is "add": return a + b
    return len([word for word in op if word is "add"])
def parted(a, b): return a is not b
def kind(x): return "int" if type(x) is int else None if x is None else "other"
class Same:
    def __init__(self, x): self.id = id(x)
"""
ORDER = "def listed(s): return list(s)\ndef first(x, s): return next(iter(s))\ndef made(v): return set(v)"
IN_ONE_NAMESPACE = (
    "def root(x): return math.sqrt(x)\ndef middle(v): return median(v)\ndef median(v): return 0"
)


@pytest.mark.parametrize(
    ("program", "tests", "reason"),
    [
        # Equal strings are one object if they look like names or are constants of one test.
        (IDENTITY, ["assert calc('add', 1, 2) == 3", "assert calc(['add', 'sub'], 0, 0) == 1"], "passed"),
        (IDENTITY, ["assert parted('hello', 'hello')"], "failed"),
        (IDENTITY, ["assert parted('hello you', 'hello you') == False"], "passed"),
        (IDENTITY, ["assert parted((1, 2.5), (1, 2.5)) == True"], "failed"),
        (IDENTITY, ["assert parted(1000, 1000) == False"], "opaque"),
        (IDENTITY, ["assert kind(1000) == 'int'", "assert kind('') == 'other'"], "passed"),
        # A set iterates in the order that it has in the tests, wherever Python can make it so.
        (ORDER, ["assert listed({7, 24, 4, 0, 9}) == [0, 4, 7, 24, 9]"], "passed"),
        (ORDER, ["assert listed({5, 0, 45}) == [0, 5, 45]"], "passed"),
        (ORDER, ["assert listed({4, 5, 20}) == [5, 20, 4]"], "opaque"),
        (ORDER, ["assert listed([{4, 5, 20}][0]) == [5, 20, 4]"], "opaque"),
        (ORDER, ["assert listed({8, 0, 16}) == [1, 2, 3]"], "failed"),
        (ORDER, ["s = made([20, 3, 36, 5, 1])\nassert list(s) == listed(s)"], "passed"),
        # Strings cross letter by letter.
        ("def f(text): return len(text)", ["assert f('\\ud83d\\ude00') == 2"], "passed"),
        # Python's `site` defines exit and quit.
        ("def f(x): return x", ["if f(1) != 1:\n    exit(1)\nassert f(2) == 2 or quit()"], "passed"),
        # The program sees what the tests import, from the moment in which they import it.
        (IN_ONE_NAMESPACE, ["import math\nassert root(4) == 2"], "passed"),
        (IN_ONE_NAMESPACE, ["from statistics import median\nassert middle([1, 2, 9]) == 2"], "passed"),
        (IN_ONE_NAMESPACE, ["assert root(4) == 2", "import math\nassert root(4) == 2"], "failed"),
        ("ROOT = math.sqrt(4)\ndef f(x): return x", ["import math\nassert f(2) == 2"], "failed"),
    ],
)
def test_what_the_border_hides_makes_no_honest_program_fail(ruled, program, tests, reason):
    assert ruled(program, *tests)[0] == reason


BUILTINS = "def round(x): return int(x + 0.5)\ndef len(x): return 7\ndef f(x): return x"


@pytest.mark.parametrize(
    ("tests", "reason"),
    [
        (["assert round(2.5) == 3"], "passed"),
        (["assert f(1) == 1", "assert round(2.5) == 3"], "passed"),
        (["def check(candidate):\n    assert candidate(2.5) == 3\ncheck(round)"], "passed"),
        (["assert round(2.5) == 2"], "failed"),
        (["assert abs(-2.5) == 3", "assert f(1) == 1"], "failed"),
        (["assert abs(-2.5) == 2.5", "assert f(1) == 1"], "passed"),
        (["assert abs(-2.5) == 2.5"], "error"),
        (["assert max([1, 2], key=lambda x: -x) == 1", "assert f(1) == 1"], "passed"),
        # The tests use it to check something else.
        (["assert len(f([1])) == 7"], "opaque"),
        (["assert len(f([1])) == 8", "assert len([1]) == 1"], "failed"),
        (["assert len(f([1])) == 1", "assert round(2.5) == 3"], "passed"),
        (["def check(g, size):\n    assert g([1]) == [1] and size([1]) == 7\ncheck(f, len)"], "opaque"),
    ],
)
def test_a_program_answers_under_a_builtins_name_where_the_tests_check_nothing_else_with_it(
    ruled, tests, reason
):
    assert ruled(BUILTINS, *tests)[0] == reason


@pytest.mark.parametrize(
    ("program", "test", "reason"),
    [
        ("def f(n):\n    for i in range(n): yield i", "assert sum(f(200_000)) == 19_999_900_000", "passed"),
        ("def f(n):\n    for i in range(n): yield i", "assert sum(f(3000)) == 0", "failed"),
        (
            "import itertools\ndef f(n): return itertools.count(n)",
            "it = f(0)\nassert [next(it) for _ in range(2000)] == list(range(2000))",
            "passed",
        ),
        (
            "def f(it): return [next(it) for _ in range(3)]",
            "import itertools\nassert f(zip(itertools.count(), itertools.repeat('x')))[2] == (2, 'x')",
            "passed",
        ),
    ],
)
def test_long_and_endless_iterators_cross(ruled, program, test, reason):
    assert ruled(program, test)[0] == reason
