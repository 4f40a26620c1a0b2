"""The samples_*.jsonl that lm-eval wrote with `--log_samples` → rows with the columns of `erce records`.

Each of its lines is one document under one filter, with all responses to it and the document's metrics.
"""

import json
import re
from pathlib import Path
from typing import Any

from erce.errors import InputError
from erce.types import SampleRow

NAME = re.compile(r"samples_(.+)_(\d{4}-\d\d-\d\dT[\d.:-]+)")  # task, date
DEFAULT_FILTER = "none"  # lm-eval's name for the `take_first` of a task that lists no filters
METRICS = ("exact_match", "acc", "acc_norm", "pass_at_1")  # looked for if a line does not list its own


def from_lm_eval(
    path: str | Path,
    *,
    arm: str,
    seed: int = 0,
    task: str | None = None,
    metric: str | None = None,
    filter: str | None = None,
) -> list[SampleRow]:
    """Return one row a response, accepted if the metric is 1; `arm` and `seed` name the run.

    `task` is read from the file's name if left out, and the split is called "test". A file with several
    metrics or filters needs `metric` and `filter`. Of repeats under `take_first` the first response alone is
    a row, since lm-eval judged no other. If several responses share one value otherwise, as with majority
    voting, no response has a verdict: `accepted` is None, for `erce verify` to judge. InputError: a metric
    that is neither 0 nor 1, or a line that lm-eval did not write.
    """
    path = Path(path)
    lines = _documents(path)
    filter = filter or _only_one(path, "filter", {line.get("filter", "none") for line in lines})
    lines = [line for line in lines if line.get("filter", "none") == filter]
    if not lines:
        raise InputError(f"{path} has no line with filter {filter!r}; choose another --filter")
    metric = metric or _only_one(path, "metric", {name for line in lines for name in _metrics(line)})
    shared: dict[str, Any] = {"task": task or task_in_name(path), "arm": arm, "seed": seed, "split": "test"}
    first_alone = _takes_first(path, filter)
    rows = []
    for line in lines:
        where = f"{path}, document {line['doc_id']}"
        if metric not in line:
            metrics = ", ".join(_metrics(line)) or "none"
            raise InputError(f"{where} has no metric {metric!r}; it has {metrics}: choose with --metric")
        document = shared | _document_columns(line)
        texts = _responses(line)[: 1 if first_alone and not isinstance(line[metric], list) else None]
        extracted = _filtered_responses(line, len(texts))
        accepted = _accepted(where, line[metric], len(texts))
        for sample, text in enumerate(texts):
            outcome: dict[str, Any] = {
                "completion": text,
                "extracted": extracted[sample],
                "accepted": accepted[sample],
            }
            rows.append(SampleRow(**document, **outcome, sample=sample))
    return rows


def lm_eval_prompts(path: str | Path) -> dict[str, str]:
    """Return problem → the prompt of its first request, few-shot examples included."""
    prompts: dict[str, str] = {}
    for line in _documents(Path(path)):
        request = _first_request(line.get("arguments"))
        if request and isinstance(request[0], str):
            prompts.setdefault(str(line["doc_id"]), request[0])
    return prompts


def task_in_name(path: Path) -> str:
    """Return the task in a name that lm-eval gives, samples_TASK_DATE.jsonl; else the name itself.

    >>> task_in_name(Path("samples_gsm8k_cot_2026-01-01T00-00-00.000000.jsonl"))
    'gsm8k_cot'
    >>> task_in_name(Path("mine.jsonl"))
    'mine'
    """
    match = NAME.fullmatch(path.stem)
    return match[1] if match else path.stem


def _documents(path: Path) -> list[dict[str, Any]]:
    documents = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if not line.strip():
            continue
        try:
            document = json.loads(line)
        except ValueError as error:
            raise InputError(f"{path}, line {number} is no JSON ({error}); correct or remove it") from None
        if not isinstance(document, dict) or not {"doc_id", "resps"} <= document.keys():
            raise InputError(
                f"{path}, line {number} has no doc_id and resps; is it a samples_*.jsonl of --log_samples?"
            )
        documents.append(document)
    if not documents:
        raise InputError(f"{path} has no lines")
    return documents


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
        raise InputError(f"{results} is no result of lm-eval ({error!r}); correct or remove it") from None
    if not filters:
        return filter == DEFAULT_FILTER
    return "take_first" in steps and "majority_vote" not in steps


def _metrics(line: dict[str, Any]) -> list[str]:
    return list(line["metrics"]) if line.get("metrics") else [name for name in METRICS if name in line]


def _only_one(path: Path, option: str, names: set[str]) -> str:
    if len(names) != 1:
        listed = ", ".join(sorted(names)) or "(none)"
        raise InputError(f"{path} has the {option}s {listed}; choose with --{option}, in Python {option}=")
    return next(iter(names))


def _document_columns(line: dict[str, Any]) -> dict[str, Any]:
    """Return what all responses to a document share."""
    target = line.get("target")
    prompt_hash = line.get("prompt_hash")
    request = _first_request(line.get("arguments"))
    settings = request[1] if len(request) > 1 and isinstance(request[1], dict) else {}
    return {
        "problem": str(line["doc_id"]),
        "answer": None if target is None else str(target),
        "prompt_hash": prompt_hash[:16] if isinstance(prompt_hash, str) else None,
    } | _decoding_columns(settings)


def _first_request(arguments: Any) -> list[Any]:
    """Return the prompt and the generation settings of the first request.

    `arguments` is a list of pairs; in files it is {"gen_args_0": {"arg_0": …, "arg_1": …}}.
    """
    first = next(iter(arguments.values() if isinstance(arguments, dict) else arguments or ()), ())
    return list(first.values() if isinstance(first, dict) else first)


def _decoding_columns(settings: dict[str, Any]) -> dict[str, Any]:
    """Return how a response was drawn: greedily, unless `do_sample` is set."""
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


def _responses(line: dict[str, Any]) -> list[str | None]:
    """Return the response texts; a choice among fixed answers is several requests, and has no text."""
    requests = line["resps"]
    texts = requests[0] if len(requests) == 1 else []
    texts = [texts] if isinstance(texts, str) else texts
    return list(texts) if texts and all(isinstance(text, str) for text in texts) else [None]


def _filtered_responses(line: dict[str, Any], count: int) -> list[str | None]:
    """Return what the filter extracted from each of `count` responses, if it kept as many."""
    filtered = line.get("filtered_resps") or []
    filtered = filtered[0] if len(filtered) == 1 and isinstance(filtered[0], list) else filtered
    texts = [text if isinstance(text, str) else None for text in filtered]
    return texts if len(texts) == count else [None] * count


def _accepted(where: str, value: Any, count: int) -> list[bool | None]:
    """Return the verdict of each of `count` responses; None if one value stands for several."""
    if not isinstance(value, list):
        return [_is_one(where, value)] if count == 1 else [None] * count
    if len(value) != count:
        raise InputError(f"{where} has {count} responses and {len(value)} verdicts; it is damaged")
    return [_is_one(where, each) for each in value]


def _is_one(where: str, value: Any) -> bool:
    if value not in (0, 1):
        raise InputError(f"{where} has the value {value!r}, neither 0 nor 1; choose another --metric")
    return bool(value)
