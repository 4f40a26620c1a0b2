"""GSM8K's rows → problems: school mathematics with a chain of thought, or with the answer alone.

Set-up of the paper's appendices "Experimental Setup GSM8k" and "Answer-Only Negative Control": 1,000 problems
to train on and 500 to test on, calculator annotations stripped, `#### <answer>` at the end. The paper has no
validation split; ours comes from the training rows.
"""

import re
from dataclasses import replace
from functools import partial

from erce.tasks.source import Source, SourceRow, json_lines
from erce.types import Completion, Pools, Problem, Task, Verdict
from erce.verify.number import is_number, same_number, verify_number

MARKER = "####"
STEPS = "{}\n\nSolve this step by step, and end with the line: #### <answer>"
ANSWER_ONLY = "{}\n\nGive the answer only, as the line: #### <answer>"
SOURCE = Source(
    hub="openai/gsm8k",
    files="the original train.jsonl and test.jsonl",
    digests={
        "train.jsonl": "17f347dc51477c50d4efb83959dbb7c56297aba886e5544ee2aaed3024813465",
        "test.jsonl": "3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14",
    },
)

_ANNOTATION = re.compile(r"<<[^<>\n]*>>")


def _pools(data: str | None, *, template: str, steps: bool) -> Pools:
    hub = SOURCE.from_hub("main") if data is None else {}
    pools: list[tuple[Problem, ...]] = []
    for split in ("train", "test"):
        rows = hub[split] if data is None else json_lines(SOURCE.file(data, f"{split}.jsonl"))
        pools.append(
            tuple(
                _problem(f"gsm8k-{split}-{number}", row, template, steps=steps)
                for number, row in enumerate(rows)
            )
        )
    return Pools(*pools)


def _problem(id: str, row: SourceRow, template: str, *, steps: bool) -> Problem:
    """Return a row's problem; its demonstration has no `<<48/2=24>>` annotations and ends in `#### 24`."""
    question, solution = row.text("question"), row.text("answer")
    working, _, answer = (part.strip() for part in solution.rpartition(MARKER))
    if not (is_number(answer) and verify_number(answer, solution, marker=MARKER).accepted):
        raise row.fault(f"its answer does not end in `{MARKER} <number>`")
    last = f"{MARKER} {answer}"
    return Problem(
        id=id,
        prompt=template.format(question.strip()),
        demonstration=f"{_ANNOTATION.sub('', working)}\n{last}" if steps else last,
        answer=answer,
    )


def verify_answer(problem: Problem, completion: Completion | str, *, strict: bool = True) -> Verdict:
    """Verify the number after `####` against the problem's answer."""
    return verify_number(problem.answer, completion, strict=strict, marker=MARKER)


GSM8K = Task(
    name="gsm8k",
    pools=partial(_pools, template=STEPS, steps=True),
    verify=verify_answer,
    verify_flexible=partial(verify_answer, strict=False),
    equal=same_number,
    n_train=1000,
    n_validation=200,
    n_test=500,
    max_new_tokens=512,
    max_length=768,
    about="grade-school word problems, worked out step by step; the answer is a number",
)
GSM8K_ANSWER_ONLY = replace(
    GSM8K,
    name="gsm8k-answer-only",
    pools=partial(_pools, template=ANSWER_ONLY, steps=False),
    max_new_tokens=32,
    about="the same problems, answered with the number alone: a control",
)
