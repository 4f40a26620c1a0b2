"""Tuples, ratios, values of several names, lists, sets, matrices: readers and comparisons."""

from dataclasses import dataclass, replace
from string import ascii_letters
from typing import ClassVar

from erce.verify.answers.comparison import (
    COMPARISONS,
    Comparison,
    Value,
    expand_plus_minus,
    letter_of,
    name_of,
    names_of,
    separated,
    sides_of,
    stated,
)
from erce.verify.answers.expression import join_digit_groups, parse_tokens
from erce.verify.answers.limits import MAX_ITEMS, TooLargeError, UnparsedError
from erce.verify.answers.number import Quantity
from erce.verify.answers.relations import RealSet
from erce.verify.answers.tokens import Token, enclosed, split, split_at_sign
from erce.verify.answers.tree import Tree
from erce.verify.answers.written import is_nothing

_NAMED_KINDS = frozenset({"value", "relation", "interval"})
_COORDINATES = (("r", r"\theta"), ("r", r"\theta", "z"), (r"\rho", r"\theta", r"\phi"))
_SAME_BRACKETS = {"⟨": "(", "⟩": ")"}
_ENVIRONMENTS = frozenset({"matrix", "pmatrix", "bmatrix", "Bmatrix", "smallmatrix", "array"})
Rows = tuple[tuple[Tree, ...], ...]


@dataclass(frozen=True, slots=True)
class Tuple:
    r"""Entries in order, with their brackets; `names` are theirs if they have some.

    Of (x, y) = (2, 5) and of x = 2, y = 5 an answer may leave out the names. `interval` is what a pair
    without names may be too: (2, 5) is a point or the numbers between 2 and 5; so no bare list equals it.
    """

    kind: ClassVar[str] = "tuple"
    brackets: tuple[str, str]
    items: tuple[Value, ...]
    names: tuple[str, ...] = ()
    interval: RealSet | None = None

    def accepts(self, tokens: list[Token], comparison: Comparison) -> bool:
        """Return whether the tokens write the same entries: in brackets, with names, or as a bare list.

        A bare list must have the entries in order, and is refused for what may be an interval.
        """
        if self.interval and any(token.text in COMPARISONS or token.text == "in" for token in tokens):
            return self.interval.accepts(tokens, comparison)
        if any(token.text == "=" for token in tokens):
            return self._accepts_names(tokens, comparison)
        bracketed = entries_of(tokens)
        if bracketed:
            brackets, parts = bracketed
            return brackets == self.brackets and comparison.accepts_in_order(self.items, parts)
        parts, separator = separated(tokens)
        if len(parts) < 2 or separator == "or" or self.interval or self.brackets != ("(", ")"):
            raise UnparsedError(f"no {self.kind}")
        return comparison.accepts_in_order(self.items, parts)

    def _accepts_names(self, tokens: list[Token], comparison: Comparison) -> bool:
        """Compare (x, y) = (2, 5), or x = 2, y = 5."""
        sides, signs = sides_of(tokens)
        names = names_of(sides[0])
        if signs == ["="] and names:
            return self._renamed(names, names).accepts(sides[1], comparison)
        if signs == ["="] and not self.names and name_of(sides[0]) and enclosed(sides[1]):  # P = (2, 5)
            return self.accepts(sides[1], comparison)
        parts, separator = separated(tokens)
        named = values_of_names(parts)
        if named is None or separator == "or" or len(set(named[0])) < len(named[0]):
            raise UnparsedError("no values of names")
        names, values = named
        items = self._renamed(names, ()).items
        return self.brackets == ("(", ")") and comparison.accepts_in_order(items, values)

    def _renamed(self, names: tuple[str, ...], default: tuple[str, ...]) -> "Tuple":
        """Return this tuple with its entries in the order of `names`.

        They now stand in the order of their own names, else in the usual order of `names`, else in `default`.
        """
        own = self.names or _usual_order(names) or default
        if sorted(own) != sorted(names) or len(own) != len(self.items):
            raise UnparsedError(f"values of {', '.join(names)}")
        at = {name: at for at, name in enumerate(own)}
        items = tuple(self.items[at[name]] for name in names)
        return replace(self, items=items, names=names, interval=None)


def _usual_order(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the order that names have by themselves: x, y; a, b, c; x_1, x_2; r, θ; () if they have none."""
    ordered = tuple(sorted(names, key=lambda name: (len(name), name)))
    if len(set(map(letter_of, names))) == 1 or "".join(ordered) in ascii_letters:
        return ordered
    return next((usual for usual in _COORDINATES if set(usual) == set(names)), ())


class Ratio(Tuple):
    """Terms between colons, as in 3:2 or 1:2:3, or with "to" between them; a multiple is another ratio."""

    kind: ClassVar[str] = "ratio"


def entries_of(tokens: list[Token]) -> tuple[tuple[str, str], list[list[Token]]] | None:
    """Return the brackets and the entries of a tuple, or two colons and the terms of a ratio.

    None if the tokens are neither: words, "or" and percent signs are not part of a ratio's terms.
    """
    terms, signs = split(tokens, lambda token: token.kind != "command" and token.text in (":", "to"))
    inside = [token for term in terms for token in term]
    if signs and not any(token.kind in ("word", "and") or token.is_sign("%", "\\$") for token in inside):
        return (":", ":"), terms
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
    if len(parts) == 1 and [token.text for token in parts[0][:1] + parts[0][-1:]] == ["cases", "cases"]:
        parts, _ = split(parts[0][1:-1], lambda token: token.text in ("\\\\", ","))
        parts = [[token for token in part if token.text != "&"] for part in parts if part]
    for part in parts:
        sides, signs = sides_of(part)
        if signs != ["="] or not name_of(sides[0]):
            return None
        names.append(name_of(sides[0]))
        values.append(sides[1])
    return tuple(names), values


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows of expressions."""

    kind: ClassVar[str] = "matrix"
    rows: Rows

    def accepts(self, tokens: list[Token], comparison: Comparison) -> bool:
        """Return whether the tokens write a matrix of the same entries."""
        rows = read_matrix(tokens).rows
        return _sizes(rows) == _sizes(self.rows) and all(
            comparison.same(entry, other)
            for row, its in zip(self.rows, rows, strict=True)
            for entry, other in zip(row, its, strict=True)
        )


def read_matrix(tokens: list[Token]) -> Matrix:
    r"""Return the matrix, which may be transposed and have a number before or behind it.

    (1, 2), \langle 1, 2 \rangle and (1, 2)^T are columns. Sums and products of matrices are not read.
    """
    if enclosed(tokens) and tokens[0].kind == "sign" and not entries_of(tokens):
        tokens = tokens[1:-1]
    (first, *others), signs = split(tokens, lambda token: token.is_sign("+", "-"))
    if signs and (first or len(others) > 1):
        raise UnparsedError("a sum of matrices")
    tokens = others[0] if signs else first
    written = [token.text for token in tokens if token.text not in ("{", "}")]
    is_transposed = written[-2:] in (["^", "T"], ["^", "top"], ["^", "intercal"])
    if is_transposed:
        tokens = tokens[: max(at for at, token in enumerate(tokens) if token.text == "^")]
    start = next((at for at, token in enumerate(tokens) if token.kind == "begin"), 0)
    end = next((at + 1 for at, token in enumerate(tokens) if token.kind == "end"), len(tokens))
    factor = [token for token in tokens[:start] + tokens[end:] if not token.is_sign("*", "×")]
    if (column := entries_of(tokens)) and column[0] == ("(", ")"):
        rows = tuple((parse_tokens(entry),) for entry in column[1])
    else:
        rows = _rows(tokens[start:end])
        rows = tuple(zip(*rows, strict=True)) if is_transposed and len(set(_sizes(rows))) == 1 else rows
    if not factor and not signs:
        return Matrix(rows)
    number = parse_tokens([*signs, *(factor or [Token("number", "1")])])
    return Matrix(tuple(tuple(("mul", (number, entry)) for entry in row) for row in rows))


def _sizes(rows: Rows) -> list[int]:
    return [len(row) for row in rows]


def _rows(tokens: list[Token]) -> Rows:
    if not enclosed(tokens) or tokens[0].kind != "begin":
        raise UnparsedError("no matrix")
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


@dataclass(frozen=True, slots=True)
class Values:
    """Several values: a bare list, joined by ",", "and", "or" or "±", or a set in braces, joined by "{".

    `name` is theirs if they have one: x in x = 2 or x = 3.
    """

    kind: ClassVar[str] = "list"
    items: tuple[Value, ...]
    joined: str = ","
    name: str = ""

    def accepts(self, tokens: list[Token], comparison: Comparison) -> bool:
        """Return whether the tokens write the same values, each as often, in any order.

        Names may be left out, and be added if all are of one letter: x = 2 or x = 5, x_1 = 2 and x_2 = 5, but
        not x = 2, y = 5.
        """
        named = any(item.kind in _NAMED_KINDS for item in self.items)
        parts, joined, letter = parts_of(tokens, one_letter=not named)
        if letter and self.name not in ("", letter):
            return False
        if (len(parts) < 2 or len(self.items) < 2) and (joined == "{") != (self.joined == "{"):
            raise UnparsedError("one value where several should stand")
        if len(parts) != len(self.items):
            return False
        if self._may_be_statements and {joined, self.joined} in ({"or", "and"}, {"or", ","}):
            return False  # A or C, A and C
        return self._accepts_in_any_order(parts, comparison)

    @property
    def _may_be_statements(self) -> bool:
        """Return whether "or" and "and" differ between these values: not between numbers and points."""
        return any(item.kind not in ("expression", "tuple") for item in self.items) or all(
            isinstance(item, Quantity) and item.tree[0] == "sym" for item in self.items
        )

    def _accepts_in_any_order(self, parts: list[list[Token]], comparison: Comparison) -> bool:
        items = list(self.items)
        for part in parts:
            at = next((at for at, item in enumerate(items) if comparison.accepts_item(item, part)), None)
            if at is None:
                return False
            del items[at]
        return True


def parts_of(tokens: list[Token], *, one_letter: bool) -> tuple[list[list[Token]], str, str]:
    """Return the values that the tokens list, what joins them, and the letter that names them.

    A value with ± is two values. With `one_letter`, values of several names are an `UnparsedError`.
    """
    tokens, name = _split_name(tokens)
    braces = enclosed(tokens) and (tokens[0].text, tokens[-1].text) in (("\\{", "\\}"), ("{", "}"))
    inner = tokens[1:-1] if braces else tokens
    if not inner or is_nothing(tokens):
        return [], "{", name
    parts, joined = separated(join_digit_groups(inner))
    letters, values = {name} - {""}, list[list[Token]]()
    for part in parts:
        value = part
        if one_letter and any(token.text == "=" for token in part):
            own, sides = stated(part)
            if not own or len(sides) > 1:
                raise UnparsedError("an equation in a list")
            letters.add(letter_of(own))
            value = sides[0]
        values.extend(expand_plus_minus(value))
    if len(letters) > 1:
        raise UnparsedError("values of several names")
    if len(values) > len(parts):
        joined = "±"
    return values, "{" if braces else joined, letters.pop() if letters else ""


def _split_name(tokens: list[Token]) -> tuple[list[Token], str]:
    r"""Return the tokens without "x \in" or "(x, y) =" before them, and the name."""
    sides, signs = sides_of(tokens)
    if signs and signs[0] in ("in", "=") and len(sides) == 2:
        names = names_of(sides[0])
        if names:
            return sides[1], f"({','.join(names)})"
        if signs == ["in"] or (name_of(sides[0]) and enclosed(sides[1])):  # x in A, S = {1, 2}
            name, sides = stated(tokens)
            return sides[0], letter_of(name)
    return tokens, ""
