"""A list or a set of values: how it is read, and when another one is the same."""

from dataclasses import dataclass
from typing import ClassVar

from erce.verify.answers.comparison import (
    Comparison,
    Value,
    letter_of,
    names_of,
    separated,
    sides_of,
    stated,
    with_both_signs,
)
from erce.verify.answers.expression import join_digit_groups
from erce.verify.answers.limits import UnparsedError
from erce.verify.answers.number import Quantity
from erce.verify.answers.tokens import Token, enclosed
from erce.verify.answers.written import says_nothing_exists


@dataclass(frozen=True, slots=True)
class Values:
    """Several values: a bare list, joined by ",", "and", "or" or "±", or a set in braces, joined by "{".

    `name` is theirs if they have one: x in x = 2 or x = 3.
    """

    kind: ClassVar[str] = "list"
    items: tuple[Value, ...]
    joined: str = ","
    name: str = ""

    def accepts(self, tokens: list[Token], comparison: Comparison) -> bool:
        """Return whether the tokens write the same values, each as often, in any order.

        The order counts for a bare list under `Conventions(ordered_lists=True)`. Names may be left out, and
        be added if all are of one letter: x = 2 or x = 5, x_1 = 2 and x_2 = 5, but not x = 2, y = 5.
        """
        named = any(item.kind in _WITH_NAMES for item in self.items)
        parts, joined, letter = parts_of(tokens, one_letter=not named)
        if letter and self.name not in ("", letter):
            return False
        if (len(parts) < 2 or len(self.items) < 2) and (joined == "{") != (self.joined == "{"):
            raise UnparsedError("one value where several should stand")
        if len(parts) != len(self.items):
            return False
        if self._may_be_statements and {joined, self.joined} in ({"or", "and"}, {"or", ","}):
            return False  # A or C, A and C
        bare = not {"{", "±"} & {joined, self.joined}
        if bare and comparison.conventions.ordered_lists:
            return comparison.accepts_in_order(self.items, parts)
        return self._accepts_in_any_order(parts, comparison)

    @property
    def _may_be_statements(self) -> bool:
        """Return whether "or" and "and" differ between these values: not between numbers and points."""
        return any(item.kind not in ("expression", "tuple") for item in self.items) or all(
            isinstance(item, Quantity) and item.tree[0] == "sym" for item in self.items
        )

    def _accepts_in_any_order(self, parts: list[list[Token]], comparison: Comparison) -> bool:
        items = list(self.items)
        for part in parts:
            at = next((at for at, item in enumerate(items) if comparison.accepts_item(item, part)), None)
            if at is None:
                return False
            del items[at]
        return True


_WITH_NAMES = frozenset({"value", "relation", "interval"})


def parts_of(tokens: list[Token], *, one_letter: bool) -> tuple[list[list[Token]], str, str]:
    """Return the values that the tokens list, what joins them, and the letter that names them.

    A value with ± is two values. With `one_letter`, values of several names are an `UnparsedError`.
    """
    tokens, name = _without_membership(tokens)
    if any(token.text == "emptyset" for token in tokens) and len(tokens) == 1:
        return [], "{", name
    if says_nothing_exists(tokens):
        return [], "{", name
    braces = enclosed(tokens) and (tokens[0].text, tokens[-1].text) in (("\\{", "\\}"), ("{", "}"))
    inner = tokens[1:-1] if braces else tokens
    if braces and not inner:
        return [], "{", name
    parts, joined = separated(join_digit_groups(inner))
    letters, values = {name} - {""}, list[list[Token]]()
    for part in parts:
        value = part
        if one_letter and any(token.text in ("=", "approx") for token in part):
            own, sides = stated(part)
            if not own or len(sides) > 1:
                raise UnparsedError("an equation in a list")
            letters.add(letter_of(own))
            value = sides[0]
        values.extend(with_both_signs(value))
    if len(letters) > 1:
        raise UnparsedError("values of several names")
    if len(values) > len(parts):
        joined = "±"
    return values, "{" if braces else joined, letters.pop() if letters else ""


def _without_membership(tokens: list[Token]) -> tuple[list[Token], str]:
    r"""Return the tokens without "x \in" or "(x, y) =" before them, and the name."""
    sides, signs = sides_of(tokens)
    if signs and signs[0] in ("in", "=") and len(sides) == 2:
        names = names_of(sides[0])
        if names:
            return sides[1], f"({','.join(names)})"
        if signs == ["in"]:
            name, sides = stated(tokens)
            return sides[0], letter_of(name)
    return tokens, ""
