r"""Digits as people write them → numbers: 1,234.5, 0.1\overline{36}, 6.02e23, 1011_2."""

import re
from fractions import Fraction

from erce.verify.answers.limits import MAX_DIGITS, TooLargeError
from erce.verify.answers.read.brackets import depth_change, enclosed
from erce.verify.answers.read.lexer import Token
from erce.verify.answers.read.vocabulary import BASE_NAMES
from erce.verify.answers.tree import Tree
from erce.verify.answers.values import InBase, Scalar


def number(text: str) -> Tree:
    """Return the node of a number token."""
    if len(text) > MAX_DIGITS:
        raise TooLargeError(f"a number of {len(text)} digits")
    return ("dec", integral(Fraction(text))) if "." in text else ("num", int(text))


def integral(value: Fraction) -> int | Fraction:
    """Return the value, as an int if it is an integer."""
    return value.numerator if value.denominator == 1 else value


def repeating(text: str) -> Tree:
    """Return the node of a repeating decimal: 0.1|36 is 0.1363636…"""
    before, _, repeated = text.partition("|")
    whole, _, digits = before.partition(".")
    if len(text) > MAX_DIGITS:
        raise TooLargeError(f"a number of {len(text)} digits")
    # x = 0.1363636… has 1000 x - 10 x = 136 - 1: the repeated digits cancel.
    once, shifted = int("0" + whole + digits), int(whole + digits + repeated)
    return "num", integral(Fraction(shifted - once, (10 ** len(repeated) - 1) * 10 ** len(digits)))


def scientific_number(text: str) -> Tree | None:
    """Return the node of an answer that is one number such as 6.02e23; None for any other answer."""
    match = _SCIENTIFIC.fullmatch(text)
    if match is None:
        return None
    minus, digits, exponent = match.groups()
    value = integral(Fraction(digits) * Fraction(10) ** int(exponent))
    return ("dec", -value if minus else value)


def with_power_of_ten(text: str) -> str:
    """Return 3*10^{8} m/s for 3e8 m/s, and any other text as it is."""
    return _SCIENTIFIC_START.sub(r"\1*10^{\2}", text) if text[:1].isdigit() else text


def join_digit_groups(tokens: list[Token]) -> list[Token]:
    """Return the tokens with 1,234,567 as one number, unless its commas may separate a list.

    They do not if there are no other commas, or if all other commas have a space after them.
    """
    tokens = _without_spaces(tokens)
    commas = _commas_outside_brackets(tokens)
    grouping = set[int]()
    for at in commas:
        if _is_grouping(tokens, at, follows=at - 2 in grouping):
            grouping.add(at)
    listing = [at for at in commas if at not in grouping]
    if not grouping or not all(at + 1 == len(tokens) or tokens[at + 1].spaced for at in listing):
        return tokens
    joined: list[Token] = []
    for at, token in enumerate(tokens):
        if at in grouping:
            continue
        if at - 1 in grouping:
            joined[-1] = joined[-1]._replace(text=joined[-1].text + token.text)
        else:
            joined.append(token)
    return joined


_AROUND_BASE = frozenset("{}()")


def numeral_in_base(tokens: list[Token]) -> Scalar | InBase | None:
    """Return a numeral whose subscript is its base (in base ten a number); None for anything else."""
    if any(token.kind == "word" for token in tokens):
        tokens = [part for token in tokens for part in _base_in_words(token)]
    at = next((at for at, token in enumerate(tokens) if token.text == "_"), 0)
    base = [token.text for token in tokens[at + 1 :] if token.text not in _AROUND_BASE]
    digits = _ungrouped(tokens[:at])
    negative = bool(digits) and digits[0].text == "-"
    digits = _ungrouped(digits[1:] if negative else digits)
    written = "".join(token.text for token in digits)
    whole, _, part = written.partition(".")
    if len(base) != 1 or not (whole + part).isalnum() or not written.isascii() or len(written) > 100:
        return None
    if not any(token.kind == "number" for token in digits) or written != written.upper():
        return None
    radix = BASE_NAMES.get(base[0].casefold(), int(base[0]) if base[0].isdigit() and len(base[0]) < 3 else 0)
    if radix == 10 and (whole + part).isdigit():
        value = number(written)
        return Scalar(("neg", value) if negative else value)
    if radix <= 1:
        return None
    decimals = part.rstrip("0")
    digits_only = (whole.lstrip("0") or "0") + (f".{decimals}" if decimals else "")
    return InBase(f"-{digits_only}" if negative else digits_only, radix)


_SCIENTIFIC_START = re.compile(r"\A([0-9]+(?:\.[0-9]+)?)[eE]([+-]?[0-9]{1,3})(?=[\s\\~])")
_SCIENTIFIC = re.compile(r"(-?)([0-9]{1,40}(?:\.[0-9]{1,40})?)[eE]([+-]?[0-9]{1,3})")


_IN_BASE = re.compile(r"\(?(?:in )?base(?: (\w+))?\)?")


def _base_in_words(token: Token) -> list[Token]:
    """Return the subscript that "base 2" or "base" after a numeral stands for; any other token alone."""
    words = _IN_BASE.fullmatch(token.text.casefold()) if token.kind == "word" else None
    if words is None:
        return [token]
    return [Token("sign", "_"), *([Token("word", words.group(1))] if words.group(1) else [])]


def _ungrouped(tokens: list[Token]) -> list[Token]:
    """Return the tokens without the brackets around all of a numeral's digits."""
    return tokens[1:-1] if enclosed(tokens) and tokens[0].text in ("{", "(") else tokens


def _without_spaces(tokens: list[Token]) -> list[Token]:
    """Return the tokens with 12345 for 12 345, before which a sign may stand, and after which a unit may."""
    if len(tokens) < 2 or not any(token.spaced and token.kind == "number" for token in tokens):
        return tokens
    start = next((at for at, token in enumerate(tokens) if not token.is_sign("-", "+", "\\$")), 0)
    end = start
    while end < len(tokens) and tokens[end].kind == "number" and _is_group(tokens[end], first=end == start):
        end += 1
    follows = end == len(tokens) or tokens[end].kind == "word" or tokens[end].is_sign("%", "°")
    if end - start < 2 or not follows or not all(token.text.isdigit() for token in tokens[start : end - 1]):
        return tokens
    joined = "".join(token.text for token in tokens[start:end])
    return [*tokens[:start], tokens[start]._replace(text=joined), *tokens[end:]]


def _is_group(token: Token, *, first: bool) -> bool:
    if first:
        return len(token.text) <= 3 and token.text.isdigit() and token.text[0] != "0"
    return token.spaced and len(token.text.partition(".")[0]) == 3


def _commas_outside_brackets(tokens: list[Token]) -> list[int]:
    depth, commas = 0, list[int]()
    for at, token in enumerate(tokens):
        depth += depth_change(token)
        if depth == 0 and token.text == "," and token.kind == "sign":
            commas.append(at)
    return commas


def _is_grouping(tokens: list[Token], at: int, *, follows: bool) -> bool:
    """Return whether the comma at `at` separates thousands; with `follows`, such a comma precedes it."""
    if not 0 < at < len(tokens) - 1 or tokens[at].spaced or tokens[at + 1].spaced:
        return False
    before, after = tokens[at - 1], tokens[at + 1]
    if before.kind != "number" or after.kind != "number" or "." in before.text:
        return False
    if len(after.text.partition(".")[0]) != 3:
        return False
    return follows or (len(before.text) <= 3 and before.text != "0")
