"""Values as they are written: words, numerals in a base, ratios, times of day. Readers and comparisons."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from erce.verify.answers.expression import parse_tokens
from erce.verify.answers.limits import UnparsedError
from erce.verify.answers.tokens import Token, enclosed, split
from erce.verify.answers.tree import Tree
from erce.verify.answers.units import units_agree

if TYPE_CHECKING:
    from erce.verify.answers.comparison import Comparison

_NAMES = "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_BASES = {name: base for base, name in enumerate(_NAMES.split(), 2)}
_AROUND_BASE = frozenset("{}()")
MAX_NUMERAL = 100


@dataclass(frozen=True, slots=True)
class BaseNumeral:
    """A numeral with its base as a subscript; digits without leading zeros."""

    kind: ClassVar[str] = "numeral"
    reads_relations: ClassVar[bool] = False
    digits: str
    base: int

    def accepts(self, tokens: list[Token], comparison: "Comparison") -> bool:
        """Return whether the tokens write the same digits in the same base."""
        other = read_base_numeral(tokens)
        if other is not None:
            return other == self
        if comparison.conventions.require_base:
            raise UnparsedError("a numeral without its base")
        return _digits_of(tokens) == self.digits


def read_base_numeral(tokens: list[Token]) -> BaseNumeral | None:
    """Return the numeral whose subscript is a base other than ten; None for anything else.

    >>> from erce.verify.answers.tokens import tokenize
    >>> read_base_numeral(tokenize("0204_{5}"))
    BaseNumeral(digits='204', base=5)
    """
    at = next((at for at, token in enumerate(tokens) if token.text == "_"), 0)
    base = [token.text for token in tokens[at + 1 :] if token.text not in _AROUND_BASE]
    if not at or len(base) != 1:
        return None
    name = base[0].casefold()
    radix = _BASES.get(name, int(name) if name.isdigit() and len(name) < 3 else 0)
    digits = _digits_of(tokens[:at])
    return BaseNumeral(digits, radix) if digits and radix not in (0, 1, 10) else None


def without_base_ten(tokens: list[Token]) -> list[Token]:
    """Return the tokens of 24 for 24_{10}, and all others as they are."""
    at = len(tokens) - next((n for n in (2, 4) if n < len(tokens) and tokens[-n].is_sign("_")), 0)
    base = "".join(token.text for token in tokens[at + 1 :] if token.text not in _AROUND_BASE)
    return tokens[:at] if base in ("10", "ten") else tokens


def _digits_of(tokens: list[Token]) -> str:
    """Return the digits that the tokens write, "" if they write anything else."""
    tokens = _ungrouped(tokens)
    negative = bool(tokens) and tokens[0].is_sign("-")
    tokens = _ungrouped(tokens[negative:])
    written = "".join(token.text for token in tokens)
    whole, _, part = written.partition(".")
    if not _DIGITS.fullmatch(written) or len(written) > MAX_NUMERAL:
        return ""
    if not any(token.kind == "number" for token in tokens):
        return ""
    part = part.rstrip("0")
    return "-" * negative + (whole.lstrip("0") or "0") + (f".{part}" if part else "")


_DIGITS = re.compile(r"[0-9A-Z]+(?:\.[0-9A-Z]+)?")


def _ungrouped(tokens: list[Token]) -> list[Token]:
    return tokens[1:-1] if enclosed(tokens) and tokens[0].text in ("{", "(") else tokens


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio: 3:2, or 1:2:3. A multiple is another ratio."""

    kind: ClassVar[str] = "ratio"
    reads_relations: ClassVar[bool] = False
    terms: tuple[Tree, ...]

    def accepts(self, tokens: list[Token], comparison: "Comparison") -> bool:
        """Return whether the tokens write the same terms in the same order."""
        other = read_ratio(tokens)
        if other is None:
            raise UnparsedError("no ratio")
        return len(other.terms) == len(self.terms) and all(map(comparison.same, self.terms, other.terms))


def read_ratio(tokens: list[Token]) -> Ratio | None:
    """Return the ratio of terms between colons, or with "to" between two; None for anything else."""
    parts, signs = split(tokens, lambda token: token.is_sign(":"))
    if not signs:
        parts, signs = split(tokens, lambda token: token.kind == "word" and token.text == "to")
    return Ratio(tuple(map(parse_tokens, parts))) if signs else None


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day; `half` is "a", "p" or, if unknown, ""."""

    kind: ClassVar[str] = "time"
    reads_relations: ClassVar[bool] = False
    hours: int
    minutes: int
    half: str

    def accepts(self, tokens: list[Token], comparison: "Comparison") -> bool:
        """Return whether the tokens write the same time; a missing half of the day is ignored."""
        other = read_clock(tokens)
        if other is None:
            raise UnparsedError("no time of day")
        if not units_agree(self.half, other.half, comparison.conventions.units):
            return False
        same = self.hours == other.hours or self.hour_of_day == other.hour_of_day
        return same and self.minutes == other.minutes

    @property
    def hour_of_day(self) -> int:
        """Return the hour from 0 to 23: 3 p.m. is 15."""
        return self.hours % 12 + 12 * (self.half == "p") if self.half else self.hours


def read_clock(tokens: list[Token]) -> Clock | None:
    """Return the time of day that the tokens write; None for anything else."""
    if not tokens or tokens[0].kind != "number" or len(tokens) > 10:
        return None
    match = _CLOCK.fullmatch(
        "".join(token.text for token in tokens if token.text not in "{}").replace(" ", "")
    )
    if match is None:
        return None
    hours, minutes, half, whole_hours, its_half = match.groups()
    return Clock(int(hours or whole_hours), int(minutes or 0), (half or its_half or "").casefold())


_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?:([ap])\.?m)?\.?|([0-9]{1,2})([ap])\.?m\.?", re.IGNORECASE)


# ---------------------------------------------------------------- words


_IN_WORDS = frozenset(".,-'!()")
_LOGICAL = frozenset({"not", "no", "if", "or", "but", "neither", "nor", "than", "from", "to"})


@dataclass(frozen=True, slots=True)
class Words:
    """Words in lower case, without articles and punctuation; several things in alphabetical order."""

    kind: ClassVar[str] = "text"
    reads_relations: ClassVar[bool] = False
    things: tuple[str, ...]

    def accepts(self, tokens: list[Token], comparison: "Comparison") -> bool:
        """Return whether the tokens are the same words."""
        if not all(token.kind in _KINDS or token.text in _IN_WORDS for token in tokens):
            raise UnparsedError("more than words")
        return words_of(tokens) == self


_KINDS = frozenset({"word", "letter", "and", "number"})


def are_words(tokens: list[Token]) -> bool:
    """Return whether the tokens are words, possibly with letters as in "store B"."""
    return any(token.kind == "word" for token in tokens) and all(
        token.kind in ("word", "letter", "and") or token.text in _IN_WORDS for token in tokens
    )


def words_of(tokens: list[Token]) -> Words:
    """Return the words that the tokens write: "Ann and Bob" is "Bob, Ann", but "A or B" has an order."""
    text = "".join((" " if token.spaced or token.kind == "and" else "") + token.text for token in tokens)
    text = " ".join(_PUNCTUATION.sub(" ", text.casefold().replace("'", "")).split())
    if _LOGICAL & set(text.split()):
        return Words((_ARTICLE.sub("", text.replace(",", "").strip()),))
    things = [_ARTICLE.sub("", thing.strip()) for thing in _SEPARATOR.split(text)]
    return Words(tuple(sorted(filter(None, things))))


def says_nothing_exists(tokens: list[Token]) -> bool:
    """Return whether the words say that there is no solution, which is the empty set."""
    if not tokens or not all(token.kind in ("word", "letter") or token.text == "." for token in tokens):
        return False
    return _NOTHING.fullmatch(" ".join(token.text for token in tokens).casefold().strip(" .")) is not None


def says_all_reals(tokens: list[Token]) -> bool:
    """Return whether the words say "all real numbers"."""
    if not tokens or not all(token.kind == "word" for token in tokens):
        return False
    return _ALL_REALS.fullmatch(" ".join(token.text for token in tokens).casefold()) is not None


_PUNCTUATION = re.compile(r"[.()!-]")
_ARTICLE = re.compile(r"^(?:the|an|a) (?=.)")
_SEPARATOR = re.compile(r",|\band\b")
_NOTHING = re.compile(
    "(?:the )?(?:empty|null) set|none|"
    "(?:there (?:is|are) )?no (?:real |integer )?(?:solutions?|roots?|values?)(?: exists?)?"
)
_ALL_REALS = re.compile("(?:(?:the )?set of )?all (?:the )?(?:real numbers|reals|real values)")
