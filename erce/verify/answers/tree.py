"""Expression trees: their nodes, of the kinds that `expression.parse_scalar` lists, and their symbols."""

from collections.abc import Iterator
from typing import Any

# Nested tuples such as ("add", (("sym", "x"), ("num", 1))); the first entry is the kind of node.
Tree = tuple[Any, ...]

INFINITY: Tree = ("const", "inf")
NEGATIVE_INFINITY: Tree = ("neg", INFINITY)


def children(tree: Tree) -> Iterator[Tree]:
    """Yield the trees directly below."""
    for part in tree[1:]:
        if type(part) is tuple:
            if part and type(part[0]) is str:
                yield part
            else:
                yield from part


def nodes(tree: Tree) -> Iterator[Tree]:
    """Yield every node, the tree itself first."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(children(node))


def contains(tree: Tree, kind: str) -> bool:
    """Return whether the tree has a node of that kind."""
    return any(node[0] == kind for node in nodes(tree))


def symbols(tree: Tree) -> set[str]:
    """Return the names of the symbols.

    >>> symbols(("add", (("sym", "x"), ("num", 1))))
    {'x'}
    """
    return {node[1] for node in nodes(tree) if node[0] == "sym"}


def infinite_sign(tree: Tree) -> int:
    """Return 1 for ∞, -1 for -∞, 0 for anything else."""
    return 1 if tree == INFINITY else -1 if tree == NEGATIVE_INFINITY else 0
