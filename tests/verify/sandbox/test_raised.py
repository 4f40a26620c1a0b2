"""Exceptions of the program: text, arguments, attributes and classes in the tests."""

import pytest

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
def test_an_exception_arrives_unchanged(ruled, error, caught, holds):
    test = f"try:\n    f({error!r})\n    assert False\nexcept {caught} as e:\n    assert {holds}, repr(e)"
    points = ["f", "Mine", "Base", "Odd"]
    assert ruled(RAISES, test, entry_points=points) == ("passed", "")


def test_exceptions_work_with_unittest_and_as_values(ruled):
    case = "import unittest\ncase = unittest.TestCase()\n"
    regex = 'with case.assertRaisesRegex(ValueError, "^code"):\n    f("Mine(1)")'
    assert ruled(RAISES, f"{case}{regex}\ncase.assertRaises(Mine, f, 'Mine(2)')")[0] == "passed"
    assert ruled(RAISES, f"{case}with case.assertRaises(Odd):\n    f('Mine(1)')")[0] == "failed"
    made = "e = Mine(5)\nassert e.code == 5\ntry:\n    raise e\nexcept f:\n    pass"
    assert ruled(RAISES + "f = Mine", made)[0] == "passed"


@pytest.mark.parametrize(
    "trap", ["Mine = AssertionError", "Mine = Exception", "class Mine(AssertionError): pass"]
)
def test_no_class_of_the_program_catches_what_the_tests_raise(ruled, trap):
    test = "try:\n    assert f(1) == 2\nexcept Mine:\n    pass"
    caught = trap != "class Mine(AssertionError): pass"  # in one process
    assert ruled(f"{trap}\nf = lambda x: x", test)[0] == ("opaque" if caught else "failed")


def test_an_alias_of_a_builtin_exception_catches_it(ruled):
    program = "Mine = ValueError\ndef f(x): raise ValueError('no')"
    test = "try:\n    f(1)\n    assert False\nexcept Mine as e:\n    assert str(e) == 'no'"
    assert ruled(program, test) == ("passed", "")


LIBRARY = """
import json
from dataclasses import dataclass
@dataclass(frozen=True)
class Point:
    x: int
class Bad(SyntaxError): pass
def load(text): return json.loads(text)
def gone(): open("/gone")
def parse(): raise Bad("no )")
"""


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        (
            "import json\ntry:\n    load('{')\nexcept json.JSONDecodeError as e:\n    assert e.pos == 1",
            "passed",
        ),
        (
            "import dataclasses as d\ntry:\n    Point(1).x = 2\nexcept d.FrozenInstanceError: assert 1",
            "passed",
        ),
        (
            "try:\n    gone()\nexcept OSError as e:\n    assert e.filename == '/gone'",
            "passed",
        ),
        (
            "try:\n    parse()\nexcept SyntaxError as e:\n    assert e.msg == 'no )'",
            "passed",
        ),
        ("import json\ntry:\n    parse()\nexcept json.JSONDecodeError:\n    assert True", "failed"),
    ],
)
def test_an_exception_of_the_library_has_its_class_and_attributes(ruled, test, reason):
    assert ruled(LIBRARY, test)[0] == reason


@pytest.mark.parametrize("trap", ["Mine = json.JSONDecodeError", "class Mine(unittest.SkipTest): pass"])
def test_no_class_of_the_library_makes_a_test_pass(ruled, trap):
    program = f"import json, unittest\n{trap}\ndef f(x): raise Mine('', '', 0)"
    case = (
        "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(f(1), 2)\n"
        "r = unittest.TestResult()\nT('test').run(r)\nassert r.wasSuccessful()"
    )
    assert ruled(program, case)[0] == ("opaque" if "SkipTest" in trap else "failed")  # skipped in one process
    own = "import json\ntry:\n    json.loads('{')\n    f(1)\nexcept Mine:\n    pass"
    assert ruled(program, own + "\nassert f(1) == 1", entry_points=["f", "Mine"])[0] != "passed"


def test_an_exception_of_the_tests_own_comes_back_from_the_program(ruled):
    test = (
        "class Mine(ValueError): pass\ndef fail(): raise Mine('no')\n"
        "try:\n    f(fail)\nexcept Mine as e:\n    assert str(e) == 'no'\nassert g(fail) == 1"
    )
    program = "def f(g): g()\ndef g(g):\n    try: g()\n    except ValueError: return 1"
    assert ruled(program, test) == ("passed", "")
