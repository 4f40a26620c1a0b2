"""Small logs as lm-eval 0.4.13 writes them."""

import json

from erce.imports import Reading
from erce.imports.readers import read_log

HASH = "8" * 64


def rows_of(path, *, arm, **reading):
    return read_log(path, arm, Reading(**reading))[0]


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


def known_columns(row):
    return {name: value for name, value in vars(row).items() if value is not None}
