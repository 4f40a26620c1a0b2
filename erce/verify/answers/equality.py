"""Two expression trees → whether they are equal or proportional: exactly, else at sample points."""

import random
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from erce.verify.answers.limits import MAX_SYMBOLS, Budget, TooLargeError, UndefinedError
from erce.verify.answers.tree import (
    HIGH_BITS,
    Evaluator,
    Tree,
    Value,
    contains,
    infinite_sign,
    is_exact,
    nodes,
    symbols,
)

TOLERANCE = Fraction(1, 10**6)  # relative, and only if a number is written with a decimal point
POINTS = 8  # at which two expressions must agree
POINTS_TRIED = 14
MIN_POINTS = 3  # if they have no value at some of the points
ROUNDING = 2.0**-150  # relative error of low precision, with a wide margin
AGREEING_BITS = 1100  # of HIGH_BITS in which equal values agree; cancellation may cost the rest
VANISHING_BITS = 700  # a value that shrinks by so many bits with the precision is a rounding error of 0


def same_value(left: Tree, right: Tree, budget: Budget) -> bool:
    """Return whether two expressions are equal for all values of their symbols.

    Rational expressions are compared exactly. Others must agree within 2^-150 at eight points and within
    2^-1100 at one of these. If one has a decimal point and the other, or part of it, has no finite decimal
    form (1/3, π), a relative difference of a millionth is allowed.
    `UndefinedError` if either has no value, `TooLargeError` beyond a limit.
    """
    if left == right:
        return True
    if left[0] == right[0] == "num":
        return False
    budget.spend(10)
    if infinite_sign(left) or infinite_sign(right):
        return infinite_sign(left) == infinite_sign(right)
    pair = left, right
    if not _names(pair):
        near = (contains(left, "dec") or contains(right, "dec")) and not all(
            _is_finite_decimal(Evaluator({}, budget).value(tree)) for tree in pair
        )
        return _agree(pair, {}, budget, near=near) and (near or _confirmed(pair, {}, budget))
    return _agree_at_points(pair, budget)


def are_near(left: Tree, right: Tree, budget: Budget) -> bool:
    """Return whether two numbers differ by a fifth of the larger at most, as 1/6 and 0.2 do."""
    evaluator = Evaluator({}, budget)
    values = [evaluator.inexact(evaluator.value(tree)) for tree in (left, right)]
    return 5 * abs(values[0] - values[1]) <= max(map(abs, values)) * (1 + ROUNDING)


def proportion(left: Tree, right: Tree, budget: Budget) -> int:
    """Return the sign of the constant c with left = c · right for all values of the symbols, else 0.

    If the differences of the sides of two equations or inequalities are proportional, both say the same. The
    result is also 0 for expressions without symbols and for a complex c.
    """
    ratios = list[Value]()
    for point in _points((left, right), budget) if _names((left, right)) else ():
        evaluator = Evaluator(point, budget)
        try:
            above, below = evaluator.value(left), evaluator.value(right)
            if _is_tiny(above) and _is_tiny(below):  # both equations hold here
                continue
            if _is_tiny(above) or _is_tiny(below):
                return 0
            ratios.append(evaluator.quotient(above, below))
        except UndefinedError:
            continue
        if not _close(evaluator, ratios[0], ratios[-1]):
            return 0
        if len(ratios) == POINTS:
            break
    if len(ratios) < MIN_POINTS or abs(ratios[0].imag) > abs(ratios[0]) * ROUNDING:
        return 0
    return 1 if ratios[0].real > 0 else -1


_Pair = tuple[Tree, Tree]
_Point = dict[str, Value]


def _names(pair: _Pair) -> list[str]:
    names = sorted(symbols(pair[0]) | symbols(pair[1]))
    if len(names) > MAX_SYMBOLS:
        raise TooLargeError(f"more than {MAX_SYMBOLS} symbols")
    return names


def _is_finite_decimal(value: Value) -> bool:
    """Return whether a value is rational, and its denominator has no prime factor but 2 and 5."""
    return is_exact(value) and pow(10, value.denominator.bit_length(), value.denominator) == 0


# ---------------------------------------------------------------- agreement


def _agree_at_points(pair: _Pair, budget: Budget) -> bool:
    """Return whether two expressions agree where both are real, or else wherever both have a value.

    Even roots and logarithms of negative numbers are left out: log(ab) is not log(a) + log(b) there. An
    absolute value in one of the expressions alone says that negative numbers are meant.
    """
    left, right = map(_kinds, pair)
    if (left | right) & _BRANCHED and "i" not in left | right and ("abs" in left) == ("abs" in right):
        for scale in (1, Fraction(1, 11)):  # ln(1 - x) is real for small x only
            agree = _agree_at(pair, budget, scale=scale, real=True)
            if agree is not None:
                return agree
    agree = _agree_at(pair, budget)
    if agree is None:
        raise UndefinedError("the expressions have no value at the points that are tried")
    return agree


_BRANCHED = frozenset({"root", "pow", "ln", "log"})


def _kinds(tree: Tree) -> set[str]:
    """Return the kinds of all nodes, and the names of calls and constants in the place of these kinds."""
    return {node[1] if node[0] in ("call", "const") else node[0] for node in nodes(tree)}


def _agree_at(pair: _Pair, budget: Budget, *, scale: int | Fraction = 1, real: bool = False) -> bool | None:
    """Return whether two expressions agree at the sample points; None if too few of them have values."""
    agreeing = list[_Point]()
    for point in _points(pair, budget, scale):
        try:
            if not _agree(pair, point, budget, real=real):
                return False
        except UndefinedError:
            continue
        agreeing.append(point)
        if len(agreeing) == POINTS:
            break
    return _confirmed(pair, agreeing[-1], budget) if len(agreeing) >= MIN_POINTS else None


def _agree(pair: _Pair, point: _Point, budget: Budget, *, near: bool = False, real: bool = False) -> bool:
    """Return whether the two are equal at this point in low precision; with `near`, up to the tolerance."""
    evaluator = Evaluator(point, budget, real=real)
    left, right = evaluator.value(pair[0]), evaluator.value(pair[1])
    if near:
        left, right = evaluator.inexact(left), evaluator.inexact(right)
        return abs(left - right) * TOLERANCE.denominator <= min(abs(left), abs(right)) * (1 + ROUNDING)
    return _close(evaluator, left, right) or (_is_tiny(left) and _is_tiny(right))


def _confirmed(pair: _Pair, point: _Point, budget: Budget) -> bool:
    """Return whether two expressions that agree in low precision agree in high precision too.

    A real difference stays; a difference that comes from rounding shrinks with the precision.
    """
    low = Evaluator(point, budget)
    coarse = [low.value(tree) for tree in pair]
    if all(map(is_exact, coarse)):
        return True
    size = max(abs(low.inexact(value)) for value in coarse)
    high = Evaluator(point, budget, precision=HIGH_BITS)
    left, right = (high.inexact(high.value(tree)) for tree in pair)
    larger = max(abs(left), abs(right))
    agree = abs(left - right) <= larger * high.context.ldexp(1, -AGREEING_BITS)
    return agree or larger < size * high.context.ldexp(1, -VANISHING_BITS)


def _close(evaluator: Evaluator, left: Value, right: Value) -> bool:
    if is_exact(left) and is_exact(right):
        return left == right
    left, right = evaluator.inexact(left), evaluator.inexact(right)
    return abs(left - right) <= max(abs(left), abs(right)) * ROUNDING


def _is_tiny(value: Value) -> bool:
    """Return whether the value is zero up to rounding."""
    return value == 0 if is_exact(value) else abs(value) < ROUNDING


# ---------------------------------------------------------------- points


_STEPS = frozenset({"floor", "ceil"})
_PRIMES = (101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157)
# Factors of a value from the fourth point on: |x - 20| is 20 - x near 0 alone, √x² is x above 0 alone.
_FACTORS = (300, -1, -3000, 5000, Fraction(-1, 400))


def _points(pair: _Pair, budget: Budget, scale: int | Fraction = 1) -> Iterator[_Point]:
    """Yield values of the symbols: natural numbers for factorials and (-1)^n, else fractions.

    z and w have complex values, so that |z|² is not z². `UndefinedError` for symbols inside ⌊…⌋, whose steps
    no points find.
    """
    names, kinds = _names(pair), _kinds(pair[0]) | _kinds(pair[1])
    if kinds & _STEPS:
        raise UndefinedError("a rounding of symbols")
    whole = bool(kinds & {"fact", "binom"}) or ("pow" in kinds and _has_powers_of_signs(pair))
    for point in sample_points(len(names), whole=whole):
        values: _Point = {name: value * scale for name, value in zip(names, point, strict=True)}
        for name in _COMPLEX & values.keys():
            values[name] = Evaluator({}, budget).inexact(values[name]) * _TURN
        yield values


def _has_powers_of_signs(pair: _Pair) -> bool:
    return any(
        node[0] == "pow" and contains(node[1], "neg") and symbols(node[2])
        for tree in pair
        for node in nodes(tree)
    )


_COMPLEX = {"z", "w"}
_TURN = 0.6 + 0.8j  # of absolute value 1


@lru_cache(maxsize=64)
def sample_points(size: int, *, whole: bool) -> tuple[tuple[int | Fraction, ...], ...]:
    """Return the points at which expressions of `size` symbols are compared, always the same ones.

    The first ones are positive, because many expressions have no value elsewhere.
    """
    chosen = random.Random(size)
    if whole:
        return tuple(tuple(chosen.randint(3, 60) for _ in range(size)) for _ in range(POINTS_TRIED))
    return tuple(
        tuple(
            Fraction(chosen.randint(11, 997), chosen.choice(_PRIMES))
            * (1 if point < 3 else _FACTORS[(point + 2 * at) % len(_FACTORS)])
            for at in range(size)
        )
        for point in range(POINTS_TRIED)
    )
