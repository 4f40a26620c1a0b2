"""Expression trees: their nodes (`parse_scalar` lists the kinds), their symbols, and the choice of ±."""

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
    """Return the names of the free symbols, without the indices of sums and products.

    >>> symbols(("sum", "k", ("num", 1), ("sym", "n"), ("sym", "k")))
    {'n'}
    """
    return names(tree) - {node[1] for node in nodes(tree) if node[0] in ("sum", "prod")}


def names(tree: Tree) -> set[str]:
    """Return the names of all symbols and indices."""
    return {node[1] for node in nodes(tree) if node[0] in ("sym", "sum", "prod")}


def infinite_sign(tree: Tree) -> int:
    """Return 1 for ∞, -1 for -∞, 0 for anything else."""
    return 1 if tree == INFINITY else -1 if tree == NEGATIVE_INFINITY else 0


def integer(tree: Tree) -> int | None:
    """Return the integer that the tree writes, None for anything else."""
    if tree[0] == "neg":
        below = integer(tree[1])
        return None if below is None else -below
    return tree[1] if tree[0] == "num" and type(tree[1]) is int else None


def with_sign(tree: Tree, sign: int) -> Tree:
    """Return the tree with `sign` (1 or -1) for every ± and the opposite sign for every ∓.

    >>> with_sign(("pm", 1, ("num", 3)), -1)
    ('neg', ('num', 3))
    """
    if tree[0] == "pm":
        below = with_sign(tree[2], sign)
        return below if sign == tree[1] else ("neg", below)
    return tuple(_part_with_sign(part, sign) for part in tree)


def with_both_signs(tree: Tree) -> tuple[Tree, ...]:
    """Return both values of a tree with ±, or the tree alone."""
    return (with_sign(tree, 1), with_sign(tree, -1)) if contains(tree, "pm") else (tree,)


def substituted(tree: Tree, name: str, value: Tree) -> Tree:
    """Return the tree with a value for a free symbol.

    >>> substituted(("neg", ("sym", "t")), "t", ("num", 2))
    ('neg', ('num', 2))
    """
    return replaced(tree, ("sym", name), value)


def renamed(tree: Tree, old: list[str], new: list[str]) -> Tree:
    """Return the tree with new names for some symbols, all at once.

    >>> renamed(("add", (("sym", "x"), ("sym", "y"))), ["x", "y"], ["y", "x"])
    ('add', (('sym', 'y'), ('sym', 'x')))
    """
    for at, name in enumerate(old):
        tree = substituted(tree, name, ("sym", f"@{at}"))
    for at, name in enumerate(new):
        tree = substituted(tree, f"@{at}", ("sym", name))
    return tree


def replaced(tree: Tree, leaf: Tree, value: Tree) -> Tree:
    """Return the tree with a value for each leaf of one kind and name."""
    if tree == leaf:
        return value
    if tree[0] in _LEAVES:
        return tree
    return tuple(_part_replaced(part, leaf, value) for part in tree)


def _part_replaced(part: Any, leaf: Tree, value: Tree) -> Any:
    if type(part) is not tuple:
        return part
    if part and type(part[0]) is str:
        return replaced(part, leaf, value)
    return tuple(replaced(tree, leaf, value) for tree in part)


_LEAVES = frozenset({"num", "dec", "sym", "const", "deg"})


def _part_with_sign(part: Any, sign: int) -> Any:
    if type(part) is not tuple:
        return part
    if part and type(part[0]) is str:
        return with_sign(part, sign)
    return tuple(with_sign(tree, sign) for tree in part)


def determinant(rows: list[list[Tree]]) -> Tree:
    """Return the determinant of a square matrix, expanded along its first row."""
    if len(rows) == 1:
        return rows[0][0]
    terms = list[Tree]()
    for column, entry in enumerate(rows[0]):
        minor = determinant([[*row[:column], *row[column + 1 :]] for row in rows[1:]])
        term: Tree = ("mul", (entry, minor))
        terms.append(("neg", term) if column % 2 else term)
    return "add", tuple(terms)
