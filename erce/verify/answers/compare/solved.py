"""A linear or quadratic equation or inequality, or one with |x| → the numbers that satisfy it."""

from itertools import pairwise

from erce.verify.answers.compare.evaluate import Evaluator
from erce.verify.answers.compare.same_value import ROUNDING, complex_names, same_value
from erce.verify.answers.limits import Budget
from erce.verify.answers.tree import INFINITY, NEGATIVE_INFINITY, Tree, substituted, symbols
from erce.verify.answers.values import (
    MIRRORED_SIGN,
    Answer,
    Bracketed,
    Equation,
    Inequality,
    Listing,
    Scalar,
    SetOperation,
)


def variable_of(answer: Inequality) -> str:
    """Return the only symbol of an inequality, "" if there are more or none."""
    names = {name.strip("|") for side in answer.sides for name in symbols(side)}
    return names.pop() if len(names) == 1 else ""


def solved(answer: Inequality, budget: Budget) -> Answer | None:
    """Return the solutions of an inequality as a union of intervals and points; None without a rule for it.

    It has one sign, and the difference of its sides is a polynomial of degree 1 or 2, or |2x - 1| < 3,
    which is (2x - 1)² < 9.
    """
    name = variable_of(answer)
    if not name or complex_names(answer.sides):
        return None
    (left, right), sign = answer.sides, answer.signs[0]
    if right[:2] == ("call", "abs"):
        left, right, sign = right, left, MIRRORED_SIGN[sign]
    if left[:2] == ("call", "abs") and not symbols(right):
        if _sign(right, budget) not in (0, 1):
            return None
        left, right = (("pow", side, ("num", 2)) for side in (left[2][0], right))
    coefficients = _coefficients(("add", (left, ("neg", right))), name, budget)
    return None if coefficients is None else _where(coefficients, sign, budget)


def roots_of(equation: Equation, name: str, budget: Budget) -> list[Tree]:
    """Return the real roots of an equation of degree 1 or 2 in its only symbol; [] without a rule for it."""
    left, right = equation.sides
    if symbols(left) | symbols(right) != {name}:
        return []
    coefficients = _coefficients(("add", (left, ("neg", right))), name, budget)
    if coefficients is None or not any(_sign(factor, budget) for factor in coefficients[:2]):
        return []
    return _roots(coefficients, budget) or []


_Coefficients = tuple[Tree, Tree, Tree]  # of the square, the variable and 1


def _coefficients(tree: Tree, name: str, budget: Budget) -> _Coefficients | None:
    """Return the coefficients of a polynomial of degree 2 at most; None for any other expression."""
    at_1, at_minus_1, constant = (substituted(tree, name, ("num", value)) for value in (1, -1, 0))
    square: Tree = ("add", (("frac", ("add", (at_1, at_minus_1)), ("num", 2)), ("neg", constant)))
    slope: Tree = ("frac", ("add", (at_1, ("neg", at_minus_1))), ("num", 2))
    variable: Tree = ("sym", name)
    terms = ("mul", (square, variable, variable)), ("mul", (slope, variable)), constant
    return (square, slope, constant) if same_value(tree, ("add", terms), budget) else None


def _where(coefficients: _Coefficients, sign: str, budget: Budget) -> Answer | None:
    """Return where the polynomial is less than 0, at most 0, and so on."""
    square, slope, _ = coefficients
    last = _sign(square, budget) or _sign(slope, budget)  # its sign far to the right
    roots = _roots(coefficients, budget)
    if roots is None or not last:
        return None
    ends = [NEGATIVE_INFINITY, *roots, INFINITY]
    wanted = {"<": (-1,), "≤": (-1,), ">": (1,), "≥": (1,), "≠": (-1, 1)}[sign]
    answer: Answer = Listing(tuple(map(Scalar, roots)) if sign in "≤≥" else (), "{")
    between = list(pairwise(ends))
    changes = len(roots) != 1 or not _sign(square, budget)  # a double root changes no sign
    for at, (low, high) in enumerate(between):
        crossed = (len(between) - 1 - at) * changes
        if last * (-1) ** crossed in wanted:
            answer = SetOperation("cup", answer, Bracketed("(", (Scalar(low), Scalar(high)), ")"))
    return answer


def _roots(coefficients: _Coefficients, budget: Budget) -> list[Tree] | None:
    """Return the real roots, the least one first; None if their number is not known."""
    square, slope, constant = coefficients
    if not _sign(square, budget):
        return [("frac", ("neg", constant), slope)]
    inside: Tree = ("add", (("mul", (slope, slope)), ("mul", (("num", -4), square, constant))))
    twice: Tree = ("mul", (("num", 2), square))
    count = _sign(inside, budget)
    if count is None:
        return None
    if count < 1:
        return [("frac", ("neg", slope), twice)] if count == 0 else []
    root: Tree = ("root", inside, ("num", 2))
    both: list[Tree] = [
        ("frac", ("add", (("neg", slope), signed)), twice) for signed in (("neg", root), root)
    ]
    return both if _sign(square, budget) == 1 else both[::-1]


def _sign(tree: Tree, budget: Budget) -> int | None:
    """Return 1, 0 or -1 for a real number; None for any other."""
    evaluator = Evaluator({}, budget)
    value = evaluator.inexact(evaluator.value(tree))
    if abs(value) < ROUNDING:
        return 0
    return None if abs(value.imag) > abs(value) * ROUNDING else (1 if value.real > 0 else -1)
