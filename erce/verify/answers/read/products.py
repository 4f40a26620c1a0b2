"""The factors of a term → their product, in which matrices and vectors keep their order."""

from itertools import groupby

from erce.verify.answers.tree import Tree

_EXPONENTS = (("neg", ("num", 1)), ("sym", "T"))  # of an inverse and a transpose
_PRODUCT, _CROSS_PRODUCT = "product of matrices", "cross product"


def in_order(factors: list[Tree]) -> Tree:
    """Return the product of factors.

    Capital letters keep their order if there are two at least and one has ⁻¹ or ^T, or one comes back after
    another, as in ABA: they are matrices.

    >>> in_order([("sym", "x"), ("sym", "y")])
    ('mul', (('sym', 'x'), ('sym', 'y')))
    """
    matrices = [factor for factor in factors if _is_matrix(factor)]
    runs = [factor for factor, _ in groupby(matrices)]
    if len(matrices) < 2 or not (
        any(factor[0] == "pow" for factor in matrices) or len(set(runs)) < len(runs)
    ):
        return "mul", tuple(factors)
    return _ordered(factors)


def with_orders_kept(terms: list[Tree]) -> list[Tree]:
    """Return the terms of a sum, with the order of capital letters kept if two terms differ in nothing else.

    >>> with_orders_kept([("mul", (("sym", "A"), ("sym", "B"))), ("sym", "A")])
    [('mul', (('sym', 'A'), ('sym', 'B'))), ('sym', 'A')]
    """
    orders = {tuple(filter(_is_letter, _factors(term))) for term in terms}
    orders = {order for order in orders if len(order) > 1}
    if len({tuple(sorted(order)) for order in orders}) == len(orders):
        return terms
    return [_with_order_kept(term) for term in terms]


def cross(left: Tree, right: Tree) -> Tree:
    """Return the product of two vectors, which changes its sign with their order."""
    if repr(left) > repr(right):
        return "neg", ("apply", _CROSS_PRODUCT, (right, left))
    return "apply", _CROSS_PRODUCT, (left, right)


def is_vector(tree: Tree, bold: set[str]) -> bool:
    """Return whether the tree is a vector: a letter in bold or with an arrow, a multiple, or a sum."""
    if tree[0] == "sym":
        return tree[1] in bold or tree[1].startswith("vec:")
    if tree[0] in ("add", "mul"):
        return any(is_vector(part, bold) for part in tree[1])
    return (tree[0] == "neg" and is_vector(tree[1], bold)) or (
        tree[0] == "apply" and tree[1] == _CROSS_PRODUCT
    )


def _ordered(factors: list[Tree]) -> Tree:
    matrices = [factor for factor in factors if _is_matrix(factor)]
    product: Tree = ("apply", _PRODUCT, tuple(matrices))
    others = [factor for factor in factors if not _is_matrix(factor)]
    return ("mul", (*others, product)) if others else product


def power_of_product(base: Tree, exponent: Tree) -> Tree:
    """Return base ** exponent; the inverse and the transpose of a product turn its order around."""
    if exponent in _EXPONENTS and base[0] == "mul" and all(_is_letter(factor) for factor in base[1]):
        return in_order([("pow", factor, exponent) for factor in reversed(base[1])])
    return "pow", base, exponent


def _factors(term: Tree) -> tuple[Tree, ...]:
    if term[0] == "neg":
        return _factors(term[1])
    return term[1] if term[0] == "mul" else (term,)


def _with_order_kept(term: Tree) -> Tree:
    if term[0] == "neg":
        return "neg", _with_order_kept(term[1])
    factors = _factors(term)
    return _ordered(list(factors)) if sum(map(_is_matrix, factors)) > 1 else term


def _is_matrix(factor: Tree) -> bool:
    return _is_letter(factor) or (factor[0] == "pow" and factor[2] in _EXPONENTS and _is_letter(factor[1]))


def _is_letter(factor: Tree) -> bool:
    return factor[0] == "sym" and len(factor[1]) == 1 and factor[1].isupper()
