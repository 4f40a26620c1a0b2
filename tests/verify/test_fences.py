"""The program in a completion, among fences and prose, found in linear time."""

import ast
import time

import pytest

from erce.verify.fences import extract_program

SQUARE = "def square(x):\n    return x * x"


@pytest.mark.parametrize(
    "text",
    [
        f"```python3.11\n{SQUARE}\n```\nprints\n```\n9\n```",
        f"```{{.python}}\n{SQUARE}\n```",
        f"~~~python\n{SQUARE}\n~~~\nDone.",
        f"Sure!\n\n```\n{SQUARE}\n```\nOutput:\n```\n9\n```",
        f"```python\ndef cube(x): ...\n```\n```python\n{SQUARE}\n```\n```bash\npython square.py\n```",
        f"```python\n{SQUARE}",
        f"\ufeff```python\n\ufeff{SQUARE}\n```\n```python\nprint(square(3))\n```",
        "1. Like this:\n   ```python\n   def square(x):\n       return x * x\n   ```",
        f"````markdown\n# Solution\n```python\n{SQUARE}\n```\n````",
        f"<think>```python\ndef square(x): ...\n```</think>\n```python\n{SQUARE}\n```",
        SQUARE,
        f"Here is the function:\n\n{SQUARE}\n\nIt multiplies x by itself.",
        "    def square(x):\n        return x * x",
        f"[PYTHON]\n{SQUARE}\n[/PYTHON]",
        f"[BEGIN]\n{SQUARE}\n[DONE]",  # which is Python, and names what nothing defines
        f"{SQUARE}\n</s>",
        f"~~~python\n{SQUARE}",
        f"- Python\n- Short\n\n{SQUARE}",
        f"```python:square.py\n{SQUARE}\n```",
        f"```python, editable\n{SQUARE}\n```",
        f"```ipython3\n{SQUARE}\n```",
        f"```tool_code\n{SQUARE}\n```\n```text\nx = 9\n```",
        f"```python\n{SQUARE}```\nDone.",
        f" Here it is:\n```python\n{SQUARE}\n```",
        f"It works\nfor all x, as asked:\n\n{SQUARE}\n\nDone.",
    ],
)
def test_the_program_is_the_block_that_defines_an_entry_point(text):
    assert extract_program(text, ["square"]) == SQUARE


HELPER = "def times(a, b):\n    return a * b"
USES = "def square(x):\n    return times(x, x)"
OLD = "def square(x):\n    return x * 2"
IMPORTS = "from operator import (add, mul as times)\nimport os.path as p"


@pytest.mark.parametrize(
    ("blocks", "program"),
    [
        ([HELPER, USES], [HELPER, USES]),
        ([USES, HELPER], [USES, HELPER]),
        ([IMPORTS, USES], [IMPORTS, USES]),
        (["CONSTANT = 2", USES.replace("times(x, x)", "x ** CONSTANT")], ...),
        ([f"import math\n{HELPER}", f"import math\n{USES}"], ...),
        (
            [
                "class Squares:\n    def square(self, x): ...",
                "def square(x):\n    return Squares().square(x)",
            ],
            ...,
        ),
        (["def even(n): return not n or square(n - 1)", "def square(n): return n and even(n - 1)"], ...),
        ([f"import math\n{SQUARE}", "import math\nx = 3\nprint(square(x))"], [f"import math\n{SQUARE}"]),
        (
            [HELPER, "list = [3, 1]", USES.replace("x, x", "*list(x)")],
            [HELPER, USES.replace("x, x", "*list(x)")],
        ),
        (["LIMIT = 3\ndef g(): ...", HELPER.replace("a * b", "g(a)"), USES], ...),
        ([HELPER, USES.replace("times(x, x)", "x.times(x)")], [USES.replace("times(x, x)", "x.times(x)")]),
        ([HELPER, f"{HELPER}\n{USES}"], [f"{HELPER}\n{USES}"]),  # which needs nothing
        ([HELPER, OLD, USES], [HELPER, USES]),
        ([f"{HELPER}\nprint(square(3))", USES], [USES]),  # an example of its use, which would fail before it
        (
            [IMPORTS, "def square(x):\n    with x as f: return f"],
            ["def square(x):\n    with x as f: return f"],
        ),
        ([HELPER, f"class C:\n    {OLD}"], [f"class C:\n    {OLD}"]),
        (["class C:\n    def times(self): ...", USES], [USES]),
    ],
)
def test_blocks_that_define_what_the_program_lacks_belong_to_it(blocks, program):
    text = "\n".join(f"Then:\n```python\n{block}\n```" for block in blocks)
    assert extract_program(text, ["square"]) == "\n\n".join(blocks if program is ... else program)
    assert extract_program(text.replace("python", ""), ["square"]) == extract_program(text, ["square"])


@pytest.mark.parametrize(
    "text",
    [
        "memo: dict[int, int] = {}\n\ndef square(x):\n    return memo.setdefault(x, x * x)",
        "last = [0] * 5\nlast[-1] = 2\n*_, (two) = last\n(a, b) = 1, two\n\ndef square(x):\n    return x**b",
        "POWERS = {\n'two': 2,\n}\n\ndef square(x):\n    return x ** POWERS['two']",
        'def square(x):\n    """It.\n\n    ```python\n    square(3)\n    ```\n    """\n    return x * x',
        "def square(x):\n    '</think>'.split('<think>')\n    return x * x",
        "def square(x):\n    '\\d'\n    return x * x",  # of which Python warns
    ],
)
def test_a_text_that_is_python_is_the_program_in_a_fence_or_out_of_it(text):
    assert extract_program(text, ["square"]) == text
    if "think" not in text:
        assert extract_program(f"Like this:\n```python\n{text}\n```\nDone.", ["square"]) == text
        assert extract_program(f"```\n{text}\n```\nDone.", ["square"]) == text


def test_every_entry_point_is_looked_for():
    text = f"```python\n{HELPER}\n```\nand\n```python\n{OLD}\n```\n```python\nimport this\n```"
    assert extract_program(text, ["square", "times"]) == f"{HELPER}\n\n{OLD}"


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ('````python\nx = """\n```\n"""\n````', 'x = """\n```\n"""'),
        ("```text\n9\n```", ""),
        ("<think>\ndef square(x): return x", ""),
        ("no program here", "no program here"),
        ("Hello", "Hello"),
        ("Here:\n\nn = int(input())\nprint(n * n)\n\nDone now.", "n = int(input())\nprint(n * n)"),
        ("Here:\n\nN = 2\ndef f(): return N\n\nDone now.", "N = 2\ndef f(): return N"),
        ("from x import *\n\nf = 3\nprint(f)\n\nDone now.", "from x import *\n\nf = 3\nprint(f)"),
        (
            'def f():\n    """\nNot indented here.\n"""\n    return 1',
            'def f():\n    """\nNot indented here.\n"""\n    return 1',
        ),
        (
            "def f(x):\n    return x\nif f(1):\n    y = 2\nelse:\n    y = 3",
            "def f(x):\n    return x\nif f(1):\n    y = 2\nelse:\n    y = 3",
        ),
    ],
)
def test_output_is_no_program_and_prose_is_cut_off(text, program):
    assert extract_program(text) == program


@pytest.mark.parametrize("line", ["Complexity: O(n)", "Answer: correct", "Time: O(1)\nSpace: O(1)", "Done"])
def test_a_line_of_prose_that_python_reads_is_no_code(line):
    code = "def f():\n    return 1"
    assert extract_program(f"{code}\n\n{line}", ["f"]) == code
    assert extract_program(f"{line}\n\n{code}", ["f"]) == code


HOSTILE = [
    "```python\n" * 10_000,
    "```py\ndef f(): g\n```\n" * 5_000,
    "".join(f"```py\ndef f{n}(): f{n - 1}\n```\n" for n in range(4_000)),
    "from\n" * 20_000,
    "a\nx = 1\n" * 12_000,
    "(" * 100_000,
    "-" * 49_000 + "1",
    "````\n```" * 12_000,
    "def f():\n" * 11_000,
    "import " + "x." * 50_000,
    "a\n" * 50_000,
    " " * 100_000,
    "".join(f"{' ' * n}try: x()\n{' ' * n}finally:\n" for n in range(19))
    + " " * 19
    + "x()",  # 2 ** 19 copies
]


def test_a_text_is_read_and_never_compiled(monkeypatch):
    def read_only(*given, flags=0, **settings):
        assert (given[3] if len(given) > 3 else flags) & ast.PyCF_ONLY_AST
        return plain(*given, flags=flags, **settings) if len(given) < 4 else plain(*given, **settings)

    plain = compile
    monkeypatch.setattr("builtins.compile", read_only)
    assert extract_program("x_of_this_test = 1") == "x_of_this_test = 1"


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hundred_thousand_characters_are_searched_in_linear_time(text):
    began = time.process_time()
    extract_program(text, ["f"])
    assert time.process_time() - began < 5  # a quadratic search takes tens of seconds
