"""Small logs as lm-eval 0.4.13, inspect 0.3.285 and evalplus 0.3.1 write them."""

import json
from functools import partial

from erce.imports import Reading
from erce.imports.readers import read_log

HASH = "8" * 64


def _from(format, path, *, arm, **reading):
    return read_log(path, arm, Reading(format=format, **reading))[0]


from_lm_eval, from_inspect, from_evalplus = (
    partial(_from, name) for name in ("lm-eval", "inspect", "evalplus")
)


def lm_eval_document(doc_id, value, **change):
    """A line as `lm_eval --log_samples` writes it for a generated answer."""
    return {
        "doc_id": doc_id,
        "doc": {"question": "2+2?", "answer": "#### 4"},
        "target": "4",
        "arguments": {"gen_args_0": {"arg_0": "Q: 2+2?\nA:", "arg_1": {"until": ["\n"], "do_sample": False}}},
        "resps": [[f"So #### {doc_id}"]],
        "filtered_resps": [str(doc_id)],
        "filter": "strict-match",
        "metrics": ["exact_match"],
        "doc_hash": HASH,
        "prompt_hash": HASH,
        "target_hash": HASH,
        "exact_match": value,
    } | change


def write_lm_eval(path, values, *, settings=None, task="gsm8k", tamper=None):
    """A file as lm-eval 0.4.13 writes it with --log_samples; `values` are one list of 0 and 1 a document."""
    path.mkdir(parents=True, exist_ok=True)
    settings = settings or {"until": ["\n"], "do_sample": False}
    lines = []
    for at, row in enumerate(values):
        found = [str(at) if ok else "[invalid]" for ok in row]
        alone = len(row) == 1
        change = {
            "target": str(at),
            "arguments": {"gen_args_0": {"arg_0": f"Q: {at}+0?\nA:", "arg_1": settings}},
            "resps": [[f"#### {at if ok else 'no'}" for ok in row]],
            "filtered_resps": found if alone else [found],
        }
        value = float(row[0]) if alone else [float(ok) for ok in row]
        lines.append(lm_eval_document(at, value, **change) | (tamper or {}))
    file = path / f"samples_{task}_2026-01-01T00-00-00.000000.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def inspect_sample(name, epoch, value, **change):
    """A sample of an inspect log."""
    return {
        "id": name,
        "epoch": epoch,
        "input": "2+2?",
        "target": "4",
        "output": {
            "model": "m",
            "choices": [{"message": {"role": "assistant", "content": f"#### {name}"}, "stop_reason": "stop"}],
            "completion": f"#### {name}",
            "usage": {"input_tokens": 5, "output_tokens": 9},
        },
        "scores": {"match": {"value": value, "answer": str(name)}},
    } | change


def inspect_log(samples, **change):
    run = {
        "task": "gsm8k",
        "model": "vllm/m",
        "model_generate_config": {"temperature": 0.8, "max_tokens": 64},
    }
    return (
        {"version": 2, "status": "success", "eval": run, "plan": {"config": {"top_p": 0.9}}}
        | change
        | {"samples": samples}
    )


def write_inspect(path, values):
    run = {"task": "inspect_evals/gsm8k", "model": "hf/m", "model_generate_config": {"temperature": None}}
    output = {
        "choices": [{"message": {"role": "assistant", "content": "x"}, "stop_reason": "max_tokens"}],
        "completion": "x",
        "usage": {"output_tokens": 7},
    }
    samples = [
        inspect_sample(
            at,
            epoch,
            "C" if ok else "I",
            input=[{"role": "system", "content": "Add."}, {"role": "user", "content": f"{at}+0?"}],
            target=str(at),
            output=output,
            scores={"match": {"value": "C" if ok else "I", "answer": ""}},
        )
        for at, row in enumerate(values)
        for epoch, ok in enumerate(row, 1)
    ]
    path.write_text(json.dumps(inspect_log(samples, eval=run, plan={})))
    return path


def write_evalplus(path, statuses):
    """A file as evalplus 0.3.1 writes it; `statuses` are (base, plus) of each program of each problem."""
    problems = {
        f"HumanEval/{at}": [
            {
                "task_id": f"HumanEval/{at}",
                "solution": f"def f():\n    return {at}",
                "base_status": base,
                "plus_status": plus,
                "base_fail_tests": [],
                "plus_fail_tests": [],
            }
            for base, plus in programs
        ]
        for at, programs in enumerate(statuses)
    }
    path.write_text(json.dumps({"date": "2026-01-01 00:00", "hash": "h", "eval": problems}))
    return path


def known_columns(row):
    return {name: value for name, value in vars(row).items() if value is not None}
