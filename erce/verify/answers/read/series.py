"""Tokens of a sum over an index, of an unknown function's arguments, or under an accent → trees."""

import re
from typing import Protocol

from erce.verify.answers.limits import MAX_ITEMS, TooLargeError, UnparsedError
from erce.verify.answers.read.lexer import END, Token
from erce.verify.answers.tree import Tree, symbols

# In f(x + 1) each of these is a function; most other letters only in f(x) and f(2), as P(1 + r) is a product.
_FUNCTIONS = frozenset({"f", "g", "F", "G", "T", "Gamma", "zeta"})
_FACTORS = frozenset("abcdeijklmntxyz") | {"alpha", "beta", "gamma", "delta", "epsilon", "theta", "lambda"}


class Parser(Protocol):
    """What these need of `scalar.ExpressionParser`."""

    tokens: list[Token]
    at: int
    depth: int
    indices: list[str]

    @property
    def next(self) -> Token: ...
    def take(self) -> Token: ...
    def eat(self, sign: str) -> bool: ...
    def need(self, sign: str) -> None: ...
    def descend(self) -> None: ...
    def sum(self) -> Tree: ...
    def product(self) -> Tree: ...
    def exponent(self) -> Tree: ...
    def argument(self) -> Tree: ...
    def subscript(self) -> str: ...


def series(parser: Parser, kind: str) -> Tree:
    """Read a sum or a product; its bounds may stand in either order."""
    last = _bound(parser) if parser.eat("^") else None
    parser.need("_")
    parser.need("{")
    name = parser.take()
    if name.kind != "letter":
        raise UnparsedError("a sum without an index")
    parser.need("=")
    first = parser.sum()
    parser.need("}")
    if last is None:
        parser.need("^")
        last = parser.exponent()
    parser.indices.append(name.text)
    term = parser.product()
    parser.indices.pop()
    return kind, f"#{len(parser.indices)}", first, last, term


def _bound(parser: Parser) -> Tree:
    r"""Read the upper bound that stands before the lower one: in \sum^n_{k=1} the _ begins the lower one."""
    return ("sym", parser.take().text) if parser.next.kind == "letter" else parser.exponent()


def accented(parser: Parser, accent: str) -> Tree:
    r"""Read what stands under an accent: a name, or the conjugate of a number as in \overline{3+4i}.

    The name of a set of numbers keeps its sign, as in \mathbb{R}^+ and \mathbb{Z}_{\ge 0}.
    """
    start = parser.at
    name = parser.subscript()
    if accent == "overline" and "i" in name and not name.isalpha():
        end, parser.at = parser.at, start
        tree = parser.argument()
        if parser.at == end and not symbols(tree):
            return "call", "conj", (tree,)
        parser.at = end
    if accent == "mathbb" and parser.next.is_sign("^", "_"):
        length = 2 if parser.tokens[parser.at + 1].is_sign("+", "-", "*") else 5
        written = (token.text for token in parser.tokens[parser.at : parser.at + length])
        restriction = "".join(text for text in written if text not in "{}")
        if _RESTRICTION.fullmatch(restriction):
            parser.at += length
            name += {"_>0": "^+", "_<0": "^-"}.get(restriction, restriction)
    return "sym", f"{accent}:{name}"


_RESTRICTION = re.compile("[_^][-+*]|_[<>≤≥≠]0")


def indexed(parser: Parser, name: str, subscript: str) -> Tree:
    """Read the a_k or a_{k+1} of a sum over k as the value of an unknown function."""
    if len(subscript) > 1 and subscript.isalpha():
        raise UnparsedError("two indices")
    return "apply", f"{name}_", (parser.argument(),)


def application(parser: Parser, name: str) -> Tree | None:
    """Read the arguments of an unknown function after its name; None if the name stands for a factor."""
    letter = name.partition("_")[0].rstrip("'")
    start = parser.at
    if parser.next.is_sign("^"):
        exponent = "".join(token.text for token in parser.tokens[start + 1 : start + 5])
        if not exponent.startswith("{-1}") or letter not in _FUNCTIONS:
            return None
        parser.at, name = start + 5, f"{name}^-1"
    if not parser.next.is_sign("(") or letter in _FACTORS:
        parser.at = start
        return None
    argument, closing = [*parser.tokens[parser.at + 1 : parser.at + 3], END][:2]
    alone = argument.kind in ("letter", "number") and closing.is_sign(")")
    if letter not in _FUNCTIONS and not alone:
        parser.at = start
        return None
    parser.need("(")
    parser.descend()
    arguments = [parser.sum()]
    while parser.eat(","):
        arguments.append(parser.sum())
        if len(arguments) > MAX_ITEMS:
            raise TooLargeError(f"more than {MAX_ITEMS} arguments")
    parser.depth -= 1
    parser.need(")")
    return "apply", name, tuple(arguments)
