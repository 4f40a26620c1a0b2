"""The parts of a written list → commas where words stood; the values as a list, a record or one answer."""

from dataclasses import replace
from itertools import takewhile

from erce.verify.answers.compare.same_value import same_value
from erce.verify.answers.limits import Budget
from erce.verify.answers.read.brackets import split, split_at_sign
from erce.verify.answers.read.lexer import Token
from erce.verify.answers.read.relations import with_names
from erce.verify.answers.tree import symbols
from erce.verify.answers.values import Answer, Inequality, Listing, Named, Record, Scalar


def with_commas(tokens: list[Token]) -> tuple[list[Token], str]:
    """Return the tokens with commas for "and" and "or", and which of the two words it was.

    Between lists of equations, as in p = 5, q = 2 and p = 7, q = 2, the word means "alternatives".
    """
    parts, words = split(tokens, lambda token: token.kind == "and")
    if not words:
        return tokens, ""
    parts = [_trimmed(part) for part in parts]
    listed = [len(split_at_sign(part, ",")) for part in parts]
    if min(listed) > 1 and all(any(token.text == "=" for token in part) for part in parts):
        return tokens, "alternatives"
    comma = Token("sign", ",", spaced=False)
    merged = parts[0]
    for part in parts[1:]:
        merged = [*merged, comma, *part]
    return merged, "or" if any("or" in word.text.casefold() for word in words) else "and"


def listing(items: tuple[Answer, ...], joined: str) -> Answer:
    """Return the items as a list; a record if they are values of different names."""
    first, *others = items
    if isinstance(first, Named) and all(isinstance(item, Scalar) for item in others):
        return Listing((first.value, *others), "and", first.name)
    if joined == "or" and isinstance(first, Scalar) and all(_is_same_number(first, item) for item in others):
        return first  # 7/4 or 1.75
    bounds = tuple(takewhile(lambda item: isinstance(item, Inequality), items))
    if bounds and joined != "or" and (excluded := _excluded(bounds[-1], items[len(bounds) :])):
        return Listing((*bounds, *excluded), "and")
    if isinstance(first, Record) and first.in_tuple:  # (x, y) = (1, 2), (3, 4)
        names = [item.name for item in first.items]
        return Listing((first, *(with_names(names, item) for item in others)), joined)
    return _of_names(items, joined) or Listing(items, joined)


def _excluded(bound: Answer, others: tuple[Answer, ...]) -> list[Answer]:
    """Return x ≠ 2 and x ≠ 3 for the numbers after x ≠ 1, as in x ≠ 1, 2, 3; [] after any other bound."""
    if not isinstance(bound, Inequality) or bound.signs != ("≠",):
        return []
    known = [other for other in others if isinstance(other, Scalar)]
    return (
        [replace(bound, sides=(bound.sides[0], other.tree)) for other in known]
        if len(known) == len(others)
        else []
    )


def _of_names(items: tuple[Answer, ...], joined: str) -> Record | Listing | None:
    """Return values of different names as a record, of one name as its list; None if any has no name."""
    named = tuple(item for item in items if isinstance(item, Named))
    names = {item.name for item in named}
    if len(named) < len(items):
        return None
    one_letter = len({name.partition("_")[0] for name in names}) == 1  # x_1 = 2 or x_2 = 5
    if len(names) == len(named) and (joined != "or" or one_letter):
        return Record(named)
    plain = len(names) == 1 and not any("(" in name for name in names)
    return Listing(tuple(item.value for item in named), "and", *names) if plain else None


def counted_things(items: tuple[Answer, ...], parts: list[list[Token]]) -> Record | None:
    """Return 5 boys, 3 girls as values of names; None if not all are numbers of different things."""
    last = [part[-1] for part in parts]
    nouns = {token.text.casefold() for token in last if token.kind == "word"}
    if len(nouns) < len(items) or not all(isinstance(item, Scalar) and not item.unit for item in items):
        return None
    return Record(
        tuple(Named(f"#{token.text.casefold()}", item) for token, item in zip(last, items, strict=True))
    )


def _trimmed(tokens: list[Token]) -> list[Token]:
    """Remove the commas at either end, which "and" makes superfluous."""
    start, end = 0, len(tokens)
    while start < end and tokens[start].text == ",":
        start += 1
    while end > start and tokens[end - 1].text == ",":
        end -= 1
    return tokens[start:end]


def _is_same_number(one: Scalar, other: Answer) -> bool:
    if not isinstance(other, Scalar) or symbols(one.tree) or symbols(other.tree):
        return False
    return (one.unit, one.percent) == (other.unit, other.percent) and same_value(
        one.tree, other.tree, Budget()
    )
