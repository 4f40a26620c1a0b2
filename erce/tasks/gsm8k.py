"""GSM8K's rows become problems: school mathematics with a chain of thought, or with the answer alone.

Set-up of the paper's appendices "Experimental Setup GSM8k" and "Answer-Only Negative Control": 1,000 problems
to train on and 500 to test on, calculator annotations stripped, `#### <answer>` at the end. The paper has no
validation split; ours comes from the training rows.
"""

import json
import re
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from erce.types import Completion, Pools, Problem, Task, Verdict
from erce.verify.numeric import verify_number

HUB = "openai/gsm8k"
MARKER = "####"
STEPS = "{}\n\nSolve this step by step, and end with the line: #### <answer>"
ANSWER_ONLY = "{}\n\nGive the answer only, as the line: #### <answer>"

_LOCAL = 'give a folder with the original train.jsonl and test.jsonl: data = "folder"'
_ANNOTATION = re.compile(r"<<[^<>\n]*>>")


def _pools(data: str | None, *, template: str, steps: bool) -> Pools:
    """From the hub through `datasets`, or from the original files in the folder `data`."""
    rows = _from_hub() if data is None else _from_folder(Path(data))
    train, test = (
        tuple(
            _problem(f"gsm8k-{split}-{number}", row, template, steps=steps)
            for number, row in enumerate(rows[split])
        )
        for split in ("train", "test")
    )
    return Pools(train=train, test=test)


def _problem(id: str, row: Mapping[str, str], template: str, *, steps: bool) -> Problem:
    """One row; the demonstration is its working without `<<48/2=24>>` annotations, then `#### 24`."""
    working, _, answer = (part.strip() for part in row["answer"].rpartition(MARKER))
    last = f"{MARKER} {answer}"
    return Problem(
        id=id,
        prompt=template.format(row["question"].strip()),
        demonstration=f"{_ANNOTATION.sub('', working)}\n{last}" if steps else last,
        answer=answer,
    )


def _from_hub() -> dict[str, list[Mapping[str, str]]]:
    try:
        import datasets
    except ModuleNotFoundError as error:
        raise ValueError(
            f"{HUB} needs the package datasets, which is missing: pip install 'erce[study]', or {_LOCAL}"
        ) from error
    try:
        rows: Any = datasets.load_dataset(HUB, "main")
    except OSError as error:
        raise ValueError(f"{HUB} cannot be loaded from the hub ({error}); {_LOCAL}") from error
    return {split: list(rows[split]) for split in ("train", "test")}


def _from_folder(folder: Path) -> dict[str, list[Mapping[str, str]]]:
    for name in ("train.jsonl", "test.jsonl"):
        if not (folder / name).is_file():
            raise ValueError(f"data = {str(folder)!r} has no file {name}; {_LOCAL}")
    return {split: list(_rows(folder / f"{split}.jsonl")) for split in ("train", "test")}


def _rows(path: Path) -> Iterable[Mapping[str, str]]:
    """The file's rows, each with a question and an answer that ends in `#### <number>`."""
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if line.strip():
            fault = _fault(line)
            if fault:
                raise ValueError(f"{path}, line {number}: {fault}; give the original file")
            yield json.loads(line)


def _fault(line: bytes) -> str | None:
    """What is wrong with a line, or None."""
    try:
        row = json.loads(line)
    except ValueError as error:  # text that is not UTF-8 included
        return f"not a JSON object ({error})"
    if not isinstance(row, dict) or not all(isinstance(row.get(key), str) for key in ("question", "answer")):
        return "not an object with the texts `question` and `answer`"
    answer = row["answer"].rpartition(MARKER)[2]
    try:
        ends_well = verify_number(answer, row["answer"], marker=MARKER).accepted
    except ValueError:
        ends_well = False
    return None if ends_well else f"its answer does not end in `{MARKER} <number>`"


def _verify(problem: Problem, completion: Completion) -> Verdict:
    return verify_number(problem.answer, completion, marker=MARKER)


GSM8K = Task(
    name="gsm8k",
    pools=partial(_pools, template=STEPS, steps=True),
    verify=_verify,
    n_train=1000,
    n_validation=200,
    n_test=500,
    max_new_tokens=512,
    max_length=768,
)
GSM8K_ANSWER_ONLY = Task(
    name="gsm8k-answer-only",
    pools=partial(_pools, template=ANSWER_ONLY, steps=False),
    verify=_verify,
    n_train=1000,
    n_validation=200,
    n_test=500,
    max_new_tokens=32,
    max_length=768,
)
