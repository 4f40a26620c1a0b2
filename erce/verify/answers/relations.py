"""Sets of real numbers, values with a name, equations, inequalities: readers and comparisons."""

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, ClassVar

from erce.verify.answers.comparison import (
    COMPARISONS,
    Comparison,
    Value,
    expand_plus_minus,
    name_of,
    separated,
    sides_of,
    stated,
)
from erce.verify.answers.limits import MAX_ITEMS, Budget, TooLargeError, UnparsedError
from erce.verify.answers.number import Quantity, read_quantity
from erce.verify.answers.tokens import GREEK, Token, enclosed, split, split_at_sign
from erce.verify.answers.tree import (
    COMPLEX,
    INFINITY,
    NEGATIVE_INFINITY,
    ROUNDING,
    Evaluator,
    Number,
    Tree,
    infinite_sign,
    proportion,
    replaced,
    same_value,
    symbols,
)
from erce.verify.answers.written import is_all_reals, is_nothing

_MIRRORED_SIGN = {"<": ">", ">": "<", "≤": "≥", "≥": "≤", "≠": "≠"}
# ("interval", low, high), ("none",), or an operation on two sets: "or", "and", "minus".
_Set = tuple[Any, ...]
_OPERATIONS = {"cup": "or", "cap": "and", "setminus": "minus"}
_FAR = 10**400  # stands for ∞ when ends are sorted
_FUNCTIONS = ({"y", "f(x)"}, {"y", "g(x)"})


@dataclass(frozen=True, slots=True)
class End:
    """One end of an interval as an expression and as a number; a `closed` end belongs to the interval."""

    tree: Tree
    value: Number
    closed: bool


@dataclass(frozen=True, slots=True)
class RealSet:
    """Intervals and operations on them, and the name of the numbers if they have one."""

    kind: ClassVar[str] = "interval"
    made_of: _Set
    name: str = ""

    def accepts(self, tokens: list[Token], comparison: Comparison) -> bool:
        """Return whether the tokens write the same set, in any notation; a name may be left out."""
        other = read_real_set(tokens, comparison.budget)
        if self.name and other.name not in ("", self.name):
            return False
        places = _places(_ends_of(self.made_of) + _ends_of(other.made_of), comparison.budget)
        return _covered(self.made_of, places) == _covered(other.made_of, places)

    @property
    def is_endless(self) -> bool:
        """Return whether an end is infinite."""
        return any(infinite_sign(end.tree) for end in _ends_of(self.made_of))


def read_real_set(tokens: list[Token], budget: Budget) -> RealSet:
    r"""Return the set that the tokens write.

    They may be an interval, \mathbb{R}, numbers in braces, a union, an intersection or a difference of these,
    an inequality that bounds one name, or several: with "or" their union, with "and" their intersection, with
    commas their intersection or, if that is empty, their union. `UnparsedError` for anything else, such as
    ends with symbols.
    """
    parts, separator = separated(tokens)
    if len(parts) > 1:
        return _several([read_real_set(part, budget) for part in parts], separator, budget)
    sides, signs = sides_of(tokens)
    if not signs:
        return RealSet(_operation(tokens, budget))
    if signs in (["in"], ["="]) and name_of(sides[0]):
        return replace(read_real_set(sides[1], budget), name=name_of(sides[0]))
    return _bounded(sides, signs, budget)


def is_operation(tokens: list[Token]) -> bool:
    """Return whether the tokens have a sign such as ∪ outside all brackets."""
    return len(split(tokens, _is_operation)[0]) > 1


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


def _several(sets: list[RealSet], separator: str, budget: Budget) -> RealSet:
    names = {one.name for one in sets}
    if len(names) > 1 or "" in names:
        raise UnparsedError("a list of sets")
    both, either = (_joined(sign, *(one.made_of for one in sets)) for sign in ("and", "or"))
    if separator == ",":
        places = _places(_ends_of(both), budget)
        covered = _covered(both, places)
        if covered in [_covered(one.made_of, places) for one in sets]:
            raise UnparsedError("a list of sets")  # x > 1, x > 2 are two answers
        separator = "and" if covered else "or"
    return RealSet(either if separator == "or" else both, names.pop())


def _joined(operation: str, *sets: _Set) -> _Set:
    return reduce(lambda one, other: (operation, one, other), sets)


def _bounded(sides: list[list[Token]], signs: list[str], budget: Budget) -> RealSet:
    """Return the numbers that an inequality or a chain of two leaves its name."""
    if (len(signs) == 1 and not _is_bounded(sides[0])) or (len(signs) == 2 and signs[0] in "≥>"):  # 3 > x
        sides, signs = sides[::-1], [_MIRRORED_SIGN.get(sign, sign) for sign in signs[::-1]]
    if not all(sides) or len(signs) > 2 or not set(signs) <= COMPARISONS:
        raise UnparsedError("no inequality that bounds a name")
    name = name_of(sides[len(signs) - 1])
    if len(signs) == 1 and sides[0][0].text == "|" and (not name or name.startswith("|")):
        return _within(read_side(sides[0]), read_side(sides[1]), signs[0], budget)
    if not name:
        raise UnparsedError("no inequality that bounds a name")
    if signs == ["≠"]:
        excluded = _points([read_side(signed) for signed in expand_plus_minus(sides[1])], budget)
        return RealSet(("minus", REALS, excluded), name)
    if len(signs) == 2:
        if not set(signs) <= {"<", "≤"}:
            raise UnparsedError("a chain in both directions")
        ends = [
            _end(read_side(side), budget, closed=sign == "≤")
            for side, sign in zip(sides[::2], signs, strict=True)
        ]
        return RealSet(("interval", *ends), name)
    end = _end(read_side(sides[1]), budget, closed=signs[0] in "≤≥")
    return RealSet(("interval", *((_LOWEST, end) if signs[0] in "<≤" else (end, _HIGHEST))), name)


def _is_bounded(side: list[Token]) -> bool:
    """Return whether a side may be what an inequality bounds: a name, or an absolute value."""
    return bool(name_of(side) or (side and side[0].text == side[-1].text == "|"))


def _within(distance: Tree, radius: Tree, sign: str, budget: Budget) -> RealSet:
    """Return the numbers whose distance, as in |2x - 3| < 5, has a relation < ≤ > ≥ to the radius."""
    names = symbols(distance) - COMPLEX
    if distance[:2] != ("call", "abs") or len(names) != 1 or sign == "≠":
        raise UnparsedError("no distance of one real name")
    (name,), (inside,) = names, distance[2]
    offset = replaced(inside, ("sym", name), ("num", 0))
    slope = "add", (replaced(inside, ("sym", name), ("num", 1)), ("neg", offset))
    if not same_value(inside, ("add", (("mul", (slope, ("sym", name))), offset)), budget):
        raise UnparsedError("a distance that is not linear")
    ends = [
        _end(("frac", ("add", (side, ("neg", offset))), slope), budget, closed=sign in "≤≥")
        for side in (radius, ("neg", radius))
    ]
    low, high = sorted(ends, key=lambda end: end.value)
    if not _end(radius, budget, closed=False).value > 0:
        raise UnparsedError("no absolute value with a positive bound")
    inside_set = "interval", low, high
    outside = "or", ("interval", _LOWEST, low), ("interval", high, _HIGHEST)
    return RealSet(inside_set if sign in "<≤" else outside, f"\\{name}" if name in GREEK else name)


def _is_operation(token: Token) -> bool:
    return token.kind == "command" and token.text in _OPERATIONS


def _operation(tokens: list[Token], budget: Budget) -> _Set:
    """Return unions, intersections and differences outside all brackets, from left to right."""
    parts, signs = split(tokens, _is_operation)
    if len(parts) > MAX_ITEMS:
        raise TooLargeError(f"more than {MAX_ITEMS} sets")
    made_of = _one_set(parts[0], budget)
    for sign, part in zip(signs, parts[1:], strict=True):
        made_of = (_OPERATIONS[sign.text], made_of, _one_set(part, budget))
    return made_of


def _one_set(tokens: list[Token], budget: Budget) -> _Set:
    if is_all_reals(tokens):
        return REALS
    if is_nothing(tokens):
        return ("none",)
    if not enclosed(tokens):
        raise UnparsedError("no set of numbers")
    opening, inner, closing = tokens[0].text, tokens[1:-1], tokens[-1].text
    if (opening, closing) == ("\\{", "\\}"):
        bar = next((at for at, token in enumerate(inner) if token.text in ("|", ":", "mid")), 0)
        name = _described(inner[:bar])
        if name and (such := read_real_set(inner[bar + 1 :], budget)).name == name:
            return such.made_of
        parts = separated(inner)[0] if inner else []
        return _points([read_side(signed) for part in parts for signed in expand_plus_minus(part)], budget)
    ends = split_at_sign(inner, ",") if opening in "([" and closing in ")]" else []
    if len(ends) != 2:
        raise UnparsedError("no interval")
    low = _end(read_side(ends[0]), budget, closed=opening == "[")
    high = _end(read_side(ends[1]), budget, closed=closing == "]")
    if low.value > high.value or same_value(low.tree, high.tree, budget):
        raise UnparsedError("an interval without numbers")  # (3, -4) is a point
    return "interval", low, high


def _described(tokens: list[Token]) -> str:
    """Return the name x of x or of x ∈ ℝ, "" if the tokens write anything else."""
    sides, signs = sides_of(tokens)
    of_reals = not signs or (signs == ["in"] and is_all_reals(sides[1]))
    return name_of(sides[0]) if of_reals else ""


def _points(values: list[Tree], budget: Budget) -> _Set:
    ends = [_end(value, budget, closed=True) for value in values]
    return _joined("or", *(("interval", end, end) for end in ends)) if ends else ("none",)


_LOWEST, _HIGHEST = End(NEGATIVE_INFINITY, -_FAR, False), End(INFINITY, _FAR, False)
REALS: _Set = ("interval", _LOWEST, _HIGHEST)


def _end(tree: Tree, budget: Budget, *, closed: bool) -> End:
    sign = infinite_sign(tree)
    if sign and not closed:
        return _HIGHEST if sign > 0 else _LOWEST
    if sign or symbols(tree):
        raise UnparsedError("an end that is not a number")
    evaluator = Evaluator({}, budget)
    value = evaluator.inexact(evaluator.value(tree))
    if abs(value.imag) > abs(value) * ROUNDING or abs(value) >= _FAR:
        raise UnparsedError("an end that is not real, or very large")
    return End(tree, value.real, closed)


@dataclass(frozen=True, slots=True)
class Named:
    """A value with its name: x = 5, f(x) = x^2, AB = 4."""

    kind: ClassVar[str] = "value"
    name: str
    value: Value

    def accepts(self, tokens: list[Token], comparison: Comparison) -> bool:
        """Return whether the tokens write the value, alone or with its name, or an equation that says it.

        y = x^2 is f(x) = x^2 too.
        """
        _, signs = sides_of(tokens)
        if not signs:
            return comparison.accepts(self.value, tokens)
        if set(signs) == {"="} or signs == ["in"]:
            name, sides = stated(tokens)
            if name == self.name or {name, self.name} in _FUNCTIONS:
                return all(comparison.accepts(self.value, side) for side in sides)
        if not isinstance(self.value, Quantity):
            raise UnparsedError("another name, or no value")
        return Relation(("sym", self.name.removeprefix("\\")), "=", self.value.tree).accepts(
            tokens, comparison
        )


@dataclass(frozen=True, slots=True)
class Relation:
    """An equation, or an inequality such as y < 2x + 1: two sides and the sign between them (= < > ≤ ≥ ≠)."""

    kind: ClassVar[str] = "relation"
    left: Tree
    sign: str
    right: Tree

    def accepts(self, tokens: list[Token], comparison: Comparison) -> bool:
        """Return whether the tokens write a multiple of this relation."""
        other = read_relation(tokens)
        differences = [("add", (one.left, ("neg", one.right))) for one in (self, other)]
        sign = proportion(differences[0], differences[1], comparison.budget)
        if self.sign == "=" or other.sign == "=":
            return self.sign == other.sign and bool(sign)
        return bool(sign) and other.sign == (self.sign if sign > 0 else _MIRRORED_SIGN[self.sign])


def read_relation(tokens: list[Token]) -> Relation:
    """Return the equation or inequality of two sides that the tokens write."""
    sides, signs = sides_of(tokens)
    if len(signs) != 1 or signs[0] not in {"=", *COMPARISONS} or not all(sides):
        raise UnparsedError("no equation or inequality of two sides")
    return Relation(read_side(sides[0]), signs[0], read_side(sides[1]))


def read_side(tokens: list[Token]) -> Tree:
    """Return the expression on one side of an equation or inequality; `UnparsedError` if it has a unit."""
    number = read_quantity(tokens, phrase="")
    if number.named_unit:
        raise UnparsedError("a unit in a relation")
    return number.tree
