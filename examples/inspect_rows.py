"""Turn a log of inspect into rows that `erce import` reads: inspect_rows.py LOG ROWS.jsonl [SCORER]."""

import json
import sys
from pathlib import Path

from inspect_ai.log import read_eval_log

RIGHT, WRONG = ("C", 1), ("I", "N", 0)  # correct; incorrect, no answer

log_file, rows_file, *scorer = sys.argv[1:]
log = read_eval_log(log_file)
failed = [sample.id for sample in log.samples or [] if sample.error]
if log.status != "success" or failed:
    sys.exit(f"{log_file} ended as {log.status!r}, {len(failed)} samples failed; finish it with inspect")
configs = log.plan.config, log.eval.model_generate_config
temperatures = [config.temperature for config in configs if config.temperature is not None]
rows = []
for sample in log.samples or []:
    [name] = scorer or sample.scores or {}
    score = sample.scores[name]
    if score.value not in (*RIGHT, *WRONG):
        sys.exit(f"{log_file}, sample {sample.id}: the score {score.value!r} is neither right nor wrong")
    row = {
        "task": log.eval.task,
        "model": log.eval.model,
        "problem": sample.id,
        "sample": sample.epoch - 1,
        "answer": "; ".join([sample.target] if isinstance(sample.target, str) else sample.target),
        "completion": sample.output.completion,
        "finish": "length" if sample.output.stop_reason in ("max_tokens", "model_length") else "stop",
        "temperature": next(iter(temperatures), None),  # of neither: give it to `erce import`
        "accepted": score.value in RIGHT,
        "extracted": score.answer,
    }
    rows.append(json.dumps(row))
Path(rows_file).write_text("\n".join(rows), encoding="utf-8")
print(f"{len(rows)} rows in {rows_file}")
