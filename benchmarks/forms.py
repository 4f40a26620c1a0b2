"""The forms in which models write an answer → a Markdown table of how many of them each verifier accepts.

python benchmarks/forms.py                    # ours
PYTHONPATH=PEERS python benchmarks/forms.py   # and Math-Verify, if it is installed in PEERS

The forms are those of `tests/toys/forms.py`, filled with 73, which is right; the last line fills all of them
with 74. Doubts are no answer with either value. Below the table, the forms by name. Math-Verify is called as
its README does; it is not told of reasoning traces.
"""

import importlib
import sys
import textwrap
from collections.abc import Callable
from functools import partial
from pathlib import Path

import math_verify_process

from erce.verify import Verdict, verify_math, verify_number

TESTS = Path(__file__).parents[1] / "tests"
RIGHT, WRONG = "73", "74"
WIDTH = 130
GROUPS = {  # name in the table → in `toys.forms`
    "a box": "STRICT",
    "“the final answer is”": "MATH_ONLY",
    "`####`": "MARKED",
    "other statements": "FLEXIBLE",
    "the last number": "LAST_NUMBER",
    "doubt": "DOUBTS",
    "doubt after `####`": "MARKED_DOUBTS",
}
Accepts = Callable[[str], bool]


def main() -> None:
    sys.path.insert(0, str(TESTS))
    forms = importlib.import_module("toys.forms")
    groups: dict[str, dict[str, str]] = {group: getattr(forms, name) for group, name in GROUPS.items()}
    verifiers = ours() | math_verify()
    print(f"| form of the answer | forms | {' | '.join(verifiers)} |")
    print(f"|---|---:|{'---:|' * len(verifiers)}")
    for group, texts in groups.items():
        print(table_line(group, [forms.fill(text, RIGHT) for text in texts.values()], verifiers))
    wrong = [forms.fill(text, WRONG) for texts in groups.values() for text in texts.values()]
    print(table_line("all of them, with a wrong value", wrong, verifiers), end="\n\n")
    for group, texts in groups.items():
        print(textwrap.fill(f"- {group}: {'; '.join(texts)}", WIDTH, subsequent_indent="  "))


def table_line(name: str, completions: list[str], verifiers: dict[str, Accepts]) -> str:
    counts = [sum(map(accepts, completions)) for accepts in verifiers.values()]
    return f"| {name} | {len(completions)} | {' | '.join(map(str, counts))} |"


def ours() -> dict[str, Accepts]:
    def accepts(verify: Callable[..., Verdict], completion: str) -> bool:
        return verify(RIGHT, completion).accepted

    return {
        f"`{verify.__name__}`, {mode}": partial(accepts, partial(verify, strict=mode == "strict"))
        for verify in (verify_math, verify_number)
        for mode in ("strict", "flexible")
    }


def math_verify() -> dict[str, Accepts]:
    if not math_verify_process.is_installed():
        return {}
    return {"Math-Verify": partial(math_verify_process.accepts, RIGHT)}


if __name__ == "__main__":
    main()
