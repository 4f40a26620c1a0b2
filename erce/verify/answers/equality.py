"""Two expression trees → whether they are equal or proportional: exactly, else at sample points."""

import random
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from erce.verify.answers.evaluate import HIGH_BITS, Evaluator, Value
from erce.verify.answers.limits import MAX_SYMBOLS, MAX_WORK, Budget, TooLargeError, UndefinedError
from erce.verify.answers.tree import Tree, children, contains, infinite_sign, nodes, symbols

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
    names = _names((left, right))
    decimal = (contains(left, "dec") or contains(right, "dec")) and not (
        _is_exact_decimal(left, budget) and _is_exact_decimal(right, budget)
    )
    if not names:
        return _agree((left, right), {}, budget, decimal) and (
            decimal or _confirmed((left, right), {}, budget)
        )
    return _agree_at_points((left, right), names, budget, decimal)


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
    names = _names((left, right))
    ratios = list[Value]()
    points = _points_for((left, right), len(names)) if names else _Points((), 0)
    for point in points.tried:
        evaluator = Evaluator(_at(names, point, budget), budget)
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
        if len(ratios) == points.wanted or (len(ratios) >= POINTS and budget.left < MAX_WORK // 2):
            break
    if len(ratios) < MIN_POINTS or abs(ratios[0].imag) > abs(ratios[0]) * ROUNDING:
        return 0
    return 1 if ratios[0].real > 0 else -1


_Pair = tuple[Tree, Tree]


def _names(pair: _Pair) -> list[str]:
    names = sorted(symbols(pair[0]) | symbols(pair[1]))
    if len(names) > MAX_SYMBOLS:
        raise TooLargeError(f"more than {MAX_SYMBOLS} symbols")
    return names


def _at(names: list[str], point: "_Point", budget: Budget) -> dict[str, Value]:
    """Return the values of the symbols at a point; z and w have complex ones, so that |z|² is not z²."""
    here: dict[str, Value] = dict(zip(names, point, strict=True))
    for name in _COMPLEX & here.keys():
        here[name] = Evaluator({}, budget).inexact(here[name]) * _TURN
    return here


_COMPLEX = {"z", "w"}
_TURN = 0.6 + 0.8j  # of absolute value 1


# ---------------------------------------------------------------- decimals


def _is_exact_decimal(tree: Tree, budget: Budget) -> bool:
    """Return whether all numbers of an expression have a finite decimal form: 1/8 has one, 1/3 has none."""
    if not symbols(tree):
        value = Evaluator({}, budget).value(tree)
        return _is_exact(value) and _is_finite_decimal(value)
    parts = list(children(tree))
    if tree[0] == "frac" and not symbols(tree[2]):
        parts[1] = ("frac", ("num", 1), tree[2])
    return tree[0] in _RATIONAL and all(_is_exact_decimal(part, budget) for part in parts)


_RATIONAL = frozenset({"sym", "neg", "add", "mul", "frac", "pow"})


def _is_finite_decimal(value: int | Fraction) -> bool:
    """Return whether the denominator has no prime factor but 2 and 5."""
    return pow(10, value.denominator.bit_length(), value.denominator) == 0


# ---------------------------------------------------------------- agreement


def _agree_at_points(pair: _Pair, names: list[str], budget: Budget, decimal: bool) -> bool:
    """Return whether two expressions agree where both are real, or else wherever both have a value.

    Even roots and logarithms of negative numbers are left out: log(ab) is not log(a) + log(b) there. An
    absolute value in one of the expressions alone says that negative numbers are meant.
    """
    points = _points_for(pair, len(names))
    if _has_branches(*map(_kinds, pair)):
        for scale in (1, Fraction(1, 11)):  # ln(1 - x) is real for small x only
            agree = _agree_at(pair, names, points.scaled(scale), budget, decimal, real=True)
            if agree is not None:
                return agree
    agree = _agree_at(pair, names, points, budget, decimal, real=False)
    if agree is None:
        raise UndefinedError("the expressions have no value at the points that are tried")
    return agree


def _has_branches(left: set[str], right: set[str]) -> bool:
    """Return whether trees of these kinds have roots or logarithms that must be real."""
    both = left | right
    return bool(both & _BRANCHED) and "i" not in both and ("abs" in left) == ("abs" in right)


_BRANCHED = frozenset({"root", "pow", "ln", "log"})


def _agree_at(
    pair: _Pair, names: list[str], points: "_Points", budget: Budget, decimal: bool, *, real: bool
) -> bool | None:
    """Return whether two expressions agree at the sample points; None if too few of them have values."""
    agreeing = 0
    values: dict[str, Value] = {}
    for point in points.tried:
        here = _at(names, point, budget)
        try:
            if not _agree(pair, here, budget, decimal, real=real):
                return False
        except UndefinedError:
            continue
        except TooLargeError:
            if agreeing < POINTS:
                raise
            break
        values = here
        agreeing += 1
        if agreeing == points.wanted or (agreeing >= POINTS and budget.left < MAX_WORK // 2):
            break
    if agreeing < MIN_POINTS:
        return None
    return decimal or _confirmed(pair, values, budget)


def _agree(
    pair: _Pair, values: dict[str, Value], budget: Budget, decimal: bool, *, real: bool = False
) -> bool:
    """Return whether the two are equal at this point in low precision."""
    evaluator = Evaluator(values, budget, real=real)
    left, right = evaluator.value(pair[0]), evaluator.value(pair[1])
    if _is_exact(left) and _is_exact(right):
        return left == right or (decimal and abs(left - right) <= TOLERANCE * min(abs(left), abs(right)))
    left, right = evaluator.inexact(left), evaluator.inexact(right)
    if decimal:
        return abs(left - right) * 10**6 <= min(abs(left), abs(right)) * (1 + ROUNDING)
    return _close(evaluator, left, right) or (_is_tiny(left) and _is_tiny(right))


def _confirmed(pair: _Pair, values: dict[str, Value], budget: Budget) -> bool:
    """Return whether two expressions that agree in low precision agree in high precision too.

    A real difference stays; a difference that comes from rounding shrinks with the precision.
    """
    low = Evaluator(values, budget)
    coarse = [low.value(tree) for tree in pair]
    if all(map(_is_exact, coarse)):
        return True
    size = max(abs(low.inexact(value)) for value in coarse)
    high = Evaluator(values, budget, precision=HIGH_BITS)
    left, right = (high.inexact(high.value(tree)) for tree in pair)
    larger = max(abs(left), abs(right))
    agree = abs(left - right) <= larger * high.context.ldexp(1, -AGREEING_BITS)
    return agree or larger < size * high.context.ldexp(1, -VANISHING_BITS)


def _close(evaluator: Evaluator, left: Value, right: Value) -> bool:
    if _is_exact(left) and _is_exact(right):
        return left == right
    left, right = evaluator.inexact(left), evaluator.inexact(right)
    return abs(left - right) <= max(abs(left), abs(right)) * ROUNDING


def _is_tiny(value: Value) -> bool:
    """Return whether the value is zero up to rounding."""
    return value == 0 if _is_exact(value) else abs(value) < ROUNDING


def _is_exact(value: Value) -> bool:
    return type(value) is int or type(value) is Fraction


# ---------------------------------------------------------------- points

_Point = tuple[int | Fraction, ...]
_DISCRETE = frozenset({"fact", "binom"})
_STEPS = frozenset({"floor", "ceil"})
_PRIMES = (101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157)


class _Points(NamedTuple):
    """Points in the order in which they are tried, and at how many of them two expressions must agree."""

    tried: tuple[_Point, ...]
    wanted: int

    def scaled(self, scale: int | Fraction) -> "_Points":
        if scale == 1:
            return self
        return _Points(tuple(tuple(value * scale for value in point) for point in self.tried), self.wanted)


def _kinds(tree: Tree) -> set[str]:
    """Return the kinds of all nodes, and the names of calls and constants in the place of these kinds."""
    return {node[1] if node[0] in ("call", "const") else node[0] for node in nodes(tree)}


def _points_for(pair: _Pair, size: int) -> _Points:
    """Return the points for two expressions: natural numbers for factorials and powers such as (-1)^n.

    There are more points where functions have steps or pieces: ⌊n/7⌋ is not ⌊(n + 1)/7⌋, nor |x − 20| 20 − x.
    """
    kinds = _kinds(pair[0]) | _kinds(pair[1])
    discrete = bool(kinds & _DISCRETE) or ("pow" in kinds and _has_powers_of_signs(pair))
    if kinds & _STEPS:
        points = _across_steps(size, whole=discrete)
        return _Points(points, len(points))
    points = sample_points(size, discrete=discrete)
    if "abs" in kinds and not discrete:
        far = _far_points(size)
        return _Points(far + points, POINTS + len(far))
    return _Points(points, POINTS)


def _has_powers_of_signs(pair: Sequence[Tree]) -> bool:
    return any(
        node[0] == "pow" and contains(node[1], "neg") and symbols(node[2])
        for tree in pair
        for node in nodes(tree)
    )


@lru_cache(maxsize=64)
def sample_points(size: int, *, discrete: bool) -> tuple[_Point, ...]:
    """Return the points at which expressions of `size` symbols are compared, always the same ones.

    The first ones are positive, because many expressions have no value elsewhere.
    """
    chosen = random.Random(size)
    if discrete:
        return tuple(tuple(chosen.randint(3, 60) for _ in range(size)) for _ in range(POINTS_TRIED))
    return tuple(
        tuple(
            Fraction(chosen.randint(11, 997), chosen.choice(_PRIMES))
            * (1 if point < 4 else chosen.choice((1, -1)))
            for _ in range(size)
        )
        for point in range(POINTS_TRIED)
    )


@lru_cache(maxsize=64)
def _across_steps(size: int, *, whole: bool) -> tuple[_Point, ...]:
    """Return points between which a step function makes its steps."""
    chosen = random.Random(size)
    far = (30, 35, 36, 48, 59, 60, 99, 100, 101, 119, 120, 199, 200, 359, 999, 1000, 2024)
    if size == 1:
        points = [(value,) for value in (*range(1, 27), *far)]
    else:
        points = [tuple(chosen.randint(1, 40) for _ in range(size)) for _ in range(44)]
    if whole:
        return tuple(points)
    between = (tuple(value + Fraction(chosen.randint(-400, 400), 101) for value in point) for point in points)
    return tuple(point for both in zip(points, between, strict=True) for point in both)


@lru_cache(maxsize=64)
def _far_points(size: int) -> tuple[_Point, ...]:
    """Return points far from the others."""
    chosen = random.Random(size)
    magnitudes = (Fraction(1013, 7), Fraction(10007, 3), Fraction(2, 89), Fraction(211, 9))
    return tuple(
        tuple(chosen.choice(magnitudes) * chosen.choice((1, -1)) for _ in range(size)) for _ in range(6)
    )
