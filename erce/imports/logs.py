"""Files and folders that other harnesses wrote → rows, whichever of them it was."""

import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from erce.imports.evalplus import from_evalplus
from erce.imports.inspect_ai import from_inspect, inspect_prompts
from erce.imports.lm_eval import from_lm_eval, lm_eval_prompts, task_of
from erce.study.export import Row

AUTO = "auto"
LOGS = {  # format → what its files are called in a folder
    "lm-eval": ("samples_*.jsonl",),
    "inspect": ("*.eval",),
    "evalplus": ("*eval_results.json",),
}


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What is read from a log that holds more than one thing; None is for logs that do not."""

    format: str = AUTO  # "auto", or one of LOGS
    task: str | None = None  # lm-eval: one of a folder's; else what the task is called
    metric: str | None = None  # lm-eval
    filter: str | None = None  # lm-eval
    scorer: str | None = None  # inspect
    plus: bool = False  # evalplus: with the added tests
    temperature: float | None = None  # of logs that do not say it; 0 is greedy

    def __post_init__(self) -> None:
        if self.format not in (AUTO, *LOGS):
            raise ValueError(f"no format {self.format!r}; there are {', '.join((AUTO, *LOGS))}")
        if self.temperature is not None and not self.temperature >= 0:
            raise ValueError(f"temperature = {self.temperature:g} is below 0; 0 is greedy")


def read_log(path: str | Path, *, arm: str, seed: int = 0, reading: Reading | None = None) -> list[Row]:
    """The rows of one log, a file or a folder with one such file in it; `arm` and `seed` as given.

    A folder with several, and a file of no known format, are ValueErrors.
    """
    reading = reading or Reading()
    path = log_file(Path(path), reading)
    rows = _READERS[format_of(path, reading.format)](path, arm, seed, reading)
    if reading.task is not None:
        rows = [row | {"task": reading.task} for row in rows]
    if reading.temperature is not None:
        said = {
            "temperature": reading.temperature,
            "decoding": "sampled" if reading.temperature else "greedy",
        }
        rows = [row | said if row["temperature"] is None else row for row in rows]
    return rows


def read_prompts(path: str | Path, *, reading: Reading | None = None) -> dict[str, str]:
    """Problem → its prompt, as far as the log holds them."""
    reading = reading or Reading()
    path = log_file(Path(path), reading)
    kind = format_of(path, reading.format)
    return _PROMPTS[kind](path) if kind in _PROMPTS else {}


def log_file(path: Path, reading: Reading) -> Path:
    """The path itself, or the one log in a folder: of `reading.format`, and of `reading.task` for lm-eval."""
    if path.is_file():
        return path
    if not path.is_dir():
        raise ValueError(f"no log at {str(path)!r}; give a file, or the folder that a run wrote")
    kinds = LOGS if reading.format == AUTO else {reading.format: LOGS[reading.format]}
    patterns = [pattern for each in kinds.values() for pattern in each]
    found = sorted({each for pattern in patterns for each in path.rglob(pattern)})
    if reading.task is not None:
        found = [
            each for each in found if each.suffix != ".jsonl" or task_of(each) == reading.task
        ]  # only lm-eval's names tell the task
    if len(found) != 1:
        names = ", ".join(each.name for each in found[:6]) or "none"
        task = "" if reading.task is None else f" of task {reading.task!r}"
        raise ValueError(f"{path} has {len(found)} logs{task} ({names}); name the task, or give the one file")
    return found[0]


def format_of(path: Path, format: str = AUTO) -> str:
    """`format`, or what the file's content says that it is."""
    if format != AUTO:
        return format
    if zipfile.is_zipfile(path):
        return "inspect"
    read = _begins(path)
    if {"doc_id", "resps"} <= read.keys():
        return "lm-eval"
    if "task_id" in read:
        return "evalplus"
    if isinstance(read.get("eval"), dict):
        return "inspect" if "task" in read["eval"] else "evalplus"
    raise ValueError(f"{path} is no log of {', '.join(LOGS)}; say which with the format, if it is one")


def _begins(path: Path) -> dict[str, Any]:
    """The first line where that is a JSON object, else the whole file; nothing where it is none either."""
    with path.open("rb") as file:
        first = file.readline()
        for content in (first, first + file.read()):
            try:
                read = json.loads(content)
            except ValueError:
                continue
            return read if isinstance(read, dict) else {}
    return {}


def _lm_eval(path: Path, arm: str, seed: int, reading: Reading) -> list[Row]:
    return from_lm_eval(path, arm=arm, seed=seed, metric=reading.metric, filter=reading.filter)


def _inspect(path: Path, arm: str, seed: int, reading: Reading) -> list[Row]:
    return from_inspect(path, arm=arm, seed=seed, scorer=reading.scorer)


def _evalplus(path: Path, arm: str, seed: int, reading: Reading) -> list[Row]:
    return from_evalplus(path, arm=arm, seed=seed, plus=reading.plus, temperature=reading.temperature)


_READERS: dict[str, Callable[[Path, str, int, Reading], list[Row]]] = {
    "lm-eval": _lm_eval,
    "inspect": _inspect,
    "evalplus": _evalplus,
}
_PROMPTS: dict[str, Callable[[Path], dict[str, str]]] = {
    "lm-eval": lm_eval_prompts,
    "inspect": inspect_prompts,
}
