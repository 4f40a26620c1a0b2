"""Completion → its final answer: the last box, else what follows "the final answer is"."""

import re

from erce.errors import InputError
from erce.types import Completion

MAX_STATED_CHARACTERS = 400  # that are read after "the final answer is"
MAX_UNBRACED_CHARACTERS = 200  # of an answer boxed without braces


def extract_answer(text: str) -> str | None:
    r"""Return the content of the last box, else what follows the last "final answer is", else None.

    Only the last box of a text counts: if it never closes, there is no answer. There is no fallback to the
    last number. Takes time linear in the text.

    >>> extract_answer(r"\boxed{3}, no: \boxed{\{1, 2\}}.")
    '\\{1, 2\\}'
    >>> extract_answer("The final answer is $5$. I hope it is correct.")
    '5'
    >>> extract_answer("It is 5.") is None
    True
    """
    start = last_box_start(text)
    return box_at(text, start) if start >= 0 else stated_answer(text)


def last_box(text: str) -> str | None:
    r"""Return the content of the last `\boxed{…}` or `\fbox{…}`; None without a box that closes.

    >>> last_box(r"\boxed{1\boxed{2}}"), last_box(r"$\boxed 7$")
    ('2', '7')
    """
    start = last_box_start(text)
    return box_at(text, start) if start >= 0 else None


def last_box_start(text: str) -> int:
    r"""Return the index at which the last `\boxed` or `\fbox` begins, -1 without a box."""
    return max(_last_command(text, r"\boxed"), _last_command(text, r"\fbox"))


def box_at(text: str, start: int) -> str | None:
    r"""Return the content of the box that begins at `start`; None if the box does not close.

    A box without a brace, as in `$\boxed 7$`, holds the rest of the formula.
    """
    opening = _BOX.match(text, start)
    if opening is None:
        return None
    if not text.startswith("{", opening.end()):
        unbraced = _UNBRACED.match(text, opening.end())
        return unbraced.group() if unbraced else None
    closing = matching_brace(text, opening.end())
    return text[opening.end() + 1 : closing] if closing >= 0 else None


def matching_brace(text: str, start: int) -> int:
    r"""Return where the group that opens at `start` closes, -1 if nowhere; `\{` and `\}` are no braces.

    >>> matching_brace(r"{a\}{b}}c", 0)
    7
    """
    depth = 0
    for match in _BRACE.finditer(text, start):
        brace = match.group()
        if brace == "{":
            depth += 1
        elif brace == "}":
            depth -= 1
            if depth == 0:
                return match.start()
    return -1


def stated_answer(text: str) -> str | None:
    """Return what follows the last "final answer is" in its sentence; None without these words.

    Emphasis and maths delimiters around the answer are removed. Several formulas joined by commas or "or" are
    one answer. A full stop inside a number does not end the sentence.
    """
    *_, last = (None, *_STATED.finditer(text))
    if last is None:
        return None
    line = text[last.end() : last.end() + MAX_STATED_CHARACTERS].partition("\n")[0]
    delimited = _DELIMITED.match(line)
    if delimited and _GOES_ON.match(line, delimited.end()):
        return _SENTENCE_END.split(line, maxsplit=1)[0].strip()
    if delimited:
        return next(group for group in delimited.groups() if group is not None).strip()
    return _CLAUSE_END.split(_SENTENCE_END.split(line, maxsplit=1)[0], maxsplit=1)[0].strip() or None


def last_number(text: str) -> str | None:
    """Return the last number of a text; None without one, or if its last word with a digit is no number.

    >>> last_number("3 + 4 =7."), last_number("So the change is **-$1,000.50**.")
    ('7', '-$1,000.50')
    >>> last_number("It is 3 or 4x"), last_number("It is 3-7"), last_number("It is three")
    (None, None, None)
    """
    with_digits = (word for word in reversed(_BETWEEN_WORDS.split(text)) if _DIGIT.search(word))
    word = next(with_digits, "").strip(_AROUND_NUMBERS)
    return word if _NUMERAL.fullmatch(word) else None


def text_of(completion: Completion | str) -> str:
    """Return the completion's text; InputError if it is neither a text nor a completion."""
    if isinstance(completion, str):
        return completion
    if isinstance(completion, Completion) and isinstance(completion.text, str):
        return completion.text
    raise InputError(
        f"a completion is text (a str or an erce.types.Completion), got {type(completion).__name__}: "
        "decode or convert it first"
    )


def is_finished(completion: Completion | str) -> bool:
    """Return False if the completion was cut off; True for a bare string, or if nothing says."""
    return isinstance(completion, str) or completion.finished is not False


_BOX = re.compile(r"\\(?:boxed|fbox)\s*+")
_UNBRACED = re.compile(rf"[^$\n]{{1,{MAX_UNBRACED_CHARACTERS}}}?(?=\$|\n|\\\)|\\\]|\Z)")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
# Emphasis may end before or after the colon, and the answer may stand below it.
_STATED = re.compile(r"final\s++answer\s++is\s*+(?:\*\*(?=[\s:]))?(?::(?:\*\*)?\s++)?:?", re.IGNORECASE)
_DELIMITED = re.compile(
    r"\s*+(?:\$\$([^$]++)\$\$|\$((?:[^$\\]|\\.)++)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]|\*\*([^*]++)\*\*)"
)
_GOES_ON = re.compile(r"\s*+(?:,\s*+(?:or|and)?|or|and)\s*+(?:\$|\\\(|\\\[|\*\*)")
_SENTENCE_END = re.compile(r"\.(?:\s|$)|\.?\s++I hope")
_CLAUSE_END = re.compile(r",\s++(?=[a-z])")
_BETWEEN_WORDS, _DIGIT = re.compile(r"[\s=]"), re.compile("[0-9]")
_AROUND_NUMBERS = "*_`()[]{}.,;:!?\"'\\"
_NUMERAL = re.compile(r"[-+−]?[$€£¥₹]?[0-9]++(?:,[0-9]{3})*+(?:\.[0-9]++)?(?:/[0-9]++)?%?")


def _last_command(text: str, command: str) -> int:
    r"""Return where `command` last occurs with no letter after it (unlike `\boxedwith`); -1 if nowhere."""
    start = text.rfind(command)
    while start >= 0 and text[start + len(command) : start + len(command) + 1].isalpha():
        start = text.rfind(command, 0, start)
    return start
