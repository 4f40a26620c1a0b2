"""The factors of a term → their product, in which matrices keep their order."""

from erce.verify.answers.tree import Tree

_EXPONENTS = (("neg", ("num", 1)), ("sym", "T"))  # of an inverse and a transpose
_PRODUCT = "product of matrices"


def in_order(factors: list[Tree]) -> Tree:
    """Return the product of factors.

    Capital letters keep their order if there are two at least and one has ⁻¹ or ^T: they are matrices.

    >>> in_order([("sym", "x"), ("sym", "y")])
    ('mul', (('sym', 'x'), ('sym', 'y')))
    """
    matrices = [factor for factor in factors if _is_matrix(factor)]
    if len(matrices) < 2 or not any(factor[0] == "pow" for factor in matrices):
        return "mul", tuple(factors)
    product: Tree = ("apply", _PRODUCT, tuple(matrices))
    others = [factor for factor in factors if not _is_matrix(factor)]
    return ("mul", (*others, product)) if others else product


def power_of_product(base: Tree, exponent: Tree) -> Tree:
    """Return base ** exponent; the inverse and the transpose of a product turn its order around."""
    if exponent in _EXPONENTS and base[0] == "mul" and all(_is_letter(factor) for factor in base[1]):
        return in_order([("pow", factor, exponent) for factor in reversed(base[1])])
    return "pow", base, exponent


def _is_matrix(factor: Tree) -> bool:
    return _is_letter(factor) or (factor[0] == "pow" and factor[2] in _EXPONENTS and _is_letter(factor[1]))


def _is_letter(factor: Tree) -> bool:
    return factor[0] == "sym" and len(factor[1]) == 1 and factor[1].isupper()
