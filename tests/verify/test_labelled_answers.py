"""The labelled answers get the verdicts of their labels."""

import pytest
from toys.answers.labelled import PAIRS

from erce.verify import equivalent

CATEGORIES = sorted({pair.category for pair in PAIRS})


@pytest.mark.parametrize("category", CATEGORIES)
def test_every_pair_gets_the_verdict_of_its_label(category):
    wrong = [
        pair
        for pair in PAIRS
        if pair.category == category and equivalent(pair.gold, pair.answer).accepted is not pair.expected
    ]
    assert wrong == []


def test_every_answer_equals_itself():
    for text in {text for pair in PAIRS for text in (pair.gold, pair.answer)}:
        assert equivalent(text, text).accepted, text
        assert equivalent(text, f" {text}\n").accepted, text
