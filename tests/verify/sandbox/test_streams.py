"""Programs that read standard input, call `input` and print, where the tests replace these."""

import pytest

READS = """
import sys
def double():
    print(2 * int(input("n? ")))
def lines(): return [line.strip() for line in sys.stdin]
def first(): return sys.stdin.read(1)
def fails():
    print("before")
    return int(input())
def call_back(g): return g() + input()
class Reader:
    def __init__(self): self.line = input()
    def __call__(self): return input()
"""
TYPED = "import io, sys\nfrom contextlib import redirect_stdout\nsys.stdin = io.StringIO({!r})\n"
PATCHED = "import io\nfrom unittest.mock import patch\nfrom contextlib import redirect_stdout\n"


@pytest.mark.parametrize(
    ("text", "test"),
    [
        (
            "3\n4\n",
            (
                "out = io.StringIO()\nwith redirect_stdout(out):\n    double()\n    double()\n"
                "assert out.getvalue() == 'n? 6\\nn? 8\\n'"
            ),
        ),
        ("1\n2\n3", "assert lines() == ['1', '2', '3'] and sys.stdin.read() == ''"),
        ("é\U0001f600!", "assert first() == 'é' and sys.stdin.read(1) == '\U0001f600' and first() == '!'"),
        ("a\nb\n", "r = Reader()\nassert r.line == 'a' and r() == 'b'"),
        ("", "try:\n    double()\n    assert False\nexcept EOFError:\n    assert lines() == []"),
        ("ab", "assert first() == 'a'\nsys.stdin = sys.__stdin__\nassert first() == ''"),
        (
            "x\ny",
            (
                "out = io.StringIO()\ntry:\n    with redirect_stdout(out): fails()\nexcept ValueError: pass\n"
                "assert out.getvalue() == 'before\\n' and sys.stdin.read() == 'y'"
            ),
        ),
    ],
)
def test_a_program_reads_what_the_tests_put_in_the_place_of_standard_input(ruled, text, test):
    points = ["Reader", "call_back", "double", "fails", "first", "lines"]
    assert ruled(READS, TYPED.format(text) + test, entry_points=points) == ("passed", "")


@pytest.mark.parametrize(
    ("patched", "test"),
    [
        ("side_effect=['a', 'b']", "r = Reader()\n    assert r.line == 'a' and r() == 'b'"),
        (
            "return_value='a'",
            "Reader()\ntry:\n    Reader()\n    assert 0\nexcept EOFError:\n    asked.assert_called_once()",
        ),
        ("return_value='b'", "assert call_back(lambda: 'a') == 'ab'"),
        ("new=lambda prompt='': 'a'", "assert Reader().line == 'a'"),
        ("side_effect=lambda *prompt: 'a'", "assert Reader().line == 'a'"),
        (
            "return_value='3'",
            "with redirect_stdout(io.StringIO()): double()\n    asked.assert_called_once_with('n? ')",
        ),
    ],
)
def test_a_program_calls_the_input_of_the_tests(ruled, patched, test):
    test = f"{PATCHED}with patch('builtins.input', {patched}) as asked:\n    {test}\nassert 1"
    points = ["Reader", "call_back", "double"]
    assert ruled(READS, test, entry_points=points) == ("passed", "")


@pytest.mark.parametrize(
    "patched",
    [
        "new=eval",
        "new=lambda text: eval(text)",
        "side_effect=eval",
        "side_effect=lambda text: eval(text)",
        "wraps=eval",
        "wraps=lambda text: eval(text)",
    ],
)
def test_no_input_of_the_tests_runs_the_programs_text(ruled, patched):
    test = f"{PATCHED}with patch('builtins.input', {patched}):\n    assert f() == 2"
    assert ruled("def f(): return input('1 + 1')", test)[0] == "opaque"  # which passes in one process


@pytest.mark.parametrize("unread", ["-1", "3", "1.0", "None", "True"])
def test_a_program_cannot_move_beyond_the_text_that_it_got(ruled, unread):
    program = f"""
import sys
frame = sys._getframe()
while not hasattr(frame.f_locals.get("self"), "_verbs"): frame = frame.f_back
frame.f_locals["self"]._verbs["unread"] = lambda: {unread}
def f(): return 1
"""
    test = TYPED.format("ab") + "assert f() == 1 and len(sys.stdin.read()) < 9"
    assert "a malformed reply" in ruled(program, test, entry_points=["f"])[1]
