"""A file or folder that lm-eval, inspect or evalplus wrote, or our own .jsonl file → rows."""

import json
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from erce.errors import InputError
from erce.files import read_rows
from erce.imports.evalplus import evalplus_rows
from erce.imports.inspect_ai import inspect_rows
from erce.imports.lm_eval import lm_eval_rows, task_in_name
from erce.study.export import COLUMNS, NUMBER, TEXT, TEXTS, TRUTH, WHOLE
from erce.types import SampleRow

AUTO = "auto"
PATTERNS = {
    "lm-eval": "samples_*.jsonl",
    "inspect": "*.eval",
    "evalplus": "*eval_results.json",
}  # in a folder
NEVER_NULL = ("arm", "seed", "split", "decoding", "problem", "sample")
PYTHON_TYPES: dict[str, type] = {TEXT: str, TRUTH: bool, TEXTS: list}


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The choice of what to read from logs that hold several tasks or verdicts; None where there is one."""

    format: str = AUTO  # "auto", or a key of PATTERNS
    task: str | None = None  # which task of a folder of lm-eval; else what to call the task
    metric: str | None = None  # lm-eval
    filter: str | None = None  # lm-eval
    scorer: str | None = None  # inspect
    plus: bool = False  # evalplus: with the added tests
    temperature: float | None = None  # for logs that do not say it; 0 is greedy
    errors: float = 0.0  # inspect: share of a log's samples that may have failed; they count as wrong

    def __post_init__(self) -> None:
        if self.format not in (AUTO, *PATTERNS):
            raise InputError(f"no format {self.format!r}; there are {', '.join((AUTO, *PATTERNS))}")
        if self.temperature is not None and not self.temperature >= 0:
            raise InputError(f"temperature = {self.temperature:g} is below 0; 0 is greedy")
        if not 0 <= self.errors < 1:
            raise InputError(f"errors = {self.errors:g} is not a share of samples; use 0 to below 1")


def read_log(path: str | Path, *, arm: str, seed: int = 0, reading: Reading | None = None) -> list[SampleRow]:
    """Return the rows of one log, a file or a folder with one such file in it, with the split "test".

    `arm` and `seed` name the run. A verdict or setting that the log lacks is None. InputError: a folder with
    several logs, a file of no known format, a verdict that is neither right nor wrong, several verdicts and
    no choice, a run that did not end well, more failed samples than `reading.errors` allows.
    """
    return read_log_and_prompts(path, arm, seed, reading or Reading())[0]


def read_log_and_prompts(
    path: str | Path, arm: str, seed: int, reading: Reading
) -> tuple[list[SampleRow], dict[str, str]]:
    """Return the rows of one log, and problem → prompt, for logs that have prompts."""
    path = _log_file(Path(path), reading)
    format = format_of(path, reading.format)
    if format == "lm-eval":
        columns = lm_eval_rows(path, reading.metric, reading.filter)
    elif format == "inspect":
        columns = inspect_rows(path, reading.scorer)
    else:
        columns = evalplus_rows(path, reading.plus, reading.temperature)
    prompts: dict[str, str] = {}
    for row in columns:
        prompts.setdefault(row["problem"], row.pop("prompt", ""))
        row["task"] = reading.task or row["task"]
        if row["temperature"] is None and reading.temperature is not None:
            row["temperature"] = reading.temperature
            row["decoding"] = "sampled" if reading.temperature else "greedy"
    rows = [SampleRow(arm=arm, seed=seed, split="test", **row) for row in columns]
    return _count_failed(path, rows, reading.errors), prompts


def format_of(path: Path, format: str = AUTO) -> str:
    """Return `format`; if that is "auto", the format that the file's content shows."""
    if format != AUTO:
        return format
    content = {} if zipfile.is_zipfile(path) else _first_object(path)
    if {"doc_id", "resps"} <= content.keys():
        return "lm-eval"
    if zipfile.is_zipfile(path) or _is_inspect(content):
        return "inspect"
    if "task_id" in content or isinstance(content.get("eval"), dict):
        return "evalplus"
    raise InputError(f"{path} is not a log of {', '.join(PATTERNS)}; if it is one, name it with --format")


def read_rows_file(path: str | Path) -> list[SampleRow]:
    """Return the rows of a .jsonl file that `erce records` wrote, perhaps passed through other tools.

    InputError: a file with other columns, or values of another type.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"no file {str(path)!r}; `erce records RUNS {path.name}` writes one")
    rows = list(read_rows(path, damaged="is not a JSON object; correct or remove the line"))
    if not all(row.keys() == COLUMNS.keys() for row in rows):
        raise InputError(
            f"{path} has not the columns that `erce records` writes; is it a log of another tool?"
        )
    return [
        SampleRow(**{name: _typed(f"{path}, row {number}", name, value) for name, value in row.items()})
        for number, row in enumerate(rows, 1)
    ]


def _typed(where: str, name: str, value: Any) -> Any:
    """Return the value in its column's type: other tools write 2.0 as 2, or 2 as 2.0.

    >>> _typed("row 1", "lam", 2), _typed("row 1", "seed", 2.0)
    (2.0, 2)
    """
    kind = COLUMNS[name]
    if value is None and name not in NEVER_NULL:
        return None
    if kind in (WHOLE, NUMBER) and isinstance(value, int | float) and not isinstance(value, bool):
        if kind == NUMBER:
            return float(value)
        if value % 1 == 0:
            return int(value)
    elif isinstance(value, PYTHON_TYPES.get(kind, ())):
        return value
    raise InputError(f"{where}: {name} = {value!r}, where `erce records` writes {kind}; correct it")


def _log_file(path: Path, reading: Reading) -> Path:
    """Return the path of a file, or of the only log in a folder that `reading` can mean."""
    if path.is_file():
        return path
    if not path.is_dir():
        raise InputError(f"no log at {str(path)!r}; give a file, or the folder that a run wrote")
    patterns = PATTERNS.values() if reading.format == AUTO else [PATTERNS[reading.format]]
    logs = sorted({log for pattern in patterns for log in path.rglob(pattern)})
    if reading.format in (AUTO, "inspect"):  # the names of inspect's JSON logs are those of any JSON file
        logs += sorted(log for log in path.rglob("*.json") if _is_inspect(_first_object(log)))
    if reading.task is not None:  # only lm-eval's file names tell the task
        logs = [log for log in logs if log.suffix != ".jsonl" or task_in_name(log) == reading.task]
    if len(logs) != 1:
        names = ", ".join(log.name for log in logs[:6]) or "none"
        task = "" if reading.task is None else f" of task {reading.task!r}"
        raise InputError(
            f"{path} has {len(logs)} logs{task} ({names}); name one with --task, or give the one file"
        )
    return logs[0]


def _count_failed(path: Path, rows: list[SampleRow], allowed: float) -> list[SampleRow]:
    """Return the rows, with failed samples counted as wrong and their number as a warning in each."""
    failed = [row.accepted is None and row.reason == "error" for row in rows]
    if not any(failed):
        return rows
    count = f"{sum(failed)} of {len(rows)} samples of {path} failed with an error"
    if sum(failed) > allowed * len(rows):
        raise InputError(
            f"{count}, more than the share of {allowed:g} that --errors allows; finish the run with "
            "`inspect eval-retry`, or raise --errors to count them as wrong"
        )
    columns = {"accepted": False, "warning": f"{count}; they count as wrong"}
    return [replace(row, **columns) if fails else row for row, fails in zip(rows, failed, strict=True)]


def _is_inspect(content: dict[str, Any]) -> bool:
    return isinstance(content.get("eval"), dict) and "task" in content["eval"]


def _first_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in the first line, else in the whole file; {} if there is none."""
    text = path.read_bytes()
    for part in (text.partition(b"\n")[0], text):
        try:
            content = json.loads(part)
        except ValueError:
            continue
        return content if isinstance(content, dict) else {}
    return {}
