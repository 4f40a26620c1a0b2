"""What tests and programs leave with a judge, what is too large to cross, and whose fault it is."""

import pytest


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
def test_no_test_changes_the_verdict_on_a_later_program(ruled, change, wrong, test):
    assert ruled("f = lambda x: 1", f"{change}\nassert f(1) == 1")[0] == "passed"
    assert ruled(wrong, test)[0] == "failed"


@pytest.mark.parametrize(
    "change", ["import sys\nsys.set_int_max_str_digits(700)", "import json\njson.dumps = None"]
)
def test_no_test_hinders_a_later_program(ruled, change):
    ruled("f = lambda x: 1", f"{change}\nassert f(1) == 1")
    assert ruled("f = lambda x: 10**x", "assert len(str(f(800))) == 801")[0] == "passed"


def test_a_judge_that_its_tests_broke_is_no_exception(ruled):
    for change in ("lambda channel, ruling: channel.sendall(b'\\1\\0\\0\\0005')", "None"):
        test = f"from erce.verify.sandbox import frames\nframes.send = {change}\nassert f(1) == 1"
        assert ruled("f = lambda x: 1", test)[0] != "passed"


LONG_NAME = """
class P(tuple):
    _fields = ("a",)
P.__name__ = "p%d" + "b" * 7_900_000
f = lambda x: P((1,))
"""


def test_what_a_program_sends_does_not_stay_with_the_judge(ruled):
    for number in range(12):
        assert ruled(LONG_NAME % number, "assert f(1) == (1,)")[0] == "failed"
    big = "f = lambda n: list(range(n))"
    assert ruled(big, "assert f(300_000) == list(range(300_000))")[0] == "passed"


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
def test_what_a_program_makes_of_its_values_is_never_our_error(ruled, program, test):
    assert ruled(program, test)[0] == "failed"


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
def test_a_value_that_is_too_large_or_deep_to_cross_is_opaque(ruled, program, test, sentence):
    reason, detail = ruled(program, test)
    assert reason == "opaque"
    assert sentence in detail


def test_two_hundred_levels_cross(ruled):
    program = "def f(x):\n    for _ in range(200): x = [x]\n    return x"
    test = "x = f(7)\nfor _ in range(200): x = x[0]\nassert x == 7"
    assert ruled(program, test) == ("passed", "")


def test_a_program_that_may_supply_the_oracle_is_told_of(sandbox):
    program = "f = lambda x: 1\nis_right = lambda *a: True"
    verdict = sandbox.run(program, ["assert is_right(f(2), 4)"])
    assert verdict.accepted
    assert "calls to f, is_right" in verdict.warning
    assert sandbox.run(program, ["assert is_right(f(2), 4)"], entry_points=["f", "is_right"]).warning == ""
    assert sandbox.run("class Node: pass\nf = lambda n: 1", ["assert f(Node()) == 1"]).warning == ""


def test_what_a_program_sees_is_the_same_in_every_run(ruled):
    program = "import random\nf = lambda: [random.random(), hash('a'), list(set('abcdef'))]"
    assert ruled(program, "v = f()", "assert v[0] == 0.8444218515250481")[0] == "passed"
    first = ruled(program, "assert f() == 0, f()")
    assert all(ruled(program, "assert f() == 0, f()") == first for _ in range(3))


def test_jobs_leave_nothing_to_those_after_them(ruled):
    tests = [
        "import math, random, sys",
        "math.pi2 = 7\nrandom.seed(5)\nsys.setrecursionlimit(200)",
        "assert f() == 1",
    ]
    leaving = (
        "import math\nmath.e2 = 1\nf = lambda: 1\n"
        "try:\n    open('/tmp/left', 'w').close()\nexcept OSError:\n    pass"
    )
    for _ in range(2):
        assert ruled(leaving, *tests)[0] == "passed"
    finding = "import math, os\nf = lambda: (hasattr(math, 'e2'), os.path.exists('/tmp/left'))"
    drawn = ["import random", "assert f() == (False, False)", "assert random.random() == 0.8444218515250481"]
    assert ruled(finding, *drawn)[0] == "passed"
