"""A reference as text → its one value, which then reads an answer as its own kind: `equivalent`."""

import re
import time
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache

from erce.errors import InputError
from erce.types import Verdict
from erce.verify.answers import relations, several, written
from erce.verify.answers.comparison import (
    COMPARISONS,
    Comparison,
    Value,
    expand_plus_minus,
    letter_of,
    name_of,
    names_of,
    separated,
    sides_of,
    stated,
    trimmed,
)
from erce.verify.answers.expression import join_digit_groups
from erce.verify.answers.limits import Budget, TooLargeError, UnparsedError
from erce.verify.answers.number import Quantity, read_quantity
from erce.verify.answers.tokens import Token, clean, enclosed, tokenize
from erce.verify.answers.tree import symbols

MAX_NESTING = 6  # sets of tuples of sets …
_SHOWN_CHARACTERS = 80  # of an answer, in a detail
# One of the choices A to E; an answer may be in lower case, or have the text of its choice behind it.
_OPENING = r"\s*(?:\\(?:text|textbf|mathrm|mathbf)\s*\{)?\s*\(?"
_CHOICE = re.compile(_OPENING + r"([A-E])\)?\s*\}?\s*")
_CHOSEN = re.compile(
    _OPENING
    + r"([A-Ea-e])(?:\)?\s*\}?\.?\s*|(?:\)\s*\}?|[:.])\s*(?!.*(?:\b(?:or|not|and)\b|\([A-E]\)))[^=]{1,200})",
    re.DOTALL,
)


def equivalent(gold: str, answer: str) -> Verdict:
    r"""Accept an answer, in LaTeX or plain text, that means the same as `gold`; never raise on `answer`.

    `gold` is read once, as one of these kinds: a number (in any base) or an expression, a tuple, a set of
    real numbers (intervals, inequalities in one name), a list or a set, a matrix, an equation, an inequality,
    a ratio, a time, words. The answer is read as that kind, and is "unparsed" if it cannot be. Rational
    expressions are compared exactly, others in high precision, at fixed points if they have symbols. Numbers
    are compared within a millionth only if one has a decimal point and either has no finite decimal form
    (1/3, π). Every answer that is not empty is equivalent to itself. A `gold` that cannot be read is compared
    as text.

    The verdict depends on which of the two is the reference: an answer may leave out names and units, but not
    add words. For answers among each other there is `same_answer`.

    Reasons: "exact" (the same text), "numeric" (the same number), "structural" (the same value of another
    kind), "different", "unparsed", "too large", "reference not read" (not the same text).

    >>> equivalent(r"(2, 5]", r"2 < x \le 5").reason
    'structural'
    >>> equivalent(r"(2, 5]", "[2, 5]").detail
    'interval (2, 5] against [2, 5]'
    """
    began = time.perf_counter()
    require_reference(gold)
    if not isinstance(answer, str):
        raise InputError(f"an answer is a str, got {type(answer).__name__}: decode or convert it first")
    return replace(compared(gold, answer), elapsed=time.perf_counter() - began)


def require_reference(answer: str) -> None:
    """Raise InputError for a reference answer that is empty or not text."""
    if not isinstance(answer, str):
        raise InputError(f"a reference answer is a str, got {type(answer).__name__}: write {str(answer)!r}")
    if not answer.strip():
        raise InputError(f"the reference answer {answer!r} is empty: correct it in the task")


def same_answer(one: str, other: str) -> bool:
    r"""Return whether each of two answers is accepted as an answer to the other as the reference.

    So it is symmetric, for answers among each other as in a vote; 5\% is 0.05 there and no other number. It
    need not be transitive (5 is 5 cm and 5 m, which differ); `erce.score.majority.merged` joins chains.

    >>> same_answer("(1,2)", "1,2"), same_answer("1,2", "2,1"), same_answer("0.05", r"5\%")
    (False, True, True)
    """
    if not one.strip() or not other.strip():
        return one.strip() == other.strip()
    pairs = (one, other), (other, one)
    return all(compared(*pair, percent_is_unit=False).accepted for pair in pairs)


def compared(gold: str, answer: str, *, percent_is_unit: bool = True) -> Verdict:
    """Return the verdict that `equivalent` gives, but do not measure its time."""
    given = answer.strip()
    if gold.strip() == given:
        return Verdict(True, "exact", given)
    if (choice := _CHOICE.fullmatch(gold)) and (chosen := _CHOSEN.fullmatch(answer)):
        same = choice[1] == chosen[1].upper()
        reason = "structural" if same else "different"
        return Verdict(same, reason, given, detail=f"choice {choice[1]} against {_shown(answer)}")
    try:
        tokens = tokenize(clean(answer))
        value = _value(gold)
        if isinstance(value, str):
            return _compared_as_text(gold, given, tokens, value)
        same = Comparison(percent_is_unit=percent_is_unit).accepts(value, tokens)
    except UnparsedError as error:
        return Verdict(False, "unparsed", given, detail=str(error))
    except (TooLargeError, RecursionError) as error:
        return Verdict(False, "too large", given, detail=str(error))
    number = value.value if isinstance(value, relations.Named) else value
    is_number = isinstance(number, Quantity) and not symbols(number.tree)
    reason = ("numeric" if is_number else "structural") if same else "different"
    kind = "number" if is_number else value.kind
    return Verdict(same, reason, given, detail=f"{kind} {_shown(gold)} against {_shown(answer)}")


@lru_cache(maxsize=2048)
def _value(gold: str) -> Value | str:
    """Return the value of a reference, or why it cannot be read."""
    try:
        return read_reference(gold)
    except (UnparsedError, TooLargeError) as error:
        return str(error)


def _compared_as_text(gold: str, given: str, tokens: list[Token], why: str) -> Verdict:
    """Accept the tokens of the reference itself: the same text except for wrappers and spaces."""
    with suppress(UnparsedError, TooLargeError):
        if _bare(tokenize(clean(gold))) == _bare(tokens):
            return Verdict(True, "structural", given, detail="the same except for wrappers and spaces")
    return Verdict(False, "reference not read", given, detail=f"it is compared as text: {why}")


def _bare(tokens: list[Token]) -> list[str]:
    """Return the texts of the tokens; those of a congruence without groups and the name of its number."""
    texts = [token.text for token in tokens]
    if "mod" not in texts:
        return texts
    start = texts.index("equiv") if "equiv" in texts else 0
    return [text for text in texts[start + 1 if name_of(tokens[:start]) else 0 :] if text not in "{}"]


def _shown(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"


def read_reference(text: str) -> Value:
    r"""Return the value of a reference.

    `UnparsedError` if the text is of none of the kinds, `TooLargeError` beyond a limit.

    >>> read_reference(r"(2, 5]").kind, read_reference("x = 5").kind
    ('interval', 'value')
    """
    tokens = trimmed(tokenize(clean(text)))
    return written.read_clock(tokens) or _read(tokens, 0)


def _read(tokens: list[Token], nesting: int) -> Value:
    """Return the value of these tokens, which are inside `nesting` others."""
    if nesting > MAX_NESTING:
        raise TooLargeError(f"more than {MAX_NESTING} levels of sets and tuples")
    if not tokens:
        raise UnparsedError("nothing where an answer should stand")
    if len(tokens) == 1 and tokens[0].kind == "number":
        return read_quantity(tokens)
    if written.is_nothing(tokens):
        return several.Values((), "{")
    if written.are_words(tokens) and not written.is_all_reals(tokens):
        return written.words_of(tokens)
    tokens = join_digit_groups(tokens)
    parts, separator = separated(tokens)
    if len(parts) > 1:
        return _several(tokens, parts, separator, nesting)
    sides, signs = sides_of(tokens)
    return _relation(tokens, sides, signs, nesting) if signs else _single(tokens, nesting)


def _several(tokens: list[Token], parts: list[list[Token]], separator: str, nesting: int) -> Value:
    """Return a list, values of several names, or a set of numbers that several inequalities bound."""
    named = several.values_of_names(parts)
    if named:
        names, values = named
        if separator != "or" and len(set(names)) == len(names):
            return several.Tuple(("(", ")"), tuple(_read(v, nesting + 1) for v in values), names)
        if len(set(names)) < len(names) and len(set(map(letter_of, names))) > 1:
            raise UnparsedError("several values of several names")
    if any(token.text in COMPARISONS for token in tokens):
        return _real_set(tokens) or several.Values(
            tuple(_read(part, nesting + 1) for part in parts), separator
        )
    try:
        values, separator, letter = several.parts_of(tokens, one_letter=True)
    except UnparsedError:
        values, separator, letter = several.parts_of(tokens, one_letter=False)
    items = tuple(_read(value, nesting + 1) for value in values)
    if len({item.phrase for item in items if isinstance(item, Quantity)}) > 1:
        raise UnparsedError("numbers of different things")
    return several.Values(items, separator, letter)


def _real_set(tokens: list[Token]) -> relations.RealSet | None:
    try:
        return relations.read_real_set(tokens, Budget())
    except UnparsedError:
        return None


def _relation(tokens: list[Token], sides: list[list[Token]], signs: list[str], nesting: int) -> Value:
    names = names_of(sides[0])
    if names and len(sides) == 2 and signs[0] in ("=", "in"):
        value = _read(sides[1], nesting + 1)
        if isinstance(value, several.Tuple) and len(value.items) == len(names):
            return replace(value, names=names, interval=None)
        raise UnparsedError("values of other names")
    if set(signs) <= COMPARISONS:
        return _real_set(tokens) or relations.read_relation(tokens)
    lettered = any(token.kind == "letter" for token in tokens)
    if signs == ["="] and lettered and not name_of(sides[0]) and not name_of(sides[1]):
        return relations.read_relation(tokens)
    name, forms = stated(tokens)
    value = _read(forms[-1], nesting + 1)
    if isinstance(value, several.Values | relations.RealSet) and not value.name:
        return replace(value, name=letter_of(name) if isinstance(value, several.Values) else name)
    comparison = Comparison(percent_is_unit=True)
    if not all(comparison.accepts(value, form) for form in forms[:-1]):
        raise UnparsedError("steps that do not agree")
    return relations.Named(name, value) if name else value


def _single(tokens: list[Token], nesting: int) -> Value:
    """Return one value: a matrix, a set, a bracket, a ratio or an expression."""
    if any(token.kind == "begin" for token in tokens) and tokens[0].text not in ("{", "\\{"):
        return several.read_matrix(tokens)
    if relations.is_operation(tokens) or written.is_all_reals(tokens):
        return relations.read_real_set(tokens, Budget())
    bracketed = several.entries_of(tokens)
    if bracketed:
        return _bracketed(tokens, *bracketed, nesting)
    braced = enclosed(tokens) and tokens[0].text == "\\{"
    if braced or len(expand_plus_minus(tokens)) > 1:
        values, _, _ = several.parts_of(tokens, one_letter=False)
        return several.Values(tuple(_read(value, nesting + 1) for value in values), "{" if braced else "±")
    return read_quantity(tokens)


def _bracketed(
    tokens: list[Token], brackets: tuple[str, str], parts: list[list[Token]], nesting: int
) -> Value:
    interval = _real_set(tokens) if len(parts) == 2 and set(brackets) <= set("()[]") else None
    if interval and (brackets != ("(", ")") or interval.is_endless):
        return interval
    kind = several.Ratio if brackets[0] == ":" else several.Tuple
    return kind(brackets, tuple(_read(part, nesting + 1) for part in parts), interval=interval)
