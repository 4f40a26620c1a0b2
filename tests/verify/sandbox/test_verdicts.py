"""Verdicts: the rules that keep them from being forged, and whose fault each end of a job is."""

import pytest
from toys.numpy_seen import NEEDS_NUMPY

from erce.verify.sandbox import Limits

BRIEF = Limits(cpu=0.3, wall=60.0)
SAY = """
import json, os, socket, stat, struct
def channel():
    return next(fd for fd in range(3, 64) if is_socket(fd))
def is_socket(fd):
    try:
        return stat.S_ISSOCK(os.fstat(fd).st_mode)
    except OSError:
        return False
def say(payload):
    os.write(channel(), struct.pack("I", len(payload)) + payload)
"""
LINKED = """
class N:
    def __init__(self, v):
        self.v, self.next = v, None
def total(n):
    return n.v + (total(n.next) if n.next else 0)
"""
PRINTED = """
import contextlib, io
with contextlib.redirect_stdout(io.StringIO()) as printed:
    f(5)
assert printed.getvalue() == '5\\n'
"""
ALWAYS = """
class Always:
    def __eq__(self, other): return True
    __ne__ = __lt__ = __gt__ = __le__ = __ge__ = __contains__ = __eq__
    __hash__ = None
def f(x):
    return Always()
"""


def ruled(sandbox, program, tests, **options):
    verdict = sandbox.run(program, tests, limits=BRIEF, **options)
    assert verdict.accepted == (verdict.reason == "passed")
    return verdict.reason, verdict.detail


@pytest.mark.parametrize(
    ("program", "tests"),
    [
        ("def f(x):\n    return x * x", ["assert f(3) == 9"]),
        ("f = lambda *a, **k: (a, k)", ["assert f(1, b=[2]) == ((1,), {'b': [2]})"]),
        ("def f(n):\n    yield from range(n)", ["assert list(f(3)) == [0, 1, 2]", "assert next(f(1)) == 0"]),
        (
            "def f(x):\n    if x < 0: raise ValueError('negative')\n    return x",
            ["try:\n    f(-1)\n    assert False\nexcept ValueError as e:\n    assert 'negative' in str(e)"],
        ),
        (
            "def f(kind, xs):\n    return [kind(x) for x in xs]",
            ["assert f(float, [-1, 2]) == [-1.0, 2.0]"],
        ),
        ("def sum(xs):\n    return 6", ["assert sum([1, 2, 3]) == 6"]),
        ("def g(x): return x + 1\ndef f(h, x): return h(x)", ["assert f(g, 1) == 2"]),
        ("def f(xs): xs.sort()", ["v = [3, 1]\nf(v)\nassert v == [1, 3]", "assert f([1]) is None"]),
        (
            "def f(a, b, c):\n    a['k'] = [1]\n    b |= {2}\n    c += b'x'",
            ["a, b, c = {}, {1}, bytearray()\nf(a, b, c)\nassert (a, b, c) == ({'k': [1]}, {1, 2}, b'x')"],
        ),
        ("def numbers(n): return list(range(n))", ["assert numbers(2) == [0, 1]"]),
        ("f = lambda x: range(10**18)", ["assert f(1) == range(10**18)", "assert 5 in f(1)"]),
        ("f = lambda s: s + '\\ud800'", ["assert f('a') == 'a\\ud800'"]),
        ("def f(x):\n    return x", ["def check(c):\n    assert c(1) == 1", "check(f)"]),
        ("def f(self, name): return self + name", ["assert f(self=1, name=2) == 3"]),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else None,
)
def test_ordinary_asserts_hold_of_right_programs(sandbox, program, tests):
    entry_points = ["sum"] if "sum(xs)" in program else None
    assert ruled(sandbox, program, tests, setup=["import math"], entry_points=entry_points) == ("passed", "")


@pytest.mark.parametrize(
    "test",
    [
        "assert f(1) == 5",
        "assert f(1) in [5]",
        "assert 5 in f(1)",
        "assert f(1) < 6",
        "assert f(1).x == 5",
    ],
)
def test_rule_one_a_comparison_is_never_delegated(sandbox, test):
    program = ALWAYS + "Always.x = f.x = Always()"
    reason, detail = ruled(sandbox, program, [test])
    assert reason == "opaque"
    assert "does not cross" in detail


FOUND = "import re\ndef f(s): return re.search('b', s)"


@pytest.mark.parametrize(
    ("program", "tests", "reason"),
    [
        (FOUND, ["assert f('ab')", "assert not f('a')"], "passed"),
        (FOUND, ["def check(c):\n    assert c('b'), c", "check(f)"], "passed"),
        (FOUND, ["assert bool(not f('a')) and [1 for s in 'b' if not not f(s)] == [1]"], "passed"),
        (FOUND, ["assert f('a')"], "failed"),
        (FOUND, ["assert not f('ab')"], "failed"),
        ("def f(v): v.append(1)", ["v = []\nassert not f(v)\nassert v == [1]"], "passed"),
        # Only the truth crosses: what is compared, kept or looked at is still opaque.
        (FOUND, ["assert f('ab') is not None"], "opaque"),
        (FOUND, ["x = f('ab')\nassert x"], "opaque"),
        (FOUND, ["assert (f('ab') or 5) == 5"], "opaque"),
        (ALWAYS, ["assert not f(1) == 5"], "opaque"),
        (ALWAYS, ["assert f(1) and f(1) == 5"], "opaque"),
        ("class A:\n    def __bool__(self): return 5\nf = lambda x: A()", ["assert f(1)"], "failed"),
        ("class A:\n    def __bool__(self): raise SystemExit\nf = lambda x: A()", ["assert f(1)"], "failed"),
    ],
)
def test_of_an_object_the_truth_crosses_and_nothing_else(sandbox, program, tests, reason):
    assert ruled(sandbox, program, tests)[0] == reason


@pytest.mark.parametrize(
    ("setup", "test"),
    [
        (["from math import isclose"], "assert isclose(f(1), 5)"),
        ([], "assert math.isclose(f(1), 5)"),
        ([], "assert len(f(1)) == 5"),
        (["from collections import Counter"], "assert Counter(f(1)) == Counter('abc')"),
        (["def same(a, b):\n    return a == b"], "assert same(f(1), 5)"),
    ],
)
@pytest.mark.parametrize("entry_points", [None, ["f"]])
def test_rule_two_the_program_answers_for_no_name_but_its_entry_points(sandbox, setup, test, entry_points):
    program = (
        "import builtins, math\ndef f(x):\n    return ''\n"
        "isclose = same = len = Counter = lambda *a: 5\n"
        "class math: isclose = lambda *a: True\nbuiltins.len = builtins.AssertionError = lambda *a: 5"
    )
    assert ruled(sandbox, program, [test], setup=setup, entry_points=entry_points)[0] == "failed"


def test_rule_two_a_name_outside_the_list_is_the_tasks_fault(sandbox):
    program = "f = g = lambda x: 5"
    assert ruled(sandbox, program, ["assert f(1) == g(1)"])[0] == "passed"
    reason, detail = ruled(sandbox, program, ["assert f(1) == g(1)"], entry_points=["f"])
    assert (reason, detail) == ("error", "nobody defines 'g', which is not an entry point")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("while True: pass", "timeout"),
        ("import os; os._exit(0)", "failed"),
        ("raise SystemExit", "failed"),
        ("return object()", "opaque"),
        ("say(b'{}')", "failed"),
    ],
)
@pytest.mark.parametrize("swallow", ["except Exception:", "except BaseException:", "except:"])
def test_rule_four_no_test_swallows_the_end_of_a_job(sandbox, body, reason, swallow):
    test = f"try:\n    assert f(1) == 5\n{swallow}\n    pass\nassert True"
    assert ruled(sandbox, f"{SAY}\ndef f(x):\n    {body}", [test])[0] == reason


@pytest.mark.parametrize(
    ("tests", "sentence"),
    [
        ([], "accepts everything"),
        (["f(1)"], "no assert"),
        (["assert f("], "is not Python"),
        (
            ["assert 1 / 0 == f(1)"],
            "raise before they need the program: assert 1 / 0 == f(1): ZeroDivisionError",
        ),
        (["assert 1 == 1 or f"], "hold without a call of the program"),
        (["assert 1 == 1"], "use no name that a program could define"),
        (["assert f(bytes(9 << 20)) == 1"], "the tests pass more than a call can hold"),
        (["assert f(1) == 1\nimport no_such_module"], "the tests import what is not here: "),
    ],
)
def test_rule_five_tests_that_cannot_tell_are_an_error_and_no_pass(sandbox, tests, sentence):
    reason, detail = ruled(sandbox, "f = lambda x: 1", tests)
    assert reason == "error"
    assert sentence in detail


@pytest.mark.parametrize("large", ["'a' * (8 << 20)[:-20]", "nested(490)", "'\\x01' * (7 << 20 >> 3)"])
def test_a_program_cannot_make_its_tests_look_at_fault(sandbox, large):
    """By a result that the tests hand on and that is too large for a call."""
    nested = "def nested(n): return [nested(n - 1)] if n else []"
    large = large.replace("(8 << 20)[:-20]", "((8 << 20) - 20)")
    program = f"{nested}\ndef encoded(x): return {large}\ndef decoded(x): return 1"
    test = "assert decoded([[[[[[[[[[encoded('abc') * 2]]]]]]]]]]) == 'abc'"
    assert ruled(sandbox, program, [test])[0] == "failed"


@pytest.mark.parametrize("order", [1, -1])
def test_one_test_that_needs_the_program_is_enough(sandbox, order):
    tests = ["assert f(1) == 1", "assert 1 or f"][::order]
    assert ruled(sandbox, "f = lambda x: 1", tests)[0] == "passed"
    assert ruled(sandbox, "f = lambda x: 2", tests)[0] == "failed"


@pytest.mark.parametrize("setup", ["raise ValueError", "import no_such_module", "undefined_name"])
def test_broken_set_up_is_the_tasks_fault(sandbox, setup):
    assert (
        ruled(sandbox, "f = lambda x: 1", ["assert f(1) == 1"], setup=[setup], entry_points=["f"])[0]
        == "error"
    )


@pytest.mark.parametrize(
    ("program", "tests", "sentence"),
    [
        ("def f(x:", ["assert f(1) == 1"], "the program raised SyntaxError"),
        ("\ud800", ["assert f(1) == 1"], "the program raised UnicodeEncodeError"),
        ("(" * 100_000, ["assert f(1) == 1"], "the program raised"),
        ("x = 1\n" * 2_000_000, ["assert f(1) == 1"], "a program of"),
        ("x = 1  # " + "é" * 300_000, ["assert f(1) == 1"], "does not define 'f'"),
        ("import os as f", ["assert f(1) == 1"], "the program does not define 'f'"),
        ("f = 5", ["assert f(1) == 1"], "TypeError: 'int' object is not callable"),
        ("f = lambda x: g", ["assert f(1) == 1"], "NameError: name 'g' is not defined"),
        ("f = lambda x: 1", ["assert f(1) == 2, 'said\\nhere'"], "AssertionError: said here"),
        ("import os\nos._exit(3)", ["assert f(1)"], "ended its process (exit status 3)"),
        (
            "import ctypes\nf = lambda x: ctypes.string_at(0)",
            ["assert f(1)"],
            "ended its process (signal 11)",
        ),
        ("raise SystemExit(0)", ["assert f(1)"], "the program raised SystemExit: 0"),
        ("f = lambda x: f(x)", ["assert f(1)"], "RecursionError"),
        ("f = lambda x: bytearray(4 << 30)", ["assert f(1)"], "MemoryError"),
        (
            "class E(Exception):\n    def __str__(s): raise s\ndef f(x): raise E",
            ["assert f(1)"],
            "its text cannot be read",
        ),
    ],
    ids=lambda value: value[:40].encode("unicode_escape").decode() if isinstance(value, str) else None,
)
def test_whatever_the_program_does_wrong_is_a_failure_with_its_detail(sandbox, program, tests, sentence):
    reason, detail = ruled(sandbox, program, tests)
    assert reason == "failed"
    assert sentence in detail
    assert detail.isprintable()


@pytest.mark.parametrize(
    ("value", "tests", "reasons"),
    [
        ("range(10**15)", ["assert sorted(f(1)) == [5]"], {"failed"}),
        ("range(10**18)", ["assert sum(f(1)) == 5"], {"timeout"}),
        ("Decimal('1e999999999')", ["assert int(f(1)) == 5"], {"failed", "timeout"}),
        ("1 << 13_000_000", ["assert str(f(1)) == '5'"], {"failed"}),
        ("[i * ((1 << 61) - 1) for i in range(30000)]", ["assert set(f(1)) == {5}"], {"timeout"}),
        ("itertools.count()", ["assert list(f(1)) == [5]"], {"opaque"}),
    ],
)
def test_a_value_that_is_a_bomb_ends_with_the_judges_budget(sandbox, value, tests, reasons):
    program = f"import itertools\nfrom decimal import Decimal\nf = lambda x: {value}"
    verdict = sandbox.run(program, tests, limits=BRIEF)
    assert verdict.reason in reasons
    assert "wall" not in verdict.detail
    assert ruled(sandbox, "f = lambda x: x", ["assert f(1) == 1"])[0] == "passed"


@pytest.mark.parametrize(
    "frame",
    [
        "b'[' * 50 + b']' * 50",
        "b'{\"ok\":' + b'9' * 100_000 + b'}'",
        'b\'{"ok":[["ty","eval"],null]}\'',
        "b'{\"ok\":[null,5]}'",
        "b'{\"ok\":[[],null]}'",
        "b''",
    ],
)
def test_a_malformed_reply_is_a_failure(sandbox, frame):
    reason, detail = ruled(sandbox, f"{SAY}\ndef f(x):\n    say({frame})", ["assert f(1) == 1"])
    assert reason == "failed"
    assert "malformed" in detail


def test_a_reply_that_is_announced_too_big_is_not_read(sandbox):
    program = f"{SAY}\ndef f(x):\n    os.write(channel(), struct.pack('I', 1 << 31))"
    assert ruled(sandbox, program, ["assert f(1) == 1"]) == (
        "failed",
        "a reply of 2147483648 bytes, more than a reply may hold",
    )


@pytest.mark.parametrize(
    ("program", "test", "reason"),
    [
        ("def f(v):\n    v.sort()", "v = [3, 1]\nf(v)\nassert v == [1, 3]", "passed"),
        ("def f(v):\n    v.clear()", "v = [3, 1]\nf(v)\nassert v == [1, 3]", "failed"),
        # With changes beside a result, emptying the list that the test sorts next would be right.
        ("def f(v):\n    v.clear()\n    return []", "v = [3, 1]\nassert f(v) == sorted(v)", "failed"),
        ("def f(v): v['k'][0].append(1)", "w = [0]\nv = {'k': [w]}\nf(v)\nassert w == [0, 1]", "passed"),
        ("def f(*, v): v.add(5)", "v = {1}\nf(v=v)\nassert v == {1, 5}", "passed"),
        ("def g(): pass\ndef f(v): pass", "assert f((g, 1)) is None", "passed"),
        ("def g(): pass\ndef f(v): v[1] = 2", "v = [g, 1]\nf(v)\nassert v[1] == 2", "opaque"),
        ("def f(v): v[0] = True", "v = [1]\nf(v)\nassert repr(v) == '[1]'", "failed"),
        ("def f(v): v[0].sort()", "v = ([3, 1], 9)\nf(v)\nassert v == ([3, 1], 9)", "failed"),
        ("def f(v): v[0].sort()", "v = ([3, 1], 9999)\nf(v)\nassert v == ([1, 3], 9999)", "passed"),
        ("def f(v): v[0][0].sort()", "w = [3, 1]\nv = [(w,)]\nf(v)\nassert w == [1, 3]", "passed"),
        ("def f(v): pass", "v = ({'b', 'a', 'c', 9, 1}, 1.5)\nf(v)\nassert v[1] == 1.5", "passed"),
        (
            "def f(v): v[0].append(1)",
            "from collections import namedtuple as n\nP = n('P', 'x')\nv = P([])\nf(v)\nassert v == ([],)",
            "opaque",
        ),
        ("class L: pass\ndef f(v): v.append(L())", "v = [1]\nf(v)\nassert len(v) == 2", "opaque"),
        # A defaultdict crosses as a dict; that the program changed it must not go unnoticed.
        (
            "def f(v): v[1] = 2",
            "import collections as c\nv = c.defaultdict(int)\nf(v)\nassert not v",
            "opaque",
        ),
    ],
)
def test_a_function_that_returns_none_changes_its_arguments(sandbox, program, test, reason):
    assert ruled(sandbox, program, [test])[0] == reason


POINTS = """
from collections import namedtuple
class P(namedtuple("P", "x y")):
    __eq__ = lambda self, other: True
    y = property(lambda self: 9)
def f(p):
    return P(p.x + 1, p.y)
def forge(p):
    return P(5, 5)
"""


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        ("assert f(P(1, y=2)).x == 2 and f(P(1, 2)).y == 2 and f(P(1, 2)) == P(2, 2)", "passed"),
        ("assert repr([f(P(1, 2))]) == '[P(x=2, y=2)]'", "passed"),
        ("assert forge(P(1, 2)) == (2, 2)", "failed"),
        ("assert forge(P(1, 2)).y == 9", "failed"),
    ],
)
def test_a_namedtuple_has_fields_and_no_method_of_the_program(sandbox, test, reason):
    setup = ["from collections import namedtuple\nP = namedtuple('P', 'x y')"]
    assert ruled(sandbox, POINTS, [test], setup=setup)[0] == reason


def test_a_hundred_thousand_kinds_of_namedtuples_end_with_the_judges_budget(sandbox):
    frame = """b'{"ok":[["l",%s],[]]}' % b','.join(b'["n","P",["t","x%d"],1]' % n for n in range(10**5))"""
    program = f"{SAY}\ndef f(x):\n    say({frame})\n    os.read(channel(), 1)"
    reason, detail = ruled(sandbox, program, ["assert len(f(1)) == 10**5"])
    assert (reason, "wall" in detail) == ("timeout", False)
    assert ruled(sandbox, "f = lambda x: x", ["assert f(1) == 1"])[0] == "passed"


@pytest.mark.parametrize(
    ("setup", "program", "tests"),
    [
        (
            [],
            "class C:\n    n = 0\n    def up(self):\n        self.n += 1\n        return self",
            ["assert C().up().n == 1"],
        ),
        ([], LINKED, ["n = N(1)\nn.next = N(2)", "assert total(n) == 3"]),
        ([], "import re\ndef f(s):\n    return re.search('b+', s)", ["assert f('abb').group() == 'bb'"]),
        ([], "def f(n):\n    return lambda m: n + m", ["assert f(1)(2) == 3"]),
        ([], "def f(g): return g(3)", ["assert f(lambda x: x + 1) == 4"]),
        ([], "def f(xs): return list(xs)", ["assert f(iter([1])) == [1]"]),
        ([], "LIMIT = 7\ndef f(x): return x + LIMIT", ["assert f(1) == 8 and LIMIT == 7"]),
        (
            [],
            "import functools\n@functools.cache\ndef f(x): return x",
            ["f(2)", "assert f.cache_info()[1] == 1"],
        ),
        (["class N:\n    def __init__(s, v): s.v = v"], "def f(n: N): return n.v", ["assert f(N(3)) == 3"]),
        (
            [],
            "def f(x): print(x)",
            [PRINTED],
        ),
    ],
)
def test_tests_that_look_at_objects_are_unproven(sandbox, setup, program, tests):
    assert ruled(sandbox, program, tests, setup=setup)[0] in ("opaque", "failed")
    assert sandbox.run(program, tests, setup=setup, mode="unproven").reason == "unproven"
    wrong = sandbox.run(program, [*tests, "assert 1 == 2, 'said'"], setup=setup, mode="unproven")
    assert (wrong.accepted, wrong.detail) == (False, "assert 1 == 2, 'said': AssertionError: said")


def test_an_entry_point_that_the_set_up_defines_may_be_missing(sandbox):
    options = {"setup": ["class Node:\n    n = 3"], "entry_points": ["f", "Node"]}
    assert ruled(sandbox, "def f(n): return n", ["assert f(Node.n) == 3"], **options)[0] == "passed"


def test_a_reply_changes_no_argument_beside_a_result(sandbox):
    """Or a program could empty the list that its result is compared with."""
    frames = [b'{"ok":[["function"]]}', b'{"ok":[["l"],[[0,["l"]]]]}']
    program = f"{SAY}\nfor frame in {frames}: say(frame)\ndef f(x): return x"
    reason, detail = ruled(sandbox, program, ["v = [3, 1]\nassert f(v) == sorted(v)"])
    assert (reason, detail) == ("failed", "a malformed reply")


@pytest.mark.parametrize(
    "look", ["inspect.signature(f)", "f.__doc__", "f.__code__", "not f", "f == f", "f.cache_info()"]
)
def test_what_a_stub_is_beside_a_call_does_not_cross(sandbox, look):
    tests = [f"import inspect\nassert f(1) == 1\ntry:\n    {look}\nexcept BaseException:\n    pass"]
    assert ruled(sandbox, "def f(x): return x", tests)[0] == "opaque"


def test_a_value_of_the_program_is_no_call(sandbox):
    """Or tests that never run their asserts would accept a program that is one number."""
    tests = ["def check():\n    assert f(1) == 1\nassert f or 1 == 1"]
    assert ruled(sandbox, "f = 5", tests)[0] == "opaque"


@pytest.mark.parametrize(
    "change",
    [
        "import math\nmath.isclose = lambda *values: True",
        "from unittest import mock\nmock.patch('math.isclose', lambda *values: True).start()",
    ],
)
def test_what_a_test_changes_ends_with_its_job(sandbox, change):
    assert ruled(sandbox, "f = lambda x: x", [f"{change}\nassert f(1) == 1"])[0] == "passed"
    assert ruled(sandbox, "f = lambda x: x", ["assert math.isclose(f(1), 2)"])[0] == "failed"


NUMPY = "import numpy as np\nf = lambda x: "


@NEEDS_NUMPY
@pytest.mark.parametrize(
    ("returned", "test", "reason"),
    [
        ("np.sum(x)", "assert f([1, 2]) == 3 and type(f([1, 2])) is int", "passed"),
        (
            "{'a': [np.float32(0.5), np.bool_(1), np.complex64(1j), np.mean(x)]}",
            "assert f([1]) == {'a': [0.5, True, 1j, 1]}",
            "passed",
        ),
        ("np.array(x).tolist()", "assert f([1, 2]) == [1, 2]", "passed"),
        ("np.array(x) > 1", "assert f([2])", "passed"),  # of any object the truth
        ("np.sum(x)", "assert f([1, 2]) == 4", "failed"),
        # Of one value, or none: what == and bool mean for arrays is not what they mean for lists.
        ("np.array(x)", "assert f([1]) == [1]", "opaque"),
        ("np.array([])", "assert all(f(x) == 5 for x in [1])", "opaque"),
        ("[np.array([])]", "assert f(1) == [5]", "opaque"),
        ("np.longdouble(1)", "assert f(1) == 1", "opaque"),
    ],
)
def test_numbers_of_numpy_cross_as_pythons_and_arrays_do_not(sandbox, returned, test, reason):
    assert sandbox.run(NUMPY + returned, [test]).reason == reason


@NEEDS_NUMPY
@pytest.mark.parametrize(
    "imported",
    [
        "import numpy as np",
        "from numpy import allclose",
        "import os, numpy.linalg",
        "def g():\n    import numpy\ng()",
    ],
)
@pytest.mark.parametrize("setup", [True, False])
def test_tests_that_import_numpy_are_run_unproven_alone(sandbox, imported, setup):
    """An empty list passes each assert of `allclose`, whatever the answer is."""
    test = "import numpy\nassert numpy.allclose(f(1), 5.0)"
    sources = {"setup": [imported], "tests": ["assert f(1) == []"]} if setup else {"tests": [imported, test]}
    reason, detail = ruled(sandbox, "f = lambda x: []", **sources)
    assert reason == "opaque"
    assert "the tests import numpy" in detail
    assert sandbox.run("f = lambda x: []", **sources, mode="unproven").reason == "unproven"


@NEEDS_NUMPY
def test_no_test_finds_a_way_to_numpy_in_the_judge(sandbox):
    test = "np = __import__('numpy')\nassert np.allclose(f(1), 5.0)"
    assert ruled(sandbox, NUMPY + "np.array([])", [test])[0] == "opaque"
    raising = "def f(x): raise ModuleNotFoundError('numpy', name='numpy')"
    assert ruled(sandbox, raising, ["assert f(1) == 1"])[0] == "failed"


READS_TESTS = """
import gc, sys
def f(x):
    frame, seen = sys._getframe(), list(gc.get_objects())
    while frame:
        seen += [frame.f_locals, frame.f_code.co_consts]
        frame = frame.f_back
    for each in seen:
        for value in each.values() if type(each) is dict else each if type(each) in (list, tuple) else ():
            if type(value) is int and 987650000 < value < 987660000:
                return value
    return 0
"""


def test_the_programs_process_holds_no_expected_value(sandbox):
    """The control: beside the tests, in one interpreter, the same program finds it."""
    tests = ["assert f(1) == 987654321"]
    assert sandbox.run(READS_TESTS, tests).reason == "failed"
    assert sandbox.run(READS_TESTS, tests, mode="unproven").reason == "unproven"


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("def f(x):\n    return x * x", "unproven"),
        ("def f(x):\n    return x", "failed"),
        ("def f(x:", "failed"),
        ("raise SystemExit(0)", "failed"),
        (ALWAYS, "unproven"),
    ],
)
def test_the_unproven_mode_believes_the_programs_own_interpreter(sandbox, program, reason):
    assert sandbox.run(program, ["assert f(3) == 9"], mode="unproven").reason == reason
