"""Tokens of (D) 14, C. 14 or C) → the letter of a choice, and the answer beside it."""

from collections.abc import Callable

from erce.verify.answers.read.lexer import Token
from erce.verify.answers.values import Answer, Choice, Scalar

LETTERS = frozenset("ABCDEFGHIJ")


def parse_choice(tokens: list[Token], parse: Callable[[list[Token]], Answer]) -> Choice | Scalar | None:
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
    return Choice(letter, parse(rest)) if apart and _is_answer(rest) else None


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
