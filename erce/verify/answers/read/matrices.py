"""Tokens with environments → a matrix; sums and products of matrices are computed."""

from collections.abc import Callable
from dataclasses import replace

from erce.verify.answers.limits import MAX_ITEMS, TooLargeError, UnparsedError
from erce.verify.answers.read.brackets import depth_change, enclosed, split
from erce.verify.answers.read.lexer import Token
from erce.verify.answers.read.relations import RELATIONS
from erce.verify.answers.read.scalar import parse_tokens
from erce.verify.answers.tree import Tree
from erce.verify.answers.values import Answer, Bracketed, Listing, Matrix, Named, Record, Scalar, Words

MAX_COMPUTED_SIZE = 6  # rows and columns of matrices that are added or multiplied
MAX_MATRICES = 4  # that are added or multiplied
_ENVIRONMENTS = frozenset(
    {"matrix", "pmatrix", "bmatrix", "Bmatrix", "vmatrix", "Vmatrix", "smallmatrix", "array"}
)
Parse = Callable[[list[Token]], Answer]


def parse_matrix(tokens: list[Token], parse: Parse) -> Answer:
    r"""Return the matrix or, for `cases`, the list of its rows or pieces; `parse` reads an entry.

    Sums, differences and products of matrices, numbers times matrices, and transposes are computed.
    """
    if tokens[0].text == "det" and len(tokens) > 1:
        matrix = parse_matrix(tokens[1:], parse)
        return replace(matrix, bars=True) if isinstance(matrix, Matrix) else matrix
    if (untransposed := without_transpose(tokens)) is not tokens:
        matrix = parse_matrix(untransposed, parse)
        return Matrix(tuple(zip(*_rows_of_one_length(matrix), strict=True)))
    if tokens[0].kind == "begin" and tokens[0].text in ("cases", "aligned") and _closes_all(tokens):
        rows = _rows(tokens[1:-1])
        piecewise = tokens[0].text == "cases" and _is_piecewise(rows)
        return (_pieces if piecewise else _cases)(rows, parse)
    if sum(token.kind == "begin" for token in tokens) > MAX_MATRICES and not _closes_all(tokens):
        raise TooLargeError(f"arithmetic with more than {MAX_MATRICES} matrices")
    tokens = _without_brackets(tokens)
    if tokens[0].kind == "begin" and _closes_all(tokens):
        return _matrix(tokens, parse)
    terms, signs = split(tokens, lambda token: token.kind == "sign" and token.text in "+-")
    if not terms[0]:
        terms = terms[1:]
    else:
        signs = [Token("sign", "+"), *signs]
    total: Matrix | None = None
    for term, sign in zip(terms, signs, strict=True):
        matrix = _product(term, parse, negative=sign.text == "-")
        total = matrix if total is None else _sum(total, matrix)
    if total is None:
        raise UnparsedError("no matrix")
    return total


def without_transpose(tokens: list[Token]) -> list[Token]:
    r"""Return the bracket or the environment before a ^T or ^{\top} at the end; else the tokens."""
    at = next((at for at in range(len(tokens) - 1, 0, -1) if tokens[at].is_sign("^")), 0)
    exponent = [token.text for token in tokens[at + 1 :] if token.text not in ("{", "}")]
    return tokens[:at] if exponent in (["T"], ["top"]) and enclosed(tokens[:at]) else tokens


def _rows_of_one_length(matrix: Answer) -> tuple[tuple[Answer, ...], ...]:
    if not isinstance(matrix, Matrix) or matrix.bars or len({len(row) for row in matrix.rows}) != 1:
        raise UnparsedError("the transpose of no matrix")
    return matrix.rows


def _closes_all(tokens: list[Token]) -> bool:
    depth = 0
    for token in tokens[:-1]:
        depth += depth_change(token)
        if depth == 0:
            return False
    return tokens[-1].kind == "end"


def _without_brackets(tokens: list[Token]) -> list[Token]:
    """Remove the brackets around a plain `matrix` or `array`."""
    bracketed = len(tokens) > 3 and tokens[0].text in ("(", "[") and tokens[-1].text in (")", "]")
    return tokens[1:-1] if bracketed and tokens[1].kind == "begin" and _closes_all(tokens[1:-1]) else tokens


def _rows(tokens: list[Token]) -> list[list[list[Token]]]:
    rows, _ = split(tokens, lambda token: token.text == "\\\\")
    cells = [split(row, lambda token: token.text == "&")[0] for row in map(_without_rules, rows) if row]
    if sum(map(len, cells)) > MAX_ITEMS:
        raise TooLargeError(f"a matrix of more than {MAX_ITEMS} entries")
    return cells


def _without_rules(row: list[Token]) -> list[Token]:
    return [token for token in row if token.text != "hline"]


def _matrix(tokens: list[Token], parse: Parse) -> Matrix:
    name, inner = tokens[0].text, tokens[1:-1]
    if name not in _ENVIRONMENTS or tokens[-1].text != name:
        raise UnparsedError(f"the environment {name!r}")
    if name == "array" and inner and inner[0].text == "{":
        closing = next((at for at, token in enumerate(inner) if token.text == "}"), 0)
        inner = inner[closing + 1 :]
    rows = tuple(tuple(parse(cell) for cell in row) for row in _rows(inner))
    if not rows:
        raise UnparsedError("a matrix without entries")
    return Matrix(rows, bars=name in ("vmatrix", "Vmatrix"))


def _is_piecewise(rows: list[list[list[Token]]]) -> bool:
    """Return whether every row is a value and a condition, and not an equation that is set at its sign."""
    return all(len(row) == 2 and all(row) and row[1][0].text not in RELATIONS for row in rows)


def _pieces(rows: list[list[list[Token]]], parse: Parse) -> Listing:
    """Return a function in pieces as a list of pairs, each a value and its condition, in any order."""
    return Listing(
        tuple(
            Bracketed("(", (parse(_without_comma(value)), _condition(_without_comma(condition), parse)), ")")
            for value, condition in rows
        ),
        "and",
    )


def _condition(tokens: list[Token], parse: Parse) -> Answer:
    """Read "if x > 0", "for x > 0", "x > 0", or a word for all other cases."""
    if tokens[0].kind == "word" and tokens[0].text.casefold() in ("if", "for", "when", "where"):
        tokens = tokens[1:]
    if [token.text.casefold() for token in tokens] in (["otherwise"], ["else"], ["elsewhere"]):
        return Words("otherwise")
    return parse(tokens)


def _without_comma(tokens: list[Token]) -> list[Token]:
    return tokens[:-1] if tokens[-1].text in (",", ".") else tokens


def _cases(cells: list[list[list[Token]]], parse: Parse) -> Answer:
    rows = [[token for cell in row for token in cell] for row in cells]
    items = tuple(parse(row[:-1] if row[-1].text == "," else row) for row in rows if row)
    named = tuple(item for item in items if isinstance(item, Named))
    return Record(named) if len(named) == len(items) else Listing(items, "and")


def _product(tokens: list[Token], parse: Parse, *, negative: bool) -> Matrix:
    """Return the value of one term: matrices side by side, with an expression before or after them."""
    matrix: Matrix | None = None
    factor: list[Token] = []
    start = depth = 0
    for at, token in enumerate(tokens):
        if token.kind == "begin" and depth == 0:
            start = at
        depth += (token.kind == "begin") - (token.kind == "end")
        if token.kind == "end" and depth == 0:
            right = _matrix(tokens[start : at + 1], parse)
            matrix = right if matrix is None else _times(matrix, right)
        elif depth == 0:
            factor.append(token)
    while factor and factor[-1].text in ("*", "×"):
        factor.pop()
    scale: Tree = parse_tokens(factor) if factor else ("num", 1)
    if matrix is None:
        raise UnparsedError("a sum of a matrix and a number")
    scale = ("neg", scale) if negative else scale
    if scale == ("num", 1):
        return matrix
    return Matrix(tuple(tuple(Scalar(("mul", (scale, tree))) for tree in row) for row in _entries(matrix)))


def _entries(matrix: Matrix) -> list[list[Tree]]:
    """Return the entries of a matrix that can be added or multiplied: a small one of expressions."""
    if matrix.bars or len(matrix.rows) > MAX_COMPUTED_SIZE or len({len(row) for row in matrix.rows}) != 1:
        raise UnparsedError("arithmetic with a matrix that is too large, ragged or a determinant")
    rows = [[entry.tree for entry in row if isinstance(entry, Scalar)] for row in matrix.rows]
    if len(rows[0]) > MAX_COMPUTED_SIZE or [len(row) for row in rows] != [len(row) for row in matrix.rows]:
        raise UnparsedError("arithmetic with a matrix whose entries are not expressions")
    return rows


def _sum(left: Matrix, right: Matrix) -> Matrix:
    above, below = _entries(left), _entries(right)
    if len(above) != len(below) or len(above[0]) != len(below[0]):
        raise UnparsedError("a sum of matrices of different sizes")
    return Matrix(
        tuple(
            tuple(Scalar(("add", pair)) for pair in zip(row, other, strict=True))
            for row, other in zip(above, below, strict=True)
        )
    )


def _times(left: Matrix, right: Matrix) -> Matrix:
    above, below = _entries(left), _entries(right)
    if len(above[0]) != len(below):
        raise UnparsedError("a product of matrices whose sizes do not fit")
    columns = list(zip(*below, strict=True))
    return Matrix(
        tuple(
            tuple(
                Scalar(("add", (*(("mul", pair) for pair in zip(row, column, strict=True)), ("num", 0))))
                for column in columns
            )
            for row in above
        )
    )
