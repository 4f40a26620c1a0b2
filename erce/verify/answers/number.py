"""A number or an expression, with its unit: how it is read, and when another one is the same."""

import re
from dataclasses import dataclass
from typing import ClassVar

from erce.verify.answers.comparison import Comparison, separated
from erce.verify.answers.expression import join_digit_groups, parse_tokens
from erce.verify.answers.limits import Budget, UnparsedError
from erce.verify.answers.numerals import without_base_ten
from erce.verify.answers.tokens import END, Token
from erce.verify.answers.tree import Evaluator, Tree, nodes, symbols
from erce.verify.answers.units import CURRENCIES, UNITS, size_of, unit_of, unit_words, units_agree

_TRIGONOMETRIC = frozenset(["cis", "sin", "cos", "tan", "cot", "sec", "csc"])
_INVERSES = frozenset(["arcsin", "arccos", "arctan", "arccot"])


@dataclass(frozen=True, slots=True)
class Quantity:
    """An expression with its unit, "" without a known one; `percent` if a percent sign followed it.

    `phrase` are the words after a reference that are no unit, as in "21 dogs": an answer may repeat them.
    """

    kind: ClassVar[str] = "expression"
    reads_relations: ClassVar[bool] = False
    tree: Tree
    unit: str = ""
    percent: bool = False
    phrase: str = ""

    def accepts(self, tokens: list[Token], comparison: Comparison) -> bool:
        """Return whether the tokens write the same quantity.

        An angle in degrees is also its size in radians, if that is written with π. Units of one dimension are
        converted. A percent sign divides by a hundred, or is no more than the unit: see `_same_percentage`.
        """
        if any(token.kind == "and" for token in tokens) and separated(tokens)[1] == "or":  # 7/4 or 1.75
            return all(self.accepts(part, comparison) for part in separated(tokens)[0])
        if self.unit:
            tokens = _with_letters_as_units(tokens)
        other = read_quantity(tokens, phrase=self.phrase)
        for one, its in ((self, other), (other, self)):
            if one.unit == "degree" and its.unit in ("", "radian") and _is_in_radians(its.tree):
                return comparison.same(("mul", (one.tree, ("deg",))), its.tree)
        if self.phrase and other.unit and not self.unit:
            return False  # 5 dogs, 5 cm
        if units_agree(self.named_unit, other.named_unit, comparison.conventions.units):
            return self._same_percentage(other, comparison)
        size, its_size = size_of(self.unit), size_of(other.unit)
        if size is None or its_size is None or size[:2] != its_size[:2]:
            return False
        scaled = [
            ("mul", (number.tree, ("num", factor)))
            for number, factor in ((self, size.factor), (other, its_size.factor))
        ]
        return comparison.same(scaled[0], scaled[1])

    @property
    def named_unit(self) -> str:
        return self.unit or ("percent" if self.percent else "")

    @property
    def is_number(self) -> bool:
        return not symbols(self.tree)

    def _same_percentage(self, other: "Quantity", comparison: Comparison) -> bool:
        """Return whether the values are equal; where one has a percent sign, by the convention for it.

        Under "either" 20 and 0.2 are both 20%, and 20% is 20 because no share is over 1; but 0.05% is not
        0.05.
        """
        if self.percent == other.percent:
            return comparison.same(self.tree, other.tree)
        percent, plain = (self, other) if self.percent else (other, self)
        if comparison.same(("frac", percent.tree, ("num", 100)), plain.tree):
            return True
        if comparison.conventions.percent == "value" or not comparison.same(self.tree, other.tree):
            return False
        return self.percent or _is_over_one(self.tree)


def read_quantity(tokens: list[Token], *, phrase: str | None = None) -> Quantity:
    r"""Return the number or expression that the tokens write, with its unit.

    Words after it must be a unit or `phrase`, else `UnparsedError`; without `phrase`, as a reference is read,
    they may be anything.

    >>> from erce.verify.answers.tokens import tokenize
    >>> read_quantity(tokenize(r"10\text{ square inches}")).unit
    'inch^2'
    """
    if len(tokens) == 1 and tokens[0].kind == "number":
        return Quantity(parse_tokens(tokens))
    tokens = join_digit_groups(tokens)
    if _begins_with_label(tokens):
        raise UnparsedError("a value after a label")
    money = [token for token in tokens if token.kind == "sign" and token.text in CURRENCIES]
    if money:
        tokens = _without_empty_braces([token for token in tokens if token not in money])
    currency = CURRENCIES[money[0].text] if len(money) == 1 else ""
    end = _end_of_number(tokens) or len(tokens)
    tokens, after = tokens[:end], tokens[end:]
    percent = bool(after) and after[0].is_sign("%")
    if percent:
        after = after[1:]
    written = _written(after)
    if _has_angles(tokens) and written.casefold() in ("degrees", "degree"):  # cos 13 degrees
        tokens, written = [*tokens, Token("sign", "°")], ""
    degrees = any(token.is_sign("°") for token in tokens) and not _has_angles(tokens)
    if degrees:
        tokens = [token for token in tokens if not token.is_sign("°")]
        currency, written = _TEMPERATURES.get(written, "degree"), "" if written in _TEMPERATURES else written
    unit, scale, unknown = _unit_and_scale(written, phrase)
    tree = parse_tokens(without_base_ten(tokens))
    if scale != 1:
        tree = ("mul", (tree, ("num", scale)))
    return Quantity(tree, unit or currency, percent, unknown)


def _unit_and_scale(written: str, phrase: str | None) -> tuple[str, int, str]:
    """Return the unit that words state, their factor, and the words if they are more than a unit."""
    if not written or written.casefold() == phrase:
        return "", 1, ""
    try:
        words, scale = unit_words(written)
        return unit_of(words), scale, ""
    except UnparsedError:
        if phrase is not None:
            raise
    first, _, rest = written.rpartition(" ")  # 7 inches long
    return *_unit_and_scale(first if rest else "", None)[:2], written.casefold()


_TEMPERATURES = {"C": "celsius", "F": "fahrenheit"}


def _begins_with_label(tokens: list[Token]) -> bool:
    """Return whether the tokens begin as (a) 4 and (D) 14 do; (a)(b) is a product."""
    if len(tokens) < 4 or not (tokens[0].is_sign("(") and tokens[2].is_sign(")")):
        return False
    return tokens[1].kind in ("letter", "number") and tokens[3].kind in (
        "number",
        "letter",
        "word",
        "command",
    )


def _is_in_radians(tree: Tree) -> bool:
    """Return whether an angle without a unit can only be in radians: a multiple of π, arcsin 1/2."""
    return any(
        node == ("const", "pi") or (node[0] == "call" and node[1] in _INVERSES) for node in nodes(tree)
    )


def _is_over_one(tree: Tree) -> bool:
    if symbols(tree):
        return False
    evaluator = Evaluator({}, Budget())
    return abs(evaluator.inexact(evaluator.value(tree))) > 1


# ---------------------------------------------------------------- words after a number


def _with_letters_as_units(tokens: list[Token]) -> list[Token]:
    """Return the tokens with the letters at their end as words: the m of 12 m^2, beside a known unit."""
    at = next(
        (
            at
            for at in range(1, len(tokens))
            if tokens[at].kind == "letter" and tokens[at].spaced and tokens[at - 1].kind in ("number", "sign")
        ),
        len(tokens),
    )
    tail = tokens[at:]
    if not all(
        token.text in _AROUND_UNITS or token.text in UNITS or token.kind == "number" for token in tail
    ):
        return tokens
    return [
        *tokens[:at],
        *(token._replace(kind="word") if token.kind == "letter" else token for token in tail),
    ]


_AROUND_UNITS = frozenset("/^-{}L")
_EXPONENT = re.compile(r"\^(?:[0-9]|\{-?[0-9]\})")


def _without_empty_braces(tokens: list[Token]) -> list[Token]:
    r"""Return the tokens without the braces that held a currency alone: \text{\$}5."""
    return tokens[2:] if [token.text for token in tokens[:2]] == ["{", "}"] else tokens


def _has_angles(tokens: list[Token]) -> bool:
    return any(token.kind == "command" and token.text in _TRIGONOMETRIC for token in tokens)


def _end_of_number(tokens: list[Token]) -> int:
    """Return the index at which the words after the number begin."""
    end = len(tokens)
    while end and (length := _length_of_word(tokens, end)):
        end -= length
    return end


def _length_of_word(tokens: list[Token], end: int) -> int:
    """Return the number of tokens of the word or sign of a unit that ends here, 0 if none does."""
    last, before, third = (tokens[at] if at >= 0 else END for at in (end - 1, end - 2, end - 3))
    if last.kind == "word" or last.is_sign("%", ".") or last.text == "sec":
        return 1
    if last.is_sign("/") and end < len(tokens) and tokens[end].kind == "word":
        return 1
    if last.kind == "letter" and last.text in "CF" and before.is_sign("°"):
        return 1
    if last.is_sign(")") and before.kind == "word" and third.is_sign("("):
        return 3
    return _length_of_exponent(tokens, end)


def _length_of_exponent(tokens: list[Token], end: int) -> int:
    """Return the number of tokens of `^2`, `^{2}` or `^{-2}` after a word that end here."""
    for length in (2, 4, 5):
        exponent = tokens[max(0, end - length) : end]
        written = "".join(token.text for token in exponent)
        if end > length and tokens[end - length - 1].kind == "word" and _EXPONENT.fullmatch(written):
            return length
    return 0


def _written(tokens: list[Token]) -> str:
    written = "".join(
        token.text if token.kind in ("number", "sign") else f" {token.text} " for token in tokens
    )
    return " ".join(written.split()).strip(" .")
