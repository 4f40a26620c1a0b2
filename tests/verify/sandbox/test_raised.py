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


LINKED = """
class Mine(Exception):
    pass
def f(how, *, last=None):
    try:
        {}[how]
    except KeyError as missing:
        if how == "from": raise ValueError("no") from missing
        if how == "from none": raise ValueError("no") from None
        if how == "other": raise Mine("no") from TypeError(1)
        if how == "noted": missing.__notes__ = ["a hint", 5]
        if how in ("noted", "bare"): raise
        raise Mine("no")
def deep(n):
    if not n: raise Mine(0)
    try:
        deep(n - 1)
    except Mine as error:
        raise Mine(error) from error
def cycle():
    first, second = Mine(1), Mine(2)
    first.__cause__, second.__context__, second.args = second, first, (first,)
    raise first
def large():
    try:
        raise KeyError("x" * (9 << 20))
    except KeyError as error:
        error.args = ()
        error.add_note("x" * (9 << 20))
        raise Mine("no") from error
def leaves():
    try:
        raise SystemExit
    except SystemExit:
        raise Mine("no")
"""


@pytest.mark.parametrize(
    ("call", "holds"),
    [
        ("f('from')", "type(e.__cause__) is KeyError and e.__context__ is e.__cause__"),
        ("f('from')", "e.__suppress_context__ and e.__cause__.args == ('from',)"),
        ("f('from none')", "e.__cause__ is None and e.__suppress_context__"),
        ("f('from none')", "type(e.__context__) is KeyError"),
        ("f('other')", "type(e.__cause__) is TypeError and type(e.__context__) is KeyError"),
        ("f('')", "e.__cause__ is None and type(e.__context__) is KeyError and not e.__suppress_context__"),
        ("f('noted')", "e.__notes__[0] == 'a hint' and e.__context__ is None"),
        ("f('bare')", "not hasattr(e, '__notes__') and e.__context__ is e.__cause__ is None"),
        ("deep(3)", "e.__cause__.__cause__.__cause__.args == (0,) and isinstance(e.__cause__, Mine)"),
        ("deep(60)", "isinstance(e.__cause__.__cause__, Mine)"),
        ("cycle()", "e.__cause__.__context__.args == (1,) and e.__cause__.args[0].args == (1,)"),
        ("large()", "str(e) == 'no' and isinstance(e.__cause__, KeyError)"),
        ("leaves()", "e.__context__ is None or type(e.__context__) is SystemExit"),
    ],
)
def test_an_exception_keeps_what_it_came_from_and_its_notes(ruled, call, holds):
    test = f"try:\n    {call}\n    assert False\nexcept Exception as e:\n    assert {holds}, repr(e)"
    points = ["Mine", "cycle", "deep", "f", "large", "leaves"]
    assert ruled(LINKED, test, entry_points=points) == ("passed", "")


@pytest.mark.parametrize(
    "history",
    [
        "5",
        "[]",
        "[None, None, True, False, 'abc']",
        "[None, None, True, False, [1]]",
        "[None, None, True, 2, []]",
        "[5, None, False, False, []]",
        "[{'raised': 'KeyError'}, None, False, False, []]",
        "nested(3)",
        "nested(400)",
    ],
)
def test_a_malformed_history_of_an_exception_is_no_fault_of_ours(ruled, history):
    program = f"""
from erce.verify.sandbox import descriptions
def nested(n):
    form = {{"raised": "KeyError", "kind": "", "text": "", "args": None, "number": 0, "classes": []}}
    return [form | {{"history": nested(n - 1) if n else None}}, None, True, True, []]
descriptions.Descriptions._history = lambda *_: {history}
def f(): raise ValueError
"""
    test = "try:\n    f()\nexcept ValueError as e:\n    assert e.__cause__ is None"
    assert ruled(program, test, entry_points=["f"])[0] in ("failed", "opaque")
