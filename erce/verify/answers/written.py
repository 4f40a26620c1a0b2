"""Words and times of day as they are written: how they are read, and when two are the same."""

import re
from dataclasses import dataclass
from typing import ClassVar

from erce.verify.answers.comparison import Comparison
from erce.verify.answers.limits import UnparsedError
from erce.verify.answers.tokens import Token
from erce.verify.answers.units import units_agree

_IN_WORDS = frozenset(".,-'!()")
_PUNCTUATION = re.compile(r"[.()!]|(?!\A)-")  # -four is not four
_ARTICLE = re.compile(r"^(?:the|an|a) (?=.)")
_SEPARATOR = re.compile(r",|\band\b")
_NOTHING = re.compile(
    "(?:the )?(?:empty|null) set|none|"
    "(?:there (?:is|are) )?no (?:real |integer )?(?:solutions?|roots?|values?)(?: exists?)?"
)
_ALL_REALS = re.compile("(?:(?:the )?set of )?all (?:the )?(?:real numbers|reals|real values)")
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?:([ap])\.?m)?\.?|([0-9]{1,2})([ap])\.?m\.?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Words:
    """Words in lower case, without articles and punctuation; several things in alphabetical order."""

    kind: ClassVar[str] = "text"
    things: tuple[str, ...]

    def accepts(self, tokens: list[Token], comparison: Comparison) -> bool:
        """Return whether the tokens are the same words."""
        kinds = ("word", "letter", "and", "number")
        if not all(token.kind in kinds or token.text in _IN_WORDS for token in tokens):
            raise UnparsedError("more than words")
        return words_of(tokens) == self


def are_words(tokens: list[Token]) -> bool:
    """Return whether the tokens are words, possibly with letters as in "store B"."""
    return any(token.kind == "word" for token in tokens) and all(
        token.kind in ("word", "letter", "and") or token.text in _IN_WORDS for token in tokens
    )


def words_of(tokens: list[Token]) -> Words:
    """Return the words that the tokens write: "Ann and Bob" is "Bob, Ann", but "A or B" has an order."""
    text = "".join((" " if token.spaced or token.kind == "and" else "") + token.text for token in tokens)
    text = " ".join(_PUNCTUATION.sub(" ", text.strip().casefold().replace("'", "")).split())
    things = [_ARTICLE.sub("", thing.strip()) for thing in _SEPARATOR.split(text)]
    return Words(tuple(sorted(filter(None, things))))


def is_nothing(tokens: list[Token]) -> bool:
    """Return whether the tokens write the empty set, or say that there is no solution."""
    return [token.text for token in tokens] == ["emptyset"] or _says(_NOTHING, tokens)


def is_all_reals(tokens: list[Token]) -> bool:
    """Return whether the tokens write the set of all real numbers, or say so."""
    written = [token.text for token in tokens if token.text not in "{}"]
    return written == ["mathbb", "R"] or _says(_ALL_REALS, tokens)


def _says(sentence: re.Pattern[str], tokens: list[Token]) -> bool:
    if not tokens or not all(token.kind in ("word", "letter") or token.text == "." for token in tokens):
        return False
    return sentence.fullmatch(" ".join(token.text for token in tokens).casefold().strip(" .")) is not None


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day; `half` is "a", "p" or, if unknown, ""."""

    kind: ClassVar[str] = "time"
    hours: int
    minutes: int
    half: str

    def accepts(self, tokens: list[Token], comparison: Comparison) -> bool:
        """Return whether the tokens write the same time; a missing half of the day is ignored."""
        other = read_clock(tokens)
        if other is None:
            raise UnparsedError("no time of day")
        same = (self.hours, self.minutes) == (other.hours, other.minutes)
        return (same and units_agree(self.half, other.half)) or self.minute == other.minute

    @property
    def minute(self) -> int:
        """Return the minute of the day; a time without a.m. or p.m. is on the 24-hour clock."""
        hours = self.hours % 12 + 12 * (self.half == "p") if self.half else self.hours
        return 60 * hours + self.minutes


def read_clock(tokens: list[Token]) -> Clock | None:
    """Return the time of day that the tokens write; None for anything else."""
    if not tokens or tokens[0].kind != "number" or len(tokens) > 10:
        return None
    written = "".join(token.text for token in tokens if token.text not in "{}").replace(" ", "")
    match = _CLOCK.fullmatch(written)
    if match is None:
        return None
    hours, minutes, half, whole_hours, its_half = match.groups()
    return Clock(int(hours or whole_hours), int(minutes or 0), (half or its_half or "").casefold())
