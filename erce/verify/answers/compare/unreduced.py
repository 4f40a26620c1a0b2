"""Typed value → whether a fraction in it can be reduced."""

import math
from collections.abc import Iterator

from erce.verify.answers.tree import Tree, nodes
from erce.verify.answers.values import (
    Answer,
    Bracketed,
    Equation,
    Inequality,
    Listing,
    Matrix,
    Named,
    Ratio,
    Record,
    Scalar,
    SetOperation,
)


def is_unreduced(answer: Answer) -> bool:
    """Return whether a fraction of integers in the answer can be reduced."""
    return any(
        node[0] == "frac"
        and node[1][0] == node[2][0] == "num"
        and math.gcd(int(node[1][1]), int(node[2][1])) > 1
        for tree in _trees(answer)
        for node in nodes(tree)
    )


def _trees(answer: Answer) -> Iterator[Tree]:
    match answer:
        case Scalar(tree):
            yield tree
        case Named(_, value):
            yield from _trees(value)
        case Equation(sides) | Inequality(sides):
            yield from sides
        case SetOperation(_, left, right):
            yield from _trees(left)
            yield from _trees(right)
        case Matrix(rows):
            for row in rows:
                for entry in row:
                    yield from _trees(entry)
        case Listing(items) | Bracketed(_, items) | Ratio(items) | Record(items):
            for item in items:
                yield from _trees(item)
