"""Programs that read and print: the same words pass, and nothing but the input reaches a program."""

import pytest
from toys.numpy_seen import NEEDS_NUMPY

from erce.errors import InputError
from erce.types import Problem
from erce.verify import Limits, verify_io
from erce.verify.io import first_difference
from erce.verify.program import verify_program

ADD = "a, b = map(int, input().split())\nprint(a + b)"
DATACLASS = """
from dataclasses import dataclass
@dataclass
class Sum:
    value: int
print(Sum(sum(map(int, input().split()))).value)
"""
THREAD = """
import sys, threading
sys.setrecursionlimit(10**6)
thread = threading.Thread(target=lambda: print(sum(map(int, input().split()))))
thread.start()
thread.join()
"""
OWN_STREAM = """
import os, sys
class Out:
    def __init__(self): self.parts = []
    def write(self, text): self.parts.append(text)
    def flush(self): os.write(1, "".join(self.parts).encode())  # must be called once
sys.stdout = Out()
"""
SUMMED = "print(sum(map(int, {}.split())))"
LEFT = """
import threading, time
def add():
    time.sleep(0.05)
    print(sum(map(int, input().split())))
"""
CASES = [("1 2", "3"), ("10 20\n", "30\n"), ("-1 1", "0")]


@pytest.mark.parametrize(
    "program",
    [
        ADD,
        f"def main():\n    {ADD.replace(chr(10), chr(10) + '    ')}\nif __name__ == '__main__':\n    main()",
        "import sys\nsys.stdout.write(str(sum(map(int, sys.stdin.buffer.readline().split()))))\nsys.exit()",
        "import os\nx = sum(map(int, open(0).read().split()))\nos.write(1, b' %d \\n\\n' % x)\nos._exit(0)",
        "import sys\nfor line in sys.stdin: print(*[eval(line.strip().replace(' ', '+'))], end='')\nexit(0)",
        DATACLASS,
        THREAD,
        SUMMED.format("open('/dev/stdin').read()"),
        "from pathlib import Path\n" + SUMMED.format("Path('/dev/fd/0').read_text()"),
        "with open(file='/dev/stdin', mode='rb'): pass\n" + ADD,
        "def print(x):\n    with open('/dev/stdout', 'w') as out: out.write(str(x))\n" + ADD,
        OWN_STREAM + ADD,
        f"So:\n```python\n{ADD}\n```",
        f"So:\n\n{ADD}\n\nDone now.",
        "\ufeff" + ADD,
        pytest.param(
            "import numpy, sys\nprint(numpy.loadtxt(sys.stdin).astype(int).sum())", marks=NEEDS_NUMPY
        ),
        "print(end='\ufeff')\n" + ADD,
    ],
)
def test_a_right_program_passes_however_it_reads_prints_and_ends(program):
    verdict = verify_io(program, CASES)
    assert (verdict.accepted, verdict.reason, verdict.detail) == (True, "passed", "")


@pytest.mark.parametrize(
    "program",
    [
        LEFT + "threading.Thread(target=add).start()",
        LEFT + "threading.Timer(0.01, add).start()\nraise SystemExit",
        LEFT + "from concurrent.futures import ThreadPoolExecutor\nThreadPoolExecutor(2).submit(add)",
        LEFT + "threading.Thread(target=lambda: threading.Thread(target=add).start()).start()",
        LEFT + "import atexit\natexit.register(add)",
        "import atexit, io, sys\nsys.stdout = kept = io.StringIO()\n"
        "atexit.register(lambda: sys.__stdout__.write(kept.getvalue()))\n" + ADD,
        "out = open(1, 'w')\nprint = lambda x: out.write(str(x))\n" + ADD,
        LEFT + "import atexit\natexit.register(lambda: 1 / 0)\natexit.register(add)",
    ],
)
def test_a_program_ends_when_its_threads_and_exit_functions_have(program):
    assert verify_io(program, CASES[:1]).accepted, verify_io(program, CASES[:1])


@pytest.mark.parametrize(
    ("program", "reason", "detail"),
    [
        ("print(3)", "failed", "wrong output in case 2 of 3: line 1 is '3', not '30'"),
        (
            ADD + "\nprint('done')",
            "failed",
            "case 1 of 3: line 2 is 'done', where the output should have ended",
        ),
        ("", "failed", "wrong output in case 1 of 3: line 1 is missing, which should be '3'"),
        ("print(1 / 0)", "failed", "case 1 of 3: raised ZeroDivisionError: division by zero"),
        (ADD + "\nraise SystemExit(3)", "failed", "case 1 of 3: ended with status 3"),
        (ADD + "\nimport os\nos.write(1, b'3')\nos._exit(4)", "failed", "ended its process (exit status 4)"),
        ("print(", "failed", "case 1 of 3: raised SyntaxError"),
        ("while True: pass", "timeout", "case 1 of 3: over 0.3 s of processor time"),
        (
            "while True: print('3' * 10**6)",
            "failed",
            "case 1 of 3: raised OSError: [Errno 27] File too large",
        ),
    ],
)
def test_a_wrong_program_fails_in_its_first_wrong_case(program, reason, detail):
    verdict = verify_io(program, CASES, limits=Limits(cpu=0.3, wall=60.0))
    assert (verdict.accepted, verdict.reason) == (False, reason)
    assert detail in verdict.detail


def test_cases_may_come_from_a_generator():
    assert verify_io(ADD, zip(["1 2"], ["3"], strict=True)).accepted
    assert verify_io(ADD, (case for case in [("1 2", "4")])).reason == "failed"


def test_nothing_stays_from_one_case_to_the_next():
    """A file of one case would let a program count them, and so find the output it has a table of."""
    program = (
        "import os\ninput()\ntry:\n    print(len(os.listdir('/tmp')))\n    open('/tmp/x', 'w').close()\n"
        "except OSError:\n    print(0)"
    )
    assert verify_io(program, [("a", "0"), ("b", "0"), ("c", "0")]).accepted


LOOKS_FOR_OUTPUT = """
import gc, os, sys
wanted = "4711" + input()
seen = [wanted for o in gc.get_objects() if type(o) in (list, tuple, dict) and wanted + "x" in str(o)[:10**5]]
for number in range(64):
    try:
        seen += [wanted] if (wanted + "x").encode() in os.pread(number, 10**5, 0) else []
    except OSError:
        pass
print(*seen[:1] and [wanted + "x"])
"""


def test_the_programs_process_never_holds_an_expected_output():
    assert verify_io(LOOKS_FOR_OUTPUT, [("0", "47110x")]).reason == "failed"
    assert verify_io(
        LOOKS_FOR_OUTPUT, [("0\n47110x", "47110x")]
    ).accepted  # the control: in its input it is seen


def test_a_forged_last_word_changes_no_output():
    forged = (
        "import os, stat\nfor fd in range(3, 64):\n    try:\n        os.write(fd, b'passed\\n')\n"
        "    except OSError: pass\nos._exit(0)"
    )
    assert (
        verify_io(forged, CASES).detail
        == "wrong output in case 1 of 3: line 1 is missing, which should be '3'"
    )
    assert not verify_io(forged.replace("os._exit(0)", "os._exit(1)"), [("", "x")]).accepted


@pytest.mark.parametrize(
    ("program", "reason", "detail"),
    [
        ("threading.Thread(target=threading.Event().wait).start()", "timeout", ""),
        ("threading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start()", "timeout", ""),
        ("atexit.register(lambda: print(4))", "failed", "line 2 is '4'"),
        ("atexit.register(os._exit, 3)", "failed", "exit status 3"),
        # The exit status of Python is that of the main thread, and a thread's exception is not its end.
        ("threading.Thread(target=sys.exit, args=[3]).start()", "passed", ""),
        ("threading.Thread(target=lambda: 1 / 0).start()", "passed", ""),
        ("sys.stdout = None", "passed", ""),
        ("threading.Thread(target=threading.Event().wait, daemon=True).start()", "passed", ""),
        ("threading.Thread(target=threading.Event().wait).start()\n1 / 0", "failed", "ZeroDivisionError"),
    ],
)
def test_what_a_program_leaves_running_has_its_limits_and_its_word(program, reason, detail):
    limits = Limits(cpu=0.3, wall=0.6 if reason == "timeout" else 60.0)
    verdict = verify_io(f"import atexit, os, sys, threading\nprint(3)\n{program}", [("", "3")], limits=limits)
    assert (verdict.accepted, verdict.reason) == (reason == "passed", reason)
    assert detail in verdict.detail


@pytest.mark.parametrize(
    ("printed", "expected", "tolerance", "same"),
    [
        ("1 2\r\n3", "1\n2 3\n", None, True),
        ("1 2", "1 2 3", None, False),
        ("0.333", "0.3333", None, False),
        ("0.333", "0.3333", 1e-3, True),
        ("1000001", "1000000", 1e-5, True),  # relative to what is expected
        ("no 1.0", "yes 1", 1e-9, False),
        ("nan", "nan", 1e-9, True),
        ("nan", "1", 1.0, False),
        ("inf", "1e308", 1.0, False),
        ("-1.e3", "-1000", 1e-9, True),
        ("1_000", "1000", 1e-9, False),
        ("١٠٠٠", "1000", 1e-9, False),
        ("\ufeff1", "1", None, True),
    ],
)
def test_outputs_are_compared_by_their_words(printed, expected, tolerance, same):
    assert (first_difference(printed, expected, tolerance) == "") is same
    assert first_difference("a" * 500, "b").startswith(f"line 1 is '{'a' * 60}…', not 'b'")


@pytest.mark.parametrize(
    ("cases", "options", "message"),
    [
        ([], {}, "no case expects an output"),
        ([("1", " \n")], {}, "no case expects an output"),
        (["12"], {}, "pairs of texts"),
        ("12", {}, "pairs of texts"),
        ([("1", 2)], {}, "pairs of texts"),
        (CASES, {"tolerance": -1.0}, "tolerance = -1.0"),
        (CASES, {"tolerance": float("nan")}, "tolerance = nan"),
    ],
)
def test_cases_that_could_refuse_nothing_are_an_error(cases, options, message):
    with pytest.raises(InputError, match=message):
        verify_io(ADD, cases, **options)


def test_a_problem_of_inputs_and_outputs_is_judged_by_them():
    inputs, outputs = zip(*CASES, strict=True)
    problem = Problem(id="add", prompt="", demonstration=ADD, inputs=inputs, outputs=outputs)
    assert verify_program(problem, f"So:\n```python\n{ADD}\n```").reason == "passed"
    assert verify_program(problem, "print(3)").detail.startswith("wrong output in case 2 of 3")
    assert verify_program(problem, "").reason == "no answer"
