"""A matrix: how it is read, sums and products computed, and when another one is the same."""

from dataclasses import dataclass
from typing import ClassVar

from erce.verify.answers.comparison import Comparison
from erce.verify.answers.expression import join_digit_groups, parse_tokens
from erce.verify.answers.limits import MAX_ITEMS, TooLargeError, UnparsedError
from erce.verify.answers.tokens import Token, depth_change, split
from erce.verify.answers.tree import Tree
from erce.verify.answers.tuples import entries_of

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
