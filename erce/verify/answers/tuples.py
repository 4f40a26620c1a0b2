"""A tuple, values of several names, a matrix: how they are read, and when another one is the same."""

from dataclasses import dataclass, replace
from typing import ClassVar

from erce.verify.answers.comparison import (
    COMPARISONS,
    Comparison,
    Value,
    name_of,
    names_of,
    separated,
    sides_of,
    stated,
)
from erce.verify.answers.expression import join_digit_groups, parse_tokens
from erce.verify.answers.limits import MAX_ITEMS, TooLargeError, UnparsedError
from erce.verify.answers.relations import RealSet
from erce.verify.answers.tokens import Token, depth_change, enclosed, split, split_at_sign
from erce.verify.answers.tree import Tree

_SAME_BRACKETS = {"⟨": "(", "⟩": ")"}


@dataclass(frozen=True, slots=True)
class Tuple:
    r"""Entries in order, with their brackets; `names` are theirs if they have some.

    Of (x, y) = (2, 5) and of x = 2, y = 5, which is `bare`, an answer may leave out the names. `interval` is
    what a pair without names may be too: (2, 5) is a point or the numbers between 2 and 5, so that no bare
    list 2, 5 equals it.
    """

    kind: ClassVar[str] = "tuple"
    reads_relations: ClassVar[bool] = True
    brackets: tuple[str, str]
    items: tuple[Value, ...]
    names: tuple[str, ...] = ()
    bare: bool = False
    interval: RealSet | None = None

    def accepts(self, tokens: list[Token], comparison: Comparison) -> bool:
        """Return whether the tokens write the same entries: in brackets, with names, or as a bare list.

        A bare list must have the entries in order, and is refused for what may be an interval.
        """
        if self.interval and any(token.text in COMPARISONS for token in tokens):
            return self.interval.accepts(tokens, comparison)
        if any(token.text == "=" for token in tokens):
            return self._accepts_names(tokens, comparison)
        if self.interval and any(token.text == "in" for token in tokens):
            return self.interval.accepts(tokens, comparison)
        bracketed = entries_of(tokens)
        if bracketed:
            brackets, parts = bracketed
            return brackets == self.brackets and comparison.accepts_in_order(self.items, parts)
        parts, separator = separated(tokens)
        if len(parts) < 2 or separator == "or" or self.interval or self.brackets != ("(", ")"):
            raise UnparsedError("no tuple")
        return comparison.accepts_in_order(self.items, parts)

    def _accepts_names(self, tokens: list[Token], comparison: Comparison) -> bool:
        """Compare (x, y) = (2, 5), A = (2, 5), or x = 2, y = 5."""
        sides, signs = sides_of(tokens)
        names = names_of(sides[0])
        if signs == ["="] and names:
            return self._renamed(names).accepts(sides[1], comparison)
        parts, separator = separated(tokens)
        if len(parts) == 1 and not self.bare:
            name, sides = stated(tokens)
            return bool(name) and all(self.accepts(side, comparison) for side in sides)
        named = [stated(part) for part in parts]
        names = tuple(name for name, _ in named)
        if separator == "or" or not all(names) or len(set(names)) < len(names):
            raise UnparsedError("no values of names")
        values = self._renamed(names).items
        return (
            self.brackets == ("(", ")")
            and len(values) == len(named)
            and all(
                comparison.accepts_item(value, side)
                for value, (_, sides) in zip(values, named, strict=True)
                for side in sides
            )
        )

    def _renamed(self, names: tuple[str, ...]) -> "Tuple":
        """Return the entries in the order of `names`; without names of their own they are x, y or r, θ."""
        own = self.names or tuple(sorted(names, key=lambda name: name.lstrip("\\")))
        if sorted(own) != sorted(names) or len(own) != len(self.items):
            raise UnparsedError(f"values of {', '.join(names)}")
        at = {name: at for at, name in enumerate(own)}
        items = tuple(self.items[at[name]] for name in names)
        return replace(self, items=items, names=names, interval=None)


def entries_of(tokens: list[Token]) -> tuple[tuple[str, str], list[list[Token]]] | None:
    """Return the brackets and the entries of a tuple; None if the tokens are not two or more in brackets."""
    if not enclosed(tokens) or tokens[0].text in ("{", "\\{") or tokens[-1].text in ("}", "\\}"):
        return None
    inner = tokens[1:-1]
    parts = split_at_sign(inner, ";")
    if len(parts) == 1:
        parts = split_at_sign(inner, ",")
    if len(parts) > MAX_ITEMS:
        raise TooLargeError(f"a tuple of more than {MAX_ITEMS}")
    if len(parts) == 1:
        return None
    opening, closing = tokens[0].text, tokens[-1].text
    return (_SAME_BRACKETS.get(opening, opening), _SAME_BRACKETS.get(closing, closing)), parts


def values_of_names(parts: list[list[Token]]) -> tuple[tuple[str, ...], list[list[Token]]] | None:
    """Return the names and the values of x = 2, y = 5; None unless each part has a name."""
    names, values = list[str](), list[list[Token]]()
    for part in parts:
        sides, signs = sides_of(part)
        if signs != ["="] or not name_of(sides[0]):
            return None
        names.append(name_of(sides[0]))
        values.append(sides[1])
    return tuple(names), values


# ---------------------------------------------------------------- matrices


MAX_COMPUTED_SIZE = 6  # rows and columns of matrices that are added or multiplied
MAX_MATRICES = 4  # that are added or multiplied
_ENVIRONMENTS = frozenset({"matrix", "pmatrix", "bmatrix", "Bmatrix", "smallmatrix", "array"})
Rows = tuple[tuple[Tree, ...], ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows of expressions."""

    kind: ClassVar[str] = "matrix"
    reads_relations: ClassVar[bool] = False
    rows: Rows

    def accepts(self, tokens: list[Token], comparison: Comparison) -> bool:
        """Return whether the tokens write a matrix of the same entries."""
        rows = self._rows_of(tokens)
        return [len(row) for row in rows] == [len(row) for row in self.rows] and all(
            comparison.same(entry, other)
            for row, its in zip(self.rows, rows, strict=True)
            for entry, other in zip(row, its, strict=True)
        )

    def _rows_of(self, tokens: list[Token]) -> Rows:
        """Return the rows that the tokens write; those of a column may be written as a point, (1, 2)."""
        bracketed = entries_of(tokens)
        if bracketed and bracketed[0] == ("(", ")") and {len(row) for row in self.rows} == {1}:
            return tuple((parse_tokens(part),) for part in bracketed[1])
        return read_matrix(tokens).rows


def read_matrix(tokens: list[Token]) -> Matrix:
    """Return the matrix; sums, differences, products and multiples of matrices are computed."""
    if _closes_all(tokens[1:-1]) and (tokens[0].text, tokens[-1].text) in (("(", ")"), ("[", "]")):
        tokens = tokens[1:-1]
    if _closes_all(tokens):
        return Matrix(_rows(tokens))
    if sum(token.kind == "begin" for token in tokens) > MAX_MATRICES:
        raise TooLargeError(f"arithmetic with more than {MAX_MATRICES} matrices")
    terms, signs = split(tokens, lambda token: token.kind == "sign" and token.text in "+-")
    terms, texts = (terms[1:], []) if not terms[0] else (terms, ["+"])
    total: Rows | None = None
    for term, sign in zip(terms, [*texts, *(sign.text for sign in signs)], strict=True):
        rows = _product(term, negative=sign == "-")
        total = rows if total is None else _sum(total, rows)
    if total is None:
        raise UnparsedError("no matrix")
    return Matrix(total)


def _closes_all(tokens: list[Token]) -> bool:
    """Return whether the tokens are one environment."""
    if not tokens or tokens[0].kind != "begin" or tokens[-1].kind != "end":
        return False
    depth = 0
    for token in tokens[:-1]:
        depth += depth_change(token)
        if depth == 0:
            return False
    return True


def _rows(tokens: list[Token]) -> Rows:
    name, inner = tokens[0].text, tokens[1:-1]
    if name not in _ENVIRONMENTS or tokens[-1].text != name:
        raise UnparsedError(f"the environment {name!r}")
    if name == "array" and inner and inner[0].text == "{":
        inner = inner[next((at for at, token in enumerate(inner) if token.text == "}"), 0) + 1 :]
    lines, _ = split([token for token in inner if token.text != "hline"], lambda token: token.text == "\\\\")
    cells = [split(line, lambda token: token.text == "&")[0] for line in lines if line]
    if sum(map(len, cells)) > MAX_ITEMS:
        raise TooLargeError(f"a matrix of more than {MAX_ITEMS} entries")
    if not cells:
        raise UnparsedError("a matrix without entries")
    return tuple(tuple(parse_tokens(join_digit_groups(cell)) for cell in row) for row in cells)


def _product(tokens: list[Token], *, negative: bool) -> Rows:
    """Return the value of one term: matrices side by side, with an expression before or after them."""
    rows: Rows | None = None
    factor: list[Token] = []
    start = depth = 0
    for at, token in enumerate(tokens):
        if token.kind == "begin" and depth == 0:
            start = at
        depth += (token.kind == "begin") - (token.kind == "end")
        if token.kind == "end" and depth == 0:
            right = _rows(tokens[start : at + 1])
            rows = right if rows is None else _times(rows, right)
        elif depth == 0:
            factor.append(token)
    while factor and factor[-1].is_sign("*", "×"):
        factor.pop()
    scale: Tree = parse_tokens(factor) if factor else ("num", 1)
    if rows is None:
        raise UnparsedError("a sum of a matrix and a number")
    scale = ("neg", scale) if negative else scale
    if scale == ("num", 1):
        return rows
    return tuple(tuple(("mul", (scale, entry)) for entry in row) for row in _computable(rows))


def _computable(rows: Rows) -> Rows:
    if max(len(rows), len(rows[0])) > MAX_COMPUTED_SIZE or len({len(row) for row in rows}) != 1:
        raise UnparsedError("arithmetic with a matrix that is too large or ragged")
    return rows


def _sum(left: Rows, right: Rows) -> Rows:
    above, below = _computable(left), _computable(right)
    if len(above) != len(below) or len(above[0]) != len(below[0]):
        raise UnparsedError("a sum of matrices of different sizes")
    return tuple(
        tuple(("add", pair) for pair in zip(row, other, strict=True))
        for row, other in zip(above, below, strict=True)
    )


def _times(left: Rows, right: Rows) -> Rows:
    above, below = _computable(left), _computable(right)
    if len(above[0]) != len(below):
        raise UnparsedError("a product of matrices whose sizes do not fit")
    columns = list(zip(*below, strict=True))
    return tuple(
        tuple(
            ("add", (*(("mul", pair) for pair in zip(row, column, strict=True)), ("num", 0)))
            for column in columns
        )
        for row in above
    )
