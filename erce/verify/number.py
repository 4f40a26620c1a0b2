"""Completion → whether it ends in the right number, which GSM8K puts after `####`."""

import re
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from erce.errors import InputError
from erce.types import Completion, Verdict
from erce.verify.answers.limits import UnparsedError
from erce.verify.answers.units import read_unit
from erce.verify.extract import (
    TRACES,
    Traces,
    boxed_answer,
    extract_answer,
    hedge_after,
    is_finished,
    marked_line,
    strip_traces,
    text_of,
)

TOLERANCE = Fraction(1, 10_000)  # the paper's, appendix "Experimental Setup GSM8k"
MAX_LINE_CHARACTERS = 1000  # of an answer; the rest is not read

_MINUS = str.maketrans(dict.fromkeys("−–﹣－‐‑", "-"))


def verify_number(
    answer: str,
    completion: Completion | str,
    *,
    strict: bool = True,
    marker: str = "####",
    traces: Traces = TRACES,
) -> Verdict:
    """Accept a completion whose final number is within 1e-4 of `answer`; never raise on model text.

    The final number directly follows the last `marker` (also as `x = 18` or `answer: 18`); a heading such as
    "#### Step 3: add up" is no answer. Without a marker it is what the last `\\boxed{…}` or `\\fbox{…}`
    holds. Thousands separators, currency, a percent sign and known units are ignored; "million" multiplies.
    One plural word says what is counted ("18 apples"). A line with a second number, an operator or any other
    word is "unparsed", as are "41 or 42" and "42 is wrong".

    Args:
        answer: The reference.
        completion: What the model wrote; a bare string counts as finished.
        strict: False takes, without marker and box, also the last stated answer ("Answer: 18"), else the
            last number of a finished text, unless its sentence hedges it (`erce.verify.extract`).
        marker: What the final number follows.
        traces: Marks of reasoning traces, which are never read.

    Returns:
        A verdict with the reason "exact" (the same text), "numeric" (the same number), "different",
        "unparsed" (no single number), "no answer" (nothing found), or "truncated" (before its number).

    Raises:
        InputError: `answer` is not a number.

    >>> verdict = verify_number("1,000", "half of 2000 is 1000\\n#### $1000.00")
    >>> verdict.accepted, verdict.reason, verdict.extracted
    (True, 'numeric', '$1000.00')
    >>> verify_number("18", "Answer: 18").reason, verify_number("18", "Answer: 18", strict=False).reason
    ('no answer', 'exact')
    """
    if not isinstance(answer, str):
        raise InputError(f"a reference answer is a str, got {type(answer).__name__}: correct it in the task")
    gold = _reference_value(answer)
    text = strip_traces(text_of(completion), traces)
    finished = is_finished(completion)
    if marked := marked_line(text, marker):
        found = text[marked] + hedge_after(text, marked.stop)
    else:
        found = boxed_answer(text) if strict else extract_answer(text, strict=False, number=finished)
    line = (found or "").strip()[:MAX_LINE_CHARACTERS]
    number = _number(line)
    if number is None:
        if not finished:
            return Verdict(False, "truncated", line or None)
        return Verdict(False, "unparsed", line) if line else Verdict(False, "no answer")
    if number.text == answer.strip():
        return Verdict(True, "exact", number.text)
    same = abs(number.value - gold) < TOLERANCE
    return Verdict(same, "numeric" if same else "different", number.text)


def is_number(text: str) -> bool:
    """Return whether a text is one number, as `verify_number` reads it."""
    return _number(text.strip()) is not None


def same_number(first: str, second: str) -> bool:
    """Return whether two extracted answers are the same number, within 1e-4, or else the same text.

    >>> same_number("$1,000.00", "1000"), same_number("3", "4"), same_number("none", "none")
    (True, False, True)
    """
    one, other = _number(first), _number(second)
    return first == second if one is None or other is None else abs(one.value - other.value) < TOLERANCE


class _Number(NamedTuple):
    text: str
    value: Fraction


@lru_cache(maxsize=4096)
def _reference_value(answer: str) -> Fraction:
    number = _number(answer.strip())
    if number is None:
        raise InputError(f"the reference answer {answer[:80]!r} is not a number: correct it in the task")
    return number.value


_GROUPING = re.compile(r"(?<=[0-9,])(?:\\[,!]|[\u00a0\u202f\u2009])(?=[0-9]{3}(?![0-9]))|(?<=[0-9])\{(?=,\})")
# Markdown emphasis, LaTeX text, degrees, maths delimiters and spacing say nothing about the value.
_WRAPPING = re.compile(
    r"\\(?:text|mathrm|mathbf|textbf)\b|\^?\{?\\circ\b|\\[,!;:() \[\]]|\\(?=[$%])|\*\*|[`{}]"
)
# \frac{1}{4}, \frac14, \frac1{4}, \frac{1}4; but \frac123 and \frac{1}{4}5 are not fractions.
_FRACTION = re.compile(
    r"(?<![0-9])\\[dtc]?frac\s*+(?:\{\s*+([0-9]++)\s*+\}|([0-9]))\s*+(?:\{\s*+([0-9]++)\s*+\}|([0-9]))(?![0-9]|[.,][0-9])"
)
_INTRODUCTION = re.compile(
    r"(?:(?=[A-Za-z])(?![^:=≈]*\b(?:not|never|no|wrong|incorrect|false|maybe|perhaps|than|if)\b)"
    r"[A-Za-z][A-Za-z ]{0,39}[:=≈]|(?:the )?(?:final )?answer(?: is)?\b)\s*",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"(?:[:=(*_\s]|<(?=[^<>\n]*+>))*+"
    r"(?P<sign>[+-]?[$€£¥₹¢] ?|(?:USD|EUR|GBP|INR|Rs\.?) ?|[$€£¥₹]?[+-]?)(?=[0-9]|\.[0-9])"
)
_DIGITS = re.compile(r"[0-9.,]++")
_WELL_FORMED = re.compile(r"(?:[0-9]{1,3}(?:,[0-9]{3})++|[0-9]*+)(?:\.[0-9]++)?")
_OVER = re.compile(r" ?/ ?([0-9]++)")
# The start of an expression or of a second number, and a question; m2 and km^2 are units.
_NOT_A_UNIT = re.compile(r"^\s*[-+/^!×÷=²³½¼¾]|^\*[0-9]|[\\?]|(?<![\w^])[0-9]")
_POWER = re.compile(r"(?<=[A-Za-z])\^?[23](?![0-9])")
# Temperatures, the end tokens of models ("<|im_end|>", "</s>") and all that is neither letter nor digit.
_WORDS_BETWEEN = re.compile(r"°\s*+[CF]\b|<[|/][^<>]*+>|[^\w/]|_")
# What is counted: one plural word, but no numeral (tens, thirds, tenths) and no other word that ends in s.
_NOT_COUNTED = (
    r"(?:tens|halves|thirds|quarters|dozens|scores|\w*(?:dreds|sands|illions|ths)|is|was|has|does|as|us|its|this|"
    r"thus|less|plus|minus|times|versus|always|perhaps|besides|sometimes|fails|seems|looks|equals|means)"
)
_COUNTED = re.compile(
    rf"(?<![^ ])(?!{_NOT_COUNTED}\b)[a-z]{{2,}}s(?: left| in total| in all| altogether| total)?$"
)


def _number(line: str) -> _Number | None:
    """Return the one number on a line; None if there are several, none or a malformed one."""
    line = _FRACTION.sub(r"\1\2/\3\4", _GROUPING.sub("", line.translate(_MINUS)).replace(",}", ","))
    line = _WRAPPING.sub(" ", line).strip()
    introduction = _INTRODUCTION.match(line)
    opening = _OPENING.match(line, introduction.end() if introduction else 0)
    digits = _DIGITS.match(line, opening.end()) if opening else None
    if opening is None or digits is None:
        return None
    written = digits.group().rstrip(".,")
    tail = line[opening.end() + len(written) :]
    over = _OVER.match(tail)
    tail = tail[over.end() :] if over else tail
    if _WELL_FORMED.fullmatch(written) is None or _NOT_A_UNIT.search(tail):
        return None
    words = " ".join(_WORDS_BETWEEN.sub(" ", _POWER.sub("", tail)).split()) if tail else ""
    words = _COUNTED.sub("", words) if words else words
    try:
        factor = read_unit(words)[1] if words else 1
    except UnparsedError:
        return None
    sign, denominator = opening["sign"], over[1] if over else "1"
    text = f"{sign}{written}{over.group() if over else ''}"
    if int(denominator) == 0:
        return None
    value = Fraction(written.replace(",", "")) / int(denominator) * factor
    return _Number(text if factor == 1 else f"{text} {words}", -value if "-" in sign else value)
