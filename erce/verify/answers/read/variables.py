"""Tokens on one side of a relation → the name that they write, if they write a name."""

from itertools import pairwise

from erce.verify.answers.read.lexer import Token
from erce.verify.answers.read.vocabulary import ACCENTS, GREEK

MAX_NAME_TOKENS = 14


def name_of(tokens: list[Token]) -> str:
    r"""Return the name that the tokens write, without braces and spaces; "" if they write anything else.

    Names are letters (x, AB, x_1, f'), calls of them (f(x), f^{-1}(x), P(\text{red})), angles, lengths
    (|AB|), pairs with a colon, quotients of segments, and words.

    >>> from erce.verify.answers.read.lexer import tokenize
    >>> [name_of(tokenize(text)) for text in (r"\angle ABC", "f(x)", "2x", "x + y")]
    ['angleABC', 'f(x)', '', '']
    """
    if len(tokens) > MAX_NAME_TOKENS or not _is_name(tokens) or not _exponent_is_inverse(tokens):
        return ""
    written = "".join(token.text for token in tokens if token.text not in ("{", "}"))
    # |AB| is the length of the segment AB, but |x| is not x.
    return written.strip("|") if written.strip("|").isupper() and len(written) > 3 else written


_NAMING = GREEK | ACCENTS | {"frac", "pi"}
_START = Token("start", "")


def _is_name(tokens: list[Token]) -> bool:
    letters = depth = 0
    in_index = False  # whether a bracket that is open belongs to a subscript or an exponent
    for before, token in pairwise([_START, *tokens]):
        if token.is_sign("(", "{"):
            if token.text == "(" and not letters:
                return False
            depth += 1
            in_index = in_index or before.text in ("_", "^")
        elif token.is_sign(")", "}"):
            if not depth:
                return False
            depth -= 1
            in_index = in_index and depth > 0
        elif token.kind in ("letter", "word") or (token.kind == "command" and token.text in _NAMING):
            letters += 1
        elif not (_is_part_of_name(token, before, in_index) or (depth and token.text == ",")):
            return False
    return letters > 0 and not depth


def _is_part_of_name(token: Token, before: Token, in_index: bool) -> bool:
    """Return whether the token is part of an index, a prime, a bar or a colon in a name."""
    if token.kind == "number" or token.text in ("-", "+"):
        return in_index or before.text == "_"
    return token.is_sign("_", "'", "|", ":", "^")


def _exponent_is_inverse(tokens: list[Token]) -> bool:
    r"""Return whether the only exponent, if any, is the -1 of an inverse function, before its parenthesis."""
    texts = [token.text for token in tokens]
    if "^" not in texts:
        return True
    at = texts.index("^")
    return texts[at : at + 6] == ["^", "{", "-", "1", "}", "("] and "^" not in texts[at + 1 :]
