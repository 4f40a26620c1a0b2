"""Values with names → the sides of their equations, and one argument for two functions."""

import re
from dataclasses import replace

from erce.verify.answers.tree import Tree, names, substituted, symbols
from erce.verify.answers.values import Answer, Equation, Named, Scalar

MAX_FACTORS = 3  # of a product of letters that a name may stand for
_FUNCTION = re.compile(r"([A-Za-z]'*(?:\^-1)?)\(([a-z])\)")


def with_one_argument(one: Named, other: Named) -> tuple[Answer, Answer] | None:
    """Return both values in the argument of `one`, of one function as f(x) and f(t) are; else None."""
    function, second = _FUNCTION.fullmatch(one.name), _FUNCTION.fullmatch(other.name)
    if function is None or not isinstance(one.value, Scalar) or not isinstance(other.value, Scalar):
        return None
    argument = function.group(2)
    if other.name == "y":
        return None if "y" in {argument, *symbols(one.value.tree)} else (one.value, other.value)
    if second is None or second.group(1) != function.group(1) or argument in names(other.value.tree):
        return None
    renamed = substituted(other.value.tree, second.group(2), ("sym", argument))
    return one.value, replace(other.value, tree=renamed)


def both_sides(equation: Named | Equation) -> tuple[Tree, ...] | None:
    """Return both sides of an equation or of `name = value`; None if the value is no expression."""
    if isinstance(equation, Equation):
        return equation.sides
    return (_named_tree(equation.name), equation.value.tree) if isinstance(equation.value, Scalar) else None


def _named_tree(name: str) -> Tree:
    """Return the expression that a name is in an equation: xy is a product, theta is none."""
    if 1 < len(name) <= MAX_FACTORS and name.isalpha():
        return "mul", tuple(("sym", letter) for letter in name)
    return "sym", name
