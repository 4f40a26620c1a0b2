"""Verdicts: the rules that keep them from being forged, and whose fault each end of a job is."""

import pytest

from erce.verify.sandbox import Limits, Sandbox

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
        ("LIMIT = 7", ["assert LIMIT == 7"]),
        ("def f(n):\n    yield from range(n)", ["assert list(f(3)) == [0, 1, 2]", "assert next(f(1)) == 0"]),
        ("def f(n):\n    yield from range(n)", ["assert sum(zip(f(2), f(2)), ()) == (0, 0, 1, 1)"]),
        (
            "class C:\n    n = 0\n    def up(self):\n        self.n += 1\n        return self",
            ["c = C()", "assert c.up().up().n == 2"],
        ),
        (
            "class C:\n    def __len__(self): return 2\n    def __iter__(self): return iter('ab')\nf = C",
            ["assert len(f()) == 2", "assert list(f()) == ['a', 'b']"],
        ),
        ("class C:\n    def __getitem__(self, k): return k\nf = C", ["assert f()[3] == 3"]),
        (
            LINKED,
            ["n = N(1)\nn.next = N(2)", "assert total(n) == 3"],
        ),
        (
            "import functools\n@functools.cache\ndef f(x):\n    return x",
            ["assert f(2) == 2", "assert f.cache_info()[1] == 1"],
        ),
        (
            "def f(x):\n    if x < 0: raise ValueError('negative')\n    return x",
            ["try:\n    f(-1)\n    assert False\nexcept ValueError as e:\n    assert 'negative' in str(e)"],
        ),
        (
            "class Mine(KeyError): pass\ndef f():\n    raise Mine('k')",
            ["try:\n    f()\n    assert 0\nexcept KeyError:\n    pass"],
        ),
        (
            "def f(g, xs):\n    return [g(x) for x in xs]",
            ["assert f(abs, iter([-1, 2])) == [1, 2]", "assert f(math.sqrt, [4]) == [2]"],
        ),
        ("def sum(xs):\n    return 6", ["assert sum([1, 2, 3]) == 6"]),
        ("def g(x): return x + 1\ndef f(h, x): return h(x)", ["assert f(g, 1) == 2"]),
        (
            "import re\ndef f(s):\n    return re.search('b+', s)",
            ["assert f('abb')", "assert not f('x')", "assert f('abb').group() == 'bb'"],
        ),
        ("def f(xs): xs.sort()", ["v = [3, 1]\nf(v)\nassert v == [1, 3]", "assert f([1]) is None"]),
        (
            "def f(a, b, c):\n    a['k'] = [1]\n    b |= {2}\n    c += b'x'",
            ["a, b, c = {}, {1}, bytearray()\nf(a, b, c)\nassert (a, b, c) == ({'k': [1]}, {1, 2}, b'x')"],
        ),
        (
            "from collections import namedtuple\nP = namedtuple('P', 'x y')\ndef f(): return [P(1, 2)]",
            ["assert f() == [(1, 2)]", "assert f()[0].y == 2"],
        ),
        ("def numbers(n): return list(range(n))", ["assert numbers(2) == [0, 1]"]),
        ("def f():\n    return math.pi", ["import math", "assert f() == math.pi"]),
        ("f = lambda x: 10**5000", ["assert f(1) == 10**5000"]),
        ("f = lambda x: range(10**18)", ["assert f(1) == range(10**18)", "assert 5 in f(1)"]),
        ("f = lambda s: s + '\\ud800'", ["assert f('a') == 'a\\ud800'"]),
        ("def f(x):\n    return x", ["def check(c):\n    assert c(1) == 1", "check(f)"]),
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
        "assert not f(1) != 5",
        "assert f(1) in [5]",
        "assert [5].count(f(1)) == 1",
        "assert 5 in f(1)",
        "assert f(1) < 6",
        "assert sorted([f(1), f(2)])",
        "assert (f(1), 2) == (5, 2)",
        "assert f(1).x == 5",
        "assert f == 5",
    ],
)
def test_rule_one_a_comparison_is_never_delegated(sandbox, test):
    program = ALWAYS + "Always.x = Always()"
    reason, detail = ruled(sandbox, program, [test])
    assert reason == "opaque"
    assert "cannot be compared outside the program's process" in detail


@pytest.mark.parametrize(
    ("lie", "expected"),
    [("list", "[1]"), ("str", "'a'"), ("dict", "{1: 2}"), ("int", "5"), ("tuple", "(1,)"), ("set", "{1}")],
)
def test_rule_one_a_subclass_of_a_builtin_is_compared_as_the_builtin(sandbox, lie, expected):
    program = (
        f"class L({lie}):\n    __eq__ = lambda s, o: True\n    __ne__ = lambda s, o: False\n"
        "    __hash__ = None\nf = lambda x: L()"
    )
    reason, detail = ruled(sandbox, program, [f"assert f(1) == {expected}"])
    assert reason == "opaque"  # in one process the program's own `__eq__` decides
    assert f"assert f(1) == {expected}: AssertionError" in detail


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
    assert (reason, detail) == ("error", "nobody defines 'g', which is no entry point")


@pytest.mark.parametrize("error", ["StopIteration", "StopAsyncIteration"])
def test_rule_three_the_end_of_an_iterator_cannot_be_played(sandbox, error):
    program = f"def f(x):\n    raise {error}"
    reason, detail = ruled(sandbox, program, ["assert all(map(f, [1, 2]))"])
    assert reason == ("opaque" if error == "StopIteration" else "failed")  # which ends `all` in one process
    assert error in detail


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("while True: pass", "timeout"),
        ("import os; os._exit(0)", "failed"),
        ("raise SystemExit", "ended"),
        ("raise KeyboardInterrupt", "ended"),
        ("return object()", "opaque"),
        ("say(b'{}')", "failed"),
        ("say(b'nothing like json')", "failed"),
    ],
)
@pytest.mark.parametrize("swallow", ["except Exception:", "except BaseException:", "except:"])
def test_rule_four_no_test_swallows_the_end_of_a_job(sandbox, body, reason, swallow):
    test = f"try:\n    assert f(1) == 5\n{swallow}\n    pass\nassert True"
    if reason == "ended":  # in one process such a test swallows these
        reason = "failed" if swallow == "except Exception:" else "opaque"
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
        (["assert f(1) == 1", "assert 1 / 0 == f(1)"], "ZeroDivisionError"),
        (["assert f(1) == 1", "assert False"], "raise before they need the program"),
        (["assert 1 == 1 or f"], "hold without a call of the program"),
        (["assert len([]) == 0"], "hold without a call of the program"),
        (["assert 1 == 1"], "use no name that a program could define"),
        (["import sys\nsys.exit(0)\nassert f(1)"], "SystemExit: 0"),
        (["assert f(bytes(9 << 20)) == 1"], "the tests pass more than a call can hold"),
        (["assert f(1) == 1\nimport no_such_module"], "the tests import what is not here: "),
    ],
)
def test_rule_five_tests_that_cannot_tell_are_an_error_and_no_pass(sandbox, tests, sentence):
    reason, detail = ruled(sandbox, "f = lambda x: 1", tests)
    assert reason == "error"
    assert sentence in detail


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
        ("\0", ["assert f(1) == 1"], "the program raised"),
        ("\ud800", ["assert f(1) == 1"], "the program raised UnicodeEncodeError"),
        ("(" * 100_000, ["assert f(1) == 1"], "the program raised"),
        ("x = 1\n" * 2_000_000, ["assert f(1) == 1"], "a program of"),
        ("x = 1  # " + "é" * 300_000, ["assert f(1) == 1"], "does not define 'f'"),
        ("", ["assert f(1) == 1"], "the program does not define 'f'"),
        ("import os as f", ["assert f(1) == 1"], "the program does not define 'f'"),
        ("f = 5", ["assert f(1) == 1"], "TypeError: 'int' object is not callable"),
        ("f = lambda: 5", ["assert f(1) == 1"], "TypeError"),
        ("f = lambda x: g", ["assert f(1) == 1"], "NameError: name 'g' is not defined"),
        ("f = lambda x: None", ["assert f(1)[0] == 1"], "'NoneType' object is not subscriptable"),
        ("f = lambda x: 1", ["r = f(1)", "assert r == 2"], "assert r == 2: AssertionError"),
        ("f = lambda x: 1", ["assert f(1) == 2, 'said\\nhere'"], "AssertionError: said here"),
        ("N = 5", ["assert N == 6"], "assert N == 6: AssertionError"),
        ("import os\nos._exit(3)", ["assert f(1)"], "ended its process (exit status 3)"),
        (
            "import ctypes\nf = lambda x: ctypes.string_at(0)",
            ["assert f(1)"],
            "ended its process (signal 11)",
        ),
        ("raise SystemExit(0)", ["assert f(1)"], "the program raised SystemExit: 0"),
        ("f = lambda x: f(x)", ["assert f(1)"], "RecursionError"),
        ("f = lambda x: bytearray(4 << 30)", ["assert f(1)"], "MemoryError"),
        ("f = lambda x: [f(x) for f in [lambda x: x]] and open('/etc/shadow')", ["assert f(1)"], "Error"),
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
        ("itertools.count()", ["assert list(f(1)) == [5]"], {"timeout", "failed"}),
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
        "b'{\"ok\":1}'",
        'b\'{"ok":[["ty","eval"],null]}\'',
        'b\'{"ok":[["o","x",1,2],null]}\'',
        'b\'{"ok":[null,["l",[1,2]]]}\'',
        "b'{\"ok\":[null,5]}'",
        "b'{\"ok\":[[],null]}'",
        'b\'{"ok":1,"more":2}\'',
        "b'[1]'",
        "b'\\xff\\xfe'",
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


def test_what_a_call_returns_decides_whether_it_may_change_its_arguments(sandbox):
    """One that empties the list which the test sorts next would be right whatever it does."""
    test = "v = [3, 1]\nassert f(v) == sorted(v)"
    assert ruled(sandbox, "def f(v):\n    v.clear()\n    return []", [test])[0] == "opaque"
    assert ruled(sandbox, "def f(v):\n    v.clear()", ["v = [3, 1]\nf(v)\nassert v == [1, 3]"])[0] == "failed"
    replaces = "def f(a, b):\n    a.append(1)\n    return None"
    assert ruled(sandbox, replaces, ["a, b = [], ()\nf(a, b)\nassert (a, b) == ([1], ())"])[0] == "passed"


@pytest.mark.parametrize("program", ["x = 1", "import sum", "sum = __import__('math')"])
def test_a_program_without_its_entry_point_fails_though_a_builtin_could_answer(sandbox, program):
    program = program.replace("import sum", "import math as sum")
    verdict = ruled(sandbox, program, ["assert sum([1, 2]) == 3"], entry_points=["sum"])
    assert verdict == ("failed", "the program does not define 'sum'")


def test_an_entry_point_that_the_set_up_defines_may_be_missing(sandbox):
    options = {"setup": ["class Node:\n    n = 3"], "entry_points": ["f", "Node"]}
    assert ruled(sandbox, "def f(n): return n", ["assert f(Node.n) == 3"], **options)[0] == "passed"


def test_replies_given_in_advance_are_values_chosen_blindly(sandbox):
    program = f"{SAY}\nfor _ in range(9): say(b'{{\"ok\":true}}')\ndef f(x): return x"
    assert ruled(sandbox, program, ["assert f(7) == 7"])[0] == "failed"


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


def test_the_programs_process_holds_no_expected_value():
    """The control: without the split the same program finds it."""
    tests = ["assert f(1) == 987654321"]
    with Sandbox() as whole, Sandbox(_without=frozenset({"split"})) as together:
        assert whole.run(READS_TESTS, tests).reason == "failed"
        assert together.run(READS_TESTS, tests).reason == "passed"


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("def f(x):\n    return x * x", "passed"),
        ("def f(x):\n    return x", "failed"),
        ("def f(x:", "failed"),
        ("g = 1", "failed"),
        ("import os; os._exit(0)", "failed"),
        ("raise SystemExit(0)", "failed"),
        ("while True: pass", "timeout"),
        (ALWAYS, "passed"),
    ],
)
def test_the_papers_mode_believes_the_programs_own_interpreter(sandbox, program, reason):
    assert sandbox.run(program, ["assert f(3) == 9"], mode="paper").reason == reason
