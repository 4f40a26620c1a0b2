"""A file or folder that lm-eval, inspect or evalplus wrote → rows.

Each tool has one reader, which returns a dict per sample: columns of `erce records`, and "prompt".
"""

import json
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from erce.errors import InputError
from erce.files import read_rows
from erce.types import SampleRow

AUTO = "auto"
PATTERNS = {"lm-eval": "samples_*.jsonl", "inspect": "*.eval", "evalplus": "*eval_results.json"}

LM_EVAL_NAME = re.compile(r"samples_(.+)_(\d{4}-\d\d-\d\dT[\d.:-]+)")  # task, date
DEFAULT_FILTER = "none"  # lm-eval's name for the `take_first` of a task that lists no filters
INSPECT_SETTINGS = {  # column → its name in a log
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "max_new_tokens": "max_tokens",
    "stop": "stop_seqs",
}
INSPECT_SCORES = {"C": True, "I": False, "N": False, 1: True, 0: False}  # correct, incorrect, no answer
INSPECT_FINISH: dict[str | None, str] = {"max_tokens": "length", "model_length": "length"}
ZSTANDARD = 93  # inspect's compression: its number among the types of zip archives
EVALPLUS_REASONS = {"pass": "passed", "fail": "failed", "timeout": "timeout"}


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

    def __post_init__(self) -> None:
        if self.format not in (AUTO, *PATTERNS):
            raise InputError(f"no format {self.format!r}; there are {', '.join((AUTO, *PATTERNS))}")
        if self.temperature is not None and not self.temperature >= 0:
            raise InputError(f"temperature = {self.temperature:g} is below 0; 0 is greedy")


def read_log(path: str | Path, arm: str, reading: Reading) -> tuple[list[SampleRow], dict[str, str]]:
    """Return the rows of one log, of the split "test" and seed 0, and problem → prompt ("" without one).

    A row is a sample; a verdict or setting that the log lacks is None. InputError: a folder with several
    logs, a file of no known format, a verdict that is neither right nor wrong, several verdicts and no
    choice, a run that did not end well or has failed samples.
    """
    path = _log_file(Path(path), reading)
    samples = LOG_READERS[format_of(path, reading.format)](path, reading)
    prompts: dict[str, str] = {}
    for row in samples:
        prompts.setdefault(row["problem"], row.pop("prompt", ""))
        row["task"] = reading.task or row["task"]
        if row["temperature"] is None and reading.temperature is not None:
            row["temperature"] = reading.temperature
            row["decoding"] = "sampled" if reading.temperature else "greedy"
    return [SampleRow(arm=arm, seed=0, split="test", **row) for row in samples], prompts


def format_of(path: Path, format: str = AUTO) -> str:
    """Return `format`; if that is "auto", the format whose files have such a name."""
    if format != AUTO:
        return format
    for known, pattern in PATTERNS.items():
        if path.match(pattern):
            return known
    if path.suffix == ".json":
        return "inspect"
    raise InputError(f"{path} has not the name of a log of {', '.join(PATTERNS)}; give its --format")


def _log_file(path: Path, reading: Reading) -> Path:
    """Return the path of a file, or of the only log in a folder that `reading` can mean."""
    if path.is_file():
        return path
    if not path.is_dir():
        raise InputError(f"no log at {str(path)!r}; give a file, or the folder that a run wrote")
    patterns = PATTERNS.values() if reading.format == AUTO else [PATTERNS[reading.format]]
    logs = sorted({log for pattern in patterns for log in path.rglob(pattern)})
    if reading.format in (AUTO, "inspect"):  # the names of inspect's JSON logs are those of any JSON file
        logs += sorted(log for log in path.rglob("*.json") if _is_inspect_json(log))
    if reading.task is not None:  # only lm-eval's file names tell the task
        logs = [log for log in logs if log.suffix != ".jsonl" or task_in_name(log) == reading.task]
    if len(logs) != 1:
        names = ", ".join(log.name for log in logs[:6]) or "none"
        task = "" if reading.task is None else f" of task {reading.task!r}"
        raise InputError(f"{path} has {len(logs)} logs{task} ({names}); give one file, or its --task")
    return logs[0]


def _is_inspect_json(path: Path) -> bool:
    try:
        return "task" in _object_with_eval(path, path.read_bytes(), "a log of inspect")["eval"]
    except InputError:
        return False


def _object_with_eval(path: Path, content: bytes, what: str) -> dict[str, Any]:
    """Return a JSON object that has a section "eval", as the logs of inspect and evalplus have."""
    try:
        log = json.loads(content)
    except ValueError as error:
        raise InputError(f"{path} is not JSON ({error}); is it {what}?") from None
    if not isinstance(log, dict) or not isinstance(log.get("eval"), dict) or not log["eval"]:
        raise InputError(f"{path} has no section 'eval' with anything in it; is it {what}?")
    return log


# lm-eval: the samples_*.jsonl of `--log_samples`, a line per document and filter with all responses to it.


def _lm_eval(path: Path, reading: Reading) -> list[dict[str, Any]]:
    """Return a row per response, accepted if its metric is 1.

    Of repeats under lm-eval's default filter, `take_first`, the first response alone is a row, since lm-eval
    verified no other. If several responses share one value otherwise, none has a verdict.
    """
    damaged = "has no doc_id, resps and metrics; is it a samples_*.jsonl of --log_samples?"
    if not (lines := list(read_rows(path, "doc_id", "resps", "metrics", damaged=damaged))):
        raise InputError(f"{path} has no lines")
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
    """Return what all responses to a document share; they are greedy unless `do_sample` is set."""
    target, prompt_hash = line.get("target"), line.get("prompt_hash")
    request = next(iter(line.get("arguments", {}).values()), {})
    prompt, settings = request.get("arg_0"), request.get("arg_1")
    settings = settings if isinstance(settings, dict) else {}  # a multiple choice has an answer in its place
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


# inspect: a log as JSON or as an .eval archive.


def _inspect(path: Path, reading: Reading) -> list[dict[str, Any]]:
    """Return a row per sample, epoch 1 being sample 0; "greedy" if the run's settings say temperature 0.

    A sample without a score has `accepted` None.
    """
    header, samples = _inspect_log(path)
    if header.get("status", "success") != "success":
        raise InputError(f"{path} is of a run that ended as {header['status']!r}; finish it with inspect")
    if not samples:
        raise InputError(f"{path} holds no samples; the run ended before it logged one")
    if failed := sum(bool(sample.get("error")) for sample in samples):
        raise InputError(
            f"{failed} of {len(samples)} samples of {path} failed with an error, which is not a wrong "
            "answer; finish the run with `inspect eval-retry`"
        )
    run = header["eval"]
    configs = ((header.get("plan") or {}).get("config") or {}, run.get("model_generate_config") or {})
    shared = {
        name: next((config[key] for config in configs if config.get(key) is not None), None)
        for name, key in INSPECT_SETTINGS.items()
    }
    shared |= {"task": run.get("task"), "model": run.get("model")}
    shared["decoding"] = "greedy" if shared["temperature"] == 0 else "sampled"
    return [shared | _sample_columns(path, sample, reading.scorer) for sample in samples]


def _inspect_log(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a log's header and its samples."""
    what = "a log of inspect"
    if not zipfile.is_zipfile(path):
        log = _object_with_eval(path, path.read_bytes(), what)
        return log, log.get("samples") or []
    with zipfile.ZipFile(path) as archive:
        members = {member.filename: member for member in archive.infolist()}
        if "header.json" not in members:
            raise InputError(f"{path} has no header.json: the run was cut short, or it is not {what}")
        header = _object_with_eval(path, _member_content(path, archive, members["header.json"]), what)
        names = [name for name in members if name.startswith("samples/") and name.endswith(".json")]
        samples = [json.loads(_member_content(path, archive, members[name])) for name in names]
    return header, sorted(samples, key=lambda sample: (str(sample["id"]), sample["epoch"]))


def _member_content(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return a member's content; pyarrow unpacks Zstandard, which Python cannot before 3.14."""
    if member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return archive.read(member)
    if member.compress_type != ZSTANDARD or find_spec("pyarrow") is None:
        raise InputError(
            f"{path} has a compression that Python cannot read; `inspect log convert --to json` rewrites it, "
            "and `pip install pyarrow` reads Zstandard"
        )
    import pyarrow

    with path.open("rb") as file:
        file.seek(member.header_offset + 26)  # lengths of the name and of the extra field after it
        file.seek(sum(struct.unpack("<HH", file.read(4))), os.SEEK_CUR)
        packed = pyarrow.py_buffer(file.read(member.compress_size))
    with pyarrow.CompressedInputStream(pyarrow.BufferReader(packed), "zstd") as stream:
        content = stream.read()
    if zlib.crc32(content) != member.CRC:
        raise InputError(f"{path} is damaged: {member.filename} is not what was written")
    return content


def _sample_columns(path: Path, sample: dict[str, Any], scorer: str | None) -> dict[str, Any]:
    where = f"{path}, sample {sample['id']}, epoch {sample['epoch']}"
    output, target = sample.get("output") or {}, sample.get("target")
    stop_reason = next(iter(output.get("choices") or ()), {}).get("stop_reason")
    score = _chosen_score(where, sample, scorer)
    value, answer = score.get("value"), score.get("answer")
    if score and not (isinstance(value, str | int | float) and value in INSPECT_SCORES):
        raise InputError(f"{where} has the score {value!r}, neither right nor wrong; choose another --scorer")
    prompt = sample.get("input")
    contents = [prompt] if isinstance(prompt, str) else [each.get("content") for each in prompt or []]
    return {
        "problem": str(sample["id"]),
        "prompt": "\n\n".join(filter(None, (_text_of(content, sample) for content in contents))),
        "sample": sample["epoch"] - 1,
        "answer": target if isinstance(target, str | None) else "; ".join(map(str, target)),
        "completion": _text_of(output.get("completion"), sample),
        "tokens": (output.get("usage") or {}).get("output_tokens"),
        "finish": INSPECT_FINISH.get(stop_reason, stop_reason),
        "accepted": INSPECT_SCORES[value] if score else None,
        "extracted": None if answer is None else str(answer),
    }


def _text_of(content: str | list[dict[str, Any]] | None, sample: dict[str, Any]) -> str | None:
    """Return a message's text; of a list of parts, the parts of type "text".

    A long text may stand among the sample's attachments, with a reference in its place.
    """
    if isinstance(content, list):
        content = "\n".join(part["text"] for part in content if part.get("type") == "text")
    return (sample.get("attachments") or {}).get(str(content).removeprefix("attachment://"), content)


def _chosen_score(where: str, sample: dict[str, Any], scorer: str | None) -> dict[str, Any]:
    """Return the sample's score by `scorer`, or its only score; an empty dict if it has no score."""
    scores = sample.get("scores") or {}
    if not scores:
        return {}
    names = ", ".join(sorted(scores))
    if scorer is None and len(scores) > 1:
        raise InputError(f"{where} has the scores {names}; choose with --scorer, in Python scorer=")
    name = scorer or next(iter(scores))
    if name not in scores:
        raise InputError(f"{where} has no score {name!r}; it has {names}")
    return scores[name]


# evalplus: the *_eval_results.json that `evalplus.evaluate` writes.


def _evalplus(path: Path, reading: Reading) -> list[dict[str, Any]]:
    """Return a row per program; with `reading.plus`, it must pass the added tests too.

    The task is then called "humaneval+" instead of "humaneval". The temperature is read from the name that
    evalplus gives the file or its folder, …_temp_0.8…, and 0 is greedy; other names need
    `reading.temperature`.
    """
    problems = _object_with_eval(path, path.read_bytes(), "an *_eval_results.json")["eval"]
    plus, temperature = reading.plus, reading.temperature
    verdicts = ("base_status", "plus_status") if plus else ("base_status",)
    if temperature is None:
        match = re.search(r"_temp_(\d+(?:\.\d+)?)", f"{path.name} {path.absolute().parent.name}")
        if match is None:
            raise InputError(f"{path} does not say how it was sampled; give --temperature, 0 for greedy")
        temperature = float(match[1])
    benchmark = next(iter(problems)).split("/")[0].lower()  # of a name such as HumanEval/0
    task = f"{benchmark}+" if plus else benchmark
    shared = {"task": task, "decoding": "sampled" if temperature else "greedy", "temperature": temperature}
    rows = []
    for problem, programs in problems.items():
        for sample, program in enumerate(programs):
            if not isinstance(program, dict) or any(program.get(name) is None for name in verdicts):
                raise InputError(
                    f"{path} has a program of {problem} without {' and '.join(verdicts)}; evaluate it again"
                )
            status = next((program[name] for name in verdicts if program[name] != "pass"), "pass")
            text, reason = program.get("solution"), EVALPLUS_REASONS.get(status, "error")
            outcome = {"completion": text, "extracted": text, "reason": reason}
            rows.append(
                shared | {"problem": problem, "sample": sample, "accepted": status == "pass"} | outcome
            )
    return rows


LOG_READERS = {"lm-eval": _lm_eval, "inspect": _inspect, "evalplus": _evalplus}
