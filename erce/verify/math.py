"""Completion → whether the answer in its last box means the same as the reference, as in MATH."""

import re
import time

from erce.errors import InputError
from erce.types import Completion, Verdict
from erce.verify.answers.reference import compared, require_reference
from erce.verify.extract import FINAL_ANSWER_IS, STATEMENT, TRACES, Traces, find_answer, is_finished
from erce.verify.number import is_number
from erce.verify.phrases import plain, stated_number
from erce.verify.sentences import Answer

NOTHING_FOUND = ("no answer", "truncated")
_SOLUTION = re.compile(r"####|(?<!\S)[^\W\d_]{2,}\b.*\\(?:boxed|fbox)\b", re.DOTALL)


def verify_math(
    answer: str, completion: Completion | str, *, strict: bool = True, traces: Traces = TRACES
) -> Verdict:
    r"""Accept a completion whose final answer is equivalent to `answer`; never raise on model text.

    The final answer is the last box, else what follows "the final answer is", or a later line after `####`.

    Args:
        answer: The reference; InputError if it is empty or a whole solution.
        completion: What the model wrote; a bare string counts as finished.
        strict: False takes also the last stated answer ("Answer: 5", "the answer is 5"), else, if `answer`
            is a number, the last number of a finished text, unless its sentence hedges it
            (`erce.verify.extract`).
        traces: Marks of reasoning traces, which are never read.

    Returns:
        A verdict with a reason of `equivalent`, "no answer" (nothing found, or an empty box), or "truncated"
        (cut off before its answer); `elapsed` is wall time.

    >>> verify_math(r"\frac{1}{2}", r"Half of it: $\boxed{0.5}$.").reason
    'numeric'
    >>> verify_math("5", "Answer: 5").reason, verify_math("5", "Answer: 5", strict=False).reason
    ('no answer', 'exact')
    """
    began = time.perf_counter()
    require_reference(answer)
    if _SOLUTION.search(answer):
        raise InputError(f"{answer[-80:]!r} ends a whole solution: give what its #### or box holds")
    if not strict and (by_form := verify_math(answer, completion, traces=traces)).reason not in NOTHING_FOUND:
        return by_form
    answer_words = find_answer(
        completion,
        FINAL_ANSWER_IS if strict else STATEMENT,
        traces=traces,
        marker="####",
        number=not strict and is_number(answer),
    )
    if answer_words is None or not answer_words.text.strip():
        return Verdict(False, NOTHING_FOUND[not is_finished(completion)], elapsed=time.perf_counter() - began)
    verdict = _compared(answer, answer_words)
    detail = verdict.detail if verdict.accepted else answer_words.note or verdict.detail
    return Verdict(verdict.accepted, verdict.reason, verdict.extracted, time.perf_counter() - began, detail)


def _compared(answer: str, given: Answer) -> Verdict:
    """Return the verdict on the words of an answer, or on the one number in the sentence that states it."""
    if given.is_none:
        return Verdict(False, "unparsed", given.text)
    verdict = compared(answer, given.text)
    if verdict.reason != "unparsed" or not given.sentence or not is_number(answer):
        return verdict
    if any(map(str.isalpha, plain(answer))):  # a unit, which the number of a phrase has not
        return verdict
    number = stated_number(given.text, given.sentence)
    return compared(answer, number.text + "%" * number.is_percent) if number else verdict
