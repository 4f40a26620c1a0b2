"""The samples_*.jsonl that lm-eval wrote with `--log_samples` → columns of `erce records`, and the prompts.

Each of its lines is one document under one filter, with all responses to it and the document's metrics.
"""

import json
import re
from pathlib import Path
from typing import Any

from erce.errors import InputError
from erce.files import read_rows

NAME = re.compile(r"samples_(.+)_(\d{4}-\d\d-\d\dT[\d.:-]+)")  # task, date
DEFAULT_FILTER = "none"  # lm-eval's name for the `take_first` of a task that lists no filters
SETTINGS = {"top_p": "top_p", "top_k": "top_k", "max_new_tokens": "max_gen_toks"}  # column → lm-eval's name
METRICS = ("exact_match", "acc", "acc_norm", "pass_at_1")  # looked for if a line does not list its own


def lm_eval_rows(path: Path, metric: str | None, filter: str | None) -> list[dict[str, Any]]:
    """Read a samples file into one row (a dict) per response, accepted if its metric is 1.

    A file with several metrics or filters needs `metric` and `filter`. Of repeats under `take_first` the
    first response alone is a row, since lm-eval verified no other. If several responses share one value
    otherwise, as with majority voting, no response has a verdict: `accepted` is None.
    """
    damaged = "has no doc_id and resps; is it a samples_*.jsonl of --log_samples?"
    if not (lines := list(read_rows(path, "doc_id", "resps", damaged=damaged))):
        raise InputError(f"{path} has no lines")
    filter = filter or _only_one(path, "filter", {line.get("filter", DEFAULT_FILTER) for line in lines})
    lines = [line for line in lines if line.get("filter", DEFAULT_FILTER) == filter]
    if not lines:
        raise InputError(f"{path} has no line with filter {filter!r}; choose another --filter")
    metric = metric or _only_one(path, "metric", {name for line in lines for name in _metrics(line)})
    task, first_alone = task_in_name(path), _takes_first(path, filter)
    rows = []
    for line in lines:
        where = f"{path}, document {line['doc_id']}"
        if metric not in line:
            metrics = ", ".join(_metrics(line)) or "none"
            raise InputError(f"{where} has no metric {metric!r}; it has {metrics}: choose with --metric")
        texts, value = _texts(line["resps"]), line[metric]
        if first_alone and not isinstance(value, list):
            texts = texts[:1]
        filtered = _texts(line.get("filtered_resps") or [])
        extracted = filtered if len(filtered) == len(texts) else [None] * len(texts)
        outcomes = zip(texts, extracted, _accepted(where, value, len(texts)), strict=True)
        columns = {"task": task} | _document_columns(line)
        for sample, (text, found, passed) in enumerate(outcomes):
            outcome = {"sample": sample, "completion": text, "extracted": found, "accepted": passed}
            rows.append(columns | outcome)
    return rows


def task_in_name(path: Path) -> str:
    """Return the task in a name that lm-eval gives, samples_TASK_DATE.jsonl; else the name itself.

    >>> task_in_name(Path("samples_gsm8k_cot_2026-01-01T00-00-00.000000.jsonl"))
    'gsm8k_cot'
    """
    match = NAME.fullmatch(path.stem)
    return match[1] if match else path.stem


def _takes_first(path: Path, filter: str) -> bool:
    """Return whether the filter keeps only the first response, by the results_DATE.json beside `path`."""
    match = NAME.fullmatch(path.stem)
    results = path.with_name(f"results_{match[2]}.json") if match else path
    if not match or not results.is_file():
        return filter == DEFAULT_FILTER
    try:
        filters = json.loads(results.read_bytes())["configs"][match[1]].get("filter_list") or []
        steps = [step["function"] for each in filters if each["name"] == filter for step in each["filter"]]
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise InputError(f"{results} is not lm-eval's ({error!r}); correct or remove it") from None
    return "take_first" in steps and "majority_vote" not in steps if filters else filter == DEFAULT_FILTER


def _metrics(line: dict[str, Any]) -> list[str]:
    return list(line["metrics"]) if line.get("metrics") else [name for name in METRICS if name in line]


def _only_one(path: Path, option: str, names: set[str]) -> str:
    if len(names) != 1:
        listed = ", ".join(sorted(names)) or "(none)"
        raise InputError(f"{path} has the {option}s {listed}; choose with --{option}, in Python {option}=")
    return next(iter(names))


def _document_columns(line: dict[str, Any]) -> dict[str, Any]:
    """Return what all responses to a document share; they are greedy unless `do_sample` is set."""
    arguments, target, prompt_hash = line.get("arguments"), line.get("target"), line.get("prompt_hash")
    # The first request; `arguments` is a list of pairs, in files {"gen_args_0": {"arg_0": …, "arg_1": …}}.
    request = next(iter(arguments.values() if isinstance(arguments, dict) else arguments or ()), ())
    prompt, settings, *_ = [*(request.values() if isinstance(request, dict) else request), None, None]
    settings = settings if isinstance(settings, dict) else {}
    sampled = bool(settings.get("do_sample")) and settings.get("temperature") != 0
    stop = settings.get("until")
    return {
        "problem": str(line["doc_id"]),
        "prompt": prompt if isinstance(prompt, str) else "",
        "answer": None if target is None else str(target),
        "prompt_hash": prompt_hash[:16] if isinstance(prompt_hash, str) else None,
        "decoding": "sampled" if sampled else "greedy",
        "temperature": settings.get("temperature") if sampled else 0.0,
        "stop": [stop] if isinstance(stop, str) else stop,
    } | {name: settings.get(key) for name, key in SETTINGS.items()}


def _texts(requests: list[Any]) -> list[str | None]:
    """Return the texts of a document's responses; [None] for a multiple choice, which generates no text."""
    texts = requests[0] if len(requests) == 1 and isinstance(requests[0], list) else requests
    return list(texts) if texts and all(isinstance(text, str) for text in texts) else [None]


def _accepted(where: str, value: Any, count: int) -> list[bool | None]:
    """Return the verdict of each of `count` responses; None if one value stands for several."""
    if not isinstance(value, list):
        value = [value] if count == 1 else [None] * count
    if len(value) != count:
        raise InputError(f"{where} has {count} responses and {len(value)} verdicts; it is damaged")
    for one in value:
        if one not in (0, 1, None):
            raise InputError(f"{where} has the value {one!r}, neither 0 nor 1; choose another --metric")
    return [None if one is None else bool(one) for one in value]
