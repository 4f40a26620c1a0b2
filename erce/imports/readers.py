"""A file or folder that lm-eval, inspect or evalplus wrote, or our own .jsonl file → rows.

Each tool has one reader, which returns a dict per sample: columns of `erce records`, and "prompt".
"""

import json
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from erce.errors import InputError
from erce.files import read_rows
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

LM_EVAL_NAME = re.compile(r"samples_(.+)_(\d{4}-\d\d-\d\dT[\d.:-]+)")  # task, date
DEFAULT_FILTER = "none"  # lm-eval's name for the `take_first` of a task that lists no filters
METRICS = ("exact_match", "acc", "acc_norm", "pass_at_1")  # looked for if a line does not list its own
# Column → the setting's name in a log of lm-eval, and of inspect.
LM_EVAL_SETTINGS = {"top_p": "top_p", "top_k": "top_k", "max_new_tokens": "max_gen_toks"}
INSPECT_SETTINGS = {"temperature": "temperature", "top_p": "top_p", "top_k": "top_k"}
INSPECT_SETTINGS |= {"max_new_tokens": "max_tokens", "stop": "stop_seqs"}
INSPECT_SCORES = {"C": True, "I": False, "N": False, 1: True, 0: False}  # correct, incorrect, no answer
INSPECT_FINISH: dict[str | None, str] = {"max_tokens": "length", "model_length": "length"}
ZSTANDARD = 93  # its number among the compression types of zip archives
EVALPLUS_REASONS: dict[str | None, str] = {"pass": "passed", "fail": "failed", "timeout": "timeout"}
EVALPLUS_TASKS = {"HumanEval": "humaneval", "Mbpp": "mbpp"}  # prefix of a problem's name → task


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
    samples = READERS[format_of(path, reading.format)](path, reading)
    prompts: dict[str, str] = {}
    for row in samples:
        prompts.setdefault(row["problem"], row.pop("prompt", ""))
        row["task"] = reading.task or row["task"]
        if row["temperature"] is None and reading.temperature is not None:
            row["temperature"] = reading.temperature
            row["decoding"] = "sampled" if reading.temperature else "greedy"
    rows = [SampleRow(arm=arm, seed=seed, split="test", **row) for row in samples]
    return _count_failed(path, rows, reading.errors), prompts


def format_of(path: Path, format: str = AUTO) -> str:
    """Return `format`; if that is "auto", the format that the file's content shows."""
    if format != AUTO:
        return format
    if zipfile.is_zipfile(path):
        return "inspect"
    content = _first_object(path)
    if {"doc_id", "resps"} <= content.keys():
        return "lm-eval"
    if _is_inspect(content):
        return "inspect"
    if "task_id" in content or isinstance(content.get("eval"), dict):
        return "evalplus"
    raise InputError(f"{path} is not a log of {', '.join(PATTERNS)}; if it is one, name it with --format")


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


def _is_inspect(content: dict[str, Any]) -> bool:
    return isinstance(content.get("eval"), dict) and "task" in content["eval"]


def _first_object(path: Path) -> dict[str, Any]:
    """Return the JSON object that the first line or the whole file is; {} if neither is one."""
    text = path.read_bytes()
    for part in (text.partition(b"\n")[0], text):
        try:
            content = json.loads(part)
        except ValueError:
            continue
        return content if isinstance(content, dict) else {}
    return {}


def _object_with_eval(path: Path, content: bytes, what: str) -> dict[str, Any]:
    """Return a JSON object that has a section "eval", as the logs of inspect and evalplus have."""
    try:
        log = json.loads(content)
    except ValueError as error:
        raise InputError(f"{path} is not JSON ({error}); is it {what}?") from None
    if not isinstance(log, dict) or not isinstance(log.get("eval"), dict) or not log["eval"]:
        raise InputError(f"{path} has no section 'eval' with anything in it; is it {what}?")
    return log


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


# Our own rows.


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


# lm-eval: the samples_*.jsonl of `--log_samples`, a line per document and filter with all responses to it.


def _lm_eval(path: Path, reading: Reading) -> list[dict[str, Any]]:
    """Return a row per response, accepted if its metric is 1.

    Of repeats under `take_first` the first response alone is a row, since lm-eval verified no other. If
    several responses share one value otherwise, as with majority voting, none has a verdict.
    """
    damaged = "has no doc_id and resps; is it a samples_*.jsonl of --log_samples?"
    if not (lines := list(read_rows(path, "doc_id", "resps", damaged=damaged))):
        raise InputError(f"{path} has no lines")
    filter = reading.filter or _only_one(
        path, "filter", (line.get("filter", DEFAULT_FILTER) for line in lines)
    )
    lines = [line for line in lines if line.get("filter", DEFAULT_FILTER) == filter]
    if not lines:
        raise InputError(f"{path} has no line with filter {filter!r}; choose another --filter")
    metric = reading.metric or _only_one(path, "metric", (name for line in lines for name in _metrics(line)))
    rows, first_alone = [], _takes_first(path, filter)
    for line in lines:
        where = f"{path}, document {line['doc_id']}"
        if metric not in line:
            metrics = ", ".join(_metrics(line)) or "none"
            raise InputError(f"{where} has no metric {metric!r}; it has {metrics}: choose with --metric")
        texts, value = _texts(line["resps"]), line[metric]
        if first_alone and not isinstance(value, list):
            texts = texts[:1]
        extracted = _texts(line.get("filtered_resps") or [])
        if len(extracted) != len(texts):
            extracted = [None] * len(texts)
        outcomes = zip(texts, extracted, _accepted(where, value, len(texts)), strict=True)
        columns = {"task": task_in_name(path)} | _document_columns(line)
        for sample, (text, found, passed) in enumerate(outcomes):
            outcome = {"sample": sample, "completion": text, "extracted": found, "accepted": passed}
            rows.append(columns | outcome)
    return rows


def task_in_name(path: Path) -> str:
    """Return the task in a name that lm-eval gives, samples_TASK_DATE.jsonl; else the name itself.

    >>> task_in_name(Path("samples_gsm8k_cot_2026-01-01T00-00-00.000000.jsonl"))
    'gsm8k_cot'
    """
    match = LM_EVAL_NAME.fullmatch(path.stem)
    return match[1] if match else path.stem


def _takes_first(path: Path, filter: str) -> bool:
    """Return whether the filter keeps only the first response, by the results_DATE.json beside `path`."""
    match = LM_EVAL_NAME.fullmatch(path.stem)
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


def _only_one(path: Path, option: str, names: Iterable[str]) -> str:
    names = sorted(set(names))
    if len(names) != 1:
        listed = ", ".join(names) or "(none)"
        raise InputError(f"{path} has the {option}s {listed}; choose with --{option}, in Python {option}=")
    return names[0]


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
    } | {name: settings.get(key) for name, key in LM_EVAL_SETTINGS.items()}


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
    """Return a row per sample, epoch 1 being sample 0; "greedy" if the log says temperature 0.

    What a solver sets for its own call of the model goes before the settings of the run. A sample that
    failed, or has no score, has `accepted` None.
    """
    header, samples = _inspect_log(path)
    if header.get("status", "success") != "success":
        raise InputError(f"{path} is of a run that ended as {header['status']!r}; finish it with inspect")
    if not samples:
        raise InputError(f"{path} holds no samples; the run ended before it logged one")
    run = header["eval"]
    settings = _set(run.get("model_generate_config")) | _set((header.get("plan") or {}).get("config"))
    calls = [_settings_of_call(sample) for sample in samples]
    of_failed = next(filter(None, calls), {})  # a failed sample has no call that wrote a completion
    rows = []
    for sample, call in zip(samples, calls, strict=True):
        own = settings | (of_failed if sample.get("error") else call)
        columns = {name: own.get(key) for name, key in INSPECT_SETTINGS.items()}
        columns |= {"task": run.get("task"), "model": run.get("model")}
        columns["decoding"] = "greedy" if own.get("temperature") == 0 else "sampled"
        rows.append(columns | _sample_columns(path, sample, reading.scorer))
    return rows


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


def _set(settings: dict[str, Any] | None) -> dict[str, Any]:
    """Return the settings that are not null."""
    return {name: value for name, value in (settings or {}).items() if value is not None}


def _settings_of_call(sample: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of the model call that wrote the sample's completion; empty if it is not logged."""
    text = _completion_text(sample, sample.get("output"))
    for event in reversed(sample.get("events") or []):
        if event.get("event") == "model" and _completion_text(sample, event.get("output")) == text:
            return _set(event.get("config"))
    return {}


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
        "completion": _completion_text(sample, output),
        "tokens": (output.get("usage") or {}).get("output_tokens"),
        "finish": INSPECT_FINISH.get(stop_reason, stop_reason),
        "accepted": INSPECT_SCORES[value] if score else None,
        "reason": "error" if sample.get("error") else None,
        "extracted": None if answer is None else str(answer),
    }


def _completion_text(sample: dict[str, Any], output: dict[str, Any] | None) -> str | None:
    output = output or {}
    text = output.get("completion")
    if not isinstance(text, str):
        text = (next(iter(output.get("choices") or ()), {}).get("message") or {}).get("content")
    return _text_of(text, sample)


def _text_of(content: str | list[dict[str, Any]] | None, sample: dict[str, Any]) -> str | None:
    """Return a message's text; of a list of parts, the parts of type "text".

    A long text may stand among the sample's attachments, with a reference in its place.
    """
    if isinstance(content, list):
        content = "\n".join(part["text"] for part in content if part.get("type") == "text")
    return (sample.get("attachments") or {}).get(str(content).removeprefix("attachment://"), content)


def _chosen_score(where: str, sample: dict[str, Any], scorer: str | None) -> dict[str, Any]:
    """Return a sample's score by `scorer`, or its only score; {} if the sample has no score."""
    scores = sample.get("scores") or ({"score": sample["score"]} if sample.get("score") else {})
    if sample.get("error") or not scores:
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

    The task is then called "humaneval+" instead of "humaneval". `path` may also be the samples, NAME.jsonl,
    beside which NAME_eval_results.json stands. The temperature is read from the name that evalplus gives the
    file or its folder, …_temp_0.8…, and 0 is greedy; other names need `reading.temperature`.
    """
    if path.suffix == ".jsonl":
        samples, path = path, path.with_name(f"{path.stem}_eval_results.json")
        if not path.is_file():
            raise InputError(
                f"{samples} has no verdicts, and {path.name} is not beside it; run evalplus.evaluate"
            )
    problems = _object_with_eval(path, path.read_bytes(), "an *_eval_results.json")["eval"]
    if not all(isinstance(programs, list) for programs in problems.values()):
        raise InputError(f"{path} was written by an old evalplus; evaluate its samples again")
    plus, temperature = reading.plus, reading.temperature
    if plus and not any(program.get("plus_status") for programs in problems.values() for program in programs):
        raise InputError(f"{path} has no verdicts of the added tests; evaluate without --base-only")
    if temperature is None:
        match = re.search(r"_temp_(\d+(?:\.\d+)?)", f"{path.name} {path.absolute().parent.name}")
        if match is None:
            raise InputError(f"{path} does not say how it was sampled; give --temperature, 0 for greedy")
        temperature = float(match[1])
    benchmark = next(iter(problems)).split("/")[0]
    task = f"{EVALPLUS_TASKS.get(benchmark, benchmark)}{'+' if plus else ''}"
    shared = {"task": task, "decoding": "sampled" if temperature else "greedy", "temperature": temperature}
    rows = []
    for problem, programs in problems.items():
        for sample, program in enumerate(programs):
            if "base_status" not in program:
                raise InputError(f"{path} has a program without base_status; evaluate its samples again")
            statuses = [program["base_status"], *([program.get("plus_status")] if plus else [])]
            status = next((failed for failed in statuses if failed != "pass"), "pass")
            text, reason = program.get("solution"), EVALPLUS_REASONS.get(status, "error")
            outcome = {"completion": text, "extracted": text, "reason": reason}
            outcome["accepted"] = None if status is None else status == "pass"
            rows.append(shared | {"problem": problem, "sample": sample} | outcome)
    return rows


READERS = {"lm-eval": _lm_eval, "inspect": _inspect, "evalplus": _evalplus}
