"""The part of a completion that is its final answer, found in linear time."""

import time
from dataclasses import replace

import pytest
from toys.answers.completions import cut_off

from erce.verify.boxes import boxed_answer, matching_brace
from erce.verify.extract import (
    FINAL_ANSWER_IS,
    STATEMENT,
    find_answer,
    is_finished,
    last_number,
    strip_traces,
    text_of,
)

BOXES = [  # text, content of the last box
    (r"\boxed{\{1, 2\}}", r"\{1, 2\}"),
    (r"\boxed{a\}b}", r"a\}b"),
    (r"\boxed{a\\}b}", r"a\\"),
    (r"\boxed{1\boxed{2}}", "2"),
    ("\\boxed\n {5}", "5"),
    (r"\fbox{7}", "7"),
    (r"\boxed{1} and \fbox{2}", "1 and 2"),
    (r"\boxed{1}, \boxed{2}, or \boxed{3}", "1, 2, or 3"),
    (r"$g(x)=\boxed{2x}$ or $g(x)=\boxed{-2x}$.", "g(x)=2x or g(x)=-2x"),
    (r"\boxed{7} and \boxed{7}", "7"),
    (r"a = \boxed{2} so b is \boxed{3}", "3"),
    (r"\boxed{7}, or rather \boxed{8}", "8"),
    (r"It isn't $\boxed{7}$.", "7"),
    (r"$\boxed 7$", "7"),
    (r"$\boxed \frac{1}{2}$", r"\frac{1}{2}"),
    ("\\boxed 7\nDone.", "7"),
    (r"\boxed{5} with \boxedwith{6}", "5"),
    (r"\boxed{}", ""),
    (r"\boxed{5", None),
    (r"\boxed{4} then \boxed{5", None),
    ("", None),
]
BESIDE = [  # text, the answer: what touches the box belongs to it
    (r"It isn't $\boxed{7}$.", "n't 7"),
    (r"less than \boxed{7}", "less than 7"),
    (r"\boxed{7}?", "7?"),
    (r"\boxed{7} or 8", "7 or 8"),
    (r"$\boxed{7}$ (or 8)", "7$ (or 8)"),
    (r"$\boxed{7}$ (or possibly 8).", "7$ (or possibly 8)"),
    (r"$\boxed{\frac12}$ (or $0.5$).", r"\frac12"),
    (r"\boxed{\frac{14}{2}} (or 7)", r"\frac{14}{2}"),
    (r"\boxed{0.75} (or 75%)", "0.75"),
    (r"\boxed{90} (or 1.5 hours)", "90"),
    (r"So $\boxed{7}+2$.", "7+2"),
    (r"So $x = -\boxed{7}$.", "-7"),
    (r"So $x < \boxed{7}$.", "x < 7"),
    (r"So $\boxed{7}^2$.", "7^2"),
    (r"So $\sqrt{\boxed{7}}$.", r"\sqrt{7}"),
    (r"So $\frac{1}{\boxed{7}} = x$.", r"\frac{1}{7}"),
    (r"So $3(\boxed{x+1})$.", "3({x+1})"),
    (r"So 3 + \boxed{7}", "3 + 7"),
    (r"So $3\boxed{7}$.", r"3\boxed{7}"),
    (r"So $x = \boxed{7}$ - or so they say.", "7"),
    (r"So $x = 3 + 4 = \boxed{7} = y$.", "7"),
    (r"So $S\equiv \boxed{7} \pmod{9}$.", "7"),
    (r"So $\boxed{7} \pmod{9}$.", r"7 \pmod{9}"),
    ("So\n\\begin{align*}\nx &= 2\\cdot 3 \\\\ &= \\boxed{6}.\n\\end{align*}", "6"),
    ("1. Add.\n- \\boxed{7}", "7"),
    (r"Since $5! = \boxed{120}$", "120"),
    (r"$\boxed{7}$ weeks.", r"7\text{ weeks}"),
    (r"$\boxed{7}$ cubic feet in one yard.", r"7\text{ cubic feet}"),
    (r"$\boxed{7}$ in total", "7"),
    (r"$\boxed{7}$ red pens", "7"),
    (r"$\boxed{7}$ million miles per hour", r"7\text{ million miles per hour}"),
    (r"$\boxed{7}\%$ of it", r"7\%"),
    (r"$\boxed{(1, 2)}$ units", "(1, 2)"),
    (r"共 $\boxed{3}$ 万元。", r"3\text{ 万}"),
    (r"重 $\boxed{5}$ 千克。", "5"),
    (r"共 $\boxed{3}$ 万 2 千元。", "3"),
]
BEHIND = [  # text, the answer, whether it is none: the last sentence that is not neutral decides
    (r"\boxed{7}, but that is wrong.", "7, but that is wrong", True),
    (r"\boxed{7}. No, I forgot one.", "7. No, I forgot one", True),
    (r"\boxed{7}. Hmm, that cannot be right.", "7. Hmm, that cannot be right", True),
    (r"\boxed{7}. So there is no solution.", "7. So there is no solution", True),
    (r"\boxed{7}. It has no solution after all.", "7. It has no solution after all", True),
    (r"$\boxed{7}$ 元。等一下,我算错了。", "7$ 元. 等一下,我算错了", True),
    (r"\boxed{7}。訂正します。", "7. 訂正します", True),
    (r"\boxed{7}。訂正します。正しい答えは8です。", "8です", False),
    (r"\boxed{7}。应该是8。", "8", False),
    (r"\boxed{7}。没错,不错。", "7", False),
    (r"\boxed{7}。間違いありません。", "7", False),
    (r"\boxed{7}. But this is wrong, for example with 3.", "7. But this is wrong, for example with 3", True),
    (r"\boxed{7}. Is that correct?", "7. Is that correct?", True),
    (r"\boxed{7}. Wait. Let me check: 3 + 4 = 7. It is correct.", "7", False),
    (r"\boxed{7}. Hmm. The answer is $8$.", "8", False),
    (r"\boxed{7}. Sorry, it should be 8.", "8", False),
    (r"\boxed{7}. Actually 8 instead.", "8", False),
    (r"\boxed{7}. So the answer is 7 pens.", "7", False),
    (r"\boxed{7}. She could have bought 3 pens instead.", "7", False),
    (r"\boxed{7}. So 17 is wrong.", "7", False),
    (r"\boxed{7}. For $x < 9$, as $x = 7$ shows, there is no solution.", "TAKEN", True),
    (r"\boxed{7}. We discard $x = 7$ because it does not work.", "TAKEN", True),
    (r"\boxed{7}. We reject 7.", "TAKEN", True),
    (r"\boxed{7}. Disregard both.", "TAKEN", True),
    (r"\boxed{-7}. We disregard the negative root.", "TAKEN", True),
    (r"\boxed{7}. The larger root contradicts the condition.", "TAKEN", True),
    (r"\boxed{7}. The other case works, so this is wrong.", "TAKEN", True),
    (r"\boxed{7}. Actually, we can also get more.", "TAKEN", True),
    (r"\boxed{7}. Actually, we can also verify that it is 8.", "8", False),
    (r"\boxed{7}. Any smaller value contradicts it so 7 is out.", "TAKEN", True),
    (r"\boxed{7}. Any larger value contradicts it but it fits 8.", "TAKEN", True),
    (r"\boxed{7}. But this contradicts it.", "TAKEN", True),
    (r"\boxed{7}. The other case shows that I made a mistake.", "TAKEN", True),
    (r"\boxed{7}. The other solution shows that is incorrect.", "TAKEN", True),
    (r"\boxed{7}. Each other value shows that my answer can't be right.", "TAKEN", True),
    (r"\boxed{7}. Actually, you can also check that this is not right.", "TAKEN", True),
    (r"\boxed{7}. This makes sense since wait, it should be 8.", "8", False),
    *((rf"\boxed{{7}}. The {words} 8.", "8", False) for words in ("box must be", "number must be")),
    (r"\boxed{7}. The value must equal 8.", "8", False),
    (r"\boxed{7}. The number should be 8.", "8", False),
    (r"\boxed{7}. She could have erred: the answer is 8.", "8", False),
    (r"\boxed{7}. The final answer is 8.", "8", False),
    (r"\boxed{7}. If x were 8, that would be wrong. Otherwise the answer is 9.", "7", False),
    (r"\boxed{7}. A common error gives 8, which is wrong.", "7", False),
    (r"\boxed{7}. Fine. That is wrong only for 8.", "7", False),
    (r"\boxed{7}. Shall I explain step 2?", "7", False),
    (r"\boxed{7}. Want me to redo it with 8 pens?", "7", False),
    (r"\boxed{7}. Correction: I forgot one, so the answer is 8.", "8", False),
    (r"\boxed{7}. Correction: 8.", "8", False),
    (r"\boxed{7}. So the answer is 8, not 7.", "8", False),
    ("The final answer is 7.\nHold on, I missed one.", "7.\nHold on, I missed one", True),
]
STATED = [  # text, what follows the last "final answer is"
    ("The final answer is 5.5.", "5.5"),
    ("Final Answer: The final answer is $5$. I hope it is correct.", "5"),
    ("the FINAL answer IS **12**, as shown", "12"),
    (r"the final answer is \(x + 1\), so", "x + 1"),
    ("the final answer is 3\nand 4 is not", "3"),
    ("the final answer is $7$ or $8$.", "$7$ or $8$"),
    ("the final answer is $7$, since $8$ is even", "7"),
    ("the final answer is 1. no, the final answer is 2.", "2"),
    ("the final answer is", ""),
    ("the final answer is 5, but that is wrong.", "5, but that is wrong"),
    ("the final answer is therefore $5$.", "5"),
    ("the final answer is thus 5, because 5 is odd", "5"),
    ("#### Total = 5", "5"),
    ("#### In total, 5", "5"),
    ("#### So - 5", "So - 5"),
    ("#### simply connected", "simply connected"),
    ("the final answer is exactly once", "exactly once"),
    ("the final answer is given by hand", "given by hand"),
    ("the final answer is simply x + 1", "x + 1"),
    ("the final answer is:\n- 18 eggs", "18 eggs"),
    ("the final answer is $5$ apples.", "$5$ apples"),
    ("the final answer is **12** cm", "12 cm"),
    ("the final answer is 12 dollars in total.", "12 dollars"),
    ("the final answer is $x+1$ for all $x$", "x+1"),
    ("I doubt that the final answer is 7.", "I doubt that the final answer is 7"),
    ("If x is 2, the final answer is 7.", "7"),
    ("**The final answer is** $7$", "7"),
    ("**The final answer is:** 7", "7"),
    ("The final answer is:\n\n$$7$$\n", "7"),
    ("**The final answer is**:\n7", "7"),
    ("the answer is 5", None),
]


def extract_answer(text, statements=FINAL_ANSWER_IS):
    answer = find_answer(text, statements, marker="####")
    return answer and answer.text


@pytest.mark.parametrize(("text", "content"), BOXES)
def test_the_last_box_is_found_by_matching_its_braces(text, content):
    assert boxed_answer(text) == content


@pytest.mark.parametrize(("text", "answer"), BESIDE)
def test_what_touches_a_box_belongs_to_it(text, answer):
    assert extract_answer(text) == answer


@pytest.mark.parametrize(("text", "answer", "is_none"), BEHIND)
def test_what_follows_confirms_an_answer_takes_it_back_or_states_another(text, answer, is_none):
    found = find_answer(text, FINAL_ANSWER_IS)
    assert found is not None
    assert found.is_none == is_none
    assert answer in (found.text, "TAKEN")


@pytest.mark.parametrize(("text", "content"), STATED)
def test_the_stated_answer_ends_with_its_sentence(text, content):
    assert extract_answer(text) == content


def test_a_box_goes_before_a_stated_answer_and_no_numeral_is_a_fallback():
    assert extract_answer(r"The final answer is 2. It is \boxed{1}.") == "1"
    assert extract_answer("The final answer is 2.") == "2"
    assert extract_answer("9 + 9 = 18") is None
    assert extract_answer(r"The final answer is 2. \boxed{1") is None


@pytest.mark.parametrize(
    ("text", "outside"),
    [
        ("<think>a</think>b", "b"),
        ("a<think>b</think>c<reasoning>d</reasoning>e", "ace"),
        ("<THINK>a<think>b</think>c", "c"),
        ("<think>a</thinking>b</think>c", "c"),
        ("a</think>b", "b"),
        ("a<think>b</think>c</think>d", "d"),
        ("a<think>b", ""),
    ],
)
def test_what_stands_in_a_reasoning_trace_is_left_out(text, outside):
    assert strip_traces(text) == outside


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("It is 42!", "42"),
        ("5 apples and 37 left", "37"),
        ("more than before, so 37", "37"),
        ("It is 7.\n\nThanks, bye!", "7"),
        ("She got 7, so why ask?", None),
        ("12 to 21", None),
        ("two or 3", "3"),
        ("It can't be 3", None),
        ("42 isn't right", None),
        ("It sold for $2 million.", "$2 million"),
        ("It takes 2½ days.", "2 1/2"),
        ("It is 10 ± 2.", None),
        ("It is 4 pi.", None),
        ("So it is $6!$.", "6!"),
        (r"So it is $x = \log_2 3$.", r"\log_2 3"),
        ("So $x = 5$ or $x = 6$.", None),
        ("So 9 are left. Shall I explain step 2?", "9"),
        ("So 9 are left. Would you like 2 more examples?", "9"),
        ("9 are left.\n© 2024 Example", "9"),
        ("I could not finish problem 4.", None),
        ("答案不是 6。", None),
        ("总数约 25 元。", None),
        ("他节约25元。", "25"),
        ("答えは6ではありません。", None),
        ("I guess 8, but I am not sure.", None),
        ("It is 8. I am not sure.", None),
        ("1. Add 3 and 4 to get 7\n2. Done", "7"),
        ("He has 25 dollars. Then he has 25 +", None),
        ("He pays $20 + $15 =$", None),
        ("I can't determine the price. For example, 4 would cost $5.", None),
        ("There are 9 at most. For instance, 3 of them are red.", None),
    ],
)
def test_the_last_number_stands_without_doubt(text, number):
    answer = last_number(text)
    assert (answer.text if answer and not answer.is_none else None) == number


def test_a_brace_that_never_closes_has_no_match():
    assert matching_brace("{a{b}c}", 0) == 6
    assert matching_brace("{a{b}c}", 2) == 4
    assert matching_brace("{a", 0) == -1
    assert matching_brace(r"{\}", 0) == -1


def test_text_comes_from_a_str_or_a_completion_and_from_nothing_else():
    assert (text_of("a"), is_finished("a")) == ("a", True)
    assert (text_of(cut_off("a")), is_finished(cut_off("a"))) == ("a", False)
    assert is_finished(replace(cut_off("a"), finished=None))  # an imported log that does not say
    for other in (None, b"a", 5):
        with pytest.raises(ValueError, match="decode or convert"):
            text_of(other)


HOSTILE = [
    "\\boxed{" * 14_000,
    "\\boxeda" * 14_000,
    "\\boxed{" + "{" * 100_000,
    "\\boxed" + " " * 100_000,
    "\\boxed " + "a" * 100_000,
    "final" + " " * 100_000,
    "final answer is" + " " * 100_000,
    "final answer is $" + "\\" * 100_000,
    " " * 100_000,
    "1," * 50_000,
    "\\boxed{1}," * 10_000,
    "<think>" * 14_000,
    "</think>" * 12_000,
    "answer is " * 10_000,
    "<answer>" * 12_000,
    "1 or " * 20_000,
    "a\n" * 50_000,
    *("$\\boxed{5}$" + space * 100_000 for space in (" ", "\n", "~")),
    "-" * 100_000 + " 5",
    "\\(" * 50_000 + " 5",
    "\\$" * 50_000 + " 5",
    "5 " + "$" * 100_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hundred_thousand_characters_are_searched_in_linear_time(text):
    began = time.process_time()
    extract_answer(text)
    extract_answer(strip_traces(text), STATEMENT)
    last_number(text)
    assert time.process_time() - began < 5  # a quadratic search takes tens of seconds
