"""The forms in which models write an answer are read in the mode that they belong to, doubts in neither."""

import pytest
from toys.answers.completions import cut_off
from toys.forms import DOUBTS, FLEXIBLE, LAST_NUMBER, MARKED, MARKED_DOUBTS, MATH_ONLY, STRICT, fill

from erce.verify import verify_math, verify_number

VERIFIERS = {"math": verify_math, "number": verify_number}
IS_STRICT = {"math": STRICT | MARKED | MATH_ONLY, "number": STRICT | MARKED}
IS_READ = {name: MATH_ONLY | FLEXIBLE | LAST_NUMBER | IS_STRICT[name] for name in VERIFIERS}
RIGHT, WRONG = "73", "74"
FORMS = [(kind, name) for kind, forms in IS_READ.items() for name in forms]


@pytest.mark.parametrize(("kind", "name"), FORMS)
def test_a_form_is_accepted_with_the_right_value_alone_and_strictly_only_if_the_task_asks_for_it(kind, name):
    verify, form = VERIFIERS[kind], IS_READ[kind][name]
    assert verify(RIGHT, fill(form, RIGHT), strict=False).accepted
    assert not verify(RIGHT, fill(form, WRONG), strict=False).accepted
    assert verify(RIGHT, fill(form, RIGHT)).accepted == (name in IS_STRICT[kind])
    assert not verify(RIGHT, fill(form, WRONG)).accepted


@pytest.mark.parametrize(
    ("kind", "form"),
    [(kind, form) for kind in VERIFIERS for form in (*DOUBTS.values(), *MARKED_DOUBTS.values())],
)
def test_doubt_is_no_answer(kind, form):
    for strict in (True, False):
        verdict = VERIFIERS[kind](RIGHT, fill(form, RIGHT), strict=strict)
        assert not verdict.accepted, verdict


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        (r"\frac{3}{4}", r"\frac{3}{4}"),
        ("0.75", r"\dfrac{3}{4}"),
        ("12.50", r"\$12.50"),
        ("12", "12 cm"),
        ("-3", "-3"),
    ],
)
def test_a_stated_value_may_be_a_fraction_a_sum_of_money_or_have_a_unit(answer, value):
    plain = {name: form for name, form in FLEXIBLE.items() if "maths" not in name}
    for name, form in plain.items():
        completion = fill(form, value)
        assert verify_math(answer, completion, strict=False).accepted, name
        if answer[0] != "\\":
            assert verify_number(answer, completion, strict=False).accepted, name


@pytest.mark.parametrize(
    ("answer", "completion", "accepted"),
    [
        ("x = 2, y = 3", "The final answer is x = 2, y = 3.", True),
        ("2", "The final answer is x = 2, y = 3.", False),
        ("2, 3", r"\boxed{2} and \boxed{3}", True),
        ("2, 3", r"Thus $t = \boxed{2}$, or $t = \boxed{3}$.", True),
        ("3", r"Thus $t = \boxed{2}$, or $t = \boxed{3}$.", False),
        ("x = 2, y = 3", r"$x = \boxed{2}$ and $y = \boxed{3}$", True),
        ("x = 3, y = 2", r"$x = \boxed{2}$ and $y = \boxed{3}$", False),
        ("3", r"\boxed{2} and so the sum is \boxed{3}", True),
        ("5", "The final answer is 5 if x > 0, and 6 otherwise.", False),
    ],
)
def test_several_values_are_one_answer(answer, completion, accepted):
    assert verify_math(answer, completion).accepted == accepted


def test_the_marks_of_a_trace_are_a_setting():
    completion = "<hmm>The final answer is 1</hmm>The final answer is 2"
    traces = (("<hmm>", "</hmm>"),)
    assert verify_math("2", completion, traces=traces).accepted
    assert not verify_math("2", "<HMM> the final answer is 2", traces=traces).accepted
    assert verify_math("2", "<hmm> the final answer is 2").accepted
    assert verify_math("2", "<think> the final answer is 2", traces=()).accepted
    assert verify_number("2", "<hmm>#### 1</hmm>\n#### 2", traces=traces).accepted
    assert not verify_number("2", "<hmm>#### 2", traces=traces).accepted


@pytest.mark.parametrize(
    ("completion", "strict", "flexible"),
    [
        ("9 + 9\n#### 18", True, True),
        ("#### 18 apples or 19", False, False),
        ("First \\boxed{1}.\n#### 18", True, True),
        ("First \\boxed{1}.\n#### 18 \n\nI hope it is correct.", True, True),
        ("First \\boxed{18}.\n#### 19", False, False),
        ("The final answer is 18.\n#### 19", False, False),
        ("The answer is 18.\n#### none", False, False),
        ("#### 19\nNo: the final answer is 18.", True, True),
        ("#### 19\nNo: \\boxed{18}", True, True),
        ("\\boxed{18}\n#### Step 3: check\nIt is even.", True, True),
        ("\\boxed{18}\n#### 3. Check\nIt is even.", True, True),
        ("\\boxed{18}\n#### x = 19\nIt is odd.", False, False),
        ("\\boxed{18}\n####", False, False),
        ("\\boxed{18\n#### 18", False, False),
    ],
)
def test_to_verify_math_a_marker_decides_alone_and_below_a_box_or_statement(completion, strict, flexible):
    assert verify_math("18", completion).accepted == strict
    assert verify_math("18", completion, strict=False).accepted == flexible


@pytest.mark.parametrize(
    "completion",
    [
        "The final answer is 18. This answer is consistent with the problem.",
        "#### 18\nThis answer is consistent with the problem.",
        "The final answer is 18. The answer was checked by substitution.",
        "#### 18\n<answer>19</answer>",
        "The final answer is 18\n\nAnswer\n19",
    ],
)
def test_the_flexible_reading_is_the_strict_one_where_that_finds_an_answer(completion):
    assert verify_math("18", completion).accepted
    assert verify_math("18", completion, strict=False).accepted
    assert not verify_math("19", completion, strict=False).accepted


def test_the_last_number_is_read_only_of_finished_text_and_for_a_number():
    assert verify_number("18", cut_off("It is 18"), strict=False).reason == "truncated"
    assert verify_math("18", cut_off("It is 18"), strict=False).reason == "truncated"
    assert verify_math("x", "It is x + 18", strict=False).reason == "no answer"
