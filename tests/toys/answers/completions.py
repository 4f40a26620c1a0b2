"""Whole completions, each with the reference answer and whether its final answer is right."""

from typing import NamedTuple

from erce.types import Completion


def cut_off(text: str) -> Completion:
    """A completion that ended because it had as many tokens as it may have."""
    return Completion(problem="", sample=0, text=text, tokens=9, finished=False, logprob=0.0, entropy=0.0)


class Case(NamedTuple):
    """A labelled completion."""

    answer: str
    completion: str
    expected: bool


COMPLETIONS = {
    "one box": [
        Case("5", r"So we get $\boxed{5}$.", True),
        Case("5", r"$$\boxed{5}$$ is the answer, since 7 > 6.", True),
        Case("5", r"\boxed{\text{5}}", True),
        Case("5", r"\boxed{$5$}", True),
        Case("5", r"\boxed{5 \text{ apples}}", False),
        Case(r"5\text{ apples}", r"\boxed{5 \text{ apples}}", True),
        Case("5", r"\boxed{6}, although some would say 5", False),
        Case("5", r"5 = 2 + 3, so \boxed{23}", False),
        Case(r"\frac{1}{2}", r"Therefore \boxed{\frac{1}{2}}.", True),
        Case(r"\{1,2\}", r"\boxed{\{2, 1\}}", True),
        Case("512", r"\boxed{2^{3^{2}}}", True),
        Case(r"\frac{\sqrt{3}}{2}", r"\boxed{\sqrt{\frac{3}{4}}}", True),
        Case(r"\left( 3, \frac{\pi}{2} \right)", r"is $\boxed{(3,\frac{\pi}{2})}.$", True),
        Case(r"\left( 3, \frac{\pi}{2} \right)", r"is $\boxed{(3,\frac{\pi}{3})}.$", False),
        Case(
            r"\begin{pmatrix} 1 & 0 \\ 0 & 2 \end{pmatrix}",
            "so\n\\[\\boxed{\n\\begin{pmatrix} 1 & 0 \\\\ 0 & 2 \\end{pmatrix}\n}.\\]",
            True,
        ),
        Case(
            r"\begin{pmatrix} 1 & 0 \\ 0 & 2 \end{pmatrix}",
            "\\boxed{\\begin{pmatrix} 1 & 0 \\\\ 0 & 3 \\end{pmatrix}}",
            False,
        ),
        Case("29", r"\boxed{\$29.00}", True),
        Case(r"\text{(B)}", r"the answer is \boxed{\textbf{(B)}}", True),
        Case(r"\text{(B)}", r"the answer is \boxed{\textbf{(D)}}", False),
        Case("5", r"$\boxed 5$", True),
        Case("5", r"\Boxed{5}", False),
        Case("-5", r"-\boxed{5}", True),
        Case("5", r"-\boxed{5}", False),
        Case("5", r"$\frac{1}{\boxed{5}}$", False),
        Case("5", r"$x\neq\boxed{5}$", False),
        Case("5", "So:\n- \\boxed{5}", True),
        Case("5", r"The answer - $\boxed{5}$", True),
        Case("5", r"It cannot be \boxed{5}", False),
        Case("5", r"The wrong answer is \boxed{5}", False),
        Case("5", r"$\boxed{5}^2$", False),
        Case("5", r"$\boxed{5}\pi$", False),
        Case("5", r"$\boxed{5}^\circ$", True),
        Case("5", r"\boxed{5}. Sorry, I made a mistake: it is 6.", False),
        Case("5", "The final answer is 5 in total minus 3.", False),
        Case("5", "The final answer is 5, given that x>0, or -3 otherwise.", False),
        Case("5", "The final answer is 5, which I doubt.", False),
        Case("10", r"2\cdot\boxed{5}", False),
        Case("25", r"\boxed{5}^2", False),
        Case("5", r"\boxed{5 \text{ or } 6}", False),
        Case("5", r"\boxed{5 \ne 6}", False),
        Case("5", r"\boxed{\{5}", False),
        Case("5", "#### 5", True),
        Case("5", "<answer>5</answer>", False),
    ],
    "several boxes": [
        Case("5", r"\boxed{3}, no wait: \boxed{5}", True),
        Case("5", r"\boxed{5}, no wait: \boxed{3}", False),
        Case("5", r"Step 1: \boxed{2}. Step 2: \boxed{3}. Sum: \boxed{5}", True),
        Case("5", "```\n\\boxed{6}\n```\n\\boxed{5}", True),
        Case(r"\frac{1}{2}", r"\boxed{2} hence \boxed{\frac{1}{2}}", True),
        Case("8", r"\boxed{3} and \boxed{5}", False),
    ],
}
