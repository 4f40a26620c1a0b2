"""Two expression trees → whether they are equal or proportional: exactly, else at sample points."""

from collections.abc import Iterable
from fractions import Fraction

from erce.verify.answers.compare.evaluate import HIGH_BITS, Evaluator, Value
from erce.verify.answers.compare.points import POINTS, Points, kinds_of, points_for
from erce.verify.answers.limits import MAX_SYMBOLS, MAX_WORK, Budget, TooLargeError, UndefinedError
from erce.verify.answers.tree import Tree, children, contains, infinite_sign, nodes, symbols

TOLERANCE = Fraction(1, 10**6)  # relative, and only if a number is written with a decimal point
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
    names = sorted(symbols(left) | symbols(right))
    if len(names) > MAX_SYMBOLS:
        raise TooLargeError(f"more than {MAX_SYMBOLS} symbols")
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
    names = sorted(symbols(left) | symbols(right))
    if not names or len(names) > MAX_SYMBOLS:
        return 0
    ratios = list[Value]()
    points = points_for((left, right), names, kinds_of(left) | kinds_of(right))
    turned = complex_names((left, right)) if "z" in names or "w" in names else set[str]()
    for point in points.tried:
        evaluator = Evaluator(_turned(dict(zip(names, point, strict=True)), turned, budget), budget)
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


def complex_names(trees: Iterable[Tree]) -> set[str]:
    """Return z and w where an absolute value of them says that they are complex numbers."""
    absolute = (node[2][0] for tree in trees for node in nodes(tree) if node[:2] == ("call", "abs"))
    return {name for tree in absolute for name in symbols(tree)} & {"z", "w"}


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


def _agree_at_points(pair: _Pair, names: list[str], budget: Budget, decimal: bool) -> bool:
    """Return whether two expressions agree where both are real, or else wherever both have a value.

    Even roots and logarithms of negative numbers are left out: log(ab) is not log(a) + log(b) there. An
    absolute value in one of the expressions alone says that negative numbers are meant.
    """
    kinds = [kinds_of(tree) for tree in pair]
    points = points_for(pair, names, kinds[0] | kinds[1])
    if _has_branches(*kinds):
        for scale in (1, Fraction(1, 11)):  # ln(1 - x) is real for small x only
            scaled = points.scaled(scale) if scale != 1 else points
            agree = _agree_at(pair, names, scaled, budget, decimal, real=True)
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
    pair: _Pair, names: list[str], points: Points, budget: Budget, decimal: bool, *, real: bool
) -> bool | None:
    """Return whether two expressions agree at the sample points; None if too few of them have values."""
    agreeing = 0
    values: dict[str, Value] = {}
    turned = complex_names(pair) if "z" in names or "w" in names else set[str]()
    for point in points.tried:
        here = _turned(dict(zip(names, point, strict=True)), turned, budget)
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


def _turned(values: dict[str, Value], turned: set[str], budget: Budget) -> dict[str, Value]:
    """Return the values with complex numbers of the same size for some names."""
    for name in turned & values.keys():
        values[name] = Evaluator({}, budget).inexact(values[name]) * _TURN
    return values


_TURN = 0.6 + 0.8j  # of absolute value 1


def _agree(
    pair: _Pair, values: dict[str, Value], budget: Budget, decimal: bool, *, real: bool = False
) -> bool:
    """Return whether the two are equal at this point in low precision."""
    evaluator = Evaluator(values, budget, real=real)
    left, endless = evaluator.value(pair[0]), evaluator.endless
    right = evaluator.value(pair[1])
    if bool(endless) != (evaluator.endless > endless):
        raise UndefinedError("an infinite sum against an expression without one")
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
