"""Expression trees (`parse_scalar` lists their nodes) → their symbols, their parts, and ± chosen."""

from collections.abc import Iterator
from typing import Any

# Nested tuples: ("num", 2), ("add", (("sym", "x"), ("num", 1))). The first entry says what the others are.
Tree = tuple[Any, ...]

INFINITY: Tree = ("const", "inf")
NEGATIVE_INFINITY: Tree = ("neg", INFINITY)


def children(tree: Tree) -> Iterator[Tree]:
    """The trees directly below."""
    for part in tree[1:]:
        if type(part) is tuple:
            if part and type(part[0]) is str:
                yield part
            else:
                yield from part


def nodes(tree: Tree) -> Iterator[Tree]:
    """Every node, the tree itself first."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(children(node))


def contains(tree: Tree, kind: str) -> bool:
    """Whether a node of that kind is in it."""
    return any(node[0] == kind for node in nodes(tree))


def symbols(tree: Tree) -> set[str]:
    """The names of its free symbols; the index of a sum or product is none.

    >>> symbols(("sum", "k", ("num", 1), ("sym", "n"), ("sym", "k")))
    {'n'}
    """
    bound = {node[1] for node in nodes(tree) if node[0] in ("sum", "prod")}
    return {node[1] for node in nodes(tree) if node[0] == "sym"} - bound


def infinite_sign(tree: Tree) -> int:
    """1 for ∞, -1 for -∞, 0 for anything else."""
    return 1 if tree == INFINITY else -1 if tree == NEGATIVE_INFINITY else 0


def with_sign(tree: Tree, sign: int) -> Tree:
    """The tree with every ± read as `sign` (1 or -1) and every ∓ as its opposite.

    >>> with_sign(("pm", 1, ("num", 3)), -1)
    ('neg', ('num', 3))
    """
    if tree[0] == "pm":
        below = with_sign(tree[2], sign)
        return below if sign == tree[1] else ("neg", below)
    return tuple(_part_with_sign(part, sign) for part in tree)


def _part_with_sign(part: Any, sign: int) -> Any:
    if type(part) is not tuple:
        return part
    if part and type(part[0]) is str:
        return with_sign(part, sign)
    return tuple(with_sign(tree, sign) for tree in part)
