"""MATH's rows → problems: competition mathematics whose answers are LaTeX, tested on MATH-500.

Set-up of the paper's appendix "Experimental Setup: MATH": the training split pooled over its seven subjects,
without solutions that have no box and without Asymptote figures in problem or solution, which leaves 6,215 of
7,500. An empty box (number_theory/7115 and 7117) counts as none. Reference solutions are shown
verbatim. MATH-500 keeps its figures. The paper has no validation split; ours comes from the training rows.

Two of the 6,215 are near-duplicates of MATH-500 problems (`erce.tasks.overlap`) and are left out. So are
sixteen whose box is a part of a larger expression, which would teach what the verifier does not accept.
"""

import hashlib
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

# Digest of a training problem without its spaces → the MATH-500 problem that it nearly is.
NEAR_DUPLICATES = {
    "f5bb9eae5735977f": "test/intermediate_algebra/337.json",  # train/algebra/658.json
    "c907b2a22ec0c379": "test/algebra/170.json",  # train/algebra/1477.json
}


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
    """Yield the rows that can be imitated and that give no test problem away."""
    for number, row in enumerate(rows):
        problem, solution = row.text("problem"), row.text("solution")
        answer = (boxed_answer(solution) or "").strip()
        figure = FIGURE in problem or FIGURE in solution
        usable = answer and not figure and digest(problem) not in NEAR_DUPLICATES
        if usable and verify_math(answer, solution).accepted:
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


def digest(problem: str) -> str:
    """Return a problem's key in `NEAR_DUPLICATES`: 16 hexadecimal digits that ignore its spaces."""
    return hashlib.sha256("".join(problem.split()).encode()).hexdigest()[:16]


def _verify(problem: Problem, completion: Completion | str, *, strict: bool = True) -> Verdict:
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
