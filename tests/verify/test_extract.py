"""The part of a completion that is its final answer, found in linear time."""

import time
from dataclasses import replace

import pytest

from erce.types import Completion
from erce.verify.extract import (
    extract_answer,
    is_finished,
    last_box,
    last_number,
    matching_brace,
    stated_answer,
    text_of,
)

BOXES = [  # text, content of the last box
    (r"so $\boxed{5}$.", "5"),
    (r"\boxed{3} no wait \boxed{5}", "5"),
    (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
    (r"\boxed{\{1, 2\}}", r"\{1, 2\}"),
    (r"\boxed{a\}b}", r"a\}b"),
    (r"\boxed{a\\}b}", r"a\\"),
    (r"\boxed{1\boxed{2}}", "2"),
    (r"\boxed{\boxed{5}}", "5"),
    ("\\boxed\n {5}", "5"),
    (r"\fbox{7}", "7"),
    (r"\boxed{1} and \fbox{2}", "2"),
    (r"\fbox{1} and \boxed{2}", "2"),
    (r"$\boxed 7$", "7"),
    (r"$\boxed \frac{1}{2}$", r"\frac{1}{2}"),
    (r"\(\boxed 7\)", "7"),
    ("\\boxed 7\nDone.", "7"),
    (r"\boxed{5} with \boxedwith{6}", "5"),
    (r"\boxed{}", ""),
    (r"\boxed{5", None),
    (r"\boxed{4} then \boxed{5", None),
    ("no box", None),
    ("", None),
    ("\\boxed", None),
]
STATED = [  # text, what follows the last "final answer is"
    ("The final answer is 5.", "5"),
    ("The final answer is 5.5.", "5.5"),
    ("The final answer is: $\\frac{1}{2}$. I hope it is correct.", r"\frac{1}{2}"),
    ("Final Answer: The final answer is $5$. I hope it is correct.", "5"),
    ("the FINAL answer IS **12**, as shown", "12"),
    (r"the final answer is \(x + 1\), so", "x + 1"),
    ("the final answer is $$7$$", "7"),
    ("the final answer is 3\nand 4 is not", "3"),
    ("the final answer is 3, which is odd", "3"),
    ("the final answer is 1, 2", "1, 2"),
    ("the final answer is $7$ or $8$.", "$7$ or $8$"),
    ("the final answer is $7$, and $8$.", "$7$, and $8$"),
    ("the final answer is $7$, since $8$ is even", "7"),
    ("the final answer is 1. no, the final answer is 2.", "2"),
    ("the final answer is", None),
    ("**The final answer is** $7$", "7"),
    ("**The final answer is:** 7", "7"),
    ("The final answer is **7**", "7"),
    ("The final answer is:\n\n$$7$$\n", "7"),
    ("**The final answer is**:\n7", "7"),
    ("the answer is 5", None),
]


@pytest.mark.parametrize(("text", "content"), BOXES)
def test_the_last_box_is_found_by_matching_its_braces(text, content):
    assert last_box(text) == content


@pytest.mark.parametrize(("text", "content"), STATED)
def test_the_stated_answer_ends_with_its_sentence(text, content):
    assert stated_answer(text) == content


def test_a_box_goes_before_a_stated_answer_and_no_numeral_is_a_fallback():
    assert extract_answer(r"\boxed{1}. The final answer is 2.") == "1"
    assert extract_answer("The final answer is 2.") == "2"
    assert extract_answer("9 + 9 = 18") is None
    assert extract_answer(r"The final answer is 2. \boxed{1") is None


def test_a_brace_that_never_closes_has_no_match():
    assert matching_brace("{a{b}c}", 0) == 6
    assert matching_brace("{a{b}c}", 2) == 4
    assert matching_brace("{a", 0) == -1
    assert matching_brace(r"{\}", 0) == -1


def test_text_comes_from_a_str_or_a_completion_and_from_nothing_else():
    cut_off = Completion(problem="", sample=0, text="a", tokens=1, finished=False, logprob=0.0, entropy=0.0)
    assert (text_of("a"), is_finished("a")) == ("a", True)
    assert (text_of(cut_off), is_finished(cut_off)) == ("a", False)
    assert is_finished(replace(cut_off, finished=None))  # an imported log that does not say
    for other in (None, b"a", 5):
        with pytest.raises(ValueError, match="decode or convert"):
            text_of(other)


HOSTILE = [
    "\\boxed{" * 14_000,
    "\\boxed{" * 14_000 + "}" * 14_000,
    "\\boxeda" * 14_000,
    "\\boxed" * 16_000,
    "\\boxed{" + "{" * 100_000,
    "\\boxed{" + "\\" * 100_000,
    "\\boxed" + " " * 100_000,
    "\\boxed " + "a" * 100_000,
    "final answer is " * 6_000,
    "final" + " " * 100_000,
    "final answer is" + " " * 100_000,
    "final answer is $" + "\\" * 100_000,
    "final answer is **" + "*" * 100_000,
    " " * 100_000,
    "1," * 50_000,
    "\ud800\x00" * 50_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hundred_thousand_characters_are_searched_in_linear_time(text):
    began = time.process_time()
    extract_answer(text)
    last_number(text)
    assert time.process_time() - began < 5  # a quadratic search takes tens of seconds
