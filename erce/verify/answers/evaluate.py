"""Expression tree, values of its symbols → an exact rational number, else one in high precision."""

import math
import operator
import threading
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

from erce.verify.answers.limits import (
    MAX_BITS,
    MAX_EXPONENT,
    MAX_MAGNITUDE,
    Budget,
    TooLargeError,
    UndefinedError,
)
from erce.verify.answers.tree import Tree

if TYPE_CHECKING:
    from mpmath.ctx_mp import MPContext

# An int or a Fraction if exact, else an mpf or mpc of the thread's own context.
Value = Any
LOW_BITS = 230  # for the sample points
HIGH_BITS = 1600  # to confirm an equality

_local = threading.local()


class Evaluator:
    """Values of trees at one point, in one precision, from one budget of work.

    With `real`, even roots and logarithms of negative numbers have no value.
    """

    def __init__(
        self, values: dict[str, Value], budget: Budget, *, precision: int = LOW_BITS, real: bool = False
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

    def value(self, tree: Tree) -> Value:
        """Return the value of a tree; `UndefinedError` if it has none, `TooLargeError` beyond a limit."""
        self.budget.spend(1)
        value = _VALUES[tree[0]](self, tree)
        if type(value) in _EXACT:
            return value
        self.budget.spend(2 if self.precision == LOW_BITS else 8)
        return value if value.imag else value.real

    def inexact(self, value: Value) -> Value:
        """Return the value as a floating-point number of the context."""
        if type(value) is int:
            return self.context.mpf(value)
        if type(value) is Fraction:
            return self.context.mpf(value.numerator) / value.denominator
        return value

    def quotient(self, above: Value, below: Value) -> Value:
        """Return above / below."""
        if below == 0:
            raise UndefinedError("a division by zero")
        if type(above) in _EXACT and type(below) in _EXACT:
            quotient = Fraction(above) / below
            return quotient.numerator if quotient.denominator == 1 else self.bounded(quotient)
        return self.bounded(self.combined(above, below, operator.truediv))

    def combined(self, left: Value, right: Value, operation: Callable[[Any, Any], Any]) -> Value:
        """Return what an operation of Python makes of two values."""
        if type(left) is Fraction and type(right) not in _EXACT:
            left = self.inexact(left)
        elif type(right) is Fraction and type(left) not in _EXACT:
            right = self.inexact(right)
        return operation(left, right)

    def integer(self, tree: Tree, *, limit: int) -> int:
        """Return the value of a tree that must be an integer from 0 to `limit`."""
        value = self.value(tree)
        if type(value) is not int or value < 0:
            raise UndefinedError("this is not a natural number")
        if value > limit:
            raise TooLargeError(f"an integer over {limit}")
        return value

    def bounded(self, value: Value) -> Value:
        """Return the value if its exact form, or its binary exponent, is within the limits."""
        if type(value) not in _EXACT:
            return self.bounded_inexact(value)
        bits = value.numerator.bit_length()
        # Reducing a fraction takes a greatest common divisor, whose time grows with the square of the length.
        work = (bits >> 8) >> 2
        if value.denominator != 1:
            bits = max(bits, value.denominator.bit_length())
            work = (bits >> 8) ** 2 >> 2
        elif type(value) is Fraction:
            value = value.numerator
        if bits > MAX_BITS:
            raise TooLargeError(f"an exact number of {bits} bits")
        if work:
            self.budget.spend(work)
        return value

    def bounded_inexact(self, value: Value) -> Value:
        if not self.context.isfinite(value):
            raise UndefinedError("no finite value")
        if value and abs(self.context.mag(value)) > MAX_MAGNITUDE:
            raise TooLargeError("a number of too many digits")
        return value

    def require_real(self, value: Value) -> None:
        """Raise `UndefinedError` if only real numbers count and the value has no real root or logarithm."""
        if self.real and (value.imag or value.real < 0):
            raise UndefinedError("this has no real value")

    def spend_on_function(self, times: int = 1) -> None:
        self.budget.spend(times * (20 if self.precision == LOW_BITS else 250))


@cache
def _mpmath() -> Any:
    import mpmath

    return mpmath


_warming = threading.Lock()


def _context() -> "MPContext":
    context = getattr(_local, "context", None)
    if context is None:
        with _warming:
            context = _local.context = _mpmath().MPContext()
            # Threads share mpmath's cached constants without a lock. Computed once to this precision, the
            # constants are only read.
            context.prec = 2 * HIGH_BITS
            for constant in (context.pi, context.e, context.ln2, context.ln10, context.degree):
                _ = +constant
            _ = context.log(3), context.exp(3), context.atan(3)
    return context


def _symbol(evaluator: Evaluator, tree: Tree) -> Value:
    value = evaluator.values[tree[1]]
    if type(value) not in _EXACT:
        _ = evaluator.context  # sets the precision of what follows
    return value


def _constant(evaluator: Evaluator, tree: Tree) -> Value:
    context = evaluator.context
    match tree[1]:
        case "pi":
            return +context.pi
        case "e":
            return +context.e
        case "i":
            return context.mpc(0, 1)
    raise UndefinedError("infinity inside an expression")


def _add(evaluator: Evaluator, tree: Tree) -> Value:
    total: Value = 0
    for term in tree[1]:
        total = evaluator.bounded(evaluator.combined(total, evaluator.value(term), operator.add))
    return total


def _multiply(evaluator: Evaluator, tree: Tree) -> Value:
    total: Value = 1
    for factor in tree[1]:
        total = evaluator.bounded(evaluator.combined(total, evaluator.value(factor), operator.mul))
    return total


_EXACT = frozenset({int, Fraction})


def _divide(evaluator: Evaluator, tree: Tree) -> Value:
    return evaluator.quotient(evaluator.value(tree[1]), evaluator.value(tree[2]))


def _power(evaluator: Evaluator, tree: Tree) -> Value:
    return power(evaluator, evaluator.value(tree[1]), evaluator.value(tree[2]))


def power(evaluator: Evaluator, base: Value, exponent: Value) -> Value:
    """Return base ** exponent: exact for an integer exponent, the real root for an odd denominator."""
    if abs(exponent) > MAX_EXPONENT:
        raise TooLargeError("an exponent over 1,000,000")
    if base == 0:
        if exponent == 0 or evaluator.inexact(exponent).real <= 0:
            raise UndefinedError("zero to a power that is not positive")
        return 0
    if type(base) in _EXACT and type(exponent) is int:
        base = Fraction(base)
        bits = max(base.numerator.bit_length(), base.denominator.bit_length()) * abs(exponent)
        if bits > 2 * MAX_BITS and abs(base) != 1:
            raise TooLargeError(f"an exact number of about {bits} bits")
        result = base**exponent
        return evaluator.bounded(result.numerator if result.denominator == 1 else result)
    evaluator.spend_on_function()
    context = evaluator.context
    inexact = evaluator.inexact(base)
    if type(exponent) is not Fraction or exponent.denominator % 2 == 0:
        evaluator.require_real(inexact)
    if abs(context.mag(inexact) * exponent) > MAX_MAGNITUDE:
        raise TooLargeError("a power of too many digits")
    sign = 1
    if type(exponent) is Fraction and exponent.denominator % 2 and not inexact.imag and inexact.real < 0:
        inexact, sign = -inexact.real, -1 if exponent.numerator % 2 else 1
    return evaluator.bounded(sign * context.power(inexact, evaluator.inexact(exponent)))


def _root(evaluator: Evaluator, tree: Tree) -> Value:
    inside, degree = evaluator.value(tree[1]), evaluator.value(tree[2])
    if degree == 2 and type(inside) is int and inside >= 0:
        root = math.isqrt(inside)
        if root * root == inside:
            return root
    if inside == 0 and degree != 0:
        return 0
    if degree == 2:
        evaluator.require_real(inside)
        evaluator.spend_on_function()
        return evaluator.bounded(evaluator.context.sqrt(evaluator.inexact(inside)))
    return power(evaluator, inside, evaluator.quotient(1, degree))


def _call(evaluator: Evaluator, tree: Tree) -> Value:
    name, arguments = tree[1], tree[2]
    if name in _EXACT_CALLS:
        return _EXACT_CALLS[name](evaluator, arguments)
    values = [evaluator.inexact(evaluator.value(argument)) for argument in arguments]
    evaluator.spend_on_function(len(values))
    context = evaluator.context
    if name in ("ln", "log"):
        if any(value == 0 for value in values):
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


# Names that mpmath spells otherwise. All others are functions of `vocabulary`, never names from an answer.
_MPMATH = {"cis": "expj", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arccot": "acot"}


def _factorial(evaluator: Evaluator, arguments: tuple[Tree, ...]) -> Value:
    value = evaluator.integer(arguments[0], limit=5000)
    evaluator.budget.spend(value >> 3)
    return evaluator.bounded(math.factorial(value))


def _binomial(evaluator: Evaluator, arguments: tuple[Tree, ...]) -> Value:
    above, below = (evaluator.integer(argument, limit=5000) for argument in arguments)
    evaluator.budget.spend(min(above, below))
    return evaluator.bounded(math.comb(above, below))


def _absolute(evaluator: Evaluator, arguments: tuple[Tree, ...]) -> Value:
    return abs(evaluator.value(arguments[0]))


def _rounded(evaluator: Evaluator, argument: Tree, rounding: Callable[[Any], int]) -> Value:
    value = evaluator.value(argument)
    if type(value) in _EXACT:
        return rounding(value)
    if value.imag or abs(value) > 10**15:
        raise UndefinedError("a complex number or a very large one has no rounding")
    value = value.real
    return int(evaluator.context.floor(value) if rounding is math.floor else evaluator.context.ceil(value))


def _floor(evaluator: Evaluator, arguments: tuple[Tree, ...]) -> Value:
    return _rounded(evaluator, arguments[0], math.floor)


def _ceiling(evaluator: Evaluator, arguments: tuple[Tree, ...]) -> Value:
    return _rounded(evaluator, arguments[0], math.ceil)


_EXACT_CALLS: dict[str, Callable[[Evaluator, tuple[Tree, ...]], Value]] = {
    "fact": _factorial,
    "binom": _binomial,
    "abs": _absolute,
    "floor": _floor,
    "ceil": _ceiling,
}
_VALUES: dict[str, Callable[[Evaluator, Tree], Value]] = {
    "num": lambda evaluator, tree: tree[1],
    "dec": lambda evaluator, tree: tree[1],
    "sym": _symbol,
    "const": _constant,
    "deg": lambda evaluator, tree: evaluator.context.pi / 180,
    "neg": lambda evaluator, tree: -evaluator.value(tree[1]),
    "add": _add,
    "mul": _multiply,
    "frac": _divide,
    "pow": _power,
    "root": _root,
    "call": _call,
}
