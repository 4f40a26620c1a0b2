"""Tokens on one side of a relation → the name that they write, if they write a name."""

from itertools import pairwise

from erce.verify.answers.read.brackets import enclosed, split_at_sign
from erce.verify.answers.read.lexer import Token
from erce.verify.answers.read.vocabulary import GREEK, NAMING

MAX_NAME_TOKENS = 14


def name_of(tokens: list[Token]) -> str:
    r"""Return the name that the tokens write, without braces and spaces; "" if they write anything else.

    Names are letters (x, AB, x_1, f'), calls of them (f(x), f^{-1}(x), f(3), P(\text{red}), P(X = 2), E[X]),
    angles, lengths (|AB|), pairs with a colon, quotients of segments, and words.

    >>> from erce.verify.answers.read.lexer import tokenize
    >>> [name_of(tokenize(text)) for text in (r"\angle ABC", "f(x)", "2x", "x + y")]
    ['\\angleABC', 'f(x)', '', '']
    """
    if len(tokens) > MAX_NAME_TOKENS:
        return ""
    if not (_is_name(tokens) and _exponent_is_inverse(tokens)) and not _is_function_at_a_point(tokens):
        return ""
    written = "".join(map(_written, tokens))
    if any(token.text in _SET_SIGNS for token in tokens) and not _joins_capitals(tokens):
        return ""
    # |AB| is the length of the segment AB, but |x| is not x.
    return written.strip("|") if written.strip("|").isupper() and len(written) > 3 else written


def _written(token: Token) -> str:
    if token.kind == "command" and token.text not in GREEK:
        return f"\\{token.text}"
    return "" if token.text in ("{", "}") else token.text


_START = Token("start", "")
_FUNCTION_LETTERS = frozenset("fghpqFGHPQSTEV") | {"phi", "sigma", "tau", "mu"}
_SET_SIGNS = frozenset({"cap", "cup", "setminus"})
_IN_POINTS = frozenset({"frac", "sqrt", "pi", "cap", "cup"})


def names_of(tokens: list[Token]) -> list[str]:
    """Return the names in one bracket, as in (x, y), or in a column; [] if the tokens are anything else."""
    if not enclosed(tokens):
        return []
    inner = [Token("sign", ",") if token.text in ("\\\\", "&") else token for token in tokens[1:-1]]
    names = [name_of(part) for part in split_at_sign(inner, ",")]
    return names if all(names) else []


def name_of_matrix(tokens: list[Token]) -> str:
    r"""Return the name of a matrix beside its value: A^{-1}, A^T, P^{-1}AP, A + B; "" for anything else."""
    plain = all(token.kind in ("letter", "number") or token.is_sign(*_IN_MATRIX_NAMES) for token in tokens)
    capitals = any(token.kind == "letter" and token.text.isupper() for token in tokens)
    return "".join(map(_written, tokens)) if plain and capitals and len(tokens) <= MAX_NAME_TOKENS else ""


_IN_MATRIX_NAMES = frozenset("^{}()_+-'")


def _is_function_at_a_point(tokens: list[Token]) -> bool:
    """Return whether the tokens write f(3), f(f(2)) or the probability P(A); x(3) is a product."""
    if not tokens or tokens[0].text not in _FUNCTION_LETTERS:
        return False
    argument = tokens[1:]
    while argument and argument[0].text == "'":
        argument = argument[1:]
    return (
        enclosed(argument)
        and argument[0].text in ("(", "[")
        and all(
            token.kind in ("number", "sign")
            or token.text in _IN_POINTS
            or (token.kind == "letter" and (token.text.isupper() or token.text in _FUNCTION_LETTERS))
            for token in argument[1:-1]
        )
    )


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
        elif token.kind in ("letter", "word") or (token.kind == "command" and token.text in NAMING):
            letters += 1
        elif not (_is_part_of_name(token, before, in_index) or (depth and token.text == ",")):
            return False
    return letters > 0 and not depth


def _is_part_of_name(token: Token, before: Token, in_index: bool) -> bool:
    """Return whether the token is part of an index, a prime, a bar or a colon in a name."""
    if token.is_sign("*"):  # x^*
        return before.text == "^" or in_index
    if token.kind == "number" or token.text in ("-", "+"):
        return in_index or before.text == "_"
    return token.is_sign("_", "'", "|", "‖", ":", "^") or (
        token.text in _SET_SIGNS and before.kind == "letter"
    )


def _joins_capitals(tokens: list[Token]) -> bool:
    """Return whether all letters are names of sets, as in A ∩ B; n(A ∪ B) counts the members of one."""
    return all(
        token.text.isupper() or (token.text == "n" and not at)
        for at, token in enumerate(tokens)
        if token.kind == "letter"
    )


def _exponent_is_inverse(tokens: list[Token]) -> bool:
    r"""Return whether the only exponent, if any, is a star or the -1 of an inverse before its parenthesis."""
    texts = [token.text for token in tokens]
    if "^" not in texts:
        return True
    at = texts.index("^")
    if "*" in texts[at + 1 : at + 3]:
        return "^" not in texts[at + 1 :]
    return texts[at : at + 6] == ["^", "{", "-", "1", "}", "("] and "^" not in texts[at + 1 :]
