"""Tokens on one side of a relation → the name that they write, if they write one."""

from erce.verify.answers.read.lexer import Token
from erce.verify.answers.read.vocabulary import ACCENTS, GREEK

MAX_NAME = 14  # tokens


def name_of(tokens: list[Token]) -> str:
    r"""The name that stands here, without braces and spaces; "" where it is more, or less, than a name.

    Names are letters (x, AB, x_1, f'), calls of them (f(x), f^{-1}(x), P(\text{red})), angles, lengths
    (|AB|), pairs with a colon, quotients of segments, and words.

    >>> from erce.verify.answers.read.lexer import tokenize
    >>> [name_of(tokenize(text)) for text in (r"\angle ABC", "f(x)", "2x", "x + y")]
    ['angleABC', 'f(x)', '', '']
    """
    if not tokens or len(tokens) > MAX_NAME:
        return ""
    inside = subscript = False
    depth = letters = 0
    for at, token in enumerate(tokens):
        before = tokens[at - 1].text if at else ""
        if token.text in ("(", "{") and token.kind == "sign":
            if token.text == "(" and not letters:
                return ""
            depth += 1
            inside, subscript = True, subscript or before in ("_", "^")
        elif token.text in (")", "}") and token.kind == "sign":
            depth -= 1
            subscript = subscript and depth > 0
        elif token.kind in ("letter", "word") or (token.kind == "command" and token.text in _NAMING):
            letters += 1
        elif not (_is_index(token, before, subscript) or (inside and depth and token.text == ",")):
            return ""
        if depth < 0:
            return ""
    if depth or not letters or not _exponent_is_inverse(tokens):
        return ""
    written = "".join(token.text for token in tokens if token.text not in ("{", "}"))
    # The length |AB| is the segment's; |x| is another thing than x.
    return written.strip("|") if written.strip("|").isupper() and len(written) > 3 else written


_NAMING = GREEK | ACCENTS | {"frac", "pi"}


def _is_index(token: Token, before: str, subscript: bool) -> bool:
    """Whether it is part of an index, a prime, a bar or a colon in a name."""
    if token.kind == "number" or token.text in ("-", "+"):
        return subscript or before == "_"
    return token.kind == "sign" and token.text in ("_", "'", "|", ":", "^")


def _exponent_is_inverse(tokens: list[Token]) -> bool:
    r"""Whether the only exponent, if any, is the -1 of an inverse function, before its parenthesis."""
    texts = [token.text for token in tokens]
    if "^" not in texts:
        return True
    at = texts.index("^")
    return texts[at : at + 6] == ["^", "{", "-", "1", "}", "("] and "^" not in texts[at + 1 :]
