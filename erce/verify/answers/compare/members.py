"""A list, a set, or an expression with ± → its members."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from erce.verify.answers.tree import contains, nodes, replaced, with_both_signs
from erce.verify.answers.values import (
    Answer,
    Bracketed,
    Inequality,
    Listing,
    Named,
    Record,
    Scalar,
    SetBuilder,
    SetOperation,
)


def members(answer: Answer) -> list[Answer] | None:
    """Return the members of a list or set, or both values of an expression with ±; else None."""
    if isinstance(answer, Scalar | Bracketed | SetBuilder):
        return list(_with_both_signs((answer,)))
    return list(_with_both_signs(answer.items)) if isinstance(answer, Listing) else None


def members_of_both(gold: Answer, answer: Answer) -> tuple[list[Answer] | None, list[Answer] | None]:
    """Return the members of both; four of ±1 ± i if the other has as many as all choices of signs make."""
    left, right = members(gold), members(answer)
    if left is None or right is None or len(left) == len(right):
        return left, right
    if len(left) < len(right):
        return _with_all_signs(gold, left, len(right)), right
    return left, _with_all_signs(answer, right, len(left))


def _with_all_signs(answer: Answer, values: list[Answer], wanted: int) -> list[Answer]:
    """Return the values with every choice of two ±; those with equal signs if they are not so many."""
    if not isinstance(answer, Scalar) or wanted != 4:
        return values
    signs = [node for node in nodes(answer.tree) if node[0] == "pm"]
    if len(signs) != 2 or any(sign != 1 for _, sign, _ in signs):  # ∓ goes with ±
        return values
    opposed = replaced(answer.tree, signs[-1], ("pm", -1, signs[-1][2]))
    return [*values, *(replace(answer, tree=tree) for tree in with_both_signs(opposed))]


def operands(answer: Answer, operation: str) -> list[Answer]:
    """Return the sets that one operation joins: three of A ∪ B ∪ C."""
    sets: list[Answer] = []
    while isinstance(answer, SetOperation) and answer.operation == operation:
        sets.append(answer.right)
        answer = answer.left
    return [*sets, answer]


def without_common_numbers(
    gold: Sequence[Answer], answer: Sequence[Answer]
) -> tuple[list[Answer], list[Answer]]:
    """Return the members without the common integers, so that long lists take linear time."""
    common = Counter(filter(_is_integer, gold)) & Counter(filter(_is_integer, answer))
    return _without(gold, common), _without(answer, common)


def has_other_names(listing: Listing, record: Record) -> bool:
    """Return whether a list has names that those of a record are not: x for x_1 and x_2 is none."""
    letters = {item.name.partition("_")[0] for item in record.items}
    return any(isinstance(item, Named) for item in listing.items) or (
        listing.name != "" and letters != {listing.name.partition("_")[0]}
    )


def adds_names(gold: Answer, answer: Answer) -> bool:
    """Return whether values of a bare list are given to several letters: 2, 3 is not x = 2, y = 3.

    The list may be all values of one letter. If the reference has the names, an answer may leave them out.
    """
    if not isinstance(gold, Listing) or not isinstance(answer, Record) or answer.in_tuple:
        return False
    return not (has_nouns(answer) or are_of_one_letter(answer) or answer.items[0].name.startswith("("))


def are_of_one_letter(record: Record) -> bool:
    """Return whether the values are those of one letter with indices, as x_1 and x_2, in any order."""
    return len({item.name.partition("_")[0] for item in record.items}) == 1


def has_nouns(*records: Record) -> bool:
    """Return whether one of the records counts things, as 5 boys and 3 girls does."""
    return any(record.items[0].name.startswith("#") for record in records)


def is_set(answer: Answer) -> bool:
    """Return whether the answer is a list in braces."""
    return isinstance(answer, Listing) and answer.joined == "{"


def are_opposed(gold: Answer, answer: Answer) -> bool:
    """Return whether names differ, or one list alone has several, or "or" beside inequalities or choices."""
    lists = [answer for answer in (gold, answer) if isinstance(answer, Listing)]
    if len({listing.name for listing in lists} - {""}) > 1:  # x = 2 or x = 3, and y = 2 or y = 3
        return True
    names = [{item.name for item in listing.items if isinstance(item, Named)} for listing in lists]
    if len(names) == 2 and set() in names and max(map(len, names)) > 1:  # x = 2 or y = 3, and 2, 3
        return True
    joined = {listing.joined for listing in lists}
    items = [item for listing in lists for item in listing.items]
    if any(isinstance(item, Inequality) for item in items):
        return joined == {"and", "or"}
    return len(joined) == 2 and "or" in joined and any(map(_is_choice, items))  # A, C and "A or C"


def _is_choice(item: Answer) -> bool:
    return isinstance(item, Scalar) and item.tree[0] == "sym" and item.tree[1] in _CHOICES


_CHOICES = frozenset("ABCDEFGHIJ")


def values_of_signs(named: Named) -> list[Listing]:
    """Return the values of x = ±3 or x ∈ {3, -3} as the list x = 3, x = -3; [] for any other value."""
    if isinstance(named.value, Listing):
        return [replace(named.value, name=named.name)]
    values = tuple(map(Scalar, with_both_signs(named.value.tree))) if isinstance(named.value, Scalar) else ()
    return [Listing(values, "or", named.name)] if len(values) > 1 else []


def has_signs(answer: Answer) -> bool:
    """Return whether an answer with several members may have them from ±."""
    return isinstance(answer, Scalar) or (
        isinstance(answer, Listing)
        and any(isinstance(item, Scalar) and contains(item.tree, "pm") for item in answer.items)
    )


def _without(sequence: Sequence[Answer], common: Counter[Answer]) -> list[Answer]:
    left, rest = Counter(common), list[Answer]()
    for member in sequence:
        if _is_integer(member) and left[member]:
            left[member] -= 1
        else:
            rest.append(member)
    return rest


def _is_integer(answer: Answer) -> bool:
    return isinstance(answer, Scalar) and answer.tree[0] == "num"


def _with_both_signs(items: tuple[Answer, ...]) -> Iterator[Answer]:
    for item in items:
        if isinstance(item, Scalar):
            yield from (replace(item, tree=tree) for tree in with_both_signs(item.tree))
        elif isinstance(item, SetBuilder):
            yield from (replace(item, head=head) for head in _with_both_signs((item.head,)))
        elif isinstance(item, Bracketed) and (at := place_of_sign(item)) is not None:
            before, signed, after = item.items[:at], item.items[at : at + 1], item.items[at + 1 :]
            yield from (replace(item, items=(*before, entry, *after)) for entry in _with_both_signs(signed))
        else:
            yield item


def place_of_sign(point: Bracketed) -> int | None:
    """Return the index of the only entry of a tuple that has a ±; None if there are none, or several."""
    places = [
        at for at, entry in enumerate(point.items) if isinstance(entry, Scalar) and contains(entry.tree, "pm")
    ]
    return places[0] if len(places) == 1 and (point.opening, point.closing) == ("(", ")") else None
