"""Sets of real numbers, values with a name, equations, inequalities: readers and comparisons."""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

from erce.verify.answers.comparison import (
    COMPARISONS,
    Comparison,
    name_of,
    separated,
    sides_of,
    stated,
    with_both_signs,
)
from erce.verify.answers.comparison import (
    Value as AnyValue,
)
from erce.verify.answers.expression import parse_tokens
from erce.verify.answers.limits import Budget, TooLargeError, UnparsedError
from erce.verify.answers.number import Quantity, read_quantity
from erce.verify.answers.tokens import END, Token, enclosed, split, split_at_sign
from erce.verify.answers.tree import (
    INFINITY,
    NEGATIVE_INFINITY,
    ROUNDING,
    Evaluator,
    Tree,
    Value,
    infinite_sign,
    proportion,
    same_value,
    symbols,
)
from erce.verify.answers.units import units_agree
from erce.verify.answers.written import says_all_reals

MAX_SETS = 60  # in one union
MAX_NESTING = 6
MIRRORED_SIGN = {"<": ">", ">": "<", "≤": "≥", "≥": "≤", "≠": "≠"}


@dataclass(frozen=True, slots=True)
class End:
    """One end of an interval as an expression and as a number; a `closed` end belongs to the interval."""

    tree: Tree
    value: Value
    closed: bool


# ("interval", low, high), ("none",), or an operation on two sets: "or", "and", "minus".
_Set = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class RealSet:
    """Intervals and operations on them, and the name of the numbers if they have one.

    `bound` is the single inequality that was written, as both sides and the sign, for answers such as 2x > 6.
    """

    kind: ClassVar[str] = "interval"
    reads_relations: ClassVar[bool] = True
    made_of: _Set
    name: str = ""
    unit: str = ""
    bound: tuple[Tree, Tree, str] | None = None

    def accepts(self, tokens: list[Token], comparison: Comparison) -> bool:
        """Return whether the tokens write the same set, in any notation; a name may be left out."""
        try:
            other = read_real_set(tokens, comparison.budget)
        except UnparsedError:
            if self.bound is None:
                raise
            return same_inequality(self.bound, read_inequality(tokens), comparison)
        if self.name and other.name not in ("", self.name):
            return False
        if not units_agree(self.unit, other.unit, comparison.conventions.units):
            return False
        places = _places([*self.ends, *other.ends], comparison.budget)
        return _covered(self.made_of, places) == _covered(other.made_of, places)

    @property
    def ends(self) -> list[End]:
        return _ends_of(self.made_of)


def _ends_of(made_of: _Set) -> list[End]:
    if made_of[0] == "interval":
        return list(made_of[1:])
    return [end for part in made_of[1:] for end in _ends_of(part)]


def _places(ends: list[End], budget: Budget) -> dict[Tree, int]:
    """Return the place of each end on the line: the same one for equal ends, else in order."""
    places, place = dict[Tree, int](), 0
    before: End | None = None
    for end in sorted(ends, key=lambda end: end.value):
        if before is not None and not same_value(before.tree, end.tree, budget):
            place += 2
        places[end.tree], before = place, end
    return places


def _covered(made_of: _Set, places: dict[Tree, int]) -> frozenset[int]:
    """Return which points (even numbers) and gaps between them (odd ones) belong to the set."""
    if made_of[0] == "none":
        return frozenset()
    if made_of[0] == "interval":
        low, high = made_of[1:]
        first, last = places[low.tree] + (not low.closed), places[high.tree] - (not high.closed)
        return frozenset(range(first, last + 1))
    left, right = (_covered(part, places) for part in made_of[1:])
    return {"or": left | right, "and": left & right, "minus": left - right}[made_of[0]]


def read_real_set(tokens: list[Token], budget: Budget) -> RealSet:
    r"""Return the set that the tokens write.

    They may be an interval, \mathbb{R}, numbers in braces, a union, an intersection or a difference of these,
    an inequality that bounds one name, or several: with "or" their union, with "and" their intersection, with
    commas their intersection or, if that is empty, their union. `UnparsedError` for anything else, such as
    ends with symbols.
    """
    return _read(tokens, budget, 0)


def _read(tokens: list[Token], budget: Budget, nesting: int) -> RealSet:
    if nesting > MAX_NESTING:
        raise TooLargeError(f"more than {MAX_NESTING} levels of sets")
    parts, separator = separated(tokens)
    if len(parts) > 1:
        return _several([_read(part, budget, nesting + 1) for part in parts], separator, budget)
    sides, signs = sides_of(tokens)
    if not signs:
        return RealSet(_operation(tokens, budget, nesting))
    if signs == ["in"] and name_of(sides[0]):
        return replace(_read(sides[1], budget, nesting + 1), name=name_of(sides[0]))
    return _bounded(sides, signs, budget)


def _several(sets: list[RealSet], separator: str, budget: Budget) -> RealSet:
    names = {one.name for one in sets}
    if len(names) > 1 or "" in names or len({one.unit for one in sets}) > 1:
        raise UnparsedError("a list of sets")
    both, either = (_joined(sign, [one.made_of for one in sets]) for sign in ("and", "or"))
    if separator == ",":
        places = _places(_ends_of(both), budget)
        covered = _covered(both, places)
        if covered in [_covered(one.made_of, places) for one in sets]:
            raise UnparsedError("a list of sets")  # x > 1, x > 2 are two answers
        separator = "and" if covered else "or"
    return RealSet(either if separator == "or" else both, names.pop(), sets[0].unit)


def _joined(operation: str, sets: list[_Set]) -> _Set:
    if len(sets) > MAX_SETS:
        raise TooLargeError(f"more than {MAX_SETS} sets")
    joined = sets[0]
    for other in sets[1:]:
        joined = (operation, joined, other)
    return joined


# ---------------------------------------------------------------- inequalities


def read_inequality(tokens: list[Token]) -> tuple[Tree, Tree, str]:
    """Return the sides of one inequality and its sign; `UnparsedError` for anything else."""
    sides, signs = sides_of(tokens)
    if len(signs) != 1 or signs[0] not in COMPARISONS or not all(sides):
        raise UnparsedError("no inequality")
    left, right = map(read_side, sides)
    return left, right, signs[0]


def read_side(tokens: list[Token]) -> Tree:
    """Return the expression on one side of an equation or inequality; `UnparsedError` if it has a unit."""
    number = read_quantity(tokens, phrase="")
    if number.named_unit:
        raise UnparsedError("a unit in a relation")
    return number.tree


def same_inequality(
    one: tuple[Tree, Tree, str], other: tuple[Tree, Tree, str], comparison: Comparison
) -> bool:
    """Return whether the differences of the sides are proportional, and the signs fit."""
    differences = [("add", (left, ("neg", right))) for left, right, _ in (one, other)]
    sign = proportion(differences[0], differences[1], comparison.budget)
    return bool(sign) and other[2] == (one[2] if sign > 0 else MIRRORED_SIGN[one[2]])


def _bounded(sides: list[list[Token]], signs: list[str], budget: Budget) -> RealSet:
    """Return the numbers that an inequality or a chain of two leaves its name."""
    if not all(sides) or not set(signs) <= COMPARISONS or len(signs) > 2:
        raise UnparsedError("no set of numbers")
    names = [name_of(side) for side in sides]
    if len(signs) == 1 and names[1] and not names[0]:  # 3 > x
        sides, signs, names = sides[::-1], [MIRRORED_SIGN[signs[0]]], names[::-1]
    if len(signs) == 2 and signs[0] in "≥>":
        sides, signs = sides[::-1], [MIRRORED_SIGN[sign] for sign in signs[::-1]]
    named = 0 if len(signs) == 1 else 1
    name = names[named]
    if not name or name.startswith("|"):
        raise UnparsedError("an inequality that bounds no name")
    if signs == ["≠"]:
        values = [read_side(signed) for signed in with_both_signs(sides[1])]
        bound = (("sym", name), values[0], "≠") if len(values) == 1 else None
        return RealSet(("minus", REALS, _points(values, budget)), name, bound=bound)
    numbers = [read_quantity(side, phrase="") for at, side in enumerate(sides) if at != named]
    unit = next((number.unit for number in numbers if number.unit), "")
    if not set(signs) <= {"<", "≤"} and len(signs) == 2:
        raise UnparsedError("a chain in both directions")
    closed = [sign in "≤≥" for sign in signs]
    ends = [_end(number.tree, budget, closed=its) for number, its in zip(numbers, closed, strict=True)]
    if len(ends) == 2:
        return RealSet(("interval", *ends), name, unit)
    bound = (("sym", name), numbers[0].tree, signs[0])
    made_of = (_NEGATIVE_END, ends[0]) if signs[0] in "<≤" else (ends[0], _POSITIVE_END)
    return RealSet(("interval", *made_of), name, unit, bound)


# ---------------------------------------------------------------- intervals and operations on them


_OPERATIONS = {"cup": "or", "cap": "and", "setminus": "minus"}


def is_operation(tokens: list[Token]) -> bool:
    """Return whether the tokens have a sign such as ∪ outside all brackets."""
    return len(split(tokens, _is_operation)[0]) > 1


def _is_operation(token: Token) -> bool:
    return token.kind == "command" and token.text in _OPERATIONS


def _operation(tokens: list[Token], budget: Budget, nesting: int) -> _Set:
    """Return unions, intersections and differences outside all brackets, from left to right."""
    parts, signs = split(_with_difference(tokens), _is_operation)
    if len(parts) > MAX_SETS:
        raise TooLargeError(f"more than {MAX_SETS} sets")
    made_of = _one_set(parts[0], budget, nesting)
    for sign, part in zip(signs, parts[1:], strict=True):
        made_of = (_OPERATIONS[sign.text], made_of, _one_set(part, budget, nesting))
    return made_of


def _with_difference(tokens: list[Token]) -> list[Token]:
    r"""Return the tokens with \setminus for the - of [0, 2] - \{1\}."""
    return [
        Token("command", "setminus") if token.is_sign("-") and after.text == "\\{" else token
        for token, after in pairwise([*tokens, END])
    ]


def is_all_reals(tokens: list[Token]) -> bool:
    """Return whether the tokens write the set of all real numbers."""
    return [token.text for token in tokens if token.text not in "{}"] == ["mathbb", "R"] or says_all_reals(
        tokens
    )


def _one_set(tokens: list[Token], budget: Budget, nesting: int) -> _Set:
    if is_all_reals(tokens):
        return REALS
    if len(tokens) == 1 and tokens[0].text == "emptyset":
        return ("none",)
    if not enclosed(tokens):
        raise UnparsedError("no set of numbers")
    opening, inner, closing = tokens[0].text, tokens[1:-1], tokens[-1].text
    if (opening, closing) == ("\\{", "\\}"):
        parts = separated(inner)[0] if inner else []
        return _points([read_side(signed) for part in parts for signed in with_both_signs(part)], budget)
    ends = split_at_sign(inner, ",") if opening in "([" and closing in ")]" else []
    if len(ends) == 1 and (opening, closing) in (("(", ")"), ("[", "]")):
        return _read(inner, budget, nesting + 1).made_of
    if len(ends) != 2:
        raise UnparsedError("no interval")
    low = _end(read_side(ends[0]), budget, closed=opening == "[")
    high = _end(read_side(ends[1]), budget, closed=closing == "]")
    if low.value > high.value or same_value(low.tree, high.tree, budget):
        raise UnparsedError("an interval without numbers")  # (3, -4) is a point
    return "interval", low, high


def _points(values: list[Tree], budget: Budget) -> _Set:
    ends = [_end(value, budget, closed=True) for value in values]
    return _joined("or", [("interval", end, end) for end in ends]) if ends else ("none",)


_FAR = 10**400  # stands for ∞ when ends are sorted
_NEGATIVE_END, _POSITIVE_END = End(NEGATIVE_INFINITY, -_FAR, False), End(INFINITY, _FAR, False)
REALS: _Set = ("interval", _NEGATIVE_END, _POSITIVE_END)


def _end(tree: Tree, budget: Budget, *, closed: bool) -> End:
    sign = infinite_sign(tree)
    if sign and not closed:
        return _POSITIVE_END if sign > 0 else _NEGATIVE_END
    if sign or symbols(tree):
        raise UnparsedError("an end that is no number")
    evaluator = Evaluator({}, budget)
    value = evaluator.inexact(evaluator.value(tree))
    if abs(value.imag) > abs(value) * ROUNDING or abs(value) >= _FAR:
        raise UnparsedError("an end that is not real, or very large")
    return End(tree, value.real, closed)


# ---------------------------------------------------------------- names, equations, other inequalities


MAX_FACTORS = 3  # of a product of letters that a name may stand for


@dataclass(frozen=True, slots=True)
class Named:
    """A value with its name: x = 5, f(x) = x^2, AB = 4."""

    kind: ClassVar[str] = "value"
    reads_relations: ClassVar[bool] = True
    name: str
    value: AnyValue

    def accepts(self, tokens: list[Token], comparison: Comparison) -> bool:
        """Return whether the tokens write the value, alone or with its name, or an equation that says it.

        y = x^2 is f(x) = x^2 too.
        """
        _, signs = sides_of(tokens)
        if not signs:
            return comparison.accepts(self.value, tokens)
        if set(signs) <= {"=", "approx"} or signs == ["in"]:
            name, sides = stated(tokens)
            if name == self.name or {name, self.name} in _FUNCTIONS:
                return all(comparison.accepts(self.value, side) for side in sides)
        if not isinstance(self.value, Quantity):
            raise UnparsedError("another name, or no value")
        sides = _named_tree(self.name), self.value.tree
        return Equation(sides).accepts(tokens, comparison)


_FUNCTIONS = ({"y", "f(x)"}, {"y", "g(x)"})


def _named_tree(name: str) -> Tree:
    """Return the expression that a name is in an equation: AB is a product, theta is none."""
    if 1 < len(name) <= MAX_FACTORS and name.isalpha():
        return "mul", tuple(("sym", letter) for letter in name)
    return "sym", name.removeprefix("\\")


@dataclass(frozen=True, slots=True)
class Equation:
    """Two sides that are equal."""

    kind: ClassVar[str] = "equation"
    reads_relations: ClassVar[bool] = True
    sides: tuple[Tree, Tree]

    def accepts(self, tokens: list[Token], comparison: Comparison) -> bool:
        """Return whether the tokens write an equation of which this one is a multiple."""
        other = read_equation(tokens)
        differences = [("add", (left, ("neg", right))) for left, right in (self.sides, other.sides)]
        return bool(proportion(differences[0], differences[1], comparison.budget))


def read_equation(tokens: list[Token]) -> Equation:
    """Return the equation of two sides that the tokens write."""
    sides, signs = sides_of(tokens)
    if signs != ["="] or not all(sides):
        raise UnparsedError("no equation")
    left, right = map(read_side, sides)
    return Equation((left, right))


@dataclass(frozen=True, slots=True)
class Inequality:
    """Sides with one or two of < > ≤ ≥ ≠ between them, which bound no name by numbers: y < 2x + 1."""

    kind: ClassVar[str] = "inequality"
    reads_relations: ClassVar[bool] = True
    sides: tuple[Tree, ...]
    signs: tuple[str, ...]

    def accepts(self, tokens: list[Token], comparison: Comparison) -> bool:
        """Return whether one inequality is a multiple of the other, or two chains have the same sides."""
        if len(self.signs) == 1:
            own = (self.sides[0], self.sides[1], self.signs[0])
            return same_inequality(own, read_inequality(tokens), comparison)
        other = read_chain(tokens)
        mirrored = tuple(MIRRORED_SIGN[sign] for sign in other.signs[::-1])
        return any(
            self.signs == signs and all(map(comparison.same, self.sides, sides))
            for signs, sides in ((other.signs, other.sides), (mirrored, other.sides[::-1]))
        )


def read_chain(tokens: list[Token]) -> Inequality:
    """Return the inequality or the chain of two that the tokens write."""
    sides, signs = sides_of(tokens)
    if not all(sides) or not 0 < len(signs) <= 2 or not set(signs) <= COMPARISONS:
        raise UnparsedError("no inequality")
    return Inequality(tuple(parse_tokens(side) for side in sides), tuple(signs))
