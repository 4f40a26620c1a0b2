"""A file that lm-eval wrote with `--log_samples` → rows of the same columns as ours.

Each line there is one document under one filter, with all responses to it and the metrics of the document.
"""

import json
import re
from pathlib import Path
from typing import Any

from erce.study.export import Row, flat

METRICS = ("exact_match", "acc", "acc_norm", "pass_at_1")  # looked for where a line does not list its own


def from_lm_eval(
    path: str | Path,
    *,
    arm: str,
    seed: int = 0,
    task: str | None = None,
    metric: str | None = None,
    filter: str | None = None,
) -> list[Row]:
    """A row a response, `accepted` where the metric is 1; `arm` and `seed` are what the run was of.

    `task` is read from the file's name if left out, and the split is called "test". A file with several
    metrics or filters needs `metric` and `filter`. Where several responses share one value, as with majority
    voting, no single one has a verdict: `accepted` is None, for `erce verify` to judge. A metric that is
    neither 0 nor 1, and a line that is no such document, are ValueErrors.
    """
    path = Path(path)
    lines = _lines(path)
    chosen = filter or _only(path, "filter", {line.get("filter", "none") for line in lines})
    lines = [line for line in lines if line.get("filter", "none") == chosen]
    if not lines:
        raise ValueError(f"{path} has no line with filter {chosen!r}")
    metric = metric or _only(path, "metric", {name for line in lines for name in _metrics(line)})
    shared = {"task": task or task_of(path), "arm": arm, "seed": seed, "split": "test"}
    rows = []
    for line in lines:
        where = f"{path}, document {line['doc_id']}"
        if metric not in line:
            raise ValueError(
                f"{where} has no metric {metric!r}; it has {', '.join(_metrics(line)) or 'none'}"
            )
        document = shared | _document(line)
        texts = _texts(line)
        accepted = _accepted(where, line[metric], len(texts))
        for sample, (text, extracted) in enumerate(zip(texts, _extracted(line, len(texts)), strict=True)):
            outcome = {"sample": sample, "completion": text, "extracted": extracted}
            rows.append(flat(document | outcome | {"accepted": accepted[sample]}))
    return rows


def lm_eval_prompts(path: str | Path) -> dict[str, str]:
    """Problem → the prompt of its first request, the few-shot examples included."""
    found = {}
    for line in _lines(Path(path)):
        values = _request(line.get("arguments"))
        if values and isinstance(values[0], str):
            found.setdefault(str(line["doc_id"]), values[0])
    return found


def task_of(path: Path) -> str:
    """The task in a name that lm-eval gives, samples_TASK_DATE.jsonl; else the name.

    >>> task_of(Path("samples_gsm8k_cot_2026-01-01T00-00-00.000000.jsonl")), task_of(Path("mine.jsonl"))
    ('gsm8k_cot', 'mine')
    """
    found = re.fullmatch(r"samples_(.+)_\d{4}-\d\d-\d\dT[\d.:-]+", path.stem)
    return found[1] if found else path.stem


def _lines(path: Path) -> list[dict[str, Any]]:
    lines = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if not line.strip():
            continue
        try:
            read = json.loads(line)
        except ValueError as error:
            raise ValueError(f"{path}, line {number} is no JSON ({error}); correct or remove it") from None
        if not isinstance(read, dict) or not {"doc_id", "resps"} <= read.keys():
            raise ValueError(
                f"{path}, line {number} has no doc_id and resps; is it a samples_*.jsonl of --log_samples?"
            )
        lines.append(read)
    if not lines:
        raise ValueError(f"{path} has no lines")
    return lines


def _metrics(line: dict[str, Any]) -> list[str]:
    return list(line["metrics"]) if line.get("metrics") else [name for name in METRICS if name in line]


def _only(path: Path, what: str, names: set[str]) -> str:
    if len(names) != 1:
        raise ValueError(
            f"{path} has the {what}s {', '.join(sorted(names)) or '(none)'}; choose with {what}="
        )
    return next(iter(names))


def _document(line: dict[str, Any]) -> Row:
    target = line.get("target")
    prompt_hash = line.get("prompt_hash")
    return {
        "problem": str(line["doc_id"]),
        "answer": None if target is None else str(target),
        "prompt_hash": prompt_hash[:16] if isinstance(prompt_hash, str) else None,
    } | _decoding(_generation(line.get("arguments")))


def _generation(arguments: Any) -> dict[str, Any]:
    values = _request(arguments)
    return values[1] if len(values) > 1 and isinstance(values[1], dict) else {}


def _request(arguments: Any) -> list[Any]:
    """The first request: its prompt, then its generation settings; files name what lists number."""
    first = next(iter(arguments.values() if isinstance(arguments, dict) else arguments or ()), ())
    return list(first.values() if isinstance(first, dict) else first)


def _decoding(settings: dict[str, Any]) -> Row:
    """lm-eval decodes greedily unless `do_sample` is set."""
    sampled = bool(settings.get("do_sample")) and settings.get("temperature") != 0
    stop = settings.get("until")
    return {
        "decoding": "sampled" if sampled else "greedy",
        "temperature": settings.get("temperature") if sampled else 0.0,
        "top_p": settings.get("top_p"),
        "top_k": settings.get("top_k"),
        "max_new_tokens": settings.get("max_gen_toks"),
        "stop": [stop] if isinstance(stop, str) else stop,
    }


def _texts(line: dict[str, Any]) -> list[str | None]:
    """The responses; a choice among given answers (several requests, log-likelihoods) has no text."""
    responses = line["resps"]
    texts = responses[0] if len(responses) == 1 else []
    texts = [texts] if isinstance(texts, str) else texts
    return list(texts) if texts and all(isinstance(text, str) for text in texts) else [None]


def _extracted(line: dict[str, Any], count: int) -> list[str | None]:
    found = line.get("filtered_resps") or []
    found = found[0] if len(found) == 1 and isinstance(found[0], list) else found
    texts = [text if isinstance(text, str) else None for text in found]
    return texts if len(texts) == count else [None] * count


def _accepted(where: str, value: Any, count: int) -> list[bool | None]:
    if isinstance(value, list):
        if len(value) != count:
            raise ValueError(f"{where} has {count} responses and {len(value)} verdicts; it is damaged")
        return [_verdict(where, each) for each in value]
    return [_verdict(where, value)] if count == 1 else [None] * count


def _verdict(where: str, value: Any) -> bool:
    if value not in (0, 1):
        raise ValueError(f"{where} has the value {value!r}, neither 0 nor 1; choose another metric=")
    return bool(value)
