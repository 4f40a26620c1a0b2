"""A value with a name, an equation, an inequality: how they are read, and when another one is the same."""

from dataclasses import dataclass
from typing import ClassVar

from erce.verify.answers.comparison import COMPARISONS, Comparison, Value, sides_of, stated
from erce.verify.answers.equality import proportion
from erce.verify.answers.expression import parse_tokens
from erce.verify.answers.intervals import MIRRORED_SIGN, read_inequality, read_side, same_inequality
from erce.verify.answers.limits import UnparsedError
from erce.verify.answers.number import Quantity
from erce.verify.answers.tokens import Token
from erce.verify.answers.tree import Tree

MAX_FACTORS = 3  # of a product of letters that a name may stand for


@dataclass(frozen=True, slots=True)
class Named:
    """A value with its name: x = 5, f(x) = x^2, AB = 4."""

    kind: ClassVar[str] = "value"
    reads_relations: ClassVar[bool] = True
    name: str
    value: Value

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
