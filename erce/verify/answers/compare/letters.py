"""Two functions or solutions → the same two, with one set of letters for their arguments and constants."""

import re
from collections.abc import Iterator
from dataclasses import replace

from erce.verify.answers.compare import constants
from erce.verify.answers.tree import Tree, names, renamed
from erce.verify.answers.values import Answer, Named, Scalar

# f(x), f^{-1}(x), g(x, y); the sequence a_n.
_FUNCTION = re.compile(r"([A-Za-z]'*(?:\^-1)?)(?:\(([a-z](?:,[a-z])*)\)|_([ijkmnrs]))")
_OF_SOLUTIONS = re.compile(r"[a-z](?:\([a-z]\))?")


def with_the_same_arguments(one: Named, other: Named) -> tuple[Answer, Answer] | None:
    """Return the values of f(x) and f(t), or of f(x) and y, in the arguments of `one`; None for others."""
    function, second = _FUNCTION.fullmatch(one.name), _FUNCTION.fullmatch(other.name)
    if function is None or not isinstance(one.value, Scalar) or not isinstance(other.value, Scalar):
        return None
    arguments = _arguments(function)
    if other.name == "y" and len(arguments) == 1:
        return None if "y" in {*arguments, *names(one.value.tree)} else (one.value, other.value)
    if second is None or second.group(1) != function.group(1):
        return None
    old = _arguments(second)
    if len(old) != len(arguments) or (set(arguments) - set(old)) & names(other.value.tree):
        return None
    return one.value, replace(other.value, tree=renamed(other.value.tree, old, arguments))


def in_letters_of(one: Named, other: Named) -> Iterator[Answer]:
    """Yield the value of `other` with the constants of `one` in the place of its own, in every order.

    The name must be that of a solution: y, f(x).
    """
    if not _OF_SOLUTIONS.fullmatch(one.name) or one.name != other.name:
        return
    if isinstance(one.value, Scalar) and isinstance(other.value, Scalar):
        for tree in constants.in_letters_of(one.value.tree, other.value.tree):
            yield replace(other.value, tree=tree)


def plain_name(name: str) -> str:
    """Return EX for E(X) and E[X], f' for f'(x), AB for the segment AB with a line above it."""
    return re.sub(r"[()\[\]]|\\overline(?=[A-Z]{2})", "", name.removesuffix("(x)") if "'" in name else name)


def in_another_order(one: Tree, other: Tree) -> bool:
    """Return whether two or three capital letters stand in different orders: AB and BA may be matrices.

    But the triangle ABC is BCA, and in longer products, as in AB · CD, most letters are names of points.
    """
    first, second = _matrices(one), _matrices(other)
    same = [first] if len(first) == 2 else [first[at:] + first[:at] for at in range(3)]
    return len(first) in (2, 3) and sorted(first) == sorted(second) and second not in same


def _matrices(product: Tree) -> list[str]:
    while product[0] in ("neg", "frac"):
        product = product[1]
    factors = product[1] if product[0] == "mul" else ()
    bases = (factor[1] if factor[0] == "pow" else factor for factor in factors)
    return [base[1] for base in bases if base[0] == "sym" and base[1] in _MATRICES]


_MATRICES = frozenset("ABCDXY")


def _arguments(function: re.Match[str]) -> list[str]:
    return (function.group(2) or function.group(3)).split(",")
