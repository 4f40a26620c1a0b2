"""What crosses between judge and program, what cannot, and whose fault it is when something does not."""

import pytest

from erce.verify.sandbox import Limits, Sandbox, SandboxUnavailable

PATIENT = Limits(cpu=2.0, wall=60.0)


@pytest.fixture(scope="module")
def sandbox():
    try:
        with Sandbox() as made:
            yield made
    except SandboxUnavailable as none:
        pytest.skip(str(none))


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
    for change in ("json.dumps = lambda *a, **k: '5'", "json.dumps = None", "json.loads = lambda text: 5"):
        assert ruled(sandbox, "f = lambda x: 1", f"import json\n{change}\nassert f(1) == 1")[0] != "passed"


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
    ("program", "test", "said"),
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
def test_a_value_that_is_too_large_or_deep_to_cross_is_opaque(sandbox, program, test, said):
    reason, detail = ruled(sandbox, program, test)
    assert reason == "opaque"
    assert said in detail


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
