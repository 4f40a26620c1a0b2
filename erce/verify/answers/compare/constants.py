"""Two solutions with arbitrary constants → whether they are one, whatever the constants are called."""

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations, product

from erce.verify.answers.compare.same_value import same_value
from erce.verify.answers.limits import Budget, UndefinedError
from erce.verify.answers.tree import Tree, names, renamed, substituted, symbols

MAX_CONSTANTS = 3
_CONSTANT = re.compile(r"[CcK]|[CcK]_[0-9]")
_LETTERS = frozenset("ABDak")  # constants only beside those of the other solution
_VARIABLES = ({"x"}, {"t"})
_SIGNS = (1, -1)
_FACTORS = tuple(sign * Fraction(factor) for factor in ("1", "2", "1/2", "3", "1/3") for sign in _SIGNS)


def in_letters_of(one: Tree, other: Tree) -> Iterator[Tree]:
    """Yield `other` with the constants of `one` in the place of its own, in every order.

    Constants are C, c, K and these with an index, and A, B, D, a and k where only the other tree has those.
    """
    letters, others = _paired(one, other)
    for order in permutations(letters) if letters else ():
        yield renamed(other, others, list(order))


def of_one_family(one: Tree, other: Tree) -> Iterator[Tree]:
    """Yield the trees of `in_letters_of`, then those with −C or 2C for C in a function of x or t alone.

    An arbitrary constant C stands for a C too, whatever number a ≠ 0 is: 1/(C − x) and −1/(x + C).
    """
    yield from in_letters_of(one, other)
    letters, others = _paired(one, other)
    arbitrary = any(all(name[0] == "C" for name in constants) for constants in (letters, others))
    if not letters or not arbitrary or symbols(one) - set(letters) not in _VARIABLES:
        return
    for tree in in_letters_of(one, other):
        for factors in product(_FACTORS if len(letters) == 1 else _SIGNS, repeat=len(letters)):
            scaled = tree
            for name, factor in zip(letters, factors, strict=True):
                scaled = substituted(scaled, name, ("mul", (("num", factor), ("sym", name))))
            yield scaled


def _paired(one: Tree, other: Tree) -> tuple[list[str], list[str]]:
    """Return the constants of both trees; two empty lists if one has more, or both have too many."""
    letters, others = _constants(one), _constants(other)
    if letters and not others:
        others = sorted((names(other) - names(one)) & _LETTERS)
    elif others and not letters:
        letters = sorted((names(one) - names(other)) & _LETTERS)
    return (letters, others) if 0 < len(letters) == len(others) <= MAX_CONSTANTS else ([], [])


def same_solutions(one: Tree, other: Tree, budget: Budget) -> bool:
    """Return whether two expressions are one family of functions of x or t, as are x² + C and x² + c.

    Each has either a single constant, which it adds, or several with an index: C_1 e^x + C_2.
    """
    constants = [_constants(one), _constants(other)]
    if ["C"] in constants and len(constants[0]) == len(constants[1]) == 1:
        return _differ_by_a_number(one, constants[0][0], other, constants[1][0], budget)
    if not any("_" in name for names_of_one in constants for name in names_of_one):
        return False
    return any(
        symbols(one) - set(_constants(one)) - _LETTERS in _VARIABLES and same_value(one, tree, budget)
        for tree in in_letters_of(one, other)
    )


def is_constant(tree: Tree) -> bool:
    return tree[0] == "sym" and bool(_CONSTANT.fullmatch(tree[1]))


def _differ_by_a_number(one: Tree, constant: str, other: Tree, its_constant: str, budget: Budget) -> bool:
    """Return whether both add a constant, and differ by a number: ln|2x| + C and ln|x| + c."""
    rest, its_rest = _without(one, constant), _without(other, its_constant)
    if rest is None or its_rest is None or same_value(rest, its_rest, budget):
        return rest is not None and its_rest is not None
    variables = symbols(rest) | symbols(its_rest)
    if len(variables) != 1:
        return False
    name = variables.pop()
    try:
        return same_value(_from_half(rest, name), _from_half(its_rest, name), budget)
    except UndefinedError:
        return False


def _without(tree: Tree, constant: str) -> Tree | None:
    """Return f for f + C, and a f for a (f + C) with a positive number a; None for any other tree."""
    if tree[0] not in ("add", "mul", "frac"):
        return None
    parts = list(tree[1] if tree[0] != "frac" else tree[1:])
    at = next((at for at, part in enumerate(parts) if constant in names(part)), 0)
    others = [*parts[:at], *parts[at + 1 :]]
    if tree[0] == "add":
        parts[at] = ("num", 0) if parts[at] == ("sym", constant) else _without(parts[at], constant)
        alone = not any(constant in names(other) for other in others)
    else:
        parts[at] = _without(parts[at], constant) if tree[0] == "mul" or at == 0 else None
        alone = all(map(_is_positive, others))
    if parts[at] is None or not alone:
        return None
    return (tree[0], *parts) if tree[0] == "frac" else (tree[0], tuple(parts))


def _is_positive(tree: Tree) -> bool:
    return all(map(_is_positive, tree[1:])) if tree[0] == "frac" else tree[0] == "num" and tree[1] > 0


def _from_half(tree: Tree, name: str) -> Tree:
    """Return the tree of f(x) - f(1/2): a number that is added to f changes nothing in it."""
    return "add", (tree, ("neg", substituted(tree, name, _HALF)))


_HALF: Tree = ("num", Fraction(1, 2))


def _constants(tree: Tree) -> list[str]:
    return sorted(filter(_CONSTANT.fullmatch, names(tree)))
