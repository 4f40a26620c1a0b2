"""A typed value → the same value with all its expressions changed, for instance a variable renamed."""

from collections.abc import Callable
from dataclasses import replace

from erce.verify.answers.tree import Tree, names
from erce.verify.answers.values import (
    Answer,
    Bracketed,
    Congruence,
    Equation,
    Inequality,
    Listing,
    Named,
    Record,
    Scalar,
    Words,
)


def mapped(part: Answer, change: Callable[[Tree], Tree]) -> Answer | None:
    """Return a value with all its expressions changed; None for a value of another type."""
    changed: Answer | None = None
    match part:
        case Words():
            changed = part
        case Scalar(tree):
            changed = replace(part, tree=change(tree))
        case Equation(sides):
            changed = Equation(tuple(map(change, sides)))
        case Congruence(left, residue, modulus):
            changed = Congruence(left and change(left), change(residue), change(modulus))
        case Inequality(sides):
            changed_sides = tuple(_side_changed(side, change) for side in sides)
            changed = replace(part, sides=changed_sides, name=_name_changed(part.name, change))
        case Named(name, value):
            new_value, new_name = mapped(value, change), _name_changed(name, change)
            changed = Named(new_name, new_value) if new_value is not None and new_name else None
        case Record(items=items):  # the names of coordinates stay
            values = _all_mapped(tuple(item.value for item in items), change)
            names_of_items = (item.name for item in items)
            changed = replace(part, items=tuple(map(Named, names_of_items, values))) if values else None
        case Bracketed(items=items) | Listing(items=items):
            values = _all_mapped(items, change)
            changed = None if values is None else replace(part, items=values)
    return changed


def _all_mapped(items: tuple[Answer, ...], change: Callable[[Tree], Tree]) -> tuple[Answer, ...] | None:
    known = tuple(item for item in (mapped(item, change) for item in items) if item is not None)
    return known if len(known) == len(items) else None


def names_in(part: Answer) -> set[str]:
    """Return the names of the variables in all expressions of a value."""
    written = set[str]()

    def noted(tree: Tree) -> Tree:
        written.update(names(tree))
        return tree

    mapped(part, noted)
    return written


def _side_changed(side: Tree, change: Callable[[Tree], Tree]) -> Tree:
    if side[0] == "sym" and side[1].startswith("|"):  # the name |x| of |x| < 3
        return "call", "abs", (change(("sym", side[1].strip("|"))),)
    return change(side)


def _name_changed(name: str, change: Callable[[Tree], Tree]) -> str:
    """Return the name x or |x| after a change of x; "" if x becomes an expression."""
    bare = name.strip("|")
    tree = change(("sym", bare))
    return (name.replace(bare, tree[1]) if bare else name) if tree[0] == "sym" else ""
