"""MATH's rows → problems: competition mathematics whose answers are LaTeX, tested on MATH-500.

Set-up of the paper's appendix "Experimental Setup: MATH": the training split pooled over its seven subjects,
without solutions that have no box and without Asymptote figures in problem or solution, which leaves 6,215 of
7,500. An empty box (number_theory/7115 and 7117) counts as none. Reference solutions are shown
verbatim. MATH-500 keeps its figures. The paper has no validation split; ours comes from the training rows.

Sixteen of the 6,215 are left out, whose box is a part of a larger expression: they would teach what the
verifier does not accept.
"""

from collections.abc import Iterable
from functools import partial

from erce.tasks.source import Source, SourceRow, json_lines
from erce.types import Completion, Pools, Problem, Task, Verdict
from erce.verify.answers.reference import same_answer
from erce.verify.boxes import boxed_answer
from erce.verify.math import verify_math

PROMPT = "{}\n\nSolve this step by step, and put the final answer in \\boxed{{}}."
FIGURE = "[asy]"
SUBJECTS = (
    "algebra",
    "counting_and_probability",
    "geometry",
    "intermediate_algebra",
    "number_theory",
    "prealgebra",
    "precalculus",
)
SOURCE = Source(
    hub="EleutherAI/hendrycks_math",
    files="train.jsonl (the training split, pooled: problem and solution) and math500.jsonl (the original)",
    digests={
        # The original has a file for each problem; this is a third party's pooling of them.
        "train.jsonl": "2f6f5d906067a3a19a0af83746109a3471f0a909c0ae12f1781cb735d8c961e7",
        "math500.jsonl": "35dc41080a3680858b27fa7e0533d2d547825316fc5dafe5d316f4ccc5a06132",
    },
)
HUB_TEST = "HuggingFaceH4/MATH-500"


def _pools(data: str | None) -> Pools:
    if data is None:
        train = [row for subject in SUBJECTS for row in SOURCE.from_hub(subject)["train"]]
        test = SOURCE.from_hub(name=HUB_TEST)["test"]
    else:
        files = [SOURCE.file(data, name) for name in ("train.jsonl", "math500.jsonl")]
        train, test = map(json_lines, files)
    return Pools(
        train=tuple(_train(train)),
        test=tuple(_problem(row, f"math500-{number}", row.text("answer")) for number, row in enumerate(test)),
    )


def _train(rows: Iterable[SourceRow]) -> Iterable[Problem]:
    """Yield the rows that can be imitated."""
    for number, row in enumerate(rows):
        problem, solution = row.text("problem"), row.text("solution")
        answer = (boxed_answer(solution) or "").strip()
        figure = FIGURE in problem or FIGURE in solution
        if answer and not figure and verify_math(answer, solution).accepted:
            yield _problem(row, f"math-train-{number}", answer)


def _problem(row: SourceRow, id: str, answer: str) -> Problem:
    if not answer.strip():
        raise row.fault("`answer` is empty")
    return Problem(
        id=row.text("unique_id", default=id),
        prompt=PROMPT.format(row.text("problem").strip()),
        demonstration=row.text("solution"),
        answer=answer.strip(),
    )


def _verify(problem: Problem, completion: Completion | str, *, strict: bool = True) -> Verdict:
    """Accept a completion whose final answer, the last box, is equivalent to the problem's answer."""
    return verify_math(problem.answer, completion, strict=strict)


MATH = Task(
    name="math",
    pools=_pools,
    verify=_verify,
    verify_flexible=partial(_verify, strict=False),
    equal=same_answer,
    n_train=1000,
    n_validation=200,
    n_test=200,
    max_new_tokens=1024,
    max_length=1024,
    about="competition mathematics; the answer is a formula in a box",
)
