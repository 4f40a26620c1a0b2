"""GSM8K's convention for the final number, and that no text makes the verifier raise or hang."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toys.answers.completions import cut_off

from erce.types import REASONS
from erce.verify import verify_number

ACCEPTED = [  # answer, completion, reason
    ("18", "#### 18 percent", "exact"),
    ("42", "#### 42 apples", "exact"),
    ("42", "#### 42 marbles in total", "exact"),
    ("504", "#### 42 dozen eggs", "numeric"),
    ("42", "#### 42 dollars per day", "exact"),
    ("42", "#### 42 °C", "exact"),
    ("42", "#### 42 <|im_end|>", "exact"),
    ("42", "#### 42</s>", "exact"),
    ("42000000", "#### 42 million", "numeric"),
    ("18", "9 + 9 = 18\n#### 18", "exact"),
    ("18", "####\n18", "exact"),
    ("18", "#### 18 km^2", "exact"),
    ("18", "#### **18**", "exact"),
    ("18", "#### <18>", "exact"),
    ("18", "#### \\(18\\)", "exact"),
    ("18", "#### x = 18", "exact"),
    ("18", "#### The final answer is 18.", "exact"),
    ("18", "\\boxed{17}\n#### 18\n\\boxed{19}", "exact"),
    ("18", "\\boxed{\\text{18 dollars}}", "exact"),
    ("18", "\\boxed{18^\\circ}", "exact"),
    ("18", "#### Step 3: add up\nso \\boxed{18}", "exact"),
    ("18", "#### 3. Add up\nso \\boxed{18}", "exact"),
    ("18", "#### 1. **Add up**\nso \\boxed{18}", "exact"),
    ("18", "#### **1. Add up**\nso \\boxed{18}", "exact"),
    ("18", "#### 1) **Add up**\nso \\boxed{18}", "exact"),
    ("18", "#### **Day 2:**\nso \\boxed{18}", "exact"),
    ("18", "#### 🔹 1. Add up\nso \\boxed{18}", "exact"),
    ("18", "#### 1️⃣ Add up\nso \\boxed{18}", "exact"),
    ("18", "#### (a) Add up\nso \\boxed{18}", "exact"),
    ("18", "#### **18 eggs**\nThis is so.", "exact"),
    ("18", "#### ✅ 18\nThis is so.", "exact"),
    ("18", "#### **Answer: 18**\nThis is so.", "exact"),
    ("18", "#### **Total eggs**\nso \\boxed{18}", "exact"),
    ("18", "#### **The answer is 18.**\nGreat!", "exact"),
    ("18", "#### **John earned $18**\nGreat!", "numeric"),
    ("18", "#### **Final answer: $18 per day**\nGreat!", "numeric"),
    ("18", "#### (18) apples\nGreat!", "exact"),
    ("18", "#### Answer:- 18", "exact"),
    ("18", "#### Cost:- 18 dollars", "exact"),
    ("18", "####\n- 18", "exact"),
    ("42", "#### 42 red apples", "exact"),
    ("42", "#### 42 books about cats", "exact"),
    ("15", "#### 15, all told", "exact"),
    ("15", "#### There are 15 pens.", "exact"),
    ("15", "#### 15支", "exact"),
    ("5", "#### 5千克", "exact"),
    ("5000", "#### 5千元", "numeric"),
    ("15", "#### <<40-25=15>>15", "exact"),
    ("15", "#### $\\boxed{15}$", "exact"),
    ("8", "#### She had 12 and gave away 4, so 8.", "exact"),
    ("15", "#### 12 pens and 3 pencils, 15 in total", "exact"),
    ("15", "#### 15 total, 3 of them red", "exact"),
    ("12", "#### 15 pens are gone, so 12 are left", "exact"),
    ("18", "#### 5+13=18", "exact"),
    ("61", "\\boxed{p+q = 24+37 = 61}", "exact"),
    ("6000", "$\\boxed{6}$ thousand", "numeric"),
    ("2.5", "#### 2½", "numeric"),
    ("1.5", "\\boxed{1\\frac{1}{2}}", "numeric"),
    ("120000", "#### 120 000", "numeric"),
    ("251", "#### 2.51e+02", "numeric"),
    ("100000", "#### $100k", "numeric"),
    ("15", "#### １５", "exact"),
    ("0.6", "#### 60%", "numeric"),
    ("60", "#### 60 percent", "exact"),
    ("18", "#### $18", "numeric"),
    ("18", "#### 36/2", "numeric"),
    ("18", "\\boxed{\\frac{36}{2}}", "numeric"),
    ("0.2", "\\boxed{\\dfrac15}", "numeric"),
    ("-0.2", "#### $-\\tfrac 1 5$", "numeric"),
    ("0.05", "\\boxed{\\frac1{20}}", "numeric"),
    ("18", "#### 18.00009", "numeric"),
    ("-5", "#### -5", "exact"),
    ("-5", "#### \u22125", "exact"),
    ("-5", "#### -$5", "numeric"),
    ("-5", "#### - 5", "exact"),
    ("-5", "#### x = - 5", "exact"),
    ("-5", "$\\boxed{- 5}$", "exact"),
    ("-5", "#### – 5", "exact"),
    ("-5", "#### -**5**", "exact"),
    ("-5", "#### -\\$5", "numeric"),
    ("-5", "#### \\(- 5\\)", "exact"),
    ("-5", "\\boxed{-\\,5}", "exact"),
    ("-5", "\\boxed{-{5}}", "exact"),
    ("-5", "\\boxed{-(5)}", "exact"),
    ("-5", "\\boxed{-\\text{\\$}5}", "numeric"),
    ("-5", "\\boxed{x = -\\left(5\\right)}", "exact"),
    ("-5", "#### 3 - 8 = - 5", "exact"),
    ("300", "$\\boxed{300}$ K", "exact"),
    ("18", "#### So she has 3 boxes, in total 18", "exact"),
    ("0.5", "#### .5", "numeric"),
    ("1,000", "#### 1000", "numeric"),
    ("1000", "#### $1,000.00", "numeric"),
    ("1,000", "\\boxed{1{,}000}", "exact"),
    ("1,000", "\\boxed{1\\,000}", "numeric"),
    ("1,000", "#### 1\u202f000", "numeric"),
]
REJECTED = [
    ("42", "First \\boxed{42}, but that is wrong.\n#### 41 or 43", "unparsed"),
    ("42", "#### 42 or 43\nso \\boxed{42}", "unparsed"),
    ("42", "\\boxed{42}\n####", "no answer"),
    *(
        ("5", text, "different")
        for text in ("#### - 5", "#### -\\$5", "\\boxed{-(5)}", "\\boxed{-\\text{5}}")
    ),
    ("-5", "#### -(-5)", "unparsed"),
    ("6", "6 red and 12 blue.\n\\boxed{6} red.\n\n#### **She has 18 apples.**\nDone.", "different"),
    ("-5", "#### Total - 5", "unparsed"),
    ("5", "#### Total - 5", "unparsed"),
    *(("7", f"#### {words} 7", "unparsed") for words in ("twice", "half of", "double", "square root of the")),
    *(("7", f"#### {words} 7", "unparsed") for words in ("log", "probably", "likely")),
    ("7", "#### ~7", "unparsed"),
    ("18", "#### 18 (3 times 6)", "unparsed"),
    ("18", "#### 18 (that is wrong)", "unparsed"),
    ("42", "#### not: 42", "unparsed"),
    ("42", "#### definitely not x = 42", "unparsed"),
    ("42", "#### 42\n#### Wrong, I give up\nbye", "unparsed"),
    ("42", "#### 42 fails", "unparsed"),
    ("42", "#### up to 42", "unparsed"),
    ("42", "#### no. 42", "unparsed"),
    ("42", "#### 大约42", "unparsed"),
    ("42", "#### about $42", "unparsed"),
    ("42", "#### There are approximately 42 pens.", "unparsed"),
    ("42", "#### 42k", "different"),
    ("42", "#### 42 million", "different"),
    ("42", "#### 42 is wrong", "unparsed"),
    ("42", "#### 42 tens", "unparsed"),
    ("42", "#### 42 thirds", "unparsed"),
    ("42", "#### 42 more than 5", "unparsed"),
    ("42", "#### 42 and a half", "unparsed"),
    ("42", "#### 42x", "unparsed"),
    ("18", "It is 18.", "no answer"),
    ("18", "", "no answer"),
    ("18", "#### 19", "different"),
    ("18", "#### -18", "different"),
    ("18", "#### 18.0001", "different"),
    ("18", "#### 18M", "unparsed"),
    ("18", "#### 18, 19", "unparsed"),
    ("13", "#### 5+13=18", "different"),
    ("3", "#### x = 2, y = 3", "unparsed"),
    ("10", "#### 10 ± 2", "unparsed"),
    ("8", "#### She had 12 and gave 8", "unparsed"),
    ("0.6", "#### 0.6%", "different"),
    ("6", "\\boxed{6!}", "unparsed"),
    ("3", "#### f(3)", "unparsed"),
    ("18", "#### 18^2", "unparsed"),
    ("5", "#### 5 - m", "unparsed"),
    ("2", "#### 2\u00b2", "unparsed"),
    ("5", "\\boxed{5\\pi}", "unparsed"),
    ("29", "#### 2**9", "unparsed"),
    ("53", "#### 5\u00a03", "unparsed"),
    ("18", "#### 18:30", "unparsed"),
    ("100", "#### 1,00", "unparsed"),
    ("18", "#### 36/0", "unparsed"),
    ("6", "\\boxed{1\\frac{1}{2}}", "different"),
    ("15", "\\boxed{\\frac15}", "different"),
    ("0.2", "\\boxed{\\frac{1}50}", "unparsed"),
    ("0.2", "\\boxed{\\frac150}", "unparsed"),
    ("0.2", "\\boxed{\\frac15.5}", "unparsed"),
    ("18", "#### eighteen", "unparsed"),
    ("18", "#### Step 18", "unparsed"),
    ("18", "#### " + "9" * 201, "different"),
    ("18", "#### 1e5", "different"),
    ("18", "#### 3 1/2", "different"),
    ("18", "#### 1/" + "9" * 250, "different"),
]


@pytest.mark.parametrize(("answer", "completion", "reason"), ACCEPTED)
def test_the_final_number_is_accepted_as_people_write_it(answer, completion, reason):
    verdict = verify_number(answer, completion)
    assert (verdict.accepted, verdict.reason) == (True, reason)


@pytest.mark.parametrize(
    "completion",
    [
        "The answer is:\n- 18 eggs",
        "**Final Answer:**\n\n- 18 dollars",
        "Result:\n\n- 18",
        "The answer:- 18",
    ],
)
def test_a_dash_that_starts_a_line_or_follows_a_colon_is_not_a_minus(completion):
    assert verify_number("18", completion, strict=False).accepted


def test_a_minus_behind_words_counts():
    assert verify_number("-7", "The answer is - 7.", strict=False).accepted


@pytest.mark.parametrize(("answer", "completion", "reason"), REJECTED)
def test_what_is_not_one_right_final_number_is_rejected_with_its_reason(answer, completion, reason):
    verdict = verify_number(answer, completion)
    assert (verdict.accepted, verdict.reason) == (False, reason)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("9 + 9", "truncated"),
        ("####", "truncated"),
        ("\\boxed{1", "truncated"),
        ("#### Sol", "truncated"),
        ("#### 18 and", "truncated"),
    ],
)
def test_a_completion_that_was_cut_off_before_its_number_is_truncated(text, reason):
    assert verify_number("18", cut_off(text)).reason == reason


def test_the_marker_is_a_parameter():
    assert verify_number("18", "A: 18", marker="A:").accepted
    assert verify_number("18", "A: 18").reason == "no answer"


def test_what_was_extracted_is_told():
    assert verify_number("18", "#### $18.00 each").extracted == "$18.00"
    assert verify_number("18", "#### eighteen").extracted == "eighteen"
    assert verify_number("18", "nothing").extracted is None
    assert len(verify_number("18", "#### " + "so " * 1000).extracted) <= 1000


def test_a_reference_that_is_no_number_is_the_tasks_fault():
    for answer in ("eighteen", "", "1 or 2"):
        with pytest.raises(ValueError, match="reference answer"):
            verify_number(answer, "#### 18")


def test_a_megabyte_of_anything_is_judged():
    """In milliseconds; a quadratic scan would take minutes here."""
    hostile = [
        "#### " + "9" * 10**6,
        "#### " + "1," * 500_000,
        "#### " + "-" * 10**6,
        "#### " + "a " * 500_000,
        "#### " + "{" * 10**6,
        "#### " + "\\frac{1}{" * 100_000,
        "####" + " " * 10**6,
        "#### " * 200_000,
        "#" * 10**6,
        "\\boxed{" * 150_000,
        "\\boxed{" + "{" * 10**6,
        "\\boxed{" + "\\frac{1}{2}" * 90_000 + "}",
    ]
    for text in hostile:
        assert not verify_number("18", text).accepted


PIECES = ["####", "\\boxed{", "\\frac", "\u2212", "18", "\n", "\u0661", "\ud800", *"{}$-1,.e/0= %\\"]


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=12).map("".join)))
def test_no_text_makes_it_raise(text):
    assert verify_number("18", text).reason in REASONS


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**9), max_value=10**9))
def test_every_number_equals_itself_and_no_other(number):
    answer = f"{number:,f}"
    assert verify_number(answer, f"#### {answer}").reason == "exact"
    assert verify_number(answer, f"\\boxed{{{number:f}}}").accepted
    assert not verify_number(answer, f"#### {number + 1:f}").accepted
    assert not verify_number(answer, f"#### {float(Fraction(number)) + 0.01:.6f}").accepted
