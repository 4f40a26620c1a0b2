"""Expression trees, and their values: an exact rational number, else one in high precision."""

import math
import operator
import threading
from collections.abc import Callable, Iterator
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

if TYPE_CHECKING:
    from mpmath.ctx_mp import MPContext

# Nested tuples such as ("add", (("sym", "x"), ("num", 1))); `expression.parse_scalar` lists their kinds.
Tree = tuple[Any, ...]
# An int or a Fraction if exact, else an mpf or mpc of the thread's own context.
Value = Any

INFINITY: Tree = ("const", "inf")
NEGATIVE_INFINITY: Tree = ("neg", INFINITY)
LOW_BITS = 230  # for the sample points
HIGH_BITS = 1600  # to confirm an equality


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


def contains(tree: Tree, kind: str) -> bool:
    """Return whether the tree has a node of that kind."""
    return any(node[0] == kind for node in nodes(tree))


def symbols(tree: Tree) -> set[str]:
    """Return the names of the symbols.

    >>> symbols(("add", (("sym", "x"), ("num", 1))))
    {'x'}
    """
    return {node[1] for node in nodes(tree) if node[0] == "sym"}


def infinite_sign(tree: Tree) -> int:
    """Return 1 for ∞, -1 for -∞, 0 for anything else."""
    return 1 if tree == INFINITY else -1 if tree == NEGATIVE_INFINITY else 0


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
        value = _VALUES[tree[0]](self, *tree[1:])
        if is_exact(value):
            return value
        self.budget.spend(2 if self.precision == LOW_BITS else 8)
        return value if value.imag else value.real

    def inexact(self, value: Value) -> Value:
        """Return the value as a floating-point number of the context."""
        if not is_exact(value):
            return value
        return self.context.mpf(value.numerator) / value.denominator

    def quotient(self, above: Value, below: Value) -> Value:
        """Return above / below."""
        if below == 0:
            raise UndefinedError("a division by zero")
        if is_exact(above) and is_exact(below):
            return self.bounded(Fraction(above) / below)
        return self.combined(operator.truediv, above, below)

    def combined(self, operation: Callable[[Any, Any], Any], left: Value, right: Value) -> Value:
        """Return what an operation of Python makes of two values."""
        if not (is_exact(left) and is_exact(right)):
            left, right = self.inexact(left), self.inexact(right)
        return self.bounded(operation(left, right))

    def natural(self, tree: Tree) -> int:
        """Return the value of a tree that must be a natural number of at most 5000."""
        value = self.value(tree)
        if type(value) is not int or value < 0:
            raise UndefinedError("this is not a natural number")
        if value > 5000:
            raise TooLargeError("an integer over 5000")
        return value

    def bounded(self, value: Value) -> Value:
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

    def require_real(self, value: Value) -> None:
        """Raise `UndefinedError` if only real numbers count and the value has no real root or logarithm."""
        if self.real and (value.imag or value.real < 0):
            raise UndefinedError("this has no real value")

    def spend_on_function(self) -> None:
        self.budget.spend(20 if self.precision == LOW_BITS else 250)


def is_exact(value: Value) -> bool:
    """Return whether the value is a rational number of Python."""
    return type(value) is int or type(value) is Fraction


_local = threading.local()
_warming = threading.Lock()


@cache
def _mpmath() -> Any:
    import mpmath

    return mpmath


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


def _symbol(evaluator: Evaluator, name: str) -> Value:
    value = evaluator.values[name]
    if not is_exact(value):
        _ = evaluator.context  # sets the precision of what follows
    return value


def _constant(evaluator: Evaluator, name: str) -> Value:
    context = evaluator.context
    if name == "inf":
        raise UndefinedError("infinity inside an expression")
    return context.mpc(0, 1) if name == "i" else +getattr(context, name)  # pi or e


def _add(evaluator: Evaluator, terms: tuple[Tree, ...]) -> Value:
    total: Value = 0
    for term in terms:
        total = evaluator.combined(operator.add, total, evaluator.value(term))
    return total


def _multiply(evaluator: Evaluator, factors: tuple[Tree, ...]) -> Value:
    total: Value = 1
    for factor in factors:
        total = evaluator.combined(operator.mul, total, evaluator.value(factor))
    return total


def _divide(evaluator: Evaluator, above: Tree, below: Tree) -> Value:
    return evaluator.quotient(evaluator.value(above), evaluator.value(below))


def _power(evaluator: Evaluator, base: Tree, exponent: Tree) -> Value:
    return power(evaluator, evaluator.value(base), evaluator.value(exponent))


def power(evaluator: Evaluator, base: Value, exponent: Value) -> Value:
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
    evaluator.spend_on_function()
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


def _root(evaluator: Evaluator, radicand: Tree, degree: Tree) -> Value:
    inside, of = evaluator.value(radicand), evaluator.value(degree)
    if of == 2 and type(inside) is int and inside >= 0 and (root := math.isqrt(inside)) ** 2 == inside:
        return root
    return power(evaluator, inside, evaluator.quotient(1, of))


def _call(evaluator: Evaluator, name: str, arguments: tuple[Tree, ...]) -> Value:
    if name in _EXACT_CALLS:
        return evaluator.bounded(_EXACT_CALLS[name](evaluator, *arguments))
    values = [evaluator.inexact(evaluator.value(argument)) for argument in arguments]
    evaluator.spend_on_function()
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


# Names that mpmath spells otherwise. All others are functions of `tokens`, never names from an answer.
_MPMATH = {"cis": "expj", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arccot": "acot"}


def _factorial(evaluator: Evaluator, argument: Tree) -> Value:
    value = evaluator.natural(argument)
    evaluator.budget.spend(value >> 3)
    return math.factorial(value)


def _binomial(evaluator: Evaluator, above: Tree, below: Tree) -> Value:
    chosen = evaluator.natural(below)
    evaluator.budget.spend(chosen)
    return math.comb(evaluator.natural(above), chosen)


def _rounded(evaluator: Evaluator, argument: Tree, rounding: Callable[[Any], int]) -> Value:
    value = evaluator.value(argument)
    if is_exact(value):
        return rounding(value)
    if value.imag or abs(value) > 10**15:
        raise UndefinedError("a complex number or a very large one has no rounding")
    return int(getattr(evaluator.context, rounding.__name__)(value.real))


_EXACT_CALLS: dict[str, Callable[..., Value]] = {
    "fact": _factorial,
    "binom": _binomial,
    "abs": lambda evaluator, argument: abs(evaluator.value(argument)),
    "floor": lambda evaluator, argument: _rounded(evaluator, argument, math.floor),
    "ceil": lambda evaluator, argument: _rounded(evaluator, argument, math.ceil),
}
_VALUES: dict[str, Callable[..., Value]] = {
    "num": lambda evaluator, number: number,
    "dec": lambda evaluator, number: number,
    "sym": _symbol,
    "const": _constant,
    "deg": lambda evaluator: evaluator.context.pi / 180,
    "neg": lambda evaluator, negated: -evaluator.value(negated),
    "add": _add,
    "mul": _multiply,
    "frac": _divide,
    "pow": _power,
    "root": _root,
    "call": _call,
}
