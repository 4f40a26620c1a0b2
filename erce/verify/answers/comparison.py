"""What every kind of reference needs to read an answer: a budget, and names before values."""

import re
from typing import ClassVar, Protocol

from erce.verify.answers.limits import MAX_ITEMS, Budget, TooLargeError, UnparsedError
from erce.verify.answers.tokens import GREEK, Token, enclosed, split, split_at_sign
from erce.verify.answers.tree import Tree, same_value

COMPARISONS = frozenset("<>≤≥≠")
_OTHER_RELATIONS = "= approx in equiv sim cong to implies Rightarrow rightarrow mapsto subset subseteq"
RELATIONS = COMPARISONS | frozenset(_OTHER_RELATIONS.split())
# Kinds whose answers have no = of their own: a name such as the x = of x = 5 is taken away before.
_UNRELATED_KINDS = frozenset({"expression", "matrix", "ratio", "time", "text"})
_TRAILING = frozenset({".", ",", ";", ":", "\\\\"})
_SIGNS = {"pm": "+-", "mp": "-+"}
_LETTER = rf"(?:[A-Za-z]|\\(?:{'|'.join(sorted(GREEK, key=len, reverse=True))}|pi)(?![a-z]))"
_ARGUMENT = r"(?:-?[0-9]+(?:[./][0-9]+)?|[A-Z](?:=[0-9]+|\\c[au]p[A-Z])?)"
_NAME = re.compile(
    rf"\|?(?:m?\\(?:angle|measuredangle|triangle|overline|vec|hat|tilde|sin|cos|tan|det))?(?:[A-Z]{{2,4}}|{_LETTER})"
    rf"(?:_(?:[A-Za-z0-9]{{1,4}}|\\[a-z]+))?'*(?:\^-1|\^\*)?(?:\({_LETTER}(?:,{_LETTER})*\))?\|?"
    rf"|[fghpqFGHPQSTEVN]'*(?:\^-1)?(?:\((?:{_ARGUMENT}|[fgh]\({_ARGUMENT}\))\)|\[[A-Z]\])|[A-Z](?:_[0-9])?:[A-Z](?:_[0-9])?"
)


class Value(Protocol):
    """A reference of one kind, which reads an answer as that kind."""

    kind: ClassVar[str]

    def accepts(self, tokens: list[Token], comparison: "Comparison") -> bool:
        """Return whether the tokens write the same value; `UnparsedError` if they do not write this kind."""
        ...


class Comparison:
    """One comparison of a reference with an answer: its budget of work, and whether 20% may be 20."""

    def __init__(self, *, percent_is_unit: bool) -> None:
        self.percent_is_unit = percent_is_unit
        self.budget = Budget()

    def accepts(self, value: Value, tokens: list[Token]) -> bool:
        """Return whether the tokens write `value`, possibly with a name, or in several steps that agree."""
        self.budget.spend(2 + len(tokens) // 2)
        tokens = trimmed(tokens)
        if not tokens:
            raise UnparsedError("nothing where an answer should stand")
        if value.kind not in _UNRELATED_KINDS:
            return value.accepts(tokens, self)
        name, sides = stated(tokens)
        if not name and len(sides) > 1:
            has_letters = any(token.kind == "letter" for side in sides for token in side)
            if all(token.kind == "letter" or token.text in "+*" for token in sides[0]):  # p+q = 61
                sides = sides[1:]
            elif has_letters and not all(value.accepts(side, self) for side in sides):
                raise UnparsedError("an equation")
        return all(value.accepts(side, self) for side in sides)

    def accepts_item(self, value: Value, tokens: list[Token]) -> bool:
        """Return whether one entry of several is `value`; one that cannot be read is not."""
        try:
            return self.accepts(value, tokens)
        except UnparsedError:
            return False

    def accepts_in_order(self, values: tuple[Value, ...], parts: list[list[Token]]) -> bool:
        return len(values) == len(parts) and all(map(self.accepts_item, values, parts))

    def same(self, left: Tree, right: Tree) -> bool:
        return same_value(left, right, self.budget)


def trimmed(tokens: list[Token]) -> list[Token]:
    """Return the tokens without the punctuation at their end; `UnparsedError` for a list that goes on."""
    end = len(tokens)
    while end and tokens[end - 1].kind == "sign" and tokens[end - 1].text in _TRAILING:
        end -= 1
    if len(tokens) - end > 2 or (end and tokens[end - 1].text == "ldots"):
        raise UnparsedError("a list that goes on")
    tokens = tokens[:end]
    while tokens and tokens[0].text == "{" and enclosed(tokens):  # \text{10 cm}, {1, 2}
        tokens = tokens[1:-1]
    return tokens


def separated(tokens: list[Token]) -> tuple[list[list[Token]], str]:
    """Return the parts between commas, semicolons, "and" and "or", and which of these separates them.

    A single part has the separator "". Commas beside a word are not parts of their own: 1, 2, and 3.
    """
    parts, signs = split(tokens, _is_separator)
    if not signs:
        return parts, ""
    words = [sign.text.casefold() for sign in signs if sign.kind == "and"]
    if words:
        parts = [part for at, part in enumerate(parts) if part or at in (0, len(parts) - 1)]
    elif any(sign.text == ";" for sign in signs):
        parts = split_at_sign(tokens, ";")
    if len(parts) > MAX_ITEMS:
        raise TooLargeError(f"a list of more than {MAX_ITEMS}")
    if not all(parts):
        raise UnparsedError("a list with an empty place")
    return parts, "or" if "or" in words else "and" if words else ","


def _is_separator(token: Token) -> bool:
    return token.kind == "and" or (token.kind == "sign" and token.text in ",;")


def expand_plus_minus(tokens: list[Token]) -> list[list[Token]]:
    """Return both readings of tokens with ±, or the tokens alone."""
    if not any(token.kind == "command" and token.text in _SIGNS for token in tokens):
        return [tokens]
    return [
        [Token("sign", _SIGNS[t.text][at], t.spaced) if t.text in _SIGNS else t for t in tokens]
        for at in (0, 1)
    ]


def sides_of(tokens: list[Token]) -> tuple[list[list[Token]], list[str]]:
    """Return the sides of a relation and the signs between them; one side if there is no sign."""
    if not any(token.text in RELATIONS for token in tokens):
        return [tokens], []
    sides, signs = split(tokens, lambda token: token.text in RELATIONS and token.kind in ("sign", "command"))
    return sides, [sign.text for sign in signs]


def stated(tokens: list[Token]) -> tuple[str, list[list[Token]]]:
    r"""Return the name that a value is given, "" without one, and the value in each of its forms.

    "x = 10/2 = 5" gives "x" and two forms; "x \in (1, 2)" gives "x" and one. `UnparsedError` for any other
    relation.
    """
    sides, signs = sides_of(tokens)
    if not signs:
        return "", sides
    if not all(sides) or (signs != ["in"] and set(signs) != {"="}):
        raise UnparsedError("a relation where a value should stand")
    name = name_of(sides[0])
    if name:
        return name, sides[1:]
    if signs == ["in"]:
        raise UnparsedError("membership of more than a name")
    if len(sides) == 2 and name_of(sides[1]):
        return name_of(sides[1]), sides[:1]
    return "", sides


def name_of(tokens: list[Token]) -> str:
    r"""Return the name that the tokens write, without braces and spaces; "" if they write anything else.

    Names are letters (x, AB, x_1, f'), calls of functions (f(x), f^{-1}(x), f(3), P(A)), angles and lengths
    (|AB|).
    """
    if not tokens or len(tokens) > 14:
        return ""
    written = "".join(map(_written, tokens))
    if not _NAME.fullmatch(written):
        return ""
    # |AB| is the length of the segment AB, but |x| is not x.
    return written.strip("|") if len(written) > 3 and written.strip("|").isupper() else written


def letter_of(name: str) -> str:
    """Return the letter that names with indices share: x of x_1."""
    return name.partition("_")[0]


def names_of(tokens: list[Token]) -> tuple[str, ...]:
    """Return the names in one bracket, as in (x, y); () if the tokens are anything else."""
    if not enclosed(tokens) or tokens[0].text != "(":
        return ()
    names = tuple(name_of(part) for part in split_at_sign(tokens[1:-1], ","))
    return names if len(names) > 1 and all(names) else ()


def _written(token: Token) -> str:
    if token.kind == "command":
        return f"\\{token.text}"
    return "" if token.text in ("{", "}") else token.text
