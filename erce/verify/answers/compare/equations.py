"""Values with names → the sides of their equations."""

from erce.verify.answers.tree import Tree
from erce.verify.answers.values import Equation, Named, Scalar

MAX_FACTORS = 3  # of a product of letters that a name may stand for


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
