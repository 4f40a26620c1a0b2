"""A log of inspect, as JSON or as its .eval archive → rows of the same columns as ours."""

import json
import os
import struct
import zipfile
import zlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from erce.study.export import Row, flat

ZSTANDARD = 93  # the number that zip archives have for it
_VALUES = {"C": True, "I": False, "N": False}  # correct, incorrect, no answer
_FINISH: dict[str | None, str] = {"max_tokens": "length", "model_length": "length"}


def from_inspect(path: str | Path, *, arm: str, seed: int = 0, scorer: str | None = None) -> list[Row]:
    """A row a sample, epoch 1 being sample 0; `arm` and `seed` are what the run was of.

    The split is called "test", and decoding "greedy" where the log says temperature 0. A log with several
    scorers needs `scorer`. A sample that failed, or has no score, has `accepted` None. A run that did not end
    well, a score that is neither right nor wrong (partial, a mean, a dictionary) and a file that is no log
    are ValueErrors. An archive may be stored, deflated or, with pyarrow, packed with Zstandard.
    """
    path = Path(path)
    header, samples = _archive(path) if zipfile.is_zipfile(path) else _json(path)
    if header.get("status", "success") != "success":
        raise ValueError(
            f"{path} is of a run that ended as {header['status']!r}; finish it with inspect first"
        )
    run = header["eval"]
    settings = _known(run.get("model_generate_config")) | _known((header.get("plan") or {}).get("config"))
    shared = {
        "task": run.get("task"),
        "arm": arm,
        "seed": seed,
        "model": run.get("model"),
        "split": "test",
        "decoding": "greedy" if settings.get("temperature") == 0 else "sampled",
        "temperature": settings.get("temperature"),
        "top_p": settings.get("top_p"),
        "top_k": settings.get("top_k"),
        "max_new_tokens": settings.get("max_tokens"),
        "stop": settings.get("stop_seqs"),
    }
    if not samples:
        raise ValueError(f"{path} holds no samples; the run ended before it logged one")
    return [flat(shared | _sample(path, sample, scorer)) for sample in samples]


def inspect_prompts(path: str | Path) -> dict[str, str]:
    """Problem → what the model was given: the input's text, or that of its messages, a blank line between."""
    path, found = Path(path), {}
    for sample in (_archive(path) if zipfile.is_zipfile(path) else _json(path))[1]:
        given = sample.get("input")
        messages = [{"content": given}] if isinstance(given, str) else given or []
        texts = [_plain(each.get("content"), sample) for each in messages]
        found[str(sample["id"])] = "\n\n".join(text for text in texts if text)
    return found


def _json(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    log = _read(path, path.read_bytes())
    return log, log.get("samples") or []


def _archive(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    with zipfile.ZipFile(path) as archive:
        members = [each for each in archive.infolist() if each.filename.startswith("samples/")]
        names = [each.filename for each in archive.infolist()]
        if "header.json" not in names:
            raise ValueError(f"{path} has no header.json: the run was cut short, or it is no log of inspect")
        header = _read(path, _content(path, archive, archive.getinfo("header.json")))
        samples = [
            json.loads(_content(path, archive, each)) for each in members if each.filename.endswith(".json")
        ]
    return header, sorted(samples, key=lambda sample: (str(sample["id"]), sample["epoch"]))


def _content(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """What is in one member. Zstandard, which inspect writes, Python reads from 3.14 on; so pyarrow does."""
    if member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return archive.read(member)
    if member.compress_type != ZSTANDARD or find_spec("pyarrow") is None:
        raise ValueError(
            f"{path} is compressed otherwise; `inspect log convert --to json` rewrites it, and "
            "`pip install pyarrow` reads Zstandard"
        )
    import pyarrow

    with path.open("rb") as file:
        file.seek(member.header_offset + 26)  # the lengths of the name and of what follows it
        file.seek(sum(struct.unpack("<HH", file.read(4))), os.SEEK_CUR)
        packed = pyarrow.py_buffer(file.read(member.compress_size))
    with pyarrow.CompressedInputStream(pyarrow.BufferReader(packed), "zstd") as stream:
        content = stream.read()
    if zlib.crc32(content) != member.CRC:
        raise ValueError(f"{path} is damaged: {member.filename} is not what was written")
    return content


def _read(path: Path, content: bytes) -> dict[str, Any]:
    try:
        log = json.loads(content)
    except ValueError as error:
        raise ValueError(f"{path} is no JSON ({error}); is it a log of inspect?") from None
    if not isinstance(log, dict) or not isinstance(log.get("eval"), dict):
        raise ValueError(f"{path} has no section 'eval'; is it a log of inspect?")
    return log


def _known(settings: dict[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (settings or {}).items() if value is not None}


def _sample(path: Path, sample: dict[str, Any], scorer: str | None) -> Row:
    where = f"{path}, sample {sample['id']}, epoch {sample['epoch']}"
    output = sample.get("output") or {}
    choice = next(iter(output.get("choices") or ()), {})
    stop = choice.get("stop_reason")
    score = _score(where, sample, scorer)
    target = sample.get("target")
    answer = score.get("answer")
    return {
        "problem": str(sample["id"]),
        "sample": sample["epoch"] - 1,
        "answer": target if isinstance(target, str | None) else "; ".join(map(str, target)),
        "completion": _text(sample, output, choice),
        "tokens": (output.get("usage") or {}).get("output_tokens"),
        "finish": _FINISH.get(stop, stop),
        "accepted": _verdict(where, score["value"]) if score else None,
        "reason": "error" if sample.get("error") else None,
        "extracted": None if answer is None else str(answer),
    }


def _text(sample: dict[str, Any], output: dict[str, Any], choice: dict[str, Any]) -> str | None:
    text = output.get("completion")
    if not isinstance(text, str):
        text = (choice.get("message") or {}).get("content")
    return _plain(text, sample)


def _plain(text: str | list[dict[str, Any]] | None, sample: dict[str, Any]) -> str | None:
    """A message is a text or a list of parts, of which those of type "text" count.

    A long text may stand among the sample's attachments, with a reference in its place.
    """
    if isinstance(text, list):
        text = "\n".join(part["text"] for part in text if part.get("type") == "text")
    return (sample.get("attachments") or {}).get(str(text).removeprefix("attachment://"), text)


def _score(where: str, sample: dict[str, Any], scorer: str | None) -> dict[str, Any]:
    scores = sample.get("scores") or ({"score": sample["score"]} if sample.get("score") else {})
    if sample.get("error") or not scores:
        return {}
    if scorer is None and len(scores) > 1:
        raise ValueError(f"{where} has the scores {', '.join(sorted(scores))}; choose with scorer=")
    name = scorer or next(iter(scores))
    if name not in scores:
        raise ValueError(f"{where} has no score {name!r}; it has {', '.join(sorted(scores))}")
    return scores[name]


def _verdict(where: str, value: Any) -> bool:
    if isinstance(value, str) and value in _VALUES:
        return _VALUES[value]
    if isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    raise ValueError(f"{where} has the score {value!r}, neither right nor wrong; choose another scorer=")
