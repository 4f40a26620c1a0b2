"""Each kind of reference reads its answers: what is the same, what is another answer, what is not read."""

import itertools

import pytest

from erce.score.majority import merged
from erce.verify import equivalent
from erce.verify.answers.reference import read_reference, same_answer

KINDS = {
    "expression": [
        "5",
        r"\frac{x}{2}",
        r"12\text{ cm}",
        r"16\text{ daps}",
        "20\\%",
        r"\$5",
        "90^\\circ",
        "1011_2",
    ],
    "tuple": ["(1, 2)", "(a, b)", "(3, -4)", r"\langle 1, 2, 3 \rangle", "x = 1, y = 2", "(x, y) = (1, 2)"],
    "interval": ["(2, 5]", "x > 3", r"1 < x \le 2", r"\mathbb{R}", r"(1, 2) \cup (3, \infty)", r"x \ne 1"],
    "list": ["1, 2", r"\{1\}", r"\pm 3", r"\emptyset", r"1 \text{ or } 2", "x = 1, 2", "no solution"],
    "matrix": [r"\begin{pmatrix} 1 & 2 \end{pmatrix}"],
    "value": ["x = 5", "f(x) = x^2", "AB = 4"],
    "relation": ["x^2 + y^2 = 1", "2x + z - 5 = 0", "y < 2x + 1"],
    "ratio": ["1:2:3", "3 to 4"],
    "time": ["9:24", r"8\!:\!34 \text{ p.m.}"],
    "text": [r"\text{Evelyn}", r"\text{two lines}", r"\text{A and not B}"],
}
NOT_READ = [  # words after a value, and statements where a value should stand
    ("42", r"42\text{ marbles}"),
    ("42", "not 42"),
    ("x = 2", "x = 2, y = 3"),
    ("(2, 1)", "m = 2, b = 1"),
    ("(2, 1)", "b = 1, m = 2"),
    ("4", "x^2 = 4"),
    ("(t - 7)(t + 7)", "t^2 - 48 = (t - 7)(t + 7)"),
    ("(x, y) = (2, 1)", "P = (2, 1)"),
    ("2, 3", "x = 2, y = 3"),
    (r"21\text{ dogs}", r"21\text{ cats}"),
    ("1, 2", r"1, 2, \ldots"),
    ("5", r"5 < x"),
    (r"\{1, 2\}", "(1, 2]"),
    ("(1, 2)", "12"),
    (r"\begin{pmatrix} 1 \end{pmatrix}", "()"),
    (r"\begin{pmatrix} 1 \end{pmatrix}", r"2 - \begin{pmatrix} 1 \end{pmatrix}"),
    ("3:2", "3 cm : 2 m"),
    ("3:2", "3:2 or 2"),
    ("3:2", "3% : 2"),
]


@pytest.mark.parametrize("kind", KINDS)
def test_a_reference_is_of_one_kind(kind):
    assert {text: read_reference(text).kind for text in KINDS[kind]} == dict.fromkeys(KINDS[kind], kind)


@pytest.mark.parametrize(("gold", "answer"), NOT_READ)
def test_what_the_kind_of_the_reference_does_not_allow_is_unparsed(gold, answer):
    assert equivalent(gold, answer).reason == "unparsed"


DISPUTED = [  # what people disagree on: a pair that is accepted, and one that is not
    (("1, 2", "2, 1"), ("1, 2", "1, 3")),
    (("52_8", "52_{8}"), ("52_8", "52")),
    (("18 hours", "18"), ("18 hours", "18 minutes")),
    (("4:30 p.m.", "4:30"), ("4:30 p.m.", "4:30 a.m.")),
    (("20%", "20"), ("20%", "2")),
    (("20", "2000%"), ("0.05", "0.05%")),
]


@pytest.mark.parametrize(("accepted", "rejected"), DISPUTED)
def test_what_people_disagree_on_is_decided(accepted, rejected):
    assert equivalent(*accepted).accepted
    assert not equivalent(*rejected).accepted


def test_a_percentage_has_one_value_among_answers():
    assert same_answer("20%", "0.2")
    assert same_answer("20", "2000%")
    assert not same_answer("20%", "20")


def test_long_lists_are_compared_in_any_order():
    numbers = [str(number) for number in range(60)]
    assert equivalent(", ".join(numbers), ", ".join(reversed(numbers))).accepted
    assert not equivalent(", ".join(numbers), ", ".join([*numbers[1:], "60"])).accepted


@pytest.mark.parametrize(
    ("answers", "classes"),
    [
        (["(1,2)", "2,1", "1,2"], 2),
        (["0.05", "5\\%", "0.05\\%"], 2),
        (["5", "5\\%", "0.05"], 2),
        (["1/2", "0.5", "2"], 2),
        (["", " ", "x"], 2),
    ],
)
def test_equal_answers_are_the_same_classes_in_every_order(answers, classes):
    found = set()
    for order in itertools.permutations(answers):
        (stands_for,) = merged([list(order)], same_answer)
        found.add(tuple(sorted(zip(order, stands_for, strict=True))))
    assert len(found) == 1
    assert len({kept for _, kept in found.pop()}) == classes


def test_same_answer_asks_both_ways_round():
    assert equivalent("x = 1, y = 2", "1, 2").accepted
    assert not same_answer("x = 1, y = 2", "1, 2")
    assert not same_answer("1, 2", "x = 1, y = 2")


COLUMN = r"\begin{pmatrix} 2 \\ 4 \end{pmatrix}"
SPELLINGS = [  # a reference, other spellings of it, and other answers
    (
        COLUMN,
        ["(2, 4)", r"\langle 2, 4 \rangle", "(2, 4)^T", r"2\begin{pmatrix}1\\2\end{pmatrix}"],
        ["(4, 2)"],
    ),
    (COLUMN, [r"\begin{pmatrix}1\\2\end{pmatrix} \cdot 2", r"-\begin{pmatrix}-2\\-4\end{pmatrix}"], ["2, 4"]),
    (COLUMN, [r"\begin{pmatrix}2 & 4\end{pmatrix}^{\top}"], [r"\begin{pmatrix}2 & 4\end{pmatrix}"]),
    ("(-2, 2)", ["|x| < 2", "2 > |x|", r"\{x : |x| < 2\}"], [r"|x| \le 2", "|x| > 2", "|x - 1| < 2"]),
    (r"(-\infty, -1) \cup (1, \infty)", ["|x| > 1"], ["|x| < 1", r"|x| \ge 1"]),
    (
        "(1, 5)",
        ["|x - 3| < 2", "4 > |6 - 2x|"],
        ["|x - 3| > 2", "|x - 3| < -2", "|z - 3| < 2", "|x^2 - 3| < 2"],
    ),
    (
        "[1, 4)",
        [r"\{x \mid 1 \le x < 4\}", r"\{x \in \mathbb{R} : 1 \le x < 4\}"],
        [r"\{y \mid 1 \le x < 4\}"],
    ),
    (
        "x = 2, y = 3",
        [r"\begin{cases} x = 2 \\ y = 3 \end{cases}"],
        [r"\begin{cases} x = 3 \\ y = 2 \end{cases}"],
    ),
    (
        "B",
        ["(B) 14", "B) Photosynthesis", "B. It grows", "b", r"\textbf{(B)}"],
        ["C) Plants", "(B) or (C)", "B + C"],
    ),
    ("(2, 1)", ["(m, b) = (2, 1)", "a = 2, b = 1", "x_1 = 2, x_2 = 1"], ["(m, b) = (1, 2)", "a = 1, b = 2"]),
    ("(2, 1)", ["x_2 = 1, x_1 = 2", "(x_{10}, x_9) = (1, 2)"], ["x_2 = 2, x_1 = 1", "(x_2, x_1) = (2, 1)"]),
    ("(2, 1)", ["(b, a) = (1, 2)", "(z, y) = (1, 2)"], ["(b, a) = (2, 1)", "(z, y) = (2, 1)"]),
    ("(2, 1, 3)", ["a_3 = 3, a_2 = 1, a_1 = 2"], ["a_3 = 2, a_2 = 1, a_1 = 3"]),
    (
        "(2, 1)",
        ["(y, x) = (1, 2)", "y = 1, x = 2", r"\theta = 1, r = 2"],
        ["(y, x) = (2, 1)", "y = 2, x = 1"],
    ),
    ("(2, 1, 3)", [r"(\rho, \theta, \phi) = (2, 1, 3)"], [r"(\phi, \rho, \theta) = (2, 1, 3)"]),
    ("(3, -1)", ["P = (3, -1)", r"\vec{v} = (3, -1)"], ["P = (-1, 3)", "P = [3, -1]"]),
    ("[0, 3)", ["D_f = [0, 3)"], ["D_f = [0, 3]", "[0, 3) = [0, 3)"]),
    (r"\{1, 2\}", [r"S = \{1, 2\}"], [r"S = \{1, 3\}", r"2 = \{1, 2\}"]),
    ("(t-7)(t+7)", ["t^2 - 49 = (t - 7)(t + 7)"], ["t^2 - 48 = (t - 7)(t + 7)"]),
    ("5-12i", ["(3-2i)^2 = 5 - 12i"], ["(3+2i)^2 = 5 - 12i"]),
    (r"\frac{2469}{20000}", [r"\frac{2,469}{20,000}"], [r"\frac{2,46}{20,000}", r"\frac{2,469}{2,0000}"]),
    ("7^{1000}", ["7^{1,000}"], ["7^{1,00}"]),
    (r"\sqrt{1234}x", [r"\sqrt{1,234}x"], [r"\sqrt{1, 234}x"]),
    ("3", [r"\lfloor \pi \rfloor", r"\lceil \sqrt{8} \rceil"], [r"\lceil \pi \rceil"]),
    (r"\lceil x \rceil", [r"\left\lceil x \right\rceil"], [r"\lfloor x \rfloor + 1"]),
    (r"x \equiv 3 \pmod 7", [r"3 \pmod{7}"], ["3", r"3 \pmod 8"]),
    ("360", ["2^3 3^2 5"], ["2^3 3^2 4"]),
    ("61", ["p + q = 61", "p + q = 24 + 37 = 61"], ["2x = 61"]),
    ("251", ["2.51e+02", "2.51e2"], ["2.51e+03"]),
    ("42", [r"\text{Answer: }42", r"\color{red}{42}", r"42 \tag{1}"], [r"42 \pmod{50}"]),
    ("100000", ["$100k", "100 000"], ["100"]),
    ("15", [r"15\text{元}", "15支", "１５"], ["15万"]),
]


@pytest.mark.parametrize(("gold", "same", "others"), SPELLINGS)
def test_an_answer_may_be_spelled_in_other_ways(gold, same, others):
    assert [answer for answer in same if not equivalent(gold, answer).accepted] == []
    assert [answer for answer in others if equivalent(gold, answer).accepted] == []
