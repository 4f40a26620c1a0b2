"""Verdicts become numbers; what is missing is never averaged over."""

import numpy as np
import pytest

from erce.score import acceptance, pass_at_1, shares, summarize
from erce.types import REASONS, Completion, Verdict

YES, NO = Verdict(True, "exact"), Verdict(False, "different")


def completion(problem: str, sample: int, **changes) -> Completion:
    settings = {"text": "", "tokens": 10, "finished": True, "logprob": -5.0, "entropy": 0.5} | changes
    return Completion(problem=problem, sample=sample, **settings)


def test_sampled_pass_at_1_is_accepted_over_problems_times_samples():
    accepted = np.array([[1, 0, 0, 0], [1, 1, 1, 0]], dtype=np.uint8)
    assert pass_at_1(accepted) == 4 / 8


@pytest.mark.parametrize(
    "wrong", [np.zeros((0, 4)), np.zeros((3, 0)), np.zeros(3), np.array([[2]]), np.array([[np.nan]])]
)
def test_an_array_that_is_no_grid_of_verdicts_is_refused(wrong):
    with pytest.raises(ValueError, match="accepted"):
        pass_at_1(wrong)


def test_shares_add_up_to_one_and_keep_the_order_of_reasons():
    verdicts = [Verdict(False, reason) for reason in reversed(REASONS)]
    assert list(shares(verdicts)) == list(REASONS)
    assert sum(shares(verdicts).values()) == pytest.approx(1)


@pytest.mark.parametrize("verdicts", [[], [Verdict(False, "mistyped")]])
def test_shares_of_nothing_or_of_an_unknown_reason_are_refused(verdicts):
    with pytest.raises(ValueError, match=r"reason|no verdicts"):
        shares(verdicts)


def test_acceptance_follows_problem_and_sample_numbers_not_the_order_of_samples():
    completions = [completion("b", 1), completion("b", 0), completion("a", 0), completion("a", 1)]
    grid = acceptance(completions, [YES, NO, NO, NO])
    assert grid.tolist() == [[0, 1], [0, 0]]


@pytest.mark.parametrize(
    ("completions", "verdicts", "message"),
    [
        ([completion("a", 0)], [], "1 completions with 0 verdicts"),
        ([completion("a", 0), completion("a", 0)], [YES, YES], "sample 0 twice"),
        ([completion("a", 0), completion("a", 1), completion("b", 0)], [YES] * 3, "'b' lacks sample 1"),
        ([completion("a", 1)], [YES], "'a' lacks sample 0"),
    ],
)
def test_a_missing_or_doubled_completion_is_refused(completions, verdicts, message):
    with pytest.raises(ValueError, match=message):
        acceptance(completions, verdicts)


def test_a_summary_weighs_entropy_and_log_p_by_tokens():
    completions = [
        completion("a", 0, tokens=1, entropy=2.0, logprob=-3.0),
        completion("b", 0, tokens=3, entropy=0.4, logprob=-1.0, finished=False),
    ]
    summary = summarize(completions, [YES, NO])
    assert summary == {
        "pass@1": 0.5,
        "problems": 2,
        "samples": 1,
        "reasons": {"exact": 0.5, "different": 0.5},
        "finished": 0.5,
        "tokens": 2.0,
        "entropy": pytest.approx((1 * 2.0 + 3 * 0.4) / 4),
        "logprob": pytest.approx(-4.0 / 4),
    }
