"""Tests that share a judge are those which cannot change it."""

import pytest

from erce.verify.sandbox.plain_tests import leaves_nothing


@pytest.mark.parametrize(
    "test",
    [
        "assert f(1) == [1, (2,), {3: {4}}]",
        "assert math.isclose(f(1), 2.0, rel_tol=1e-9)",
        "import math as m\nassert m.pi < f(1)",
        "from collections import Counter\nassert Counter(f(1)) == Counter('ab')",
        "def check(c):\n    for i in range(3):\n        assert c(i) == i, f'{i}'\ncheck(f)",
        "try:\n    f(-1)\nexcept ValueError as e:\n    assert 'x' in str(e)\nelse:\n    assert False",
        "assert sorted(f(x) for x in [1, 2])[:1] == [1] and set(map(len, f(2))) <= {1}",
        "v = f(1)\nv.sort(key=lambda x: -x)\nv[0] = 2\nassert v",
    ],
)
def test_ordinary_asserts_leave_nothing(test):
    assert leaves_nothing((), (test,), None)


@pytest.mark.parametrize(
    "test",
    [
        "import math\nmath.isclose = 1",
        "math.pi += 1",
        "for math.pi in [1]: pass",
        "[0 for math.pi in [1]]",
        "m = math\nm.pi = 1",
        "import math\nf(math)",
        "def g(m=math): m.x()",
        "import math as m\nm",
        "sys.setrecursionlimit(5)\nsys = 5",
        "exec('x')\nexec = 1",
        "import math as sys\nsys.pi",
        "from math import pi as sys\nsys.y",
        "import copy as collections, collections\ncollections.deque",
        "from itertools import count\nfor count in [1]: count",
        "import datetime\ndatetime.sys",
        "from datetime import datetime\ndatetime.sys",
        "from collections import abc\nabc.Sequence.register(f)",
        "collections.abc",
        "import collections.abc",
        "from math import *",
        "import os",
        "class A: pass",
        "with f(1): pass",
        "def g():\n    global x\n    x = 1",
        "f.x = 1",
        "del f",
        "x = (i for i in [])\nx.gi_frame",
        "f.__class__",
        "__builtins__",
        "setattr(f, 'x', 1)",
        "getattr(f, 'x')",
        "builtins.max",
        "open('x')",
        "async def g(): pass",
    ],
)
@pytest.mark.parametrize("where", ["setup", "test"])
def test_whatever_reaches_further_does_not(test, where):
    parts = ((test,), ("assert f(1)",)) if where == "setup" else ((), (f"{test}\nassert f(1)",))
    assert not leaves_nothing(*parts, None)


def test_a_name_of_the_library_is_the_programs_where_it_is_an_entry_point():
    assert leaves_nothing((), ("assert sys(1) == 1",), ("sys",))
    assert not leaves_nothing((), ("assert sys(1) == 1\nsys = 1",), ("sys",))


def test_text_that_is_no_python_is_not_plain():
    assert not leaves_nothing((), ("assert f(",), None)
