"""Tokens of (D) 14, C. 14 or C) → a choice with the answer beside it; tokens of (a) 3 (b) 5 → both parts."""

from collections.abc import Callable, Sequence

from erce.verify.answers.read.lexer import Token
from erce.verify.answers.values import Answer, LetteredChoice, Named, Record, Scalar

LETTERS = frozenset("ABCDEFGHIJ")


def parse_choice(
    tokens: list[Token], parse: Callable[[list[Token]], Answer]
) -> LetteredChoice | Scalar | None:
    """Return a choice with its answer, a letter before a bracket alone as a symbol; None for anything else.

    What follows a letter must be set apart from it by a space or by braces: (A)(B) and (B)x are products.
    """
    end = _end_of_letter(tokens)
    if not end:
        return None
    letter = next(token.text for token in tokens if token.text in LETTERS)
    apart = end < len(tokens) and (tokens[end].spaced or tokens[end].text == "}")
    while end < len(tokens) and tokens[end].text == "}":
        end += 1
    rest = tokens[end:]
    if not rest:
        return None if any(token.text == "(" for token in tokens) else Scalar(("sym", letter))
    return LetteredChoice(letter, parse(rest)) if apart and _is_answer(rest) else None


def parse_parts(tokens: list[Token], parse: Callable[[list[Token]], Answer]) -> Record | None:
    """Return the answers after the labels (a), (b) …, (i), (ii) … or (1), (2) …; None without two of them."""
    for labels in _LABELS:
        starts = _starts(tokens, labels)
        if len(starts) < 2 or starts[0] > 1:
            continue
        ends = (*starts[1:], len(tokens))
        named = zip(labels, starts, ends, strict=False)
        parts = {f"({label})": tokens[start + 2 + len(label) : end] for label, start, end in named}
        if all(part and (part[0].spaced or part[0].is_sign("}")) for part in parts.values()):
            return Record(tuple(Named(name, parse(_without_ends(part))) for name, part in parts.items()))
    return None


def _starts(tokens: list[Token], labels: Sequence[str]) -> list[int]:
    """Return where the first labels stand in their brackets, one after the other."""
    starts = list[int]()
    for at, token in enumerate(tokens):
        if token.text == "(" and len(starts) < len(labels):
            label = labels[len(starts)]
            if [token.text for token in tokens[at + 1 : at + len(label) + 2]] == [*label, ")"]:
                starts.append(at)
    return starts


_LABELS = ("abcdefgh", ("i", "ii", "iii", "iv"), "12345678", "ABCDEFGH")


def _without_ends(part: list[Token]) -> list[Token]:
    """Return the tokens of a part without the braces of the labels around it, and without separators."""
    start, end = int(part[0].is_sign("}")), len(part)
    while end > start and (part[end - 1].is_sign("{", ",", ";", ".") or part[end - 1].kind == "and"):
        end -= 1
    return part[start:end]


def _end_of_letter(tokens: list[Token]) -> int:
    """Return the index after (D), D), D. or D: at the beginning, with or without braces; 0 without one."""
    if not tokens or tokens[0].text not in _FIRST:
        return 0
    written = ""
    for at, token in enumerate(tokens[:7], 1):
        written += "" if token.text in ("{", "}") else token.text
        if token.text in (")", ".", ":"):
            return (
                at
                if written.strip("().:") in LETTERS and written.startswith("(") <= (token.text == ")")
                else 0
            )
    return 0


_FIRST = LETTERS | {"(", "{"}


def _is_answer(tokens: list[Token]) -> bool:
    """Return whether the tokens may be an answer of their own, and neither a factor nor another choice."""
    if tokens[0].is_sign("("):  # (A) (2, 3)
        return any(token.is_sign(",") for token in tokens)
    return not tokens[0].is_sign(*"+*×/^_!'=<>,;:)") and not any(token.text in LETTERS for token in tokens)
