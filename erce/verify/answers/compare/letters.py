"""Two functions or solutions → the same two, with one set of letters for arguments and constants."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

from erce.verify.answers.tree import Tree, adds, names, substituted
from erce.verify.answers.values import Answer, Named, Scalar

MAX_CONSTANTS = 3
# f(x), f^{-1}(x), g(x, y); the sequence a_n.
_FUNCTION = re.compile(r"([A-Za-z]'*(?:\^-1)?)(?:\(([a-z](?:,[a-z])*)\)|_([a-z]))")
_CONSTANT = re.compile(r"[CcK]|[CcK]_[0-9]")
_LETTERS = frozenset("AB")  # constants only beside C_1 and C_2
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

    The name must be that of a solution: y, f(x). Constants are C, c, K and these with an index, A and B where
    the other value has C_1 and C_2.
    """
    if not _OF_SOLUTIONS.fullmatch(one.name) or one.name != other.name:
        return
    if isinstance(one.value, Scalar) and isinstance(other.value, Scalar):
        yield from map(Scalar, _in_letters_of(one.value.tree, other.value.tree))


def antiderivative_in_letters_of(one: Tree, other: Tree) -> Iterator[Tree]:
    """Yield the second tree with the first one's letter for the constant of an antiderivative: +C and +c."""
    letters = [[letter for letter in "CcK" if adds(tree, letter)] for tree in (one, other)]
    if len(letters[0]) == len(letters[1]) == 1 and ["C"] in letters:
        yield from _in_letters_of(one, other)


def renamed(tree: Tree, old: list[str], new: list[str]) -> Tree:
    """Return the tree with new names for some symbols, all at once.

    >>> renamed(("add", (("sym", "x"), ("sym", "y"))), ["x", "y"], ["y", "x"])
    ('add', (('sym', 'y'), ('sym', 'x')))
    """
    for at, name in enumerate(old):
        tree = substituted(tree, name, ("sym", f"@{at}"))
    for at, name in enumerate(new):
        tree = substituted(tree, f"@{at}", ("sym", name))
    return tree


def _arguments(function: re.Match[str]) -> list[str]:
    return (function.group(2) or function.group(3)).split(",")


def _in_letters_of(one: Tree, other: Tree) -> Iterator[Tree]:
    letters, others = _constants(one), _constants(other)
    if not letters and any("_" in name for name in others):
        letters = sorted(names(one) & _LETTERS)
    elif not others and any("_" in name for name in letters):
        others = sorted(names(other) & _LETTERS)
    if len(letters) == len(others) <= MAX_CONSTANTS:
        for order in permutations(letters):
            yield renamed(other, others, list(order))


def _constants(tree: Tree) -> list[str]:
    return sorted(filter(_CONSTANT.fullmatch, names(tree)))
