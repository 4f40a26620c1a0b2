"""Globals of the program with a plain value, which its functions bind or change between two tests."""

import pytest

CHANGES = """
counter, log, seen, last = 0, [], {}, None
def count(n=1):
    global counter
    counter += n
    if n > 5: raise ValueError(n)
    return counter
def note(x):
    log.append(x)
    seen[x] = len(log)
def forget():
    global last
    del last
class Node:
    def __init__(self, x): self.x = x
def push(x):
    global last
    last = Node(x)
class Steps:
    def __next__(self): return count()
    def __iter__(self): return self
"""


@pytest.mark.parametrize(
    "test",
    [
        "assert counter == 0 and count() == 1\nassert counter == 1\nassert count(2) == counter == 3",
        "note('a')\nassert log == ['a'] and seen == {'a': 1}\nnote('b')\nassert log == ['a', 'b']",
        "try:\n    count(7)\n    assert False\nexcept ValueError:\n    assert counter == 7",
        "def check():\n    count()\n    return counter\nassert [check(), check()] == [1, 2]",
        "assert last is None\npush(4)\nassert last.x == 4\npush(5)\nassert last.x == 5",
        "kept = log\nassert kept is log\ncount()\nassert kept is log and log == []",
        "for step in Steps():\n    assert step == counter\n    if step == 3: break\nassert counter == 3",
        "assert (lambda: count() + counter)() == 2",
        "forget()\nassert count() == counter == 1",
    ],
)
def test_a_plain_global_has_the_value_that_the_program_gave_it_last(ruled, test):
    points = ["Steps", "count", "counter", "forget", "last", "log", "note", "push", "seen"]
    assert ruled(CHANGES, test, entry_points=points) == ("passed", "")


def test_a_large_global_is_read_once(ruled):
    program = "squares = [n * n for n in range(1000)]\ndef f(): squares.append(7)"
    test = "f()\nassert len(squares) == {}"
    assert ruled(program, test.format(1001), entry_points=["f", "squares"])[0] == "opaque"
    assert ruled(program, test.format(1000), entry_points=["f", "squares"])[0] == "failed"


def test_a_name_that_the_tests_bind_stays_theirs(ruled):
    program = "limit = 1\ndef f():\n    global limit\n    limit = 5"
    test = "limit = 2\nf()\nassert limit == 2"
    assert ruled(program, test, entry_points=["f", "limit"]) == ("passed", "")


LIES_LATER = """
total = 0
class Liar:
    __eq__ = __contains__ = lambda self, other: True
    __sub__ = lambda self, other: self
    __abs__ = __float__ = lambda self: 0.0
    __hash__ = lambda self: 8
def f(x=0):
    global total
    total = Liar()
"""


@pytest.mark.parametrize(
    "check", ["total == 8", "8 in total", "abs(total - 8) < 1e-6", "total in [8]", "{total} == {8}"]
)
def test_a_global_that_becomes_an_object_proves_nothing(ruled, check):
    test = f"assert total == 0\nf()\nassert {check}"
    assert ruled(LIES_LATER, test, entry_points=["f", "total"])[0] == "opaque"


@pytest.mark.parametrize("answer", ["None", "[]", "[True, []]", "[True, [5]]", "[True, [{'ok': ['i', 5]}]]"])
def test_no_except_of_a_test_catches_a_malformed_global(ruled, answer):
    program = f"""
import sys
frame = sys._getframe()
while not hasattr(frame.f_locals.get("self"), "_verbs"): frame = frame.f_back
verbs, total = frame.f_locals["self"]._verbs, 0
def f(): verbs["names"] = lambda *names: {answer}
"""
    test = "for _ in 'ab':\n    try:\n        f()\n    except Exception:\n        pass\nassert total == 0"
    assert "malformed" in ruled(program, test, entry_points=["f", "total"])[1]
