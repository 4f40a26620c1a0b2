"""Verdicts become numbers; what is missing is never averaged over."""

import json

import numpy as np
import pytest

from erce.score import acceptance, coverage, shares, summarize
from erce.types import REASONS, Completion, Verdict

YES, NO = Verdict(True, "exact"), Verdict(False, "different")


def completion(problem: str, sample: int, **changes) -> Completion:
    settings = {"text": "", "tokens": 10, "finished": True, "logprob": -5.0, "entropy": 0.5} | changes
    return Completion(problem=problem, sample=sample, **settings)


def test_sampled_pass_at_1_is_accepted_over_problems_times_samples():
    completions = [completion(problem, sample) for problem in "ab" for sample in range(4)]
    assert summarize(completions, [YES, NO, NO, NO, YES, YES, YES, NO])["pass@1"] == 4 / 8


@pytest.mark.parametrize(
    "wrong", [np.zeros((0, 4)), np.zeros((3, 0)), np.zeros(3), np.array([[2]]), np.array([[np.nan]])]
)
def test_an_array_that_is_no_grid_of_verdicts_is_refused(wrong):
    with pytest.raises(ValueError, match="accepted"):
        coverage(wrong)


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


def test_the_share_with_any_form_needs_every_flexible_verdict():
    completions = [completion("a", 0), completion("b", 0)]
    verdicts = [Verdict(True, "exact", flexible=True), Verdict(False, "no answer", flexible=True)]
    assert (summarize(completions, verdicts)["pass@1"], summarize(completions, verdicts)["flexible"]) == (
        0.5,
        1.0,
    )
    assert summarize(completions, [verdicts[0], NO])["flexible"] is None


def test_a_summary_weighs_entropy_and_log_p_by_tokens():
    completions = [
        completion("a", 0, tokens=1, entropy=2.0, logprob=-3.0),
        completion("b", 0, tokens=3, entropy=0.4, logprob=-1.0, finished=False),
    ]
    summary = summarize(completions, [YES, NO])
    assert summary == {
        "pass@1": 0.5,
        "flexible": None,
        "problems": 2,
        "samples": 1,
        "reasons": {"exact": 0.5, "different": 0.5},
        "finished": 0.5,
        "tokens": 2.0,
        "entropy": pytest.approx((1 * 2.0 + 3 * 0.4) / 4),
        "logprob": pytest.approx(-4.0 / 4),
    }


def test_a_log_that_counts_no_token_has_no_means_over_tokens():
    counted_none = [completion("a", 0, tokens=0, entropy=0.0, logprob=0.0)]
    summary = summarize(counted_none, [YES])
    assert [summary[name] for name in ("tokens", "entropy", "logprob")] == [None] * 3


def several(answers: list[str | None], accepted: str, logprobs: list[float]):
    """Return one problem's completions and verdicts, accepted where `accepted` has a y."""
    completions = [completion("a", i, logprob=each) for i, each in enumerate(logprobs)]
    judged = [
        Verdict(mark == "y", "exact" if mark == "y" else "different", answer)
        for mark, answer in zip(accepted, answers, strict=True)
    ]
    return completions, judged


def test_several_samples_add_coverage_the_vote_and_the_likeliest():
    completions, judged = several(["7", "4", "4", "4", "9", None], "ynnnnn", [-1.0, -2, -3, -4, -5, -6])
    summary = summarize(completions, judged)
    estimates = {key: value for key, value in summary.items() if "@" in key}
    assert estimates == {
        "pass@1": pytest.approx(1 / 6),
        "pass@2": pytest.approx(1 / 3),
        "pass@4": pytest.approx(2 / 3),
        "pass@6": 1,
        "maj@6": 0,
        "best@6": 1,
    }
    assert summarize(completions, judged, equal=lambda _a, _b: True)["maj@6"] == pytest.approx(1 / 5)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_samples_in_any_order_keep_their_answers_and_log_probabilities():
    completions, judged = several(["7", "8", "4", "4"], "nnyy", [-4.0, -2.0, -1.0, -3.0])
    turned = summarize(completions[::-1], judged[::-1])
    assert turned == summarize(completions, judged)
    assert (turned["maj@4"], turned["best@4"]) == (1, 1)


@pytest.mark.parametrize(
    ("answers", "logprobs", "kept"),
    [
        (["7", "4"], [-1.0, -2.0], ["maj@2", "best@2"]),
        (["7", None], [-1.0, -2.0], ["maj@2", "best@2"]),
        (["7", "4"], [-1.0, np.nan], ["maj@2"]),
        ([None, "4"], [-1.0, -2.0], ["best@2"]),  # a judge that says yes or no extracts nothing
    ],
)
def test_a_missing_answer_or_log_probability_leaves_out_what_needs_it(answers, logprobs, kept):
    summary = summarize(*several(answers, "yn", logprobs))
    assert [key for key in summary if "@" in key] == ["pass@1", "pass@2", *kept]


def test_each_problem_is_kept_in_the_order_of_names():
    """Problem b: the vote and the likeliest are wrong; a: both are right, the vote with two of three."""
    completions = [completion(name, i, logprob=-1.0 - i) for name in "ba" for i in range(3)]
    answers, right = ["3", "3", "4", "7", "7", "5"], "nnyyyn"
    judged = [
        Verdict(mark == "y", "exact" if mark == "y" else "different", answer)
        for mark, answer in zip(right, answers, strict=True)
    ]
    summary = summarize(completions, judged)
    assert summary["by_problem"] == {"maj": [1.0, 0.0], "best": [1.0, 0.0]}
    assert "by_problem" not in summarize(completions[::3], judged[::3])
