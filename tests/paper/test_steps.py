"""The paper's four steps give its verdicts, faults included, with a limit on the work of a check."""

import time

import pytest

from scripts.paper.steps import braced, equivalent_paper, plain

ACCEPTED = [  # gold, answer, reason
    ("7", "7", "exact"),
    (r"\frac{3}{4}", r"\dfrac34", "exact"),
    (r"\frac{3}{4}", "3/4", "exact"),
    (r"\sqrt{3}", "sqrt(3)", "exact"),
    (r"\frac{\sqrt{3}}{2}", "(sqrt(3))/(2)", "exact"),
    ("12", r"12\text{ cm}^2", "exact"),
    ("12", "12 square inches", "exact"),
    ("60", r"60^\circ", "exact"),
    ("5", r"\$5", "exact"),
    ("20", r"20\%", "exact"),
    ("1234567", "1,234,567", "exact"),
    (r"\text{east}", "east", "exact"),
    ("5", "x=5", "exact"),
    ("(1,2)", r"\left( 1, 2 \right)", "exact"),
    ("0.5", r"\frac{1}{2}", "numeric"),
    (r"\frac{3}{4}", r"\frac{6}{8}", "numeric"),
    ("2.5", "2.5000009", "numeric"),
    ("x^2+2x+1", "(x+1)^2", "structural"),
    (r"1\frac{1}{2}", r"\frac{3}{2}", "structural"),
    (r"\sin^2 x+\cos^2 x", "1", "structural"),
    ("e^{i\\pi}", "-1", "structural"),
    ("y=2x+3", "f(x)=3+2x", "structural"),
    (r"\sqrt{0.25x}", r"\frac{\sqrt{x}}{2}", "structural"),
]
REJECTED = [
    ("7", "8", "different"),
    ("0.5", "0.50001", "different"),
    ("2^{10}", "2^{1}0", "different"),
    ("x>3", "x<3", "unparsed"),
    ("(1,2)", "(2,1)", "unparsed"),
    ("5", "", "unparsed"),
    ("5", "(", "unparsed"),
    (r"\%", r"^\circ", "unparsed"),  # nothing is left of either
    ("x" * 3000, "x" * 3000 + ".", "too large"),
    ("5", "1/0", "unparsed"),
    (r"\sqrt{2}", "1.41421356237", "different"),  # the tolerance is that of the third step
    ("5", "x" * 3000, "too large"),
    ("2", "9^{9^{9}}", "too large"),
]
FAULTS = [  # that follow from the steps: gold, answer, verdict, what is true
    ("0.0000001", "0.0000002", True, False),
    ("0", "0.0000005", True, False),
    ("x^2+y^2=1", "x^2-y^2=1", True, False),
    ("2x+z=1", "1", True, False),
    (r"\text{ab}", r"\text{ba}", True, False),
    (r"\cos 60^\circ", r"\frac{1}{2}", False, True),
    (r"\{1,2\}", r"\{2,1\}", False, True),
    ("x>3", "3<x", False, True),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{bmatrix}1\\2\end{bmatrix}", False, True),
]


@pytest.mark.parametrize(("gold", "answer", "reason"), ACCEPTED)
def test_the_steps_accept_in_their_order(gold, answer, reason):
    verdict = equivalent_paper(gold, answer)
    assert (verdict.accepted, verdict.reason, verdict.extracted) == (True, reason, answer)


@pytest.mark.parametrize(("gold", "answer", "reason"), REJECTED)
def test_what_passes_no_step_is_rejected_with_its_reason(gold, answer, reason):
    began = time.process_time()
    verdict = equivalent_paper(gold, answer)
    assert (verdict.accepted, verdict.reason) == (False, reason)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(("gold", "answer", "verdict", "truth"), FAULTS)
def test_the_faults_of_the_steps_stay(gold, answer, verdict, truth):
    assert equivalent_paper(gold, answer).accepted is verdict is not truth


def test_the_two_conventions_are_two():
    """Each accepts a pair that the other one does not."""
    assert braced("3/4") == braced(r"\frac34")
    assert plain("3/4") != plain(r"\frac34")
    assert plain("12 inches") == plain("12")
    assert braced("12 inches") != braced("12")
