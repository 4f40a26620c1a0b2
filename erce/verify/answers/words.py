"""An answer in words: how it is read, and when another one is the same."""

import re
from dataclasses import dataclass
from typing import ClassVar

from erce.verify.answers.comparison import Comparison
from erce.verify.answers.limits import UnparsedError
from erce.verify.answers.tokens import Token

_IN_WORDS = frozenset(".,-'!()")
_LOGICAL = frozenset({"not", "no", "if", "or", "but", "neither", "nor", "than", "from", "to"})


@dataclass(frozen=True, slots=True)
class Words:
    """Words in lower case, without articles and punctuation; several things in alphabetical order."""

    kind: ClassVar[str] = "text"
    reads_relations: ClassVar[bool] = False
    things: tuple[str, ...]

    def accepts(self, tokens: list[Token], comparison: Comparison) -> bool:
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
