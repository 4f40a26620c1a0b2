"""Expression trees → their values, exact or in high precision; whether two are equal or proportional."""

import math
import operator
import random
import threading
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from erce.verify.answers.limits import (
    MAX_BITS,
    MAX_EXPONENT,
    MAX_MAGNITUDE,
    MAX_SYMBOLS,
    Budget,
    TooLargeError,
    UndefinedError,
)

if TYPE_CHECKING:
    from mpmath.ctx_mp import MPContext

# Nested tuples such as ("add", (("sym", "x"), ("num", 1))); `expression.parse_tokens` lists their kinds.
Tree = tuple[Any, ...]
# An int or a Fraction if exact, else an mpf or mpc of the thread's own context.
Number = Any

INFINITY: Tree = ("const", "inf")
NEGATIVE_INFINITY: Tree = ("neg", INFINITY)
LOW_BITS = 230  # for the sample points
HIGH_BITS = 1600  # to confirm an equality
TOLERANCE = Fraction(1, 10**6)  # relative, and only if a number is written with a decimal point
POINTS = 8  # at which two expressions must agree
POINTS_TRIED = 14
MIN_POINTS = 3  # if they have no value at some of the points
ROUNDING = 2.0**-150  # relative error of low precision, with a wide margin
AGREEING_BITS = 1100  # of HIGH_BITS in which equal values agree; cancellation may cost the rest
VANISHING_BITS = 700  # a value that shrinks by so many bits with the precision is a rounding error of 0
_local = threading.local()
_warming = threading.Lock()
# Names that mpmath spells otherwise. All others are functions of `tokens`, never names from an answer.
_MPMATH = {"cis": "expj", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arccot": "acot"}
_Pair = tuple[Tree, Tree]
_Point = dict[str, Number]
_BRANCHED = frozenset({"root", "pow", "ln", "log"})
_PRIMES = (101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157)
# Factors of a value from the fourth point on: |x - 20| is 20 - x near 0 alone, √x² is x above 0 alone.
# The last one leaves an even denominator, with which (-1)^n is not 1.
_FACTORS = (300, -1, -3000, 5000, Fraction(-1, 4096))
COMPLEX = {"z", "w"}  # names of complex numbers
_TURN = 0.6 + 0.8j  # of absolute value 1


def children(tree: Tree) -> Iterator[Tree]:
    """Yield the trees directly below."""
    for part in tree[1:]:
        if type(part) is tuple:
            if part and type(part[0]) is str:
                yield part
            else:
                yield from part


def nodes(tree: Tree) -> Iterator[Tree]:
    """Yield every node, the tree itself first."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(children(node))


def replaced(tree: Tree, part: Tree, other: Tree) -> Tree:
    """Return the tree with another one in each place of a part."""
    if tree == part:
        return other
    return tuple(replaced(node, part, other) if type(node) is tuple else node for node in tree)


def symbols(tree: Tree) -> set[str]:
    """Return the names of the symbols."""
    return {node[1] for node in nodes(tree) if node[0] == "sym"}


def infinite_sign(tree: Tree) -> int:
    """Return 1 for ∞, -1 for -∞, 0 for anything else."""
    return 1 if tree == INFINITY else -1 if tree == NEGATIVE_INFINITY else 0


class Evaluator:
    """Values of trees at one point, in one precision, from one budget of work.

    With `real`, even roots and logarithms of negative numbers have no value.
    """

    def __init__(
        self, values: dict[str, Number], budget: Budget, *, precision: int = LOW_BITS, real: bool = False
    ) -> None:
        self.values = values
        self.budget = budget
        self.precision = precision
        self.real = real

    @property
    def context(self) -> "MPContext":
        """Return the thread's own mpmath context, set to this evaluator's precision."""
        context = _context()
        context.prec = self.precision
        return context

    def value(self, tree: Tree) -> Number:
        """Return the value of a tree; `UndefinedError` if it has none, `TooLargeError` beyond a limit."""
        self.budget.spend(1)
        value = _VALUES[tree[0]](self, *tree[1:])
        if is_exact(value):
            return value
        self.spend(2, 8)
        return value if value.imag else value.real

    def inexact(self, value: Number) -> Number:
        """Return the value as a floating-point number of the context."""
        if type(value) is int:
            return self.context.mpf(value)
        return self.context.mpf(value.numerator) / value.denominator if type(value) is Fraction else value

    def quotient(self, above: Number, below: Number) -> Number:
        """Return above / below."""
        if below == 0:
            raise UndefinedError("a division by zero")
        if is_exact(above) and is_exact(below):
            return self.bounded(Fraction(above) / below)
        return self.combined(operator.truediv, above, below)

    def combined(self, operation: Callable[[Any, Any], Any], left: Number, right: Number) -> Number:
        """Return what an operation of Python makes of two values."""
        if type(left) is Fraction and not is_exact(right):
            left = self.inexact(left)
        elif type(right) is Fraction and not is_exact(left):
            right = self.inexact(right)
        return self.bounded(operation(left, right))

    def natural(self, tree: Tree) -> int:
        """Return the value of a tree, which must be a natural number of at most 5000."""
        value = self.value(tree)
        if type(value) is not int or value < 0:
            raise UndefinedError("this is not a natural number")
        if value > 5000:
            raise TooLargeError("an integer over 5000")
        self.budget.spend(value >> 3)  # for a factorial
        return value

    def floor(self, value: Number) -> int:
        """Return the largest integer below or at the value; `UndefinedError` too close to an integer."""
        if not is_exact(value):
            near = self.context.nint(value.real)
            if value.imag or abs(value - near) <= max(abs(value), 1) * ROUNDING:
                raise UndefinedError("a floor that precision does not tell")
        return int(math.floor(value) if is_exact(value) else self.context.floor(value))

    def bounded(self, value: Number) -> Number:
        """Return the value if its exact form, or its binary exponent, is within the limits."""
        if not is_exact(value):
            if not self.context.isfinite(value):
                raise UndefinedError("no finite value")
            if value and abs(self.context.mag(value)) > MAX_MAGNITUDE:
                raise TooLargeError("a number of too many digits")
            return value
        if value.denominator == 1:
            value = value.numerator
        bits = max(value.numerator.bit_length(), value.denominator.bit_length())
        if bits > MAX_BITS:
            raise TooLargeError(f"an exact number of {bits} bits")
        # Reducing a fraction takes a greatest common divisor, whose time grows with the square of the length.
        self.budget.spend((bits >> 8) ** (1 if type(value) is int else 2) >> 2)
        return value

    def require_real(self, value: Number) -> None:
        """Raise `UndefinedError` if only real numbers count and the value has no real root or logarithm."""
        if self.real and (value.imag or value.real < 0):
            raise UndefinedError("this has no real value")

    def spend(self, low: int, high: int) -> None:
        """Spend the work of a step, which depends on the precision."""
        self.budget.spend(low if self.precision == LOW_BITS else high)


def is_exact(value: Number) -> bool:
    """Return whether the value is a rational number of Python."""
    return type(value) is int or type(value) is Fraction


def _context() -> "MPContext":
    context = getattr(_local, "context", None)
    if context is None:
        from mpmath.ctx_mp import MPContext  # never loaded where all values are rational

        with _warming:
            context = _local.context = MPContext()
            # Threads share mpmath's cached constants without a lock. Computed once to this precision, the
            # constants are only read.
            context.prec = 2 * HIGH_BITS
            for constant in (context.pi, context.e, context.ln2, context.ln10, context.degree):
                _ = +constant
            _ = context.log(3), context.exp(3), context.atan(3)
    return context


def _symbol(evaluator: Evaluator, name: str) -> Number:
    value = evaluator.values[name]
    if not is_exact(value):
        _ = evaluator.context  # sets the precision of what follows
    return value


def _constant(evaluator: Evaluator, name: str) -> Number:
    context = evaluator.context
    if name == "inf":
        raise UndefinedError("infinity inside an expression")
    return context.mpc(0, 1) if name == "i" else +getattr(context, name)  # pi or e


def _combined(evaluator: Evaluator, trees: tuple[Tree, ...], operation: Callable[..., Number]) -> Number:
    value = evaluator.value(trees[0])
    for tree in trees[1:]:
        value = evaluator.combined(operation, value, evaluator.value(tree))
    return value


def power(evaluator: Evaluator, base: Number, exponent: Number) -> Number:
    """Return base ** exponent: exact for an integer exponent, the real root for an odd denominator."""
    if abs(exponent) > MAX_EXPONENT:
        raise TooLargeError("an exponent over 1,000,000")
    if base == 0:
        if exponent == 0 or evaluator.inexact(exponent).real <= 0:
            raise UndefinedError("zero to a power that is not positive")
        return 0
    if is_exact(base) and type(exponent) is int:
        bits = max(base.numerator.bit_length(), base.denominator.bit_length()) * abs(exponent)
        if bits > 2 * MAX_BITS and abs(base) != 1:
            raise TooLargeError(f"an exact number of about {bits} bits")
        return evaluator.bounded(Fraction(base) ** exponent)
    evaluator.spend(20, 250)
    context = evaluator.context
    inexact = evaluator.inexact(base)
    odd_root = type(exponent) is Fraction and exponent.denominator % 2 == 1
    if not odd_root:
        evaluator.require_real(inexact)
    if abs(context.mag(inexact) * exponent) > MAX_MAGNITUDE:
        raise TooLargeError("a power of too many digits")
    sign = 1
    if odd_root and not inexact.imag and inexact.real < 0:
        inexact, sign = -inexact.real, -1 if exponent.numerator % 2 else 1
    return evaluator.bounded(sign * context.power(inexact, evaluator.inexact(exponent)))


def _root(evaluator: Evaluator, radicand: Tree, degree: Tree) -> Number:
    inside, of = evaluator.value(radicand), evaluator.value(degree)
    if of == 2 and type(inside) is int and inside >= 0 and (root := math.isqrt(inside)) ** 2 == inside:
        return root
    return power(evaluator, inside, evaluator.quotient(1, of))


def _call(evaluator: Evaluator, name: str, arguments: tuple[Tree, ...]) -> Number:
    if name in _EXACT_CALLS:
        return evaluator.bounded(_EXACT_CALLS[name](evaluator, *arguments))
    values = [evaluator.inexact(evaluator.value(argument)) for argument in arguments]
    evaluator.spend(20, 250)
    context = evaluator.context
    if name in ("ln", "log"):
        if 0 in values:
            raise UndefinedError("the logarithm of zero")
        for value in values:
            evaluator.require_real(value)
        logarithms = [context.log(value) for value in values]
        return logarithms[0] if name == "ln" else evaluator.quotient(logarithms[1], logarithms[0])
    if abs(values[0]) > MAX_EXPONENT:
        raise TooLargeError("a function of a number over 1,000,000")
    try:
        return evaluator.bounded(getattr(context, _MPMATH.get(name) or name)(values[0]))
    except (ZeroDivisionError, ValueError) as error:
        raise UndefinedError(f"{name} has no value here") from error


_EXACT_CALLS: dict[str, Callable[..., Number]] = {
    "fact": lambda evaluator, argument: math.factorial(evaluator.natural(argument)),
    "binom": lambda evaluator, above, below: math.comb(evaluator.natural(above), evaluator.natural(below)),
    "abs": lambda evaluator, argument: abs(evaluator.value(argument)),
    "floor": lambda evaluator, argument: evaluator.floor(evaluator.value(argument)),
    "ceil": lambda evaluator, argument: -evaluator.floor(-evaluator.value(argument)),
}
_VALUES: dict[str, Callable[..., Number]] = {
    "num": lambda evaluator, number: number,
    "dec": lambda evaluator, number: number,
    "sym": _symbol,
    "const": _constant,
    "deg": lambda evaluator: evaluator.context.pi / 180,
    "neg": lambda evaluator, negated: -evaluator.value(negated),
    "add": partial(_combined, operation=operator.add),
    "mul": partial(_combined, operation=operator.mul),
    "frac": lambda evaluator, *sides: evaluator.quotient(*map(evaluator.value, sides)),
    "pow": lambda evaluator, *sides: power(evaluator, *map(evaluator.value, sides)),
    "root": _root,
    "call": _call,
}


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
        near = any(node[0] == "dec" for tree in pair for node in nodes(tree)) and not all(
            _is_finite_decimal(Evaluator({}, budget).value(tree)) for tree in pair
        )
        return _agree(pair, {}, budget, near=near) and (near or _confirmed(pair, {}, budget))
    return _agree_at_points(pair, budget)


def proportion(left: Tree, right: Tree, budget: Budget) -> int:
    """Return the sign of the constant c with left = c · right for all values of the symbols, else 0.

    If the differences of the sides of two equations or inequalities are proportional, both say the same. The
    result is also 0 for expressions without symbols and for a complex c.
    """
    ratios = list[Number]()
    for point in _points((left, right), budget) if _names((left, right)) else ():
        evaluator = Evaluator(point, budget)
        try:
            above, below = evaluator.value(left), evaluator.value(right)
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


def _names(pair: _Pair) -> list[str]:
    names = sorted(symbols(pair[0]) | symbols(pair[1]))
    if len(names) > MAX_SYMBOLS:
        raise TooLargeError(f"more than {MAX_SYMBOLS} symbols")
    return names


def _is_finite_decimal(value: Number) -> bool:
    """Return whether a value is rational, and its denominator has no prime factor but 2 and 5."""
    return is_exact(value) and pow(10, value.denominator.bit_length(), value.denominator) == 0


def _agree_at_points(pair: _Pair, budget: Budget) -> bool:
    """Return whether two expressions agree where both are real, or else wherever both have a value.

    Even roots and logarithms of negative numbers are left out: log(ab) is not log(a) + log(b) there. An
    absolute value in one of the expressions alone says that negative numbers are meant.
    """
    left, right = map(_kinds, pair)
    if {"floor", "ceil"} & (left | right):
        raise UndefinedError("a floor of more than a number")
    if (left | right) & _BRANCHED and "i" not in left | right and ("abs" in left) == ("abs" in right):
        agree = _agree_at(pair, budget, real=True)
        if agree is not None:
            return agree
    agree = _agree_at(pair, budget)
    if agree is None:
        raise UndefinedError("the expressions have no value at the points that are tried")
    return agree


def _kinds(tree: Tree) -> set[str]:
    """Return the kinds of all nodes, and the names of calls and constants in the place of these kinds."""
    return {node[1] if node[0] in ("call", "const") else node[0] for node in nodes(tree)}


def _agree_at(pair: _Pair, budget: Budget, *, real: bool = False) -> bool | None:
    """Return whether two expressions agree at the sample points; None if too few of them have values."""
    agreeing = list[_Point]()
    for point in _points(pair, budget):
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
        return abs(left - right) * TOLERANCE.denominator <= min(abs(left), abs(right))
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


def _close(evaluator: Evaluator, left: Number, right: Number) -> bool:
    if is_exact(left) and is_exact(right):
        return left == right
    left, right = evaluator.inexact(left), evaluator.inexact(right)
    return abs(left - right) <= max(abs(left), abs(right)) * ROUNDING


def _is_tiny(value: Number) -> bool:
    """Return whether the value is zero up to rounding."""
    return value == 0 if is_exact(value) else abs(value) < ROUNDING


def _points(pair: _Pair, budget: Budget) -> Iterator[_Point]:
    """Yield values to try for the symbols: natural numbers where there are factorials, else fractions.

    z and w have complex values, so that |z|² is not z².
    """
    names, kinds = _names(pair), _kinds(pair[0]) | _kinds(pair[1])
    for point in sample_points(len(names), whole=bool(kinds & {"fact", "binom"})):
        values: _Point = dict(zip(names, point, strict=True))
        for name in COMPLEX & values.keys():
            values[name] = Evaluator({}, budget).inexact(values[name]) * _TURN
        yield values


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
