"""Tokens → their parts between separators outside all brackets; and whether one bracket holds them all."""

from collections.abc import Callable

from erce.verify.answers.read.lexer import Token

OPENING = frozenset({"(", "[", "{", "\\{", "⟨"})
CLOSING = frozenset({")", "]", "}", "\\}", "⟩"})


def depth_change(token: Token) -> int:
    """Return 1 if the token opens a bracket or an environment, -1 if it closes one, else 0."""
    if token.kind == "sign":
        return (token.text in OPENING) - (token.text in CLOSING)
    return (token.kind == "begin") - (token.kind == "end")


def split(tokens: list[Token], separates: Callable[[Token], bool]) -> tuple[list[list[Token]], list[Token]]:
    """Split at the tokens outside all brackets that `separates` chooses; return parts and separators."""
    parts: list[list[Token]] = [[]]
    separators: list[Token] = []
    depth = 0
    for token in tokens:
        depth += depth_change(token)
        if depth == 0 and separates(token):
            separators.append(token)
            parts.append([])
        else:
            parts[-1].append(token)
    return parts, separators


def split_at_sign(tokens: list[Token], sign: str) -> list[list[Token]]:
    """Split at every occurrence of one sign outside all brackets."""
    return split(tokens, lambda token: token.is_sign(sign))[0]


def enclosed(tokens: list[Token]) -> bool:
    """Return whether the first token is a bracket that the last token closes."""
    if len(tokens) < 2 or depth_change(tokens[0]) != 1 or depth_change(tokens[-1]) != -1:
        return False
    depth = 0
    for token in tokens[:-1]:
        depth += depth_change(token)
        if depth == 0:
            return False
    return depth == 1
