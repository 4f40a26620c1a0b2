"""Completion → whether it ends in the right number, which GSM8K puts after `####`."""

from fractions import Fraction

from erce.errors import InputError
from erce.types import Completion, Verdict
from erce.verify.extract import STATEMENT, TRACES, Traces, find_answer, is_finished
from erce.verify.phrases import answer_in, plain, stated_number
from erce.verify.sentences import Answer

TOLERANCE = Fraction(1, 10_000)  # the paper's, appendix "Experimental Setup GSM8k"
MAX_LINE_CHARACTERS = 1000  # of an answer; the rest is not read


def verify_number(
    answer: str,
    completion: Completion | str,
    *,
    strict: bool = True,
    marker: str = "####",
    traces: Traces = TRACES,
) -> Verdict:
    """Accept a completion whose final number is within 1e-4 of `answer`; never raise on model text.

    The final number stands on the line after the last `marker`, else in the last `\\boxed{…}` or `\\fbox{…}`
    with what touches it. A phrase gives its one number ("15 red pens"), the end of a chain (4*15 = 60), or
    the number after "so" or beside "total"; any other is "unparsed", as are "41 or 42" and "42 is wrong".
    "million" multiplies; 60% is 0.6 if `answer` is below one, else 60.

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
    gold = answer_in(answer)
    if gold is None:
        raise InputError(f"the reference answer {answer[:80]!r} is not a number: correct it in the task")
    statements = None if strict else STATEMENT
    found = find_answer(
        completion, statements, traces=traces, marker=marker, marker_first=True, number=not strict
    ) or Answer("")
    line = (found.text.strip() or found.sentence.strip())[:MAX_LINE_CHARACTERS]
    # A phrase may have words; but a letter beside a box makes a product of it.
    is_product = bool(found.note) and not found.sentence and any(map(str.isalpha, plain(found.text)))
    number = None if found.is_none or is_product else stated_number(line, found.sentence)
    if number is None:
        if not is_finished(completion):
            return Verdict(False, "truncated", line or None)
        if not line:
            return Verdict(False, "no answer")
        return Verdict(False, "unparsed", line, detail=found.note or "it is not a single number")
    is_exact = number.text == answer.strip()
    if is_exact and not number.is_percent:
        return Verdict(True, "exact", number.text)
    value = number.value / 100 if number.is_percent and abs(gold.value) < 1 else number.value
    if abs(value - gold.value) >= TOLERANCE:
        return Verdict(False, "different", number.text, detail=found.note)
    return Verdict(True, "exact" if is_exact else "numeric", number.text)


def is_number(text: str) -> bool:
    """Return whether a text is one number, as `verify_number` reads it."""
    return answer_in(text) is not None


def same_number(first: str, second: str) -> bool:
    """Return whether two extracted answers are the same number, within 1e-4, or else the same text.

    >>> same_number("$1,000.00", "1000"), same_number("3", "4"), same_number("none", "none")
    (True, False, True)
    """
    one, other = answer_in(first), answer_in(second)
    return first == second if one is None or other is None else abs(one.value - other.value) < TOLERANCE
