"""Tokens of a quantity → the tokens of its number, and its unit in one spelling."""

import re
from collections import Counter
from dataclasses import dataclass

from erce.verify.answers.limits import UnparsedError
from erce.verify.answers.read.lexer import Token
from erce.verify.answers.read.nouns import DESCRIBING, LINKING, SENSES, TRAILING, is_counted
from erce.verify.answers.read.vocabulary import (
    CURRENCIES,
    MONEY,
    POWERS_OF_UNITS,
    SCALES,
    SPEEDS,
    TRIGONOMETRIC,
    UNITS,
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number's tokens and their unit ("" if unknown); `scale` is a million for "million".

    `sense` is "+" beside "more" and "profit", "-" beside "fewer" and "loss", else "".
    """

    number: list[Token]
    unit: str = ""
    percent: bool = False
    scale: int = 1
    sense: str = ""


def split_quantity(tokens: list[Token]) -> Quantity:
    r"""Split a quantity into number and unit; words for what is counted ("12 ways") are left out.

    `UnparsedError` if the words are neither ("5 or more", "3 is wrong", "42 tens").

    >>> from erce.verify.answers.read.lexer import tokenize
    >>> quantity = split_quantity(tokenize(r"10\text{ square inches}"))
    >>> quantity.number[0].text, quantity.unit
    ('10', 'inch^2')
    """
    money = [token for token in tokens if token.is_sign(*CURRENCIES)]
    if money:
        tokens = _without_empty_braces([token for token in tokens if token not in money])
    currency = CURRENCIES[money[0].text] if money else ""
    while len(tokens) > 1 and tokens[0].kind == "word" and tokens[0].text.casefold().rstrip(".") in MONEY:
        currency = currency or UNITS[tokens[0].text.casefold().rstrip(".")]
        tokens = tokens[1:]
    percent = bool(tokens) and tokens[-1].is_sign("%")
    if percent:
        tokens = tokens[:-1]
    end = _end_of_number(tokens) or len(tokens)
    after = tokens[end:]
    if after and after[0].is_sign("%"):
        percent, after = True, after[1:]
    tokens = tokens[:end]
    primes = len(tokens) - 1 if 2 <= len(tokens) <= 3 and tokens[0].kind == "number" else 0
    if primes and not after and all(token.is_sign("'") for token in tokens[1:]):
        return Quantity(tokens[:1], ("foot", "inch")[primes - 1])
    if not after and _pattern(tokens) in ("n'n", "n'n''"):  # 6'2"; the lexer drops the "
        return Quantity(
            [tokens[0], Token("sign", "+"), tokens[2], Token("sign", "/"), Token("number", "12")], "foot"
        )
    if _has_angles(tokens) and _written(after).strip() in ("degrees", "degree"):
        tokens, after = [*tokens, Token("sign", "°")], []  # cos 13 degrees
    tokens = _minutes_of_arc_added(tokens)
    degrees = any(token.is_sign("°") for token in tokens) and not _has_angles(tokens)
    if degrees:
        tokens = [token for token in tokens if not token.is_sign("°")]
    temperature = _TEMPERATURES.get(_written(after).strip(" .").casefold(), "") if degrees else ""
    words, scale = unit_words("" if temperature else _written(after))
    unit = temperature or _combined_unit(words) or ("degree" if degrees else currency)
    sense = next((SENSES[word] for word in words if word in SENSES), "")
    return Quantity(tokens, unit, percent, scale, sense)


def with_commas_between_quantities(tokens: list[Token]) -> list[Token]:
    """Return the tokens with a comma between two quantities: 2 hours, 30 minutes; 5 boys, 3 girls."""
    separated = tokens[:2]
    for at in range(2, len(tokens)):
        number, before, token = tokens[at - 2 : at + 1]
        if number.kind == token.kind == "number" and before.kind == "word":
            text = before.text.casefold().replace(",", "")
            words = text.removesuffix(" and").split()
            if not words or not (words[-1] in UNITS or (text.endswith(" and") and is_counted(words[-1]))):
                return tokens
            separated[-1] = before._replace(text=" ".join(words))
            separated.append(Token("sign", ","))
        separated.append(token)
    return separated


def _without_empty_braces(tokens: list[Token]) -> list[Token]:
    r"""Return the tokens without the braces that held a currency alone: \text{\$}5."""
    return tokens[2:] if [token.text for token in tokens[:2]] == ["{", "}"] else tokens


def _minutes_of_arc_added(tokens: list[Token]) -> list[Token]:
    """Return 30° 15' 20'' as 30° + 15/60 + 20/3600, and all other tokens as they are."""
    if _pattern(tokens) not in ("n°n'", "n°n'n", "n°n'n''"):  # the lexer drops "
        return tokens
    parts = [tokens[:2]]
    for at, share in zip((2, 4), ("60", "3600"), strict=False):
        if at < len(tokens):
            parts.append([Token("sign", "+"), tokens[at], Token("sign", "/"), Token("number", share)])
    return [token for part in parts for token in part]


def _pattern(tokens: list[Token]) -> str:
    return (
        "".join("n" if token.kind == "number" else token.text for token in tokens) if len(tokens) < 8 else ""
    )


_EXPONENT = re.compile(r"\^(?:[0-9]|\{-?[0-9]\})")
_WORD = re.compile(r"[a-z]+|[²³]|\^(?:-?[0-9]|\{-?[0-9]\})|/")


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


def unit_words(text: str) -> tuple[list[str], int]:
    """Return the words of a unit or of what is counted, and the factor of words such as "million" among them.

    `UnparsedError` if the text holds anything else.

    >>> unit_words("million right triangles")
    (['million', 'right', 'triangles'], 1000000)
    """
    if _LONE_M.search(text):
        raise UnparsedError("M after a number")
    text = _SQUARED.sub(_with_exponent, text.casefold())
    words = _WORD.findall(text)
    unread = _BETWEEN_WORDS.sub("", _WORD.sub("", text))
    scale = 1
    for word in words:
        scale *= SCALES.get(word, 1)
    named = [word for word in words if word not in TRAILING]
    if unread or scale > 10**15 or not all(map(_is_known, named)) or (named and not _ends(named[-1])):
        raise UnparsedError(f"{text.strip()[:40]!r} after a number")
    return words, scale


def _with_exponent(power: re.Match[str]) -> str:
    """Return second^2 for "second squared"."""
    return f"{power[1]}^{2 if power[2] == 'squared' else 3}" if power[1] in UNITS else power[0]


_SQUARED = re.compile(r"\b([a-z]+) (squared|cubed)\b")
_LONE_M = re.compile(r"\bM\b")  # a million or metres
_BETWEEN_WORDS = re.compile(r"[\s.,'()-]++")


def _is_known(word: str) -> bool:
    return word == "/" or word in DESCRIBING or word in LINKING or word in POWERS_OF_UNITS or _ends(word)


def _ends(word: str) -> bool:
    """Return whether the word can be the last one of a unit or of what is counted."""
    return word in UNITS or word in SCALES or word in SPEEDS or word[0] in "^²³" or is_counted(word)


def _written(tokens: list[Token]) -> str:
    return "".join(token.text if token.kind in ("number", "sign") else f" {token.text} " for token in tokens)


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
            powers[last] *= int(word[1:].strip("{}")) if word[0] == "^" else "²³".index(word) + 2
        elif word in UNITS or word in ("unit", "units"):
            last = UNITS.get(word, "unit")
            powers[last] += sign * square
            square = 1
    if powers["celsius"] or powers["fahrenheit"]:
        del powers["degree"]
    if powers["unit"] in (0, 1):  # "15 units" states no unit, "15 square units" an area
        del powers["unit"]
    return " ".join(unit if power == 1 else f"{unit}^{power}" for unit, power in sorted(powers.items()))
