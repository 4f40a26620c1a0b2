"""Two functions or solutions → the same two, with one set of letters for their arguments and constants."""

import re
from collections.abc import Iterator
from dataclasses import replace

from erce.verify.answers.compare import constants
from erce.verify.answers.compare.mapped import mapped, names_in
from erce.verify.answers.tree import Tree, renamed
from erce.verify.answers.values import Answer, Named, Scalar

# f(x), f^{-1}(x), g(x, y); the sequence a_n.
_FUNCTION = re.compile(r"([A-Za-z]'*(?:\^-1)?)(?:\(([a-z](?:,[a-z])*)\)|_([ijkmnrs]))")
_OF_SOLUTIONS = re.compile(r"[a-z]|[A-Za-z]\([a-z]\)")


def with_the_same_arguments(one: Named, other: Named) -> tuple[Answer, Answer] | None:
    """Return the values of f(x) and f(t), or of f(x) and y, in the arguments of `one`; None for others."""
    if plain_name(one.name) == plain_name(other.name):
        return one.value, other.value
    function, second = _FUNCTION.fullmatch(one.name), _FUNCTION.fullmatch(other.name)
    if function is None:
        return None
    arguments = _arguments(function)
    if other.name == "y" and len(arguments) == 1:
        return None if "y" in {*arguments, *names_in(one.value)} else (one.value, other.value)
    if second is None or second.group(1) != function.group(1):
        return None
    old = _arguments(second)
    if len(old) != len(arguments) or (set(arguments) - set(old)) & names_in(other.value):
        return None
    value = mapped(other.value, lambda tree: renamed(tree, old, arguments))
    return None if value is None else (one.value, value)


def in_letters_of(one: Named, other: Named, values: tuple[Answer, Answer]) -> Iterator[Answer]:
    """Yield the second value with the constants of the first in the place of its own, in every order.

    The names must be those of a solution: y, f(x).
    """
    first, second = values
    if not (_OF_SOLUTIONS.fullmatch(one.name) and _OF_SOLUTIONS.fullmatch(other.name)):
        return
    if isinstance(first, Scalar) and isinstance(second, Scalar):
        # q = Q e^{-t/C} has a capacitance.
        equal = constants.of_one_family if one.name[0] in "fguxyz" else constants.in_letters_of
        for tree in equal(first.tree, second.tree):
            yield replace(second, tree=tree)


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
