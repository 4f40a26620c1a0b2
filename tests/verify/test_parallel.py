"""Verdicts of several processes are the same as one by one."""

import pytest

from erce.types import Verdict
from erce.verify import verify_many, verify_number

PAIRS = [(str(number % 7), f"#### {number % 5}") for number in range(200)]


def refuse(answer, completion):
    raise KeyError(answer)


@pytest.mark.parametrize("workers", [1, 2, None])
def test_verdicts_come_in_order_whatever_the_number_of_processes(workers):
    assert verify_many(verify_number, PAIRS, workers=workers) == [verify_number(*pair) for pair in PAIRS]


@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_verifier_raises_is_no_verdict(workers):
    with pytest.raises(KeyError):
        verify_many(refuse, PAIRS, workers=workers)


def test_nothing_to_judge_is_no_verdicts():
    assert verify_many(verify_number, [], workers=2) == []


def test_a_verifier_that_cannot_travel_is_said():
    with pytest.raises(ValueError, match="cannot be sent to other processes"):
        verify_many(lambda answer, completion: Verdict(True, "exact"), PAIRS, workers=2)


def test_no_processes_is_said():
    with pytest.raises(ValueError, match="workers = 0; give 1 or more"):
        verify_many(verify_number, PAIRS, workers=0)
