"""Evaluate scripted answers with inspect_ai: inspect_eval.py ANSWERS FOLDER [same_answer]."""

import json
import sys
from pathlib import Path

from inspect_ai import Task, eval  # pyright: ignore[reportMissingImports]
from inspect_ai.dataset import Sample  # pyright: ignore[reportMissingImports]
from inspect_ai.model import ModelOutput, ModelUsage, get_model  # pyright: ignore[reportMissingImports]
from inspect_ai.scorer import match  # pyright: ignore[reportMissingImports]
from inspect_ai.solver import generate  # pyright: ignore[reportMissingImports]
from inspect_scorer import same_answer  # pyright: ignore[reportMissingImports]

answers, folder, *own = sys.argv[1:]
rows = [json.loads(line) for line in Path(answers).read_text(encoding="utf-8").splitlines()]
by_question = {row["question"]: row["response"] for row in rows}


def answered(messages, *_):
    output = ModelOutput.from_content("scripted", by_question[messages[-1].text])
    output.usage = ModelUsage()  # counting tokens would fetch a tokenizer
    return output


scorer = same_answer() if own else match(location="exact")
samples = [Sample(id=row["id"], input=row["question"], target=row["answer"]) for row in rows]
[log] = eval(
    Task(name="sums", dataset=samples, solver=generate(), scorer=scorer),
    model=get_model("mockllm/model", custom_outputs=answered),
    temperature=0,
    log_dir=folder,
    log_format="eval",
    display="none",
)
print(log.results.scores[0].metrics["accuracy"].value)
