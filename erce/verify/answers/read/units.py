"""Tokens of a quantity → the tokens of its number, and its unit in one spelling."""

import re
from collections import Counter
from dataclasses import dataclass

from erce.verify.answers.limits import UnparsedError
from erce.verify.answers.read.lexer import Token
from erce.verify.answers.read.vocabulary import (
    MONEY,
    NO_UNIT,
    POWERS_OF_UNITS,
    SCALES,
    SPEEDS,
    TRIGONOMETRIC,
    UNITS,
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number's tokens and their unit ("" if unknown); `scale` is a million for "million"."""

    number: list[Token]
    unit: str = ""
    percent: bool = False
    scale: int = 1


def split_quantity(tokens: list[Token]) -> Quantity:
    r"""Split a quantity into number and unit; words that are no known unit ("12 ways") are left out.

    `UnparsedError` if the words mean more than a unit ("5 or more", "3 if x > 0").

    >>> from erce.verify.answers.read.lexer import tokenize
    >>> quantity = split_quantity(tokenize(r"10\text{ square inches}"))
    >>> quantity.number[0].text, quantity.unit
    ('10', 'inch^2')
    """
    money = [token for token in tokens if token.is_sign("\\$", "¤")]
    if money:
        tokens = [token for token in tokens if token not in money]
    while len(tokens) > 1 and tokens[0].kind == "word" and tokens[0].text.casefold().rstrip(".") in MONEY:
        tokens = tokens[1:]
    percent = bool(tokens) and tokens[-1].is_sign("%")
    if percent:
        tokens = tokens[:-1]
    end = _end_of_number(tokens)
    percent = percent or (end < len(tokens) and tokens[end].is_sign("%"))
    words, scale = _unit_words(tokens[end:])
    tokens = tokens[:end]
    unit = _combined_unit(words) or ("dollar" if any(token.text == "\\$" for token in money) else "")
    if any(token.is_sign("°") for token in tokens) and not _has_angles(tokens):
        tokens = [token for token in tokens if not token.is_sign("°")]
        unit = unit or _TEMPERATURES.get("".join(words), "degree")
    return Quantity(tokens, unit, percent, scale)


_EXPONENT = re.compile(r"\^(?:[0-9]|\{-?[0-9]\})")
_WORD = re.compile(r"[a-z]+|[²³]|\^-?[0-9]|/")


_TEMPERATURES = {"c": "celsius", "f": "fahrenheit"}


def _has_angles(tokens: list[Token]) -> bool:
    return any(token.kind == "command" and token.text in TRIGONOMETRIC for token in tokens)


def _end_of_number(tokens: list[Token]) -> int:
    """Return the index at which the words after the number begin."""
    end = len(tokens)
    while end:
        last = tokens[end - 1]
        if (
            last.kind == "word"
            or last.is_sign("%")
            or (last.kind == "command" and last.text in ("min", "sec"))
        ):
            end -= 1
        elif length := _length_of_exponent(tokens, end):
            end -= length
        elif last.is_sign(".") or (last.is_sign("/") and end < len(tokens) and tokens[end].kind == "word"):
            end -= 1
        elif last.kind == "letter" and end > 1 and _is_unit_of_rate(tokens, end):
            end -= 2
        elif last.kind == "letter" and last.text in "CF" and end > 1 and tokens[end - 2].is_sign("°"):
            end -= 1
        else:
            break
    return end


def _length_of_exponent(tokens: list[Token], end: int) -> int:
    """Return the number of tokens of `^2`, `^{2}` or `^{-2}` after a word that end here."""
    for length in (2, 4, 5):
        exponent = tokens[max(0, end - length) : end]
        written = "".join(token.text for token in exponent)
        if end > length and tokens[end - length - 1].kind == "word" and _EXPONENT.fullmatch(written):
            return length
    return 0


def _is_unit_of_rate(tokens: list[Token], end: int) -> bool:
    """Return whether the h of km/h ends here."""
    return end > 2 and tokens[end - 2].is_sign("/") and tokens[end - 3].kind == "word"


def _unit_words(tokens: list[Token]) -> tuple[list[str], int]:
    """Return the words of a unit, and the factor of words such as "million" among them."""
    words = _WORD.findall("".join(_text_of(token) for token in tokens).casefold())
    scale = 1
    for word in words:
        if word in NO_UNIT:
            raise UnparsedError(f"{word!r} after a number")
        scale *= SCALES.get(word, 1)
        if scale > 10**15:
            raise UnparsedError("several words of size after a number")
    return words, scale


def _text_of(token: Token) -> str:
    if token.kind == "sign":
        return token.text if token.text in "/^-" else ""
    return token.text if token.kind == "number" else f" {token.text} "


def _combined_unit(words: list[str]) -> str:
    """Return the known units in one spelling and order ("miles per hour" is "hour^-1 mile"), or ""."""
    powers = Counter[str]()
    sign, square, last = 1, 1, ""
    for word in words:
        if word in ("per", "/"):
            sign = -1
        elif word in POWERS_OF_UNITS:
            square = POWERS_OF_UNITS[word]
        elif word in SPEEDS:
            above, below = SPEEDS[word]
            powers[above] += 1
            powers[below] -= 1
        elif last and (word[0] == "^" or word in "²³"):
            powers[last] *= int(word[1:]) if word[0] == "^" else "²³".index(word) + 2
        elif word in UNITS:
            last = UNITS[word]
            powers[last] += sign * square
            square = 1
    return " ".join(unit if power == 1 else f"{unit}^{power}" for unit, power in sorted(powers.items()))
