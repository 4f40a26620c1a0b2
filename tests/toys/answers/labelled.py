"""Tables of answers written side by side → labelled pairs.

A line of a table is a gold answer followed by others, each after `≡` (the same answer) or `≢` (another
answer). A line that starts with a mark continues the gold answer above; `[name]` starts a category. `⏎`
stands for a line break, `␢` for a zero-width space.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from toys.answers.tables import ALGEBRA, NUMBERS, OTHERS, SHAPES

MARKS = {"≡": True, "≢": False}
UNSEEN = str.maketrans({"⏎": "\n", "␢": "\u200b"})


class Pair(NamedTuple):
    """Two answers with their label."""

    category: str
    gold: str
    answer: str
    expected: bool


def pairs(table: str) -> Iterator[Pair]:
    category = gold = ""
    for line in table.splitlines():
        if heading := re.fullmatch(r"\[([a-z ]+)\]", line.strip()):
            category = heading.group(1)
            continue
        first, *rest = re.split(r"(?:^|(?<=\s))([≡≢])(?:\s+|$)", line)
        gold = first.strip() or gold
        for mark, answer in zip(rest[::2], rest[1::2], strict=True):
            yield Pair(category, gold, answer.strip().translate(UNSEEN), MARKS[mark])


PAIRS = [pair for table in (NUMBERS, ALGEBRA, SHAPES, OTHERS) for pair in pairs(table)]
# Answers that the mutations may rewrite.
GOLDS = sorted({pair.gold for table in (NUMBERS, ALGEBRA, SHAPES) for pair in pairs(table)})
