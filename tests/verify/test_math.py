"""The verdict on a completion that ends in a mathematical answer, and that no text hurts."""

import sys
import threading
import tracemalloc

import pytest
from toys.answers.completions import cut_off
from toys.answers.hostile import bombs

from erce.errors import InputError
from erce.verify import equivalent, verify_math

VERDICTS = [  # answer, completion, accepted, reason
    (r"\frac{1}{2}", r"so $\boxed{\frac{1}{2}}$.", True, "exact"),
    (r"\frac{1}{2}", r"\boxed{0.5}", True, "numeric"),
    ("x = 5", r"\boxed{5}", True, "numeric"),
    ("x + 1", r"\boxed{1 + x}", True, "structural"),
    (r"\{1, 2\}", r"\boxed{\{2, 1\}}", True, "structural"),
    (r"\text{Evelyn}", r"\boxed{Evelyn}", True, "structural"),
    ("5", "The final answer is $5$. I hope it is correct.", True, "exact"),
    ("5", "#### Total: 5", True, "exact"),
    ("5", "#### Total cost: $5", True, "numeric"),
    ("5", "#### Therefore, 5", True, "exact"),
    (r"\text{simply connected}", "#### simply connected", True, "structural"),
    (r"\text{connected}", "#### simply connected", False, "different"),
    (r"\text{total internal reflection}", "#### total internal reflection", True, "structural"),
    (r"\frac{3}{4}", r"$\boxed{\frac{3}{4}}$ (or 75%)", True, "exact"),
    ("0.5", r"\boxed{\frac{1}{2}} (or 0.5)", True, "numeric"),
    ("7", r"$\boxed{7}$ (or 8)", False, "unparsed"),
    ("-5", r"$$\boxed{\text{-5 dollars}}$$", True, "numeric"),
    ("5", "#### -**5**", False, "different"),
    ("5", "#### ~5", False, "unparsed"),
    (r"\mbox{four}", r"\boxed{-\mbox{four}}", False, "different"),
    (r"\mbox{four}", r"\boxed{\text{-four}}", False, "different"),
    ("5", r"\boxed{6}", False, "different"),
    ("5", r"\boxed{5 + }", False, "unparsed"),
    ("5", r"\boxed{\frac{5}{0}}", False, "unparsed"),
    ("5", r"\boxed{9^{9^9}}", False, "too large"),
    ("5", r"\boxed{" + "5" * 3000 + "}", False, "too large"),
    ("5", "It is 5.", False, "no answer"),
    ("5", r"\boxed{ }", False, "no answer"),
    ("5", r"\boxed{5", False, "no answer"),
    ("5", cut_off(r"\boxed{5"), False, "truncated"),
    ("5", cut_off("so x is"), False, "truncated"),
    ("5", cut_off(r"\boxed{5} and"), True, "exact"),
    ("5", cut_off(r"\boxed{6} and"), False, "different"),
]


@pytest.mark.parametrize(("answer", "completion", "accepted", "reason"), VERDICTS)
def test_a_completion_is_judged_by_its_final_answer(answer, completion, accepted, reason):
    verdict = verify_math(answer, completion)
    assert (verdict.accepted, verdict.reason) == (accepted, reason)


@pytest.mark.parametrize(
    "completion",
    [
        *(r"-\boxed{5}", r"$\frac{1}{\boxed{5}}$", r"$x\neq\boxed{5}$", r"$\boxed{5}^2$", r"$\boxed{5}\pi$"),
        *(
            r"It cannot be \boxed{5}",
            r"The wrong answer is \boxed{5}",
            r"\boxed{5}. Sorry, a mistake: it is 6.",
        ),
        *(
            "The final answer is 5 in total minus 3.",
            "The final answer is 5, given that x>0, or -3 otherwise.",
        ),
        *("The final answer is 5, which I doubt.", r"\boxed{5 \text{ or } 6}", r"\boxed{\{5}", r"\Boxed{5}"),
        *(r"\boxed{6}, although some would say 5", r"\boxed{3} and \boxed{5}", "<answer>5</answer>"),
    ],
)
def test_what_stands_beside_a_value_may_make_another_of_it(completion):
    assert not verify_math("5", completion).accepted


def test_a_verdict_tells_what_was_extracted_and_why():
    verdict = verify_math("[2, 5]", r"so \boxed{ (2, 5] }")
    assert verdict.extracted == "(2, 5]"
    assert verdict.detail == "interval [2, 5] against (2, 5]"
    assert verdict.elapsed > 0
    assert verify_math("5", "a " * 10**6 + r"\boxed{5}").elapsed > 1e-3  # the search counts too
    assert verify_math("5", "nothing").extracted is None
    assert len(equivalent("5", "1 + " * 400 + "x").detail) < 200


@pytest.mark.parametrize("answer", ["", " ", None, b"5", 5])
def test_a_reference_that_is_no_text_is_the_tasks_fault(answer):
    with pytest.raises(ValueError, match="reference answer"):
        verify_math(answer, "5")
    with pytest.raises(ValueError, match="reference answer"):
        equivalent(answer, "5")


def test_a_whole_solution_is_refused_as_a_reference_and_a_box_or_formula_around_the_answer_is_not():
    for solution in (r"So we get $\boxed{5}$.", "4*5=20\n#### 20", r"Thus\n\[x = \boxed{5}.\]"):
        with pytest.raises(InputError, match="ends a whole solution: give what its #### or box holds"):
            verify_math(solution, r"\boxed{5}")
    for answer in (r"\boxed{5}", r"$\boxed{5}$", r"\text{ } \boxed{5}", "5"):
        assert verify_math(answer, r"\boxed{5}").accepted
    assert equivalent(solution, solution).accepted


@pytest.mark.parametrize("completion", [None, b"5", 5, ["5"]])
def test_a_completion_that_is_no_text_is_the_callers_fault(completion):
    with pytest.raises(ValueError, match="decode or convert"):
        verify_math("5", completion)
    with pytest.raises(ValueError, match="decode or convert"):
        equivalent("5", completion)


@pytest.mark.parametrize("gold", [r"1, 2, \ldots, n", r"x \sim 3", "{", "5" * 3000, "\x00", "\ud800"])
def test_a_reference_that_is_not_understood_is_compared_as_text(gold):
    assert equivalent(gold, f" {gold} ").reason == "exact"
    assert equivalent(gold, "5").reason == "reference not read"
    assert not equivalent("5", gold).accepted


def test_a_bomb_takes_little_memory():
    equivalent("x", r"\sin x + \sqrt{2}")  # mpmath is loaded and its constants are known
    tracemalloc.start()
    try:
        for bomb in list(bombs().values())[::4]:
            equivalent("x+1", bomb)
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


def test_a_callers_small_recursion_limit_is_a_verdict_not_an_error():
    def under(limit: int) -> None:
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(limit)
        try:
            told.append(equivalent("x", "(" * 30 + r"\frac{x}{1}" + ")" * 30))
        finally:
            sys.setrecursionlimit(before)

    told = []
    for limit in (80, 1000):
        thread = threading.Thread(target=under, args=(limit,))  # a thread's stack begins at its own frame
        thread.start()
        thread.join()
    assert [verdict.reason for verdict in told] == ["too large", "structural"]
