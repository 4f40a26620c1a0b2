"""A file of completions with their verdicts → rows: a log of lm-eval, or rows that anything else wrote.

lm-eval's is the samples_*.jsonl of `--log_samples`. Whatever else verifies completions writes a JSON object
for each: "problem" and "accepted", and what else it knows of `TEXTS`, `NUMBERS` and `VERDICTS`.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from erce.errors import InputError
from erce.files import read_rows
from erce.types import SampleRow

LM_EVAL_LOGS = "samples_*.jsonl"
LM_EVAL_NAME = re.compile(r"samples_(.+)_(\d{4}-\d\d-\d\dT[\d.:-]+)")  # task, date
DEFAULT_FILTER = "none"  # lm-eval's name for the `take_first` of a task that lists no filters
# Columns of `erce records` that a row may have, and "prompt"; the others are decided by the import.
TEXTS = ("task", "model", "prompt", "prompt_hash", "answer", "completion", "finish", "reason", "extracted")
NUMBERS = ("temperature", "top_p", "top_k", "repetition_penalty", "max_new_tokens", "sample", "tokens")
NUMBERS += ("logprob", "entropy")
ONE = ("split", "seed", "arm", "lam", "method", "model")  # which a file is of
VERDICTS = ("accepted", "flexible")
NEITHER = (
    'has neither the doc_id, resps and metrics of lm-eval\'s --log_samples nor "problem" and "accepted"; '
    "docs/records.md shows how other logs become such rows"
)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The choice of what to read from logs that hold several tasks or verdicts; None where there is one."""

    task: str | None = None  # which task of a folder of lm-eval; else what to call the task
    metric: str | None = None  # lm-eval
    filter: str | None = None  # lm-eval
    temperature: float | None = None  # for rows that do not say it; 0 is greedy

    def __post_init__(self) -> None:
        if self.temperature is not None and not self.temperature >= 0:
            raise InputError(f"temperature = {self.temperature:g} is below 0; 0 is greedy")


def read_log(path: str | Path, arm: str, reading: Reading) -> tuple[list[SampleRow], dict[str, str]]:
    """Return the rows of one log, all with seed 0, and each problem's prompt ("" where the log has none).

    A row is a sample; a verdict or setting that the log lacks is None, and a split "". λ, method and split
    are those that the log's first row says, of whatever type. InputError: a folder with several logs, a file
    of neither kind, a verdict that is neither right nor wrong, several verdicts and no choice.
    """
    path = _log_file(Path(path), reading)
    first = next(read_rows(path, damaged=NEITHER), None)
    if first is None:
        raise InputError(f"{path} has no lines; write one JSON object for each completion")
    samples = (_lm_eval if "doc_id" in first else _rows)(path, reading)
    prompts: dict[str, str] = {}
    for row in samples:
        prompts.setdefault(row["problem"], row.pop("prompt", None) or "")
        row["task"] = reading.task or row["task"]
        if row["temperature"] is None and reading.temperature is not None:
            row["temperature"] = reading.temperature
            row["decoding"] = "sampled" if reading.temperature else "greedy"
    said: dict[str, Any] = {"lam": first.get("lam"), "method": first.get("method")}
    said["split"] = first.get("split") or ""
    return [SampleRow(arm=arm, seed=0, **said, **row) for row in samples], prompts


def _log_file(path: Path, reading: Reading) -> Path:
    """Return the path of a file, or of the only log of lm-eval in a folder that `reading` can mean."""
    if path.is_file():
        return path
    if not path.is_dir():
        raise InputError(f"no log at {str(path)!r}; give a file, or the folder that a run of lm-eval wrote")
    logs = sorted(path.rglob(LM_EVAL_LOGS))
    if reading.task is not None:
        logs = [log for log in logs if task_in_name(log) == reading.task]
    if len(logs) != 1:
        names = ", ".join(log.name for log in logs[:6]) or "none"
        task = "" if reading.task is None else f" of task {reading.task!r}"
        raise InputError(f"{path} has {len(logs)} logs{task} ({names}); give one file, or its --task")
    return logs[0]


def _rows(path: Path, reading: Reading) -> list[dict[str, Any]]:
    """Return a row per line; "greedy" at temperature 0. Samples without a number count up by problem."""
    counts: Counter[str] = Counter()
    rows, lines = [], list(read_rows(path, "problem", "accepted", damaged=NEITHER))
    for name in ONE:
        if len(values := {str(line[name]) for line in lines if line.get(name) is not None}) > 1:
            raise InputError(
                f"{path} has rows of the {name}s {', '.join(sorted(values))}; give a file for each"
            )
    for line in lines:
        problem = line["problem"]
        if isinstance(problem, bool) or not isinstance(problem, str | int | float):
            raise InputError(f"{path} has the problem {problem!r:.60}, neither a text nor a number")
        row: dict[str, Any] = {"problem": str(problem)}
        where = f"{path}, problem {row['problem']!r}"
        row |= {name: _checked(where, name, line.get(name), "a text", str) for name in TEXTS}
        row |= {name: _checked(where, name, line.get(name), "a number", int, float) for name in NUMBERS}
        row["stop"] = _checked(where, "stop", line.get("stop"), "a list", list)
        row |= {name: _right(where, name, line.get(name)) for name in VERDICTS}
        if row["sample"] is None:
            row["sample"] = counts[row["problem"]]
        counts[row["problem"]] += 1
        rows.append(row | {"decoding": "greedy" if row["temperature"] == 0 else "sampled"})
    return rows


def _checked(where: str, name: str, value: Any, what: str, *kinds: type) -> Any:
    if value is None or (isinstance(value, kinds) and not isinstance(value, bool)):
        return value
    raise InputError(f"{where} has {name} = {value!r}, not {what}")


def _right(where: str, name: str, value: Any) -> bool | None:
    """Return a verdict, 0 or 1, as False or True; one that is missing stays None."""
    if value not in (0, 1, None):
        raise InputError(f"{where} has the {name} {value!r}, neither 0 nor 1")
    return None if value is None else bool(value)


def _lm_eval(path: Path, reading: Reading) -> list[dict[str, Any]]:
    """Return a row per response, accepted if its metric is 1.

    A line has a document under one filter, with all responses to it. Of repeats under lm-eval's default
    filter, `take_first`, the first response alone is a row, since lm-eval verified no other. If several
    responses share one value otherwise, none has a verdict.
    """
    lines = list(read_rows(path, "doc_id", "resps", "metrics", damaged=NEITHER))
    filter = reading.filter or _only_one(
        path, "filter", (line.get("filter", DEFAULT_FILTER) for line in lines)
    )
    lines = [line for line in lines if line.get("filter", DEFAULT_FILTER) == filter]
    if not lines:
        raise InputError(f"{path} has no line with filter {filter!r}; choose another --filter")
    metric = reading.metric or _only_one(path, "metric", (name for line in lines for name in line["metrics"]))
    rows = []
    for line in lines:
        where = f"{path}, document {line['doc_id']}"
        if metric not in line:
            metrics = ", ".join(line["metrics"]) or "none"
            raise InputError(f"{where} has no metric {metric!r}; it has {metrics}: choose with --metric")
        texts, value = _texts(line["resps"]), line[metric]
        if filter == DEFAULT_FILTER and not isinstance(value, list):
            texts = texts[:1]
        extracted = _texts(line.get("filtered_resps") or [])
        if len(extracted) != len(texts):
            extracted = [None] * len(texts)
        outcomes = zip(texts, extracted, _accepted(where, value, len(texts)), strict=True)
        columns = {"task": task_in_name(path)} | _document_columns(line)
        rows += [
            columns | {"sample": sample, "completion": text, "extracted": found, "accepted": passed}
            for sample, (text, found, passed) in enumerate(outcomes)
        ]
    return rows


def task_in_name(path: Path) -> str:
    """Return the task in a name that lm-eval gives, samples_TASK_DATE.jsonl; else the name itself.

    >>> task_in_name(Path("samples_gsm8k_cot_2026-01-01T00-00-00.000000.jsonl"))
    'gsm8k_cot'
    """
    match = LM_EVAL_NAME.fullmatch(path.stem)
    return match[1] if match else path.stem


def _only_one(path: Path, option: str, names: Iterable[str]) -> str:
    names = sorted(set(names))
    if len(names) != 1:
        listed = ", ".join(names) or "(none)"
        raise InputError(f"{path} has the {option}s {listed}; choose with --{option}, in Python {option}=")
    return names[0]


def _document_columns(line: dict[str, Any]) -> dict[str, Any]:
    """Return what all responses to a document share; greedy unless `do_sample` or a temperature is set."""
    target, prompt_hash = line.get("target"), line.get("prompt_hash")
    request = next(iter(line.get("arguments", {}).values()), {})
    prompt, settings = request.get("arg_0"), request.get("arg_1")
    settings = settings if isinstance(settings, dict) else {}  # a multiple choice has an answer in its place
    temperature, do_sample = settings.get("temperature"), settings.get("do_sample")
    sampled = bool(temperature if do_sample is None else do_sample) and temperature != 0
    stop = settings.get("until")
    return {
        "problem": str(line["doc_id"]),
        "prompt": prompt if isinstance(prompt, str) else "",
        "answer": None if target is None else str(target),
        "prompt_hash": prompt_hash[:16] if isinstance(prompt_hash, str) else None,
        "decoding": "sampled" if sampled else "greedy",
        "temperature": temperature if sampled else 0.0,
        "stop": [stop] if isinstance(stop, str) else stop,
        "top_p": settings.get("top_p"),
        "top_k": settings.get("top_k"),
        "max_new_tokens": settings.get("max_gen_toks"),
    }


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
