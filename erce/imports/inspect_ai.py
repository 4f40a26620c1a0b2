"""A log of inspect, as JSON or as an .eval archive → columns of `erce records`, and the prompts."""

import json
import os
import struct
import zipfile
import zlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from erce.errors import InputError

ZSTANDARD = 93  # its number among the compression types of zip archives
ACCEPTED = {"C": True, "I": False, "N": False, 1: True, 0: False}  # correct, incorrect, no answer
SETTINGS = {  # column → inspect's name
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "max_new_tokens": "max_tokens",
    "stop": "stop_seqs",
}
FINISH: dict[str | None, str] = {"max_tokens": "length", "model_length": "length"}


def inspect_rows(path: Path, scorer: str | None) -> list[dict[str, Any]]:
    """Return the columns of one row per sample, epoch 1 being sample 0, and "prompt".

    The decoding is "greedy" if the log says temperature 0. What a solver sets for its own call of the model
    goes before the settings of the run. A log with several scorers needs `scorer`. A sample that failed, or
    has no score, has `accepted` None. An archive may be stored, deflated or, with pyarrow, packed with
    Zstandard.
    """
    header, samples = _read_log(path)
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
        columns = {name: own.get(key) for name, key in SETTINGS.items()}
        columns |= {"task": run.get("task"), "model": run.get("model")}
        columns["decoding"] = "greedy" if own.get("temperature") == 0 else "sampled"
        rows.append(columns | _sample_columns(path, sample, scorer))
    return rows


def _read_log(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a log's header and its samples."""
    if not zipfile.is_zipfile(path):
        log = _parse_header(path, path.read_bytes())
        return log, log.get("samples") or []
    with zipfile.ZipFile(path) as archive:
        members = {member.filename: member for member in archive.infolist()}
        if "header.json" not in members:
            raise InputError(
                f"{path} has no header.json: the run was cut short, or it is not a log of inspect"
            )
        header = _parse_header(path, _member_content(path, archive, members["header.json"]))
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


def _parse_header(path: Path, content: bytes) -> dict[str, Any]:
    try:
        log = json.loads(content)
    except ValueError as error:
        raise InputError(f"{path} is not JSON ({error}); is it a log of inspect?") from None
    if not isinstance(log, dict) or not isinstance(log.get("eval"), dict):
        raise InputError(f"{path} has no section 'eval'; is it a log of inspect?")
    return log


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
    if score and not (isinstance(value, str | int | float) and value in ACCEPTED):
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
        "finish": FINISH.get(stop_reason, stop_reason),
        "accepted": ACCEPTED[value] if score else None,
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
    """Return the score of `scorer`, or the only score; empty if the sample has none."""
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
