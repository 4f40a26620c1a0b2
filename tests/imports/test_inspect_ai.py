"""A log of inspect becomes rows, whether it is JSON or an archive."""

import json
import struct
import zipfile
import zlib

import pytest
from toys.logs import from_inspect, inspect_log, inspect_sample, known_columns


@pytest.fixture
def archive(tmp_path):
    def write(content, compression=zipfile.ZIP_DEFLATED, leave_out=()):
        header = {name: value for name, value in content.items() if name != "samples"}
        members = {"header.json": header, "_journal/start.json": {}, "summaries.json": []}
        for each in reversed(content["samples"]):
            members[f"samples/{each['id']}_epoch_{each['epoch']}.json"] = each
        with zipfile.ZipFile(tmp_path / "log.eval", "w", compression) as file:
            for name, member in members.items():
                if name not in leave_out:
                    file.writestr(name, json.dumps(member))
        return tmp_path / "log.eval"

    return write


def zstandard(path, members):
    """An archive of such members as inspect writes them, which Python's zipfile reads only from 3.14 on."""
    pyarrow = pytest.importorskip("pyarrow")
    body, directory = b"", b""
    for name, content in ((name.encode(), json.dumps(member).encode()) for name, member in members.items()):
        packed = pyarrow.compress(content, "zstd", asbytes=True)
        head = struct.pack(
            "<5H3L2H", 63, 0, 93, 0, 33, zlib.crc32(content), len(packed), len(content), len(name), 0
        )
        directory += b"PK\1\2\0\0" + head + struct.pack("<3H2L", 0, 0, 0, 0, len(body)) + name
        body += b"PK\3\4" + head + name + packed
    counts = struct.pack("<4H2LH", 0, 0, len(members), len(members), len(directory), len(body), 0)
    path.write_bytes(body + directory + b"PK\5\6" + counts)
    return path


@pytest.mark.parametrize("form", ["json", "stored", "deflated"])
def test_a_sample_of_inspect_is_a_row(file, archive, form):
    content = inspect_log([inspect_sample(4, 1, "C"), inspect_sample(4, 2, "I")])
    kinds = {"stored": zipfile.ZIP_STORED, "deflated": zipfile.ZIP_DEFLATED}
    path = file(content, "log.json") if form == "json" else archive(content, kinds[form])
    first, second = from_inspect(path, arm="mine")
    assert known_columns(first) == {
        "task": "gsm8k",
        "arm": "mine",
        "seed": 0,
        "model": "vllm/m",
        "split": "test",
        "decoding": "sampled",
        "temperature": 0.8,
        "top_p": 0.9,
        "max_new_tokens": 64,
        "problem": "4",
        "answer": "4",
        "sample": 0,
        "completion": "#### 4",
        "tokens": 9,
        "finish": "stop",
        "accepted": True,
        "extracted": "4",
    }
    assert (second.sample, second.accepted) == (1, False)


@pytest.mark.parametrize(
    ("value", "accepted"), [("C", True), ("I", False), ("N", False), (1, True), (0.0, False), (True, True)]
)
def test_a_score_of_inspect_is_right_or_wrong(file, value, accepted):
    [row] = from_inspect(file(inspect_log([inspect_sample(1, 1, value)]), "log.json"), arm="a")
    assert row.accepted is accepted


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"scores": None}, {"accepted": None, "reason": None}),
        ({"target": ["4", "four"]}, {"answer": "4; four"}),
        ({"output": {"completion": "4", "choices": [{"stop_reason": "max_tokens"}]}}, {"finish": "length"}),
        (
            {"output": {"completion": "attachment://f00"}, "attachments": {"f00": "long"}},
            {"completion": "long"},
        ),
        ({"output": {}}, {"completion": None}),
    ],
)
def test_what_a_sample_of_inspect_lacks_is_none(file, change, expected):
    [row] = from_inspect(file(inspect_log([inspect_sample(1, 1, "C", **change)]), "log.json"), arm="a")
    assert {name: getattr(row, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("content", "chosen", "sentence"),
    [
        ({"samples": []}, {}, "no section 'eval'"),
        (inspect_log([]), {}, "holds no samples"),
        (inspect_log([], status="cancelled"), {}, "ended as 'cancelled'; finish it"),
        (
            inspect_log([inspect_sample(1, 1, "C", error={"message": "x"})]),
            {},
            "1 of 1 samples .* eval-retry",
        ),
        (inspect_log([inspect_sample(1, 1, "P")]), {}, "the score 'P', neither right nor wrong"),
        (inspect_log([inspect_sample(1, 1, "C")]), {"scorer": "f1"}, "no score 'f1'; it has match"),
        (
            inspect_log([inspect_sample(1, 1, "C", scores={"a": {}, "b": {}})]),
            {},
            "the scores a, b; choose with --scorer",
        ),
    ],
)
def test_a_log_of_inspect_that_cannot_be_read_is_said(file, content, chosen, sentence):
    with pytest.raises(ValueError, match=sentence):
        from_inspect(file(content, "log.json"), arm="a", **chosen)


def test_an_archive_that_cannot_be_read_is_said(archive):
    content = inspect_log([inspect_sample(1, 1, "C")])
    with pytest.raises(ValueError, match=r"no header\.json"):
        from_inspect(archive(content, leave_out=["header.json"]), arm="a")
    path = archive(content, zipfile.ZIP_STORED)
    packed = path.read_bytes()
    for signature, place in ((b"PK\3\4", 8), (b"PK\1\2", 10)):  # the fields that say how a member is packed
        at = packed.index(signature) + place
        packed = packed[:at] + b"\x63\0" + packed[at + 2 :]
    path.write_bytes(packed)
    with pytest.raises(ValueError, match="inspect log convert --to json"):
        from_inspect(path, arm="a")


def test_an_archive_packed_with_zstandard_is_read(file, tmp_path):
    content = inspect_log([inspect_sample(4, 1, "C"), inspect_sample(5, 1, "I")])
    members = {"header.json": {name: value for name, value in content.items() if name != "samples"}}
    members |= {f"samples/{each['id']}_epoch_1.json": each for each in content["samples"]}
    path = zstandard(tmp_path / "log.eval", members)
    assert from_inspect(path, arm="a") == from_inspect(file(content, "log.json"), arm="a")
    torn = path.read_bytes()
    at = torn.index(zlib.crc32(json.dumps(members["header.json"]).encode()).to_bytes(4, "little"), 60)
    path.write_bytes(torn[:at] + b"\0\0\0\0" + torn[at + 4 :])
    with pytest.raises(ValueError, match=r"is damaged: header\.json is not what was written"):
        from_inspect(path, arm="a")


def test_the_json_log_in_a_folder_is_found_by_its_content(tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    log, other = folder / "2026-01-01_sums.json", folder / "results.json"
    log.write_text(json.dumps(inspect_log([inspect_sample(4, 1, "C")])))
    other.write_text('{"eval": {"sums": 1}}')
    assert from_inspect(folder, arm="a") == from_inspect(log, arm="a")
