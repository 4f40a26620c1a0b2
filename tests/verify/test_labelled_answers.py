"""The labelled answers and completions get the verdicts of their labels, in either order."""

import pytest
from toys.answers.completions import COMPLETIONS
from toys.answers.labelled import PAIRS

from erce.types import REASONS
from erce.verify.math import equivalent, verify_math

CATEGORIES = sorted({pair.category for pair in PAIRS})
MISSES: dict[tuple[str, str], str] = {}  # gold and answer whose verdict is wrong: the reason


def of(category: str) -> list[tuple[str, str, bool]]:
    """Return gold, answer and label of the scored pairs of a category."""
    return [
        (pair.gold, pair.answer, pair.expected)
        for pair in PAIRS
        if pair.category == category and pair.expected is not None
    ]


@pytest.mark.parametrize("category", CATEGORIES)
def test_every_pair_gets_the_verdict_of_its_label(category):
    wrong = [pair for pair in of(category) if equivalent(*pair[:2]).accepted is not pair[2]]
    assert [pair for pair in wrong if pair[:2] not in MISSES] == []


@pytest.mark.parametrize("category", CATEGORIES)
def test_gold_and_answer_can_change_places(category):
    for gold, answer, _ in of(category):
        assert equivalent(gold, answer).accepted is equivalent(answer, gold).accepted, (gold, answer)


def test_every_answer_equals_itself():
    for text in {text for pair in PAIRS for text in (pair.gold, pair.answer)}:
        assert equivalent(text, text).accepted, text
        assert equivalent(text, f" {text}\n").accepted, text


def test_a_verdict_on_a_disputed_pair_has_a_reason_too():
    disputed = [pair for pair in PAIRS if pair.expected is None]
    assert {equivalent(pair.gold, pair.answer).reason for pair in disputed} <= set(REASONS)


def test_a_known_miss_is_still_one():
    labels = {(pair.gold, pair.answer): pair.expected for pair in PAIRS}
    for pair, reason in MISSES.items():
        assert equivalent(*pair).accepted is not labels[pair], f"{pair} is right: {reason}"


@pytest.mark.parametrize("kind", COMPLETIONS)
def test_a_completion_is_judged_by_the_answer_that_it_ends_in(kind):
    for case in COMPLETIONS[kind]:
        verdict = verify_math(case.answer, case.completion)
        assert case.expected in (None, verdict.accepted), (case, verdict)


@pytest.mark.parametrize(
    "wrapper", ["\\boxed{%s}", "So $\\boxed{%s}$.", "\\boxed{1} or rather \\boxed{ %s }\n"]
)
def test_a_box_changes_no_verdict(wrapper):
    for pair in PAIRS:
        if pair.expected is not None and balanced(pair.answer) and (pair.gold, pair.answer) not in MISSES:
            completion = wrapper.replace("%s", pair.answer)
            assert verify_math(pair.gold, completion).accepted is pair.expected, (pair, completion)


def balanced(text: str) -> bool:
    """Return whether the text can stand in a box: its braces match, and it holds no box itself."""
    depth = 0
    for brace in text.replace("\\\\", "").replace("\\{", "").replace("\\}", ""):
        depth += (brace == "{") - (brace == "}")
        if depth < 0:
            return False
    return depth == 0 and not text.endswith("\\") and "\\boxed" not in text and "\\fbox" not in text


def test_there_are_cases_enough_of_both_kinds():
    for category in CATEGORIES:
        labels = [label for _, _, label in of(category)]
        assert labels.count(True) >= 3, category
        assert labels.count(False) >= 3, category
    assert len({(pair.gold, pair.answer) for pair in PAIRS}) == len(PAIRS)
