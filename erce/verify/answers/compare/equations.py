"""Equations, and values with names, which are equations too → their sides; whether two say the same."""

from erce.verify.answers.compare.constants import in_letters_of, is_constant
from erce.verify.answers.compare.same_value import proportion, same_value
from erce.verify.answers.limits import Budget
from erce.verify.answers.tree import Tree, symbols
from erce.verify.answers.values import Equation, Named, Scalar

MAX_FACTORS = 3  # of a product of letters that a name may stand for


def both_sides(equation: Named | Equation) -> tuple[Tree, ...] | None:
    """Return both sides of an equation or of `name = value`; None if the value is no expression."""
    if isinstance(equation, Equation):
        return equation.sides
    return (_named_tree(equation.name), equation.value.tree) if isinstance(equation.value, Scalar) else None


def difference(sides: tuple[Tree, ...]) -> Tree:
    return "add", (sides[0], ("neg", sides[1]))


def same_equations(one: Equation, other: Equation, budget: Budget) -> bool:
    """Return whether two equations have proportional differences, or two chains the same sides."""
    left, right = one.sides, other.sides
    if len(left) == len(right) == 2:
        return bool(proportion(difference(left), difference(right), budget)) or _same_curves(
            left, right, budget
        )
    return len(left) == len(right) and all(
        same_value(side, its_side, budget) for side, its_side in zip(left, right, strict=True)
    )


def _same_curves(one: tuple[Tree, ...], other: tuple[Tree, ...], budget: Budget) -> bool:
    """Return whether f(x, y) = C and g(x, y) = c, or y = x + C and y = x + c, are the same curves."""
    left, right = difference(one), difference(other)
    if ("C" in symbols(left)) != ("C" in symbols(right)) and {"x", "y"} <= symbols(left) & symbols(right):
        renamed = in_letters_of(left, right)
        if any(proportion(left, tree, budget) for tree in renamed):
            return True
    (function, constant), (its_function, its_constant) = map(_function_and_constant, (one, other))
    return "C" in (constant, its_constant) and bool(
        function and its_function and proportion(function, its_function, budget)
    )


def _function_and_constant(sides: tuple[Tree, ...]) -> tuple[Tree, str]:
    """Return f(x, y) and C of f(x, y) = C, or of C = f(x, y); two that are empty for any other equation."""
    for function, constant in (sides, sides[::-1]):
        if is_constant(constant) and symbols(function) == {"x", "y"}:
            return function, constant[1]
    return (), ""


def _named_tree(name: str) -> Tree:
    """Return the expression that a name is in an equation: xy is a product, theta is none."""
    if 1 < len(name) <= MAX_FACTORS and name.isalpha():
        return "mul", tuple(("sym", letter) for letter in name)
    return "sym", name
