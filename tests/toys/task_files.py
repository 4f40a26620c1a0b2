"""Small files of our own in the form of each task's original files."""

import json
from pathlib import Path

from erce.types import Completion

GSM8K = [
    ("How many is half of 48 apples?\n", "Half is 48/2 = <<48/2=24>>24 apples.\n#### 24"),
    ("Is {this} a brace? And 2000 / 2?", "It is.\n2000/2 = <<2000/2=1000>>1000\n#### 1,000"),
    ("A loss of $5?", "The gain is 0-5 = $<<0-5=-5>>-5, < 0.\n#### -5"),
    ("Five and five?", "The mark is ####.\n5+5=<<5+5=10>>10\n#### 10"),
]
MATH = [
    ("What is $\\frac{1}{2}+\\frac{1}{2}$?", "First $\\boxed{2}/2$, so it is $\\boxed{1}$.", "algebra/1"),
    ("What is left of nothing?", "Nothing: $\\boxed{}$.", "number_theory/7115"),
    ("What is left of space?", "Space: $\\boxed{ }$.", "number_theory/7117"),
    ("Which side is long?", "[asy] draw((0,0)--(1,1)); [/asy] It is $\\boxed{c}$.", "geometry/1"),
    ("[asy] dot((0,0)); [/asy] Where is it?", "At $\\boxed{(0,0)}$.", "geometry/2"),
    ("Say 7.", "It is 7.", "prealgebra/1"),
    ("Solve $x^2 = 4$ for positive $x$.", "We get $x = \\boxed{2}$.", "algebra/2"),
]
MATH_500 = [
    ("What is $[asy]$'s \\{first letter\\}?", "It is $\\boxed{\\text{a}}$.", "\\text{a}", "test/algebra/9")
]


def gsm8k_rows() -> list[dict]:
    return [{"question": question, "answer": answer} for question, answer in GSM8K]


def math_rows() -> list[dict]:
    return [
        {"problem": problem, "level": "Level 1", "type": "Any", "solution": solution}
        | {"unique_id": f"train/{id}.json"}
        for problem, solution, id in MATH
    ]


def math500_rows() -> list[dict]:
    return [
        {
            "problem": problem,
            "solution": solution,
            "answer": answer,
            "subject": "Any",
            "level": 1,
            "unique_id": id,
        }
        for problem, solution, answer, id in MATH_500
    ]


def sanitized_row(id: int, **changes) -> dict:
    name = f"add_{id}"
    return {
        "source_file": "ours",
        "task_id": id,
        "prompt": f"Write a function to add {id} to a number.",
        "code": f"def {name}(x):\n    return x + {id}",
        "test_imports": [],
        "test_list": [f"assert {name}({n}) == {n + id}" for n in (1, 2, 30)],
    } | changes


def full_row(id: int, **changes) -> dict:
    name = f"times_{id}"
    return {
        "text": f"Write a function to multiply a number by {id}.",
        "code": f"def {name}(x):\r\n\treturn x * {id}\r\n",
        "task_id": id,
        "test_setup_code": "",
        "test_list": [f"assert {name}({n}) == {n * id}" for n in (2, 3, 30)],
        "challenge_test_list": [],
    } | changes


def completion(text: str, *, finished: bool = True) -> Completion:
    return Completion(problem="", sample=0, text=text, tokens=1, finished=finished, logprob=0.0, entropy=0.0)


def write_lines(path: Path, rows: list[dict]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
