"""An answer and a seed → other answers that a hasty comparison takes for the same."""

import re
from collections.abc import Iterator
from random import Random

from toys.answers.mutations import ENCLOSED, INTEGER, Mutation, is_scalar, split


def altered(answer: str, seed: int) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of every mutation in `OTHER` that applies; the values differ from `answer`."""
    draw = Random(f"{seed} {answer}")
    for name, mutation in OTHER.items():
        changed = mutation(answer, draw)
        if changed is not None and changed != answer:
            yield name, changed


def _digit(answer: str, draw: Random) -> str | None:
    """Change one digit, but no index, base, or exponent of 0 or 1."""
    places = [m.start() for m in re.finditer(r"(?<![0-9_^.{])[0-9]|(?<=[1-9])[0-9]", answer)]
    if not places or "_" in answer or "x^" in answer[:2]:
        return None
    at = draw.choice(places)
    return answer[:at] + draw.choice([d for d in "23456789" if d != answer[at]]) + answer[at + 1 :]


def _sign(answer: str, draw: Random) -> str | None:
    if not is_scalar(answer) or answer.strip("0.-") == "":
        return None
    return answer[1:] if answer.startswith("-") and INTEGER.fullmatch(answer) else f"-({answer})"


def _one_more(answer: str, draw: Random) -> str | None:
    return (
        f"{answer}+{draw.choice(['1', 'x', '10^{-9}'])}" if is_scalar(answer) and "." not in answer else None
    )


def _brackets(answer: str, draw: Random) -> str | None:
    enclosed = ENCLOSED.fullmatch(answer)
    if enclosed is None or enclosed.group(1) == "\\{" or len(split(enclosed.group(2), ",")) != 2:
        return None
    left, inner, right = enclosed.groups()
    if not (len(split(answer, ",")) == 1 and left in "([" and right in ")]"):
        return None
    if draw.random() < 0.5:
        return {"(": "[", "[": "("}[left] + inner + right
    return left + inner + {")": "]", "]": ")"}[right]


def _swapped(answer: str, draw: Random) -> str | None:
    enclosed = ENCLOSED.fullmatch(answer)
    if enclosed is None or enclosed.group(1) == "\\{" or len(split(answer, ",")) != 1:
        return None
    entries = split(enclosed.group(2), ",")
    at = draw.randrange(max(1, len(entries) - 1))
    if len(entries) < 2 or entries[at].strip() == entries[at + 1].strip():
        return None
    entries[at], entries[at + 1] = entries[at + 1], entries[at]
    return enclosed.group(1) + ",".join(entries) + enclosed.group(3)


def _dropped_entry(answer: str, draw: Random) -> str | None:
    enclosed = ENCLOSED.fullmatch(answer)
    whole = enclosed is not None and len(split(answer, ",")) == 1
    left, inner, right = enclosed.groups() if enclosed and whole else ("", answer, "")
    entries = split(inner, ",")
    if len(entries) < 2 or not all(map(str.strip, entries)) or re.search(r"[0-9],[0-9]{3}(?![0-9])", answer):
        return None
    return left + ",".join(entries[:-1]) + right


def _relation(answer: str, draw: Random) -> str | None:
    for relation, other in RELATIONS.items():
        if re.search(re.escape(relation) + r"(?![a-z])", answer):
            return answer.replace(relation, draw.choice(other), 1)
    return None


RELATIONS = {"\\le": ["<", ">"], "\\ge": [">", "<"], "<": [">", "\\le "], ">": ["<", "\\ge "]}


def _fraction_upside_down(answer: str, draw: Random) -> str | None:
    match = re.fullmatch(r"(-?)\\frac\{([^{}]+)\}\{([^{}]+)\}", answer)
    if match is None or match.group(2) == match.group(3):
        return None
    return f"{match.group(1)}\\frac{{{match.group(3)}}}{{{match.group(2)}}}"


def _lost_root(answer: str, draw: Random) -> str | None:
    return re.sub(r"\\sqrt\{([2-9][0-9]*)\}", r"\1", answer, count=1)


def _rows(answer: str, draw: Random) -> str | None:
    match = re.fullmatch(r"(\\begin\{pmatrix\})(.*?)(\\end\{pmatrix\})", answer, re.S)
    rows = [row.strip() for row in match.group(2).split("\\\\")] if match else []
    if match is None or len(rows) < 2 or rows == rows[::-1] or not all(rows):
        return None
    return match.group(1) + " \\\\ ".join(rows[::-1]) + match.group(3)


OTHER: dict[str, Mutation] = {
    "a digit": _digit,
    "the sign": _sign,
    "one more": _one_more,
    "a bracket": _brackets,
    "entries swapped": _swapped,
    "an entry lost": _dropped_entry,
    "the relation": _relation,
    "upside down": _fraction_upside_down,
    "a root lost": _lost_root,
    "rows swapped": _rows,
}
