"""An answer in words → the number or set that the words name; other words stay words."""

import re

from erce.verify.answers.read.lexer import Token
from erce.verify.answers.read.nouns import is_counted
from erce.verify.answers.tree import INFINITY, NEGATIVE_INFINITY, Tree
from erce.verify.answers.values import Answer, Bracketed, Listing, Named, Record, Scalar, SetOperation, Words

REALS = Scalar(("sym", "mathbb:R"))


def words_value(text: str) -> Answer:
    """Return the value of words in lower case, without punctuation.

    >>> words_value("forty two").tree, words_value("no real solutions").items
    (('num', 42), ())
    """
    text = _ARTICLE.sub("", " ".join(text.split()))
    number = _number(text)
    if number is not None:
        return Scalar(("num", number))
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

    >>> introduces("there are"), introduces("the area is"), introduces("the answer is not")
    (True, True, False)
    """
    if _ANSWER.fullmatch(words):
        return True
    *subject, verb = words.split() or [""]
    return verb in _VERBS and all(word in _SUBJECTS or is_counted(word) for word in subject)


_ANSWER = re.compile("(?:the )?(?:final )?(?:answer|ans|result)(?: is)?:?")
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
_ZERO: Answer = Scalar(("num", 0))


def _half_line(opening: str, low: Answer, high: Answer, closing: str) -> Bracketed:
    return Bracketed(opening, (low, high), closing)


_UP, _DOWN = Scalar(INFINITY), Scalar(NEGATIVE_INFINITY)
_ALL = "(?:(?:the )?set of )?(?:(?:all|every|any) )?(?:the )?"
_SETS: tuple[tuple[re.Pattern[str], Answer], ...] = tuple(
    (re.compile(pattern), value)
    for pattern, value in (
        (_ALL + "(?:reals|real numbers?|real values)", REALS),
        ("(?:all|every|any) real", REALS),
        ("all (?:the )?integers", Scalar(("sym", "mathbb:Z"))),
        (_ALL + "positive (?:reals|real numbers?)", _half_line("(", _ZERO, _UP, ")")),
        (_ALL + "negative (?:reals|real numbers?)", _half_line("(", _DOWN, _ZERO, ")")),
        (_ALL + "non ?negative (?:reals|real numbers?)", _half_line("[", _ZERO, _UP, ")")),
        ("(?:empty|null) set|(?:there (?:is|are) )?no (?:real )?solutions?(?: exists?)?", Listing((), "{")),
        ("(?:positive |plus )?infinity", _UP),
        ("(?:negative |minus )infinity", _DOWN),
    )
)
_SAME = {
    "does not exist": "dne",
    "do not exist": "dne",
    "doesnt exist": "dne",
    "limit does not exist": "dne",
    "infinitely many solutions": "infinitely many",
}
_ONES = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_NUMBERS = {word: n for n, word in enumerate(_ONES.split())} | {
    word: 10 * n for n, word in enumerate(_TENS.split(), 2)
}


def _number(text: str) -> int | None:
    """Return the number from zero to ninety-nine that the words spell; None for other words."""
    words = [_NUMBERS.get(word, 0) for word in text.split(" ")]
    if len(words) == 2 and words[0] >= 20 and 0 < words[1] < 10:
        return sum(words)
    return _NUMBERS.get(text)
