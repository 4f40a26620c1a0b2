"""A sum such as 2i - j + 3k → the vector of its components."""

from erce.verify.answers.compare.same_value import same_value
from erce.verify.answers.limits import Budget
from erce.verify.answers.tree import Tree, names, replaced, substituted
from erce.verify.answers.values import Bracketed, Scalar

_AXES = ("#i", "j", "k")


def vector_of(scalar: Scalar, size: int, budget: Budget) -> Bracketed | None:
    """Return the vector of 2 or 3 components that an expression linear in i, j and k writes; None for others.

    A multiple of one of the three alone is no vector: 4i is a complex number.
    """
    tree = replaced(scalar.tree, ("const", "i"), ("sym", _AXES[0]))
    axes = _AXES[:size]
    written = names(tree) & set(_AXES)
    if size not in (2, 3) or scalar.unit or len(written) < 2 or not written <= set(axes):
        return None
    components = [_component(tree, axis, axes) for axis in axes]
    terms = (("mul", (("sym", axis), part)) for axis, part in zip(axes, components, strict=True))
    if not same_value(tree, ("add", tuple(terms)), budget):
        return None
    return Bracketed("(", tuple(map(Scalar, components)), ")")


def _component(tree: Tree, axis: str, axes: tuple[str, ...]) -> Tree:
    for name in axes:
        tree = substituted(tree, name, ("num", int(name == axis)))
    return tree
