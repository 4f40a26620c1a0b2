"""The typed answers that stand for each other, and under which conventions."""

import pytest

from erce.verify.math import Conventions, equivalent

SAME = [
    (r"\{1, 2, 3\}", r"\{3, 2, 1\}"),
    (r"\{1, 2\}", "2, 1"),
    ("1, 2", "2, 1"),
    ("1 or 2", "2 and 1"),
    (r"3 \pm 2\sqrt{2}", r"3 - 2\sqrt{2}, 3 + 2\sqrt{2}"),
    (r"\pm 3", r"\{-3, 3\}"),
    (r"x = \pm 3", "x = 3, -3"),
    (r"1 \pm x", r"1 \mp x"),
    ("(1, 2), (3, 4)", "(3, 4), (1, 2)"),
    ("(1, 2)", "1, 2"),
    (r"(3, \frac{\pi}{2})", "(3, pi/2)"),
    ("x = 5", "5"),
    ("x = 5", "2x = 10"),
    ("f(x) = x^2", "y = x^2"),
    ("f(x) = x^2", "x^2"),
    ("y = 2x + 3", "2x - y + 3 = 0"),
    ("x^2/4 + y^2/3 = 1", "x^2/16 + y^2/12 = 1/4"),
    ("a = b = 2c", "a = b = 2c"),
    ("x = 1, y = 2", "y = 2, x = 1"),
    ("x = 1, y = 2", "(1, 2)"),
    ("p = 5, q = 2 and p = 7, q = 2", "p = 7, q = 2 or p = 5, q = 2"),
    ("x < 5", "5 > x"),
    ("2x + y < 4", "-x - y/2 > -2"),
    ("x = y", "y = x"),
    ("xy = 1", "yx = 1"),
    ("-3 < x < 3", "|x| < 3"),
    ("x < -2 or x > 2", "|x| > 2"),
    ("x < -2, x > 2", "|x| > 2"),
    ("x < -2 and x > 2", r"\emptyset"),
    (r"x < -2 \text{ or } x > 2", "|x| > 2"),
    (r"1 \le x \le 5", r"x \ge 1 \text{ and } x \le 5"),
    ("|AB| = 7", "AB = 7"),
    (r"\begin{vmatrix} 1 & 2 \\ 3 & 4 \end{vmatrix}", "-2"),
    (r"\emptyset", r"\text{empty set}"),
    ("75¢", r"75\text{ cents}"),
    (r"\text{Rs. }500", "500"),
    (r"9.8\text{ m/s}^2", r"9.8\ \text{m s}^{-2}"),
    (r"100^\circ\text{C}", "100°C"),
    (r"100^\circ\text{C}", "100°"),
    ("-7", "{-}7"),
    ("5", r"\color{red}5"),
    ("10%", r"10\text{\%}"),
    ("1,008x + 1,008y", "1008(x + y)"),
    ("x + y < z < 2", "2 > z > x + y"),
    ("x < 5", r"(-\infty, 5)"),
    (r"x \ge 5", r"[5, \infty)"),
    (r"1 < x \le 5", "(1, 5]"),
    ("a < x < b", "(a, b)"),
    (r"x \ne 1", r"(-\infty, 1) \cup (1, \infty)"),
    (r"x \ne 1", r"\mathbb{R} \setminus \{1\}"),
    (r"x < 1 \text{ or } x > 2", r"(-\infty, 1) \cup (2, \infty)"),
    (r"[0, 1) \cup (1, 2]", r"[0, 2] \setminus \{1\}"),
    (r"[0, 1] \cup [1, 2]", "[0, 2]"),
    (r"[0, 2] \cap (1, 3)", "(1, 2]"),
    (r"\{1\} \cup \{2\}", r"\{2, 1\}"),
    (r"\{1, 2\} \setminus \{2\}", r"\{1\}"),
    (r"\mathbb{R}", r"(-\infty, \infty)"),
    (r"A \cup B", r"B \cup A"),
    (r"(a, b) \cup (c, d)", r"(c, d) \cup (a, b)"),
    (r"A \setminus B", r"A \setminus B"),
    (r"\begin{pmatrix} 1 & 2 \end{pmatrix}", r"\begin{bmatrix} 1 & \frac{4}{2} \end{bmatrix}"),
    (
        r"\begin{pmatrix} 6 & 8 \end{pmatrix}",
        r"\begin{pmatrix} 1 & 2 \end{pmatrix} + \begin{pmatrix} 5 & 6 \end{pmatrix}",
    ),
    (r"\begin{pmatrix} 2 \\ 4 \end{pmatrix}", r"2\begin{pmatrix} 1 \\ 2 \end{pmatrix}"),
    (r"\begin{pmatrix} -1 \\ -2 \end{pmatrix}", r"-\begin{pmatrix} 1 \\ 2 \end{pmatrix}"),
    (
        r"\begin{pmatrix} 3 \\ 7 \end{pmatrix}",
        r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} \begin{pmatrix} 1 \\ 1 \end{pmatrix}",
    ),
    (r"n \equiv 3 \pmod{7}", r"n \equiv 10 \pmod 7"),
    (r"n \equiv 3 \pmod{7}", r"n \equiv 3 (\bmod 7)"),
    ("3:2", "3 : 2"),
    ("1011_2", "1011_{2}"),
    ("4:30 p.m.", "4:30"),
    (r"\text{Yes}", "yes"),
    (r"18\text{ hours}", "18"),
    (r"18\text{ hours}", r"18\text{ hrs}"),
    (r"10\text{ miles per hour}", r"10\text{ mph}"),
    ("20%", "0.2"),
    ("20%", "20"),
    ("1,000", "1000"),
    ("odd $n$", r"\text{odd }n"),
]
DIFFERENT = [
    ("x < -2 and x > 2", "|x| > 2"),
    ("4:30 p.m.", "4:30 a.m."),
    ("12:30 p.m.", "0:30"),
    (r"\{1, 2, 3\}", r"\{1, 2\}"),
    (r"\{1, 2\}", r"\{1, 2, 2\}"),
    (r"\{5\}", "5"),
    (r"\emptyset", "0"),
    (r"\emptyset", r"\{\emptyset\}"),
    ("1, 2", "1, 3"),
    ("12", "1, 2"),
    ("12", "1 2"),
    (r"\pm 3", "3"),
    ("(1, 2)", "(2, 1)"),
    ("(1, 2)", "[1, 2]"),
    ("(1, 2)", "(1, 2]"),
    ("(1, 2)", r"\{1, 2\}"),
    ("(1, 2)", "(1, 2, 3)"),
    ("(1, 2)", r"1 \text{ and } 2"),
    ("(1,234)", "1234"),
    ("x = 5", "x = 6"),
    ("x = 5", "y = 5"),
    ("x = 5", "x < 5"),
    ("2x + z = 1", "1"),
    ("x^2 + y^2 = 1", "x^2 - y^2 = 1"),
    ("a = 1, b = 2", "2, 1"),
    ("a = 1, b = 2", "a = 2, b = 1"),
    ("p = 5, q = 2 and p = 7, q = 2", "p = 5, q = 2 and p = 7, q = 3"),
    ("p = 5, q = 2 and p = 7, q = 3", "p = 5, q = 3 and p = 7, q = 2"),
    ("$$", "$"),
    ("x < 5", "x > 5"),
    (r"x \le 5", "x < 5"),
    ("x < 5", "y < 5"),
    ("x < 5", "|x| < 5"),
    ("|x| < 3", r"(-\infty, 3)"),
    ("|z| = 5", "z = 5"),
    ("100°C", "100°F"),
    ("2x + y < 4", "-x - y/2 < -2"),
    ("x < 5", r"(-\infty, 5]"),
    (r"x \ne 1", r"x \ne 2"),
    (r"(-\infty, 1) \cup (1, \infty)", r"(-\infty, \infty)"),
    (r"(-\infty, -8) \cup (8, \infty)", r"(-\infty, -8] \cup [8, \infty)"),
    (r"(-\infty, -8) \cup (8, \infty)", r"(-\infty, -8) \cap (8, \infty)"),
    (r"(-\infty, 8) \cup (9, \infty)", r"(-\infty, 8) \cup (9, \infty]"),
    (r"\{-1\} \cup [0, 7)", "[0, 7)"),
    (r"[0, 1) \cup (1, 2]", "[0, 2]"),
    (r"\mathbb{R}", r"\mathbb{Z}"),
    (r"A \cup B", r"A \cap B"),
    (r"A \setminus B", r"B \setminus A"),
    (r"\begin{pmatrix} 1 & 2 \end{pmatrix}", r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}"),
    (r"\begin{pmatrix} 1 & 2 \end{pmatrix}", r"\begin{pmatrix} 2 & 1 \end{pmatrix}"),
    (r"\begin{pmatrix} 1 \end{pmatrix}", r"\begin{vmatrix} 1 \end{vmatrix}"),
    (
        r"\begin{pmatrix} 2 & 1 \\ 1 & 1 \end{pmatrix}",
        r"\begin{pmatrix} 1 & 0 \\ 1 & 1 \end{pmatrix} \begin{pmatrix} 1 & 1 \\ 0 & 1 \end{pmatrix}",
    ),
    (r"n \equiv 3 \pmod{7}", r"n \equiv 4 \pmod{7}"),
    (r"n \equiv 3 \pmod{7}", r"n \equiv 3 \pmod{8}"),
    (r"n \equiv 3 \pmod{7}", r"m \equiv 3 \pmod{7}"),
    ("3:2", "2:3"),
    ("12:00", "1:00"),
    ("1:2", "2:4"),
    ("4:30 p.m.", "4:30 a.m."),
    ("52_8", "52_9"),
    ("52_8", "52"),
    ("1011_2", "11"),
    (r"\text{on}", r"\text{no}"),
    ("on", "no"),
    (r"\text{east}", r"\text{seat}"),
    (r"\text{hour}", r"\text{minute}"),
    (r"18\text{ hours}", r"18\text{ minutes}"),
    (r"15\text{ cm}^2", r"15\text{ cm}^3"),
    (r"75^\circ", r"75\%"),
    (r"\$18", r"18\text{ hours}"),
    ("5 million", "5"),
    ("5", "5 or more"),
    ("12.5%", "1.25%"),
    ("0.5", "50"),
    ("3x", "3"),
    ("R^2", "r^2"),
]


@pytest.mark.parametrize(("gold", "answer"), SAME)
def test_two_ways_to_write_one_answer_are_equivalent_either_way_round(gold, answer):
    assert equivalent(gold, answer).accepted
    assert equivalent(answer, gold).accepted


@pytest.mark.parametrize(("gold", "answer"), DIFFERENT)
def test_two_answers_are_different_either_way_round(gold, answer):
    assert not equivalent(gold, answer).accepted
    assert not equivalent(answer, gold).accepted


NAMED = [  # a reference with names of several letters, and an answer without them
    ("x = 1, y = 2", "1, 2"),
    ("a=1,b=2", "1,2"),
    ("x=2, y=3, z=4", "2,3,4"),
    ("AB = 4, BC = 9", "4, 9"),
]


@pytest.mark.parametrize(("named", "bare"), NAMED)
def test_an_answer_may_leave_out_names_of_the_reference_but_add_none(named, bare):
    assert equivalent(named, bare).accepted
    assert not equivalent(bare, named).accepted
    assert not equivalent(rf"\{{{bare}\}}", named).accepted
    assert equivalent(f"({bare})", named).accepted


CONVENTIONS = [  # the convention, then a pair that it accepts, then one that it rejects
    (Conventions(), ("1, 2", "2, 1"), ("1, 2", "1, 3")),
    (Conventions(ordered_lists=True), ("1, 2", "1, 2.0"), ("1, 2", "2, 1")),
    (Conventions(ordered_lists=True), (r"\{1, 2\}", "2, 1"), (r"1\text{ and }2", "2, 1")),
    (Conventions(ordered_lists=True), (r"\pm 1", "-1, 1"), ("-1, 1", "1, -1")),
    (Conventions(), ("52_8", "52_{8}"), ("52_8", "52")),
    (Conventions(require_base=False), ("52_8", "52"), ("52_8", "52_9")),
    (Conventions(require_base=False), ("52", "52_8"), ("53", "52_8")),
    (Conventions(), ("1/2", "2/4"), ("1/2", "2/5")),
    (Conventions(unreduced=False), ("1/2", "0.5"), ("1/2", "2/4")),
    (Conventions(unreduced=False), ("2/4", "1/2"), ("(1/2, 1)", "(2/4, 1)")),
    (Conventions(unreduced=False), ("2/4", "3/6"), ("649", "3245/5")),
    (Conventions(), ("18 hours", "18"), ("18 hours", "18 minutes")),
    (Conventions(units="require"), ("18 hours", "18 hrs"), ("18 hours", "18")),
    (Conventions(units="require"), ("18", "18 ways"), ("4:30 p.m.", "4:30")),
    (Conventions(units="ignore"), ("18 hours", "18 minutes"), ("18 hours", "19 hours")),
    (Conventions(units="ignore"), ("4:30 p.m.", "4:30 a.m."), ("4:30 p.m.", "4:31 p.m.")),
    (Conventions(), ("20%", "20"), ("20%", "2")),
    (Conventions(percent="value"), ("20%", "0.2"), ("20%", "20")),
    (Conventions(percent="value"), ("20", "2000%"), ("20", "20%")),
]


@pytest.mark.parametrize(("conventions", "accepted", "rejected"), CONVENTIONS)
def test_a_convention_decides_what_people_disagree_on(conventions, accepted, rejected):
    assert equivalent(*accepted, conventions=conventions).accepted
    assert not equivalent(*rejected, conventions=conventions).accepted


@pytest.mark.parametrize("setting", [{"units": "maybe"}, {"percent": "never"}])
def test_a_convention_that_does_not_exist_is_named_with_those_that_do(setting):
    with pytest.raises(ValueError, match="give one of"):
        Conventions(**setting)


def test_long_lists_are_compared_in_any_order_without_comparing_every_pair():
    numbers = [str(number) for number in range(150)]
    assert equivalent(", ".join(numbers), ", ".join(reversed(numbers))).accepted
    assert not equivalent(", ".join(numbers), ", ".join([*numbers[1:], "150"])).accepted
