"""The sides of a relation → a named value, an equation, an inequality, or an interval."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from erce.verify.answers.compare.same_value import are_near, same_value
from erce.verify.answers.limits import Budget, TooLargeError, UnparsedError
from erce.verify.answers.read.brackets import split_at_sign
from erce.verify.answers.read.lexer import Token
from erce.verify.answers.read.scalar import parse_tokens
from erce.verify.answers.read.units import split_quantity
from erce.verify.answers.read.variables import name_of, name_of_matrix, names_of
from erce.verify.answers.tree import Tree, symbols
from erce.verify.answers.values import (
    MIRRORED_SIGN,
    Answer,
    Bracketed,
    Equation,
    Inequality,
    Listing,
    Matrix,
    Named,
    Record,
    Scalar,
)

_COMPARISONS = frozenset("<>≤≥≠")
RELATIONS = _COMPARISONS | {
    "=",
    "approx",
    "in",
    "equiv",
    "sim",
    "cong",
    "to",
    "implies",
    "Rightarrow",
    "mapsto",
}
MAX_SIDES = 12


def parse_relation(
    sides: list[list[Token]], signs: list[str], parse: Callable[[list[Token]], Answer]
) -> Answer:
    """Return the typed value of sides with `signs` between them; `parse` reads a side that is an answer.

    What is ≈ to a number is left out: 1/3 ≈ 0.33 is 1/3. But 1/3 ≈ 0.6 is unparsed, and x ≈ 0.33 is x = 0.33.
    """
    if "approx" in signs:
        sides, signs = _without_approximations(sides, signs)
        if not signs:
            return parse(sides[0])
    if not all(sides):
        raise UnparsedError("a relation with an empty side")
    if len(sides) > MAX_SIDES:
        raise TooLargeError(f"a chain of more than {MAX_SIDES} sides")
    if signs == ["in"]:
        return _membership(sides[0], parse(sides[1]))
    if signs == ["equiv"] and "(" in name_of(sides[0]):  # f(x) ≡ 0
        signs = ["="]
    if signs == ["mapsto"]:
        return _mapping(sides[0], sides[1], parse)
    if all(sign in _COMPARISONS for sign in signs):
        return _inequality(sides, signs)
    if any(sign != "=" for sign in signs):
        raise UnparsedError(f"a relation with {' '.join(signs)}")
    return _equation(sides, parse)


def _membership(left: list[Token], value: Answer) -> Answer:
    name, names = name_of(left), names_of(left)
    if not name and not names:
        raise UnparsedError("membership of more than a name")
    return Named(name, value) if name else with_names(names, value)


def _without_approximations(
    sides: list[list[Token]], signs: list[str]
) -> tuple[list[list[Token]], list[str]]:
    exact = signs.index("approx")
    if not exact and not sides[0]:
        return sides[1:], signs[1:]
    if _has_symbols(sides[exact]):  # x ≈ 2.24
        return sides[: exact + 2], [*signs[:exact], "="]
    if not _may_be_rounded(sides[exact], sides[exact + 1]):
        raise UnparsedError("an approximation that is far off")
    return sides[: exact + 1], signs[:exact]


def _has_symbols(side: list[Token]) -> bool:
    name = name_of(side)
    return name not in ("", "e", "\\pi") or (not name and bool(symbols(_expression(side))))


def _may_be_rounded(exact: list[Token], rounded: list[Token]) -> bool:
    """Return whether 3/8 ≈ 0.4 may be true; everything but numbers without a unit may."""
    try:
        trees = [_expression(side) for side in (exact, rounded)]
        if any(map(symbols, trees)) or split_quantity(rounded).unit:
            return True
        return are_near(trees[0], trees[1], Budget())
    except UnparsedError:
        return True


def _mapping(left: list[Token], right: list[Token], parse: Callable[[list[Token]], Answer]) -> Answer:
    r"""Return f(x) = x^2 for f: x \mapsto x^2, and the value alone for x \mapsto x^2."""
    *function, argument = map(name_of, split_at_sign(left, ":"))
    if not argument or not all(function) or len(function) > 1:
        raise UnparsedError("a mapping of more than a name")
    return Named(f"{function[0]}({argument})", parse(right)) if function else parse(right)


def _equation(sides: list[list[Token]], parse: Callable[[list[Token]], Answer]) -> Answer:
    left, right = sides[0], sides[-1]
    name = name_of(left) or (name_of_matrix(left) if right[-1].kind == "end" else "")
    if left[0].text == "lim":
        name = "".join(token.text for token in left)
        sides = [left, *(side for side in sides[1:] if side[0].text != "lim")]
    if name and _steps_agree(sides[1:]):
        value = parse(right)
        others = [name_of(side) for side in sides[1:-1]]
        if all(others) and isinstance(value, Scalar) and not symbols(value.tree):
            name = " = ".join(sorted({name, *others}))  # x = y = 1 states more than x = 1
        return Named(name, value)
    if len(sides) == 2 and name_of(right):
        value = parse(left)
        if isinstance(value, Scalar) and ("(" in name_of(right) or not symbols(value.tree)):
            return Named(name_of(right), value)
    if len(sides) == 2 and (names := names_of(left)):
        return with_names(names, parse(right))
    if _steps_agree(sides) and not any(symbols(_expression(side)) for side in sides):
        return Named("", parse(right))  # 2 + 3 = 5 states 5
    return Equation(tuple(_expression(side) for side in sides), _unit_of(sides))


def with_names(names: list[str], value: Answer) -> Answer:
    """Return a tuple, or each of a list of tuples, as the values of its names; any other value as it is."""
    entries: tuple[Answer, ...] = ()
    if isinstance(value, Bracketed) and value.opening == "(":
        entries = value.items
    elif isinstance(value, Matrix) and {len(row) for row in value.rows} == {1}:
        entries = tuple(row[0] for row in value.rows)
    if len(names) == len(entries) > 1:
        return Record(tuple(map(Named, names, entries)), in_tuple=True)
    if isinstance(value, Listing):
        return replace(value, items=tuple(with_names(names, item) for item in value.items))
    return value


def _steps_agree(sides: list[list[Token]]) -> bool:
    """Return whether the numbers in a chain are one number: those of 41 = 42 are not."""
    if len(sides) == 1:
        return True
    numbers = [tree for tree in map(_expression, sides) if not symbols(tree)]
    return all(same_value(tree, numbers[-1], Budget()) for tree in numbers[:-1])


def _expression(tokens: list[Token]) -> Tree:
    quantity = split_quantity(tokens)
    tree = parse_tokens(quantity.number)
    scale = Fraction(quantity.scale, 100 if quantity.percent else 1)
    return tree if scale == 1 else ("mul", (tree, ("num", scale)))


def _bound(tokens: list[Token]) -> Tree:
    """Return one side of an inequality; `UnparsedError` for p > 3 prime, where a word is a condition."""
    if tokens[-1].kind == "word" and not split_quantity(tokens).unit:
        raise UnparsedError(f"{tokens[-1].text[:40]!r} after an inequality")
    return _expression(tokens)


def _inequality(sides: list[list[Token]], signs: list[str]) -> Inequality:
    if len(signs) > 2:
        raise UnparsedError("a chain of more than two inequalities")
    names = [name_of(side) for side in sides]
    if len(signs) == 1 and names[1] and not names[0]:  # 3 > x
        sides, signs, names = sides[::-1], [MIRRORED_SIGN[signs[0]]], names[::-1]
    trees: list[Tree] = [
        ("sym", name) if name and at == _NAMED_SIDE[len(signs)] else _bound(side)
        for at, (side, name) in enumerate(zip(sides, names, strict=True))
    ]
    one_way = len(signs) == 1 or set(signs) <= {"<", "≤"} or set(signs) <= {">", "≥"}
    name = names[_NAMED_SIDE[len(signs)]] if one_way else ""
    return Inequality(tuple(trees), tuple(signs), name, _unit_of(sides))


def _unit_of(sides: list[list[Token]]) -> str:
    """Return the unit of the first side that ends in words: cm in x > 3 cm; "" without a unit."""
    measured = (side for side in sides if side[-1].kind == "word")
    return next((split_quantity(side).unit for side in measured), "")


# Number of signs → the side that holds the name: the first in x < 5, the second in 2 < x < 5.
_NAMED_SIDE = {1: 0, 2: 1}
