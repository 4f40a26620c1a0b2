"""An answer in words → the number or set that the words name; other words stay words."""

import re

from erce.verify.answers.read.lexer import Token
from erce.verify.answers.read.nouns import is_counted
from erce.verify.answers.tree import INFINITY, NEGATIVE_INFINITY, Tree
from erce.verify.answers.values import (
    Answer,
    Bracketed,
    Clock,
    Listing,
    Named,
    Record,
    Scalar,
    SetBuilder,
    SetOperation,
    Words,
)

REALS = Scalar(("sym", "mathbb:R"))


def words_value(text: str) -> Answer:
    """Return the value of words in lower case, without punctuation.

    >>> words_value("forty two").tree, words_value("no real solutions").items
    (('num', 42), ())
    """
    if _LETTERS.fullmatch(text):  # A and C
        return Listing(
            tuple(Scalar(("sym", letter.upper())) for letter in text.split() if letter != "and"), "and"
        )
    text = _SUBJECT.sub("", _ARTICLE.sub("", " ".join(text.split())))
    number = _number(text)
    if number is not None:
        return Scalar(number)
    choice = _CHOICE.fullmatch(text)
    if choice:
        return Scalar(("sym", choice.group(1).upper()))
    for pattern, value in _SETS:
        if pattern.fullmatch(text):
            return value
    return Words(_SAME.get(text, text))


def leading_words(tokens: list[Token]) -> tuple[str, list[Token]]:
    """Return the words before the first token that is none, in lower case, and the other tokens."""
    end = next((at for at, token in enumerate(tokens) if token.kind != "word"), len(tokens))
    return " ".join(token.text for token in tokens[:end]).casefold(), tokens[end:]


def introduces(words: str) -> bool:
    """Return whether words state the value after them, as "the answer" and "the number of ways is" do.

    >>> introduces("there are"), introduces("total:"), introduces("the answer is not")
    (True, True, False)
    """
    if _ANSWER.fullmatch(words):
        return True
    *subject, verb = words.split() or [""]
    return verb in _VERBS and all(word in _SUBJECTS or is_counted(word) for word in subject)


_CHOICE = re.compile(r"(?:option|choice|answer choice|answer:?) \(?([a-j])\)?")
_LETTERS = re.compile("[a-j](?: [a-j])*(?: and [a-j])+")
_ANSWER = re.compile("(?:the )?(?:final )?(?:answer|ans|result|total)(?: is)? ?[:=]?|exactly")
_SUBJECT_WORDS = (
    "the there it this that thus so hence therefore final answer result total of in a an we she he they"
)
_VERBS = frozenset({"is", "are", "equals", "has", "have"})
_SUBJECTS = frozenset(_SUBJECT_WORDS.split())


def reals_without(excluded: Answer) -> Answer:
    """Return all real numbers but one, or but those of a list."""
    items = excluded.items if isinstance(excluded, Listing | Record) else (excluded,)
    values = tuple(item.value if isinstance(item, Named) else item for item in items)  # except x = 2
    return SetOperation("setminus", REALS, Listing(values, "{"))


# Words before the numbers that they leave out.
ALL_BUT = re.compile(
    "(?:all )?(?:the )?reals?(?: numbers?| values)?(?: of)?(?: x)? "
    "(?:except|excluding|but|other than|without)(?: for)?"
)


def ray(words: str, edge: Tree) -> Bracketed | None:
    """Return the ray that words such as "real numbers greater than" make with `edge`; None for others."""
    match = _RAYS.fullmatch(words)
    if match is None:
        return None
    words = match.group(1)
    closed = "equal" in words or words.startswith("at ")
    if "greater" in words or "least" in words:
        return Bracketed("[" if closed else "(", (Scalar(edge), Scalar(INFINITY)), ")")
    return Bracketed("(", (Scalar(NEGATIVE_INFINITY), Scalar(edge)), "]" if closed else ")")


_RAYS = re.compile(
    "(?:all )?(?:the )?reals?(?: numbers?)? (?:that are )?"
    "(greater than(?: or equal to)?|less than(?: or equal to)?|at least|at most)"
)
_ARTICLE = re.compile("^(?:the |an |a )(?=.)")
# What converges, diverges or does not exist; the problem has named it.
_SUBJECT = re.compile(
    "^(?:improper |infinite )?(?:series|sequence|integral|limit|sum) (?:is )?(?=con|di|does )"
)
_ZERO: Answer = Scalar(("num", 0))


def _half_line(opening: str, low: Answer, high: Answer, closing: str) -> Bracketed:
    return Bracketed(opening, (low, high), closing)


def _integers(remainder: int) -> SetBuilder:
    """Return the even integers for a remainder of 0, the odd ones for 1."""
    head: Tree = ("add", (("mul", (("num", 2), ("sym", "k"))), ("num", remainder)))
    return SetBuilder(Scalar(head), (("k", Scalar(("sym", "mathbb:Z"))),), ())


_UP, _DOWN = Scalar(INFINITY), Scalar(NEGATIVE_INFINITY)
_ALL = "(?:(?:the )?set of )?(?:(?:all|every|any) )?(?:the )?"
_NOTHING = (
    "(?:there (?:is|are) )?no (?:(?:such|real|integer|positive) )*"
    "(?:solutions?|roots?|values?|integers?|numbers?|functions?|pairs?|triples?|[a-z])(?: exists?)?"
)
_SETS: tuple[tuple[re.Pattern[str], Answer], ...] = tuple(
    (re.compile(pattern), value)
    for pattern, value in (
        (_ALL + "(?:reals|real numbers?|real values)", REALS),
        ("(?:all|every|any) real(?: (?:values? of |numbers? )?[a-z])?", REALS),
        ("all (?:the )?integers", Scalar(("sym", "mathbb:Z"))),
        (_ALL + "positive (?:reals|real numbers?)", _half_line("(", _ZERO, _UP, ")")),
        (_ALL + "negative (?:reals|real numbers?)", _half_line("(", _DOWN, _ZERO, ")")),
        (_ALL + "non ?negative (?:reals|real numbers?)", _half_line("[", _ZERO, _UP, ")")),
        ("(?:empty|null) set|none", Listing((), "{")),
        (_NOTHING, Listing((), "{")),
        ("(?:all )?(?:the )?odd integers", _integers(1)),
        ("(?:all )?(?:the )?even integers", _integers(0)),
        ("(?:diverges to )?(?:positive |plus )?infinity", _UP),
        ("(?:diverges to )?(?:negative |minus )infinity", _DOWN),
        ("noon", Clock(12, 0, "p")),
        ("midnight", Clock(12, 0, "a")),
    )
)
_SAME = {
    "does not exist": "dne",
    "do not exist": "dne",
    "doesnt exist": "dne",
    "infinitely many solutions": "infinitely many",
    "divergent": "diverges",
    "convergent": "converges",
}
_ONES = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_NUMBERS = {word: n for n, word in enumerate(_ONES.split())} | {
    word: 10 * n for n, word in enumerate(_TENS.split(), 2)
}


_ORDINALS = "fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_PARTS = {"half": 2, "third": 3, "quarter": 4} | {word: n for n, word in enumerate(_ORDINALS.split(), 4)}


def _number(text: str) -> Tree | None:
    """Return the integer, or the fraction, that the words spell; None for other words.

    >>> _number("two hundred and six"), _number("negative three quarters")
    (('num', 206), ('neg', ('frac', ('num', 3), ('num', 4))))
    """
    words = text.split()
    if text == "half":
        return "frac", ("num", 1), ("num", 2)
    if words[:1] in (["negative"], ["minus"]):
        tree = _number(" ".join(words[1:]))
        return None if tree is None else ("neg", tree)
    whole = _whole(words)
    if whole is not None:
        return "num", whole
    above, part = _whole(words[:-1]), _PARTS.get(words[-1].removesuffix("s")) if words else None
    return ("frac", ("num", above), ("num", part)) if above and part and above < 20 else None


def _whole(words: list[str]) -> int | None:
    for scale, name in ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if name in words:
            at = words.index(name)
            rest = words[at + 1 :]
            above, below = _whole(words[:at]), _whole(rest[rest[:1] == ["and"] :]) if rest else 0
            return (
                scale * above + below if above and below is not None and max(above, below) < scale else None
            )
    if len(words) == 2 and words[0] in _TENS and 0 < _NUMBERS.get(words[1], 0) < 10:
        return _NUMBERS[words[0]] + _NUMBERS[words[1]]
    return _NUMBERS.get(words[0]) if len(words) == 1 else None
