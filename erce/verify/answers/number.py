"""A number or an expression, with its unit: how it is read, and when another one is the same."""

from dataclasses import dataclass
from typing import ClassVar

from erce.verify.answers.comparison import Comparison, separated
from erce.verify.answers.expression import join_digit_groups, parse_tokens
from erce.verify.answers.limits import Budget, UnparsedError
from erce.verify.answers.tokens import END, TRIGONOMETRIC, Token
from erce.verify.answers.tree import Evaluator, Tree, nodes, symbols
from erce.verify.answers.units import CURRENCIES, UNITS, read_unit, units_agree

_INVERSES = frozenset(["arcsin", "arccos", "arctan", "arccot"])
_TEMPERATURES = {"C": "celsius", "F": "fahrenheit"}


@dataclass(frozen=True, slots=True)
class Quantity:
    """An expression with its unit, "" without a known one; `percent` if a percent sign followed it.

    `phrase` are the words after a reference that are not a unit, as in "21 dogs": an answer may repeat them.
    """

    kind: ClassVar[str] = "expression"
    tree: Tree
    unit: str = ""
    percent: bool = False
    phrase: str = ""

    def accepts(self, tokens: list[Token], comparison: Comparison) -> bool:
        """Return whether the tokens write the same quantity.

        An angle in degrees is also its size in radians, if that is written with π. A percent sign divides by
        a hundred, or is no more than the unit: see `_same_percentage`.
        """
        if any(token.kind == "and" for token in tokens) and separated(tokens)[1] == "or":  # 7/4 or 1.75
            return all(self.accepts(part, comparison) for part in separated(tokens)[0])
        other = read_quantity(tokens, phrase=self.phrase, has_unit=bool(self.unit))
        for one, its in ((self, other), (other, self)):
            if one.unit == "degree" and its.unit in ("", "radian") and _is_in_radians(its.tree):
                return comparison.same(("mul", (one.tree, ("deg",))), its.tree)
        if self.phrase and other.unit and not self.unit:
            return False  # 5 dogs, 5 cm
        if not units_agree(self.named_unit, other.named_unit):
            return False
        return self._same_percentage(other, comparison)

    @property
    def named_unit(self) -> str:
        return self.unit or ("percent" if self.percent else "")

    def _same_percentage(self, other: "Quantity", comparison: Comparison) -> bool:
        """Return whether the values are equal.

        Where one alone has a percent sign, 20% is 0.2. If `percent_is_unit`, it is 20 too, because no share
        is over 1; but 0.05% is not 0.05.
        """
        if self.percent == other.percent:
            return comparison.same(self.tree, other.tree)
        percent, plain = (self, other) if self.percent else (other, self)
        if comparison.same(("frac", percent.tree, ("num", 100)), plain.tree):
            return True
        if not comparison.percent_is_unit or not comparison.same(self.tree, other.tree):
            return False
        return self.percent or _is_over_one(self.tree)


def read_quantity(tokens: list[Token], *, phrase: str | None = None, has_unit: bool = False) -> Quantity:
    r"""Return the number or expression that the tokens write, with its unit.

    Words after it must be a unit or `phrase`, else `UnparsedError`; without `phrase`, as a reference is read,
    they may be anything. If the reference `has_unit`, single letters are units too: the m of 12 m^2.
    """
    if len(tokens) == 1 and tokens[0].kind == "number":
        return Quantity(parse_tokens(tokens))
    tokens = join_digit_groups(tokens)
    money = [token for token in tokens if token.kind == "sign" and token.text in CURRENCIES]
    if money:
        tokens = [token for token in tokens if token not in money]
        if [token.text for token in tokens[:2]] == ["{", "}"]:  # \text{\$}5
            tokens = tokens[2:]
    currency = CURRENCIES[money[0].text] if len(money) == 1 else ""
    end = next((at for at in range(1, len(tokens)) if _begins_unit(tokens, at, has_unit)), len(tokens))
    tokens, after = tokens[:end], tokens[end:]
    percent = bool(after) and after[0].is_sign("%")
    written = _written(after[1:] if percent else after)
    has_angles = any(token.kind == "command" and token.text in TRIGONOMETRIC for token in tokens)
    if has_angles and written.casefold() in ("degrees", "degree"):  # cos 13 degrees
        tokens, written = [*tokens, Token("sign", "°")], ""
    if any(token.is_sign("°") for token in tokens) and not has_angles:
        tokens = [token for token in tokens if not token.is_sign("°")]
        currency, written = _TEMPERATURES.get(written, "degree"), "" if written in _TEMPERATURES else written
    unit, scale, unknown = _unit_and_scale(written, phrase)
    tree = parse_tokens(tokens)
    if scale != 1:
        tree = ("mul", (tree, ("num", scale)))
    return Quantity(tree, unit or currency, percent, unknown)


def _begins_unit(tokens: list[Token], at: int, has_unit: bool) -> bool:
    """Return whether the words or signs of a unit begin here, behind a number."""
    token, before, after = tokens[at], tokens[at - 1], tokens[at + 1] if at + 1 < len(tokens) else END
    return (
        token.kind == "word"
        or token.is_sign("%", ".")
        or (token.is_sign("/") and after.kind == "word")
        or (token.text == "sec" and after is END)
        or (token.text in _TEMPERATURES and before.is_sign("°"))
        or (has_unit and token.kind == "letter" and token.spaced and token.text.casefold() in UNITS)
    )


def _unit_and_scale(written: str, phrase: str | None) -> tuple[str, int, str]:
    """Return the unit that words state, their factor, and the words if they are more than a unit."""
    if not written or written.casefold() == phrase:
        return "", 1, ""
    try:
        return *read_unit(written), ""
    except UnparsedError:
        if phrase is not None or not written.replace(" ", "").isalpha():
            raise
    return "", 1, written.casefold()


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


def _written(tokens: list[Token]) -> str:
    """Return the text of the tokens with spaces around words; a run of letters stays together."""
    written, before = "", END
    for token in tokens:
        is_apart = token.kind not in ("number", "sign") and not (
            token.kind == before.kind == "letter" and not token.spaced
        )
        written += " " * (is_apart or before.kind == "word") + token.text
        before = token
    return " ".join(written.split()).strip(" .")
