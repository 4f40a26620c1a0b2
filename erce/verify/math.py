"""Completion → whether the answer in its last box means the same as the reference, as in MATH."""

import time
from dataclasses import replace

from erce.errors import InputError
from erce.types import Completion, Verdict
from erce.verify.answers.compare.same_answer import same_answer
from erce.verify.answers.conventions import Conventions
from erce.verify.answers.limits import TooLargeError, UnparsedError
from erce.verify.answers.read.spelling import spelling
from erce.verify.answers.read.surface import clean, compact
from erce.verify.answers.read.typed import parse_answer
from erce.verify.answers.tree import contains, symbols
from erce.verify.answers.values import Answer, Bracketed, Listing, Named, Scalar
from erce.verify.extract import (
    TRACES,
    Traces,
    extract_answer,
    has_box,
    is_finished,
    last_number,
    text_of,
    without_traces,
)
from erce.verify.number import is_number

__all__ = ["Conventions", "equivalent", "verify_math"]

MODES = ("typed", "paper")
_DEFAULT = Conventions()
_SAME_TEXT = Verdict(True, "structural", detail="the same except for wrappers and spaces")
_SHOWN_CHARACTERS = 80  # of an answer, in a detail


def verify_math(
    answer: str,
    completion: Completion | str,
    *,
    strict: bool = True,
    mode: str = "typed",
    conventions: Conventions = _DEFAULT,
    traces: Traces = TRACES,
) -> Verdict:
    r"""Accept a completion whose final answer is equivalent to `answer`; never raise on model text.

    The final answer is the content of the last box, else what follows "the final answer is". Anything else is
    not an answer. With `strict=False` it may be, if neither is there: then the last stated answer counts
    ("Answer: 5", "the answer is 5"), else, if `answer` is a number, the last number of a finished text,
    unless its sentence leaves it in doubt (`erce.verify.extract`). What stands in a reasoning trace, between
    the marks of `traces`, is never read. `mode="typed"` compares with `equivalent`; "paper" takes the paper's
    four steps, which know no conventions.

    Reasons beside those of `equivalent`: "no answer" (nothing found, or an empty box), and "truncated" if the
    completion was cut off before its answer. A bare string counts as finished. `elapsed` is wall time.

    >>> verify_math(r"\frac{1}{2}", r"Half of it: $\boxed{0.5}$.").reason
    'numeric'
    >>> verify_math("5", "Answer: 5").reason, verify_math("5", "Answer: 5", strict=False).reason
    ('no answer', 'exact')
    """
    if mode not in MODES:
        raise InputError(f"no mode {mode!r}; give one of {', '.join(MODES)}")
    began = time.perf_counter()
    _require_reference(answer)
    text = without_traces(text_of(completion), traces)
    finished = is_finished(completion)
    extracted = extract_answer(text, strict=strict)
    if extracted is None and not (strict or has_box(text)) and finished and is_number(answer):
        extracted = last_number(text)
    if extracted is None or not extracted.strip():
        return Verdict(False, "no answer" if finished else "truncated", elapsed=time.perf_counter() - began)
    if mode == "paper":
        from erce.verify.paper_steps import equivalent_paper

        return equivalent_paper(answer, extracted)
    return equivalent(answer, extracted, conventions=conventions)


def equivalent(gold: str, answer: str, *, conventions: Conventions = _DEFAULT) -> Verdict:
    r"""Accept two answers, in LaTeX or plain text, that mean the same; never raise on `answer`.

    Each answer is parsed into a value of a type: a number or an expression, a list, a set, a tuple or an
    interval, a matrix, an equation, an inequality, a numeral in a base, a ratio, a time, words. Values of one
    type are compared by the rules of that type. Rational expressions are compared exactly, others in high
    precision, at fixed points if they have symbols. Numbers are compared within a millionth only if one has
    a decimal point and either has no finite decimal form (1/3, π). Every answer that is not empty is
    equivalent to itself. A `gold` that cannot be parsed is compared as text.

    The verdict is symmetric, except under `Conventions(unreduced=False)`, and that `answer` may leave out
    names (1, 2 for x = 1, y = 2) but not add any.

    Reasons: "exact" (the same text), "numeric" (the same number), "structural" (the same value of another
    type), "different", "unparsed", "too large", "reference not read" (not the same text).

    >>> equivalent(r"(2, 5]", r"2 < x \le 5").reason
    'structural'
    >>> equivalent(r"(2, 5]", "[2, 5]").detail
    'interval (2, 5] against interval [2, 5]'
    """
    began = time.perf_counter()
    _require_reference(gold)
    if not isinstance(answer, str):
        raise InputError(f"an answer is a str, got {type(answer).__name__}: decode or convert it first")
    verdict = _compared(gold, answer, conventions)
    return replace(verdict, extracted=answer.strip(), elapsed=time.perf_counter() - began)


def _require_reference(answer: str) -> None:
    if not isinstance(answer, str) or not answer.strip():
        raise InputError(f"the reference answer {answer!r} is empty or no text: correct it in the task")


def _compared(gold: str, answer: str, conventions: Conventions) -> Verdict:
    if gold.strip() == answer.strip():
        return Verdict(True, "exact")
    try:
        if _same_text(gold, answer):
            return _SAME_TEXT
        return _compared_values(gold, answer, conventions)
    except RecursionError:
        return Verdict(False, "too large", detail="the caller's recursion limit leaves no room")


def _same_text(gold: str, answer: str) -> bool:
    try:
        text = compact(clean(gold))
        return bool(text) and text == compact(clean(answer))
    except TooLargeError:
        return False


def _same_spelling(gold: str, answer: str) -> bool:
    try:
        written = spelling(clean(gold))
        return bool(written) and written == spelling(clean(answer))
    except (UnparsedError, TooLargeError):
        return False


def _compared_values(gold: str, answer: str, conventions: Conventions) -> Verdict:
    try:
        value = parse_answer(clean(gold))
    except (UnparsedError, TooLargeError) as error:
        if _same_spelling(gold, answer):
            return _SAME_TEXT
        return Verdict(False, "reference not read", detail=f"it is compared as text: {error}")
    try:
        other = parse_answer(clean(answer))
        same = same_answer(value, other, conventions)
    except UnparsedError as error:
        return _SAME_TEXT if _same_spelling(gold, answer) else Verdict(False, "unparsed", detail=str(error))
    except TooLargeError as error:
        return Verdict(False, "too large", detail=str(error))
    reason = ("numeric" if _is_number(value) else "structural") if same else "different"
    return Verdict(same, reason, detail=f"{_shown(value, gold)} against {_shown(other, answer)}")


def _is_number(value: Answer) -> bool:
    if isinstance(value, Named):
        value = value.value
    return isinstance(value, Scalar) and not symbols(value.tree) and not contains(value.tree, "pm")


def _shown(value: Answer, text: str) -> str:
    kind = "number" if _is_number(value) else value.kind
    if isinstance(value, Listing) and value.joined == "{":
        kind = "set"
    if isinstance(value, Bracketed) and len(value.items) == 2:
        kind = "pair" if value.opening + value.closing == "()" else "interval"
    text = " ".join(text.split())
    return f"{kind} {text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + '…'}"
