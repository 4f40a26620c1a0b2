"""Files and folders that lm-eval, inspect or evalplus wrote → rows, whichever tool it was."""

import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from erce.errors import InputError
from erce.imports.evalplus import from_evalplus
from erce.imports.inspect_ai import from_inspect, inspect_prompts
from erce.imports.lm_eval import from_lm_eval, lm_eval_prompts, task_in_name
from erce.types import SampleRow

AUTO = "auto"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The choice of what to read from logs that hold several tasks or verdicts; None where there is one."""

    format: str = AUTO  # "auto", or a key of FORMATS
    task: str | None = None  # which task of a folder of lm-eval; else what to call the task
    metric: str | None = None  # lm-eval
    filter: str | None = None  # lm-eval
    scorer: str | None = None  # inspect
    plus: bool = False  # evalplus: with the added tests
    temperature: float | None = None  # for logs that do not say it; 0 is greedy
    errors: float = 0.0  # inspect: share of a log's samples that may have failed; they count as wrong

    def __post_init__(self) -> None:
        if self.format not in (AUTO, *FORMATS):
            raise InputError(f"no format {self.format!r}; there are {', '.join((AUTO, *FORMATS))}")
        if self.temperature is not None and not self.temperature >= 0:
            raise InputError(f"temperature = {self.temperature:g} is below 0; 0 is greedy")
        if not 0 <= self.errors < 1:
            raise InputError(f"errors = {self.errors:g} is no share of samples; use 0 to below 1")


def read_log(path: str | Path, *, arm: str, seed: int = 0, reading: Reading | None = None) -> list[SampleRow]:
    """Return the rows of one log: a file, or a folder with one such file in it.

    InputError: a folder with several logs, a file of no known format, more failed samples than
    `reading.errors` allows.
    """
    reading = reading or Reading()
    path = log_file(Path(path), reading)
    rows = FORMATS[format_of(path, reading.format)].read(path, arm, seed, reading)
    if reading.task is not None:
        rows = [replace(row, task=reading.task) for row in rows]
    if reading.temperature is not None:
        decoding = "sampled" if reading.temperature else "greedy"
        columns = {"temperature": reading.temperature, "decoding": decoding}
        rows = [replace(row, **columns) if row.temperature is None else row for row in rows]
    return _count_failed(path, rows, reading.errors)


def read_prompts(path: str | Path, *, reading: Reading | None = None) -> dict[str, str]:
    """Return problem → prompt; empty for logs without prompts."""
    reading = reading or Reading()
    path = log_file(Path(path), reading)
    read = FORMATS[format_of(path, reading.format)].read_prompts
    return read(path) if read else {}


def log_file(path: Path, reading: Reading) -> Path:
    """Return the path of a file, or of the only log in a folder that `reading` can mean."""
    if path.is_file():
        return path
    if not path.is_dir():
        raise InputError(f"no log at {str(path)!r}; give a file, or the folder that a run wrote")
    formats = FORMATS.values() if reading.format == AUTO else [FORMATS[reading.format]]
    logs = sorted({log for format in formats for log in path.rglob(format.pattern)})
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


def format_of(path: Path, format: str = AUTO) -> str:
    """Return `format`; if that is "auto", the format that the file's content shows."""
    if format != AUTO:
        return format
    if zipfile.is_zipfile(path):
        return "inspect"
    content = _first_object(path)
    if {"doc_id", "resps"} <= content.keys():
        return "lm-eval"
    if "task_id" in content:
        return "evalplus"
    if _is_inspect(content):
        return "inspect"
    if isinstance(content.get("eval"), dict):
        return "evalplus"
    raise InputError(f"{path} is no log of {', '.join(FORMATS)}; if it is one, name it with --format")


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
    with path.open("rb") as file:
        first = file.readline()
        for text in (first, first + file.read()):
            try:
                content = json.loads(text)
            except ValueError:
                continue
            return content if isinstance(content, dict) else {}
    return {}


def _read_lm_eval(path: Path, arm: str, seed: int, reading: Reading) -> list[SampleRow]:
    return from_lm_eval(path, arm=arm, seed=seed, metric=reading.metric, filter=reading.filter)


def _read_inspect(path: Path, arm: str, seed: int, reading: Reading) -> list[SampleRow]:
    return from_inspect(path, arm=arm, seed=seed, scorer=reading.scorer)


def _read_evalplus(path: Path, arm: str, seed: int, reading: Reading) -> list[SampleRow]:
    return from_evalplus(path, arm=arm, seed=seed, plus=reading.plus, temperature=reading.temperature)


class Format(NamedTuple):
    """One tool's form of log."""

    pattern: str  # of its files in a folder
    read: Callable[[Path, str, int, Reading], list[SampleRow]]  # path, arm, seed, reading → rows
    read_prompts: Callable[[Path], dict[str, str]] | None  # None: its logs hold no prompts


FORMATS = {
    "lm-eval": Format("samples_*.jsonl", _read_lm_eval, lm_eval_prompts),
    "inspect": Format("*.eval", _read_inspect, inspect_prompts),
    "evalplus": Format("*eval_results.json", _read_evalplus, None),
}
